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
#'   with `.fitted` and `.resid`; of survival times the linear predictor and martingale residuals.
#' @name tidy.bestset
#' @exportS3Method generics::tidy
tidy.bestset <- function(x, ...) {
  values <- coef(x)
  found <- data.frame(term = names(values), estimate = unname(values))
  if (!is.null(x$frequencies)) found$in_folds <- c(if (has_intercept(x)) NA, x$frequencies)
  found
}

#' @rdname tidy.bestset
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
#' @exportS3Method generics::augment
augment.bestset <- function(x, data = NULL, newdata = NULL, ...) {
  # As broom has it, survival times have the linear predictor and martingale residuals.
  type <- if (x$family %in% c("squared_hinge", "cox")) "link" else "response"
  if (!is.null(newdata)) {
    newdata$.fitted <- predict(x, newdata, type = type)
    return(newdata)
  }
  if (is.null(data)) data <- refit_data(x)$data
  # As long as the data are: with the rows that were left out, or without them.
  padded <- nrow(data) == x$n + length(x$coding$na.action) && length(x$coding$na.action) > 0
  over <- function(values) if (padded) stats::naresid(structure(x$coding$na.action, class = "exclude"), values) else values
  data$.fitted <- over(shown_as(x, margins(x), type))
  if (x$family == "cox") data$.resid <- over(survival_residuals(x, "martingale"))
  else if (x$family != "squared_hinge") data$.resid <- over(target_of(x) - means(x))
  data
}

#' @exportS3Method generics::tidy
tidy.bestset_subsets <- function(x, ...) {
  data.frame(size = rep(x$table$size, lengths(lapply(x$sizes, `[[`, "support"))),
    term = unlist(lapply(x$sizes, function(s) name_of(x, s$support))), estimate = unlist(lapply(x$sizes, `[[`, "values")))
}

#' @exportS3Method generics::glance
glance.bestset_subsets <- function(x, ...) x$table
