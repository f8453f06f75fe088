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
#'   with `.fitted` and `.resid`.
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
  data.frame(
    r.squared = x$r2, r.squared.limit = x$r2_limit, size = x$size, lambda0 = x$lambda0, lambda1 = x$lambda1, lambda2 = x$lambda2,
    objective = x$objective, lower.bound = x$lower_bound, gap = x$gap, relative.gap = x$relative_gap, status = x$status,
    proved = x$proved, deviance = stats::deviance(x), nobs = nobs(x), nfeatures = x$p
  )
}

#' @rdname tidy.bestset
#' @exportS3Method generics::augment
augment.bestset <- function(x, data = NULL, newdata = NULL, ...) {
  type <- if (x$family == "squared_hinge") "link" else "response"
  if (!is.null(newdata)) {
    newdata$.fitted <- predict(x, newdata, type = type)
    return(newdata)
  }
  if (is.null(data)) data <- refit_data(x)$data
  # As long as the data are: with the rows that were left out, or without them.
  padded <- nrow(data) == x$n + length(x$coding$na.action) && length(x$coding$na.action) > 0
  over <- function(values) if (padded) stats::naresid(structure(x$coding$na.action, class = "exclude"), values) else values
  data$.fitted <- over(means(x))
  if (x$family != "squared_hinge") data$.resid <- over(target_of(x) - means(x))
  data
}

#' @exportS3Method generics::tidy
tidy.bestset_subsets <- function(x, ...) {
  data.frame(size = rep(x$table$size, lengths(lapply(x$sizes, `[[`, "support"))),
    term = unlist(lapply(x$sizes, function(s) name_of(x, s$support))), estimate = unlist(lapply(x$sizes, `[[`, "values")))
}

#' @exportS3Method generics::glance
glance.bestset_subsets <- function(x, ...) x$table
