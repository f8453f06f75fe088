#' An ordinary fit of the selected features
#'
#' Fits the selected features without penalty by [lm()], [glm()] or another function with a formula, for its diagnostics and
#' predictions without shrinkage. Its standard errors and tests take the selection for given: they are too small, and not valid. Use
#' samples that were not used for the selection, or [stability()].
#'
#' @param object An answer of [bestset()] or [cv.bestset()].
#' @param with The function; `NULL` for [lm()] with family gaussian, [glm()] with families binomial, poisson and Gamma, and
#'   `survival::coxph()` with family cox, strata, ties and offset kept. For instance `MASS::rlm`.
#' @param data Other samples; `NULL` for those of the fit.
#' @param response What stands on the left of the formula, in place of the target.
#' @param ... Further arguments of the function.
#' @return What the function returns.
#' @examples
#' fit <- bestset(mpg ~ ., mtcars, threads = 2)
#' coef(refit(fit))
#' @export
refit <- function(object, with = NULL, data = NULL, response = NULL, ...) {
  if (!inherits(object, "bestset")) stop("there is no selection in an object of class ", class(object)[[1]], call. = FALSE)
  formula <- stats::formula(object, selected = TRUE)
  is_own <- is.null(data)
  if (is_own) {
    made <- refit_data(object)
    data <- made$data
    if (is.null(object$coding$terms)) formula <- stats::update(formula, stats::as.formula(paste(made$target, "~ .")))
  }
  left <- substitute(response)
  if (!is.null(left)) formula[[2]] <- left
  environment(formula) <- parent.frame()
  words <- list(formula = formula, data = data, ...)
  weights <- object$asked$call$data$weights
  if (!is.null(weights) && is.null(words$weights) && nrow(data) == object$n) words$weights <- weights
  if (object$family == "cox" && (is.null(with) || is_own)) words <- survival_words(object, words, is_own)
  else words$offset <- refit_offset(object, words$offset)
  if (is.null(with)) {
    with <- switch(object$family, gaussian = stats::lm, binomial = stats::glm, poisson = stats::glm, Gamma = stats::glm,
      cox = getExportedValue("survival", "coxph"),
      stop("give `with`, a function to fit family \"", object$family, "\" by, for instance MASS::rlm", call. = FALSE))
    if (object$family %in% c("binomial", "poisson", "Gamma")) words$family <- stats::family(object)
    if (object$family == "cox" && is.null(words$ties)) words$ties <- object$asked$call$setup$ties
  }
  found <- do.call(with, words)
  # The data would fill the screen.
  if (is.list(found) && !is.null(found$call)) {
    found$call <- as.call(list(quote(refit), formula = formula))
  }
  found
}

# The offset that was an argument of the fit; that of a formula is in it.
refit_offset <- function(object, given = NULL) {
  if (!is.null(given)) return(given)
  if (is.null(attr(object$coding$terms, "offset"))) object$asked$call$data$offset
}

# coxph() wants strata and offsets in the formula; those that were arguments of the fit become columns.
survival_words <- function(object, words, is_own) {
  data <- object$asked$call$data
  add <- function(name, values, term) {
    if (!is_own) stop("the fit had ", name, " as an argument: write it into the formula of your own fit of other data", call. = FALSE)
    words$data[[paste0(".", name)]] <<- values
    words$formula <<- stats::update(words$formula, stats::as.formula(paste0(". ~ . + ", term, "(.", name, ")")))
  }
  offset <- refit_offset(object)
  if (!is.null(offset)) add("offset", offset, "offset")
  strata <- data$survival$strata
  if (!is.null(strata) && !length(object$coding$apart)) add("strata", factor(object$asked$strata[strata + 1L]), "strata")
  words$formula <- with_survival(words$formula)
  words
}

# The samples of a fit as a data frame, and the name of the target in it.
refit_data <- function(object) {
  call <- object$call
  if (!is.null(object$coding$terms)) {
    frame <- call[c(1L, match(c("formula", "data", "subset", "na.action"), names(call), 0L))]
    frame[[1L]] <- quote(stats::model.frame)
    data <- eval(frame, environment(object$coding$terms))
    # Variables as they are named in the formula: log(x) is looked up as log(x).
    raw <- tryCatch(eval(call$data, environment(object$coding$terms)), error = function(e) NULL)
    if (is.data.frame(raw)) data <- if (is.null(object$coding$na.action)) raw else raw[-object$coding$na.action, , drop = FALSE]
    if (nrow(data) != object$n) data <- eval(frame, environment(object$coding$terms))
    return(list(data = data))
  }
  data <- as.data.frame(columns_at(object$asked$call$data, object$support))
  names(data) <- name_of(object, object$support)
  target <- if (make.names(object$target) == object$target) object$target else "y"
  while (target %in% names(data)) target <- paste0(target, ".")
  samples <- object$asked$call$data
  data[[target]] <- if (object$family == "cox") surv_of(samples$survival) else if (object$family %in% CLASSES) (samples$y + 1) / 2 else samples$y
  list(data = data, target = target)
}

# What Surv() makes of times.
surv_of <- function(times) {
  if (!requireNamespace("survival", quietly = TRUE)) stop("refit() of survival times is by package survival, which is not installed", call. = FALSE)
  if (is.null(times$entry)) survival::Surv(times$time, times$event) else survival::Surv(times$entry, times$time, times$event)
}

# Columns of the samples, as the engine was given them.
columns_at <- function(data, support) {
  if (!is.null(data$file)) stop("the data are on disk; give them as `data`", call. = FALSE)
  if (is.null(data$p)) return(data$x[, support, drop = FALSE])
  x <- sparseMatrix(i = data$i + 1L, p = data$p, x = data$x, dims = c(data$n, length(data$p) - 1))
  as.matrix(x[, support, drop = FALSE])
}
