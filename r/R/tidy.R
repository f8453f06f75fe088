# Methods for the generics of package generics, registered where it is loaded.

#' Tidy data frames of an answer
#'
#' Methods for the functions of package generics (which broom, parsnip and others use).
#'
#' @param x An answer of [bestset()] or [cv.bestset()].
#' @param data The samples to add to; `NULL` for the selected features of those of the fit.
#' @param newdata New samples.
#' @param ... Not used.
#' @return `tidy()`: a row for each coefficient, and the share of the folds that have it. `glance()`: one row. `augment()`: the samples
#'   with `.fitted` and `.resid`; of survival times the linear predictor and martingale residuals. Of many classes `tidy()`
#'   has a row for each class and feature, and `augment()` the likeliest class as `.fitted` and a column `.probability_` for each.
#' @name tidy.bestset
#' @usage \method{tidy}{bestset}(x, ...)
#' @exportS3Method generics::tidy
tidy.bestset <- function(x, ...) {
  found <- tidied(coef(x))
  # Again for each class.
  if (!is.null(x$frequencies)) found$in_folds <- rep_len(c(if (has_intercept(x)) NA, x$frequencies), nrow(found))
  found
}

# A row for each coefficient; of many classes those of one after the other.
tidied <- function(values) {
  if (!is.matrix(values)) return(data.frame(term = names(values), estimate = unname(values)))
  data.frame(y.level = rep(colnames(values), each = nrow(values)), term = rep(rownames(values), ncol(values)), estimate = as.vector(values))
}

#' @rdname tidy.bestset
#' @usage \method{glance}{bestset}(x, ...)
#' @exportS3Method generics::glance
glance.bestset <- function(x, ...) {
  found <- data.frame(
    r.squared = x$r2, r.squared.limit = x$r2_limit, size = x$size, lambda0 = x$lambda0, lambda1 = x$lambda1, lambda2 = x$lambda2,
    objective = x$objective, lower.bound = x$lower_bound, gap = x$gap, relative.gap = x$relative_gap, status = x$status,
    proved = x$proved, deviance = stats::deviance(x), nobs = nobs(x), nfeatures = x$p
  )
  if (x$family == "cox") found <- cbind(found, nevent = x$survival$events, concordance = x$survival$concordance)
  found
}

#' @rdname tidy.bestset
#' @usage \method{augment}{bestset}(x, data = NULL, newdata = NULL, ...)
#' @exportS3Method generics::augment
augment.bestset <- function(x, data = NULL, newdata = NULL, ...) {
  # As broom has it, survival times have the linear predictor and martingale residuals.
  type <- if (x$family %in% c("squared_hinge", "cox")) "link" else "response"
  if (!is.null(newdata)) return(with_fitted(x, newdata, margins(x, newdata = newdata), type))
  if (is.null(data)) data <- refit_data(x)$data
  # As long as the data are: with the rows that were left out, or without them.
  padded <- nrow(data) == x$n + length(x$coding$na.action) && length(x$coding$na.action) > 0
  over <- function(values) if (padded) stats::naresid(structure(x$coding$na.action, class = "exclude"), values) else values
  data <- with_fitted(x, data, over(margins(x)), type)
  if (x$family == "cox") data$.resid <- over(survival_residuals(x, "martingale"))
  else if (!x$family %in% c("squared_hinge", "multinomial")) data$.resid <- over(target_of(x) - means(x))
  data
}

# Samples with what these linear predictors stand for; of many classes the likeliest, and the probability of each.
with_fitted <- function(object, data, margins, type) {
  if (object$family != "multinomial") {
    data$.fitted <- shown_as(object, margins, type)
    return(data)
  }
  data$.fitted <- shown_as(object, margins, "class")
  shares <- probabilities(margins)
  data[paste0(".probability_", colnames(shares))] <- as.data.frame(shares)
  data
}

#' @exportS3Method generics::tidy
tidy.bestset_subsets <- function(x, ...) {
  one <- function(size) {
    values <- x$sizes[[size]]$values
    if (!is.matrix(values)) values <- setNames(values, name_of(x, x$sizes[[size]]$support))
    found <- tidied(values)
    cbind(size = rep(x$table$size[[size]], nrow(found)), found)
  }
  do.call(rbind, lapply(seq_along(x$sizes), one))
}

#' @exportS3Method generics::glance
glance.bestset_subsets <- function(x, ...) x$table
