#' An ordinary fit of the selected features
#'
#' Fits the selected features without penalty by [lm()], [glm()] or another function with a formula, for its diagnostics and
#' predictions without shrinkage. Its standard errors and tests take the selection for given: they are too small, and not valid. Use
#' samples that were not used for the selection, or [stability()].
#'
#' @param object An answer of [bestset()] or [cv.bestset()].
#' @param with The function; `NULL` for [lm()] with family gaussian and [glm()] with families binomial, poisson and Gamma. For instance
#'   `survival::coxph`, with `response = Surv(time, status)`.
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
  if (is.null(data)) {
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
  offset <- object$asked$call$data$offset
  if (!is.null(offset) && is.null(words$offset) && is.null(attr(object$coding$terms, "offset"))) words$offset <- offset
  if (is.null(with)) {
    with <- switch(object$family, gaussian = stats::lm, binomial = stats::glm, poisson = stats::glm, Gamma = stats::glm,
      stop("give `with`, a function to fit family \"", object$family, "\" by, for instance MASS::rlm", call. = FALSE))
    if (object$family != "gaussian") words$family <- stats::family(object)
  }
  found <- do.call(with, words)
  # The data would fill the screen.
  if (is.list(found) && !is.null(found$call)) {
    found$call <- as.call(list(quote(refit), formula = formula))
  }
  found
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
  data[[target]] <- if (object$family %in% CLASSES) (object$asked$call$data$y + 1) / 2 else object$asked$call$data$y
  list(data = data, target = target)
}

# Columns of the samples, as the engine was given them.
columns_at <- function(data, support) {
  if (!is.null(data$file)) stop("the data are on disk; give them as `data`", call. = FALSE)
  if (is.null(data$p)) return(data$x[, support, drop = FALSE])
  x <- sparseMatrix(i = data$i + 1L, p = data$p, x = data$x, dims = c(data$n, length(data$p) - 1))
  as.matrix(x[, support, drop = FALSE])
}
