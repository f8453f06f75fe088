#' An ordinary fit of the selected features
#'
#' Fits the selected features without penalty by [lm()], [glm()] or another function with a formula, for its diagnostics and
#' predictions without shrinkage. Its standard errors and tests take the selection for given: they are too small, and not valid. Use
#' samples that were not used for the selection, or [stability()].
#'
#' @param object An answer of [bestset()] or [cv.bestset()].
#' @param with The function; `NULL` for [lm()] with family gaussian, [glm()] with families binomial, poisson and Gamma,
#'   `nnet::multinom()` with family multinomial, and `survival::coxph()` with family cox, strata, ties and offset kept. For instance
#'   `MASS::rlm`.
#' @param data Other samples; `NULL` for those of the fit.
#' @param response What stands on the left of the formula, in place of the target.
#' @param ... Further arguments of the function.
#' @details The formula is that of the selected terms. Where it would mean other columns, as an interaction without its parts does, the
#'   selected columns are fitted as they are, under their names.
#' @return What the function returns.
#' @examples
#' fit <- bestset(mpg ~ ., mtcars, threads = 2)
#' coef(refit(fit))
#' @export
refit <- function(object, with = NULL, data = NULL, response = NULL, ...) {
  if (!inherits(object, "bestset")) stop("there is no selection in an object of class ", class(object)[[1]], call. = FALSE)
  is_own <- is.null(data)
  object <- with_own_columns(object, data)
  formula <- stats::formula(object, selected = TRUE)
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
  else if (object$family == "multinomial") words <- class_words(object, words, is_own)
  else words$offset <- refit_offset(object, words$offset)
  if (is.null(with)) {
    with <- switch(object$family, gaussian = stats::lm, binomial = stats::glm, poisson = stats::glm, Gamma = stats::glm,
      cox = getExportedValue("survival", "coxph"), multinomial = multinom(),
      stop("give `with`, a function to fit family \"", object$family, "\" by, for instance MASS::rlm", call. = FALSE))
    if (object$family %in% c("binomial", "poisson", "Gamma")) words$family <- stats::family(object)
    if (object$family == "multinomial" && is.null(words$trace)) words$trace <- FALSE
    if (object$family == "cox" && is.null(words$ties)) words$ties <- object$asked$call$setup$ties
  }
  found <- do.call(with, words)
  # The data would fill the screen.
  if (is.list(found) && !is.null(found$call)) {
    found$call <- as.call(list(quote(refit), formula = formula))
  }
  found
}

# A formula of the selected terms may mean other columns, as an interaction without its parts does: then those of the fit are columns of
# their own.
with_own_columns <- function(object, data) {
  terms <- object$coding$terms
  if (is.null(terms) || !length(object$support)) return(object)
  selected <- stats::delete.response(stats::terms(with_survival(stats::formula(object, selected = TRUE))))
  samples <- if (is.null(data)) refit_data(object)$data else data
  xlevels <- object$coding$xlevels
  frame <- model.frame(selected, samples, na.action = na.pass, xlev = xlevels[intersect(names(xlevels), rownames(attr(selected, "factors")))])
  apart <- attr(selected, "term.labels") %in% attr(terms, "term.labels")[object$coding$apart]
  assign <- attr(made <- model.matrix(selected, frame, contrasts.arg = chosen_contrasts(object, frame)), "assign")
  means <- colnames(made)[assign > 0 & !assign %in% which(apart)]
  if (setequal(means, name_of(object, object$support))) return(object)
  other <- setdiff(means, name_of(object, object$support))
  if (!is.null(data)) {
    warning("the formula of the selected terms has columns that are not selected, for instance ", dQuote(other[[1]], FALSE), ": interactions without their parts", call. = FALSE)
    return(object)
  }
  object["coding"] <- list(NULL)
  object
}

# The contrasts of the factors that the selected terms have.
chosen_contrasts <- function(object, frame) {
  found <- object$coding$contrasts[intersect(names(object$coding$contrasts), names(frame))]
  if (length(found)) found
}

# The offset that was an argument of the fit; that of a formula is in it.
refit_offset <- function(object, given = NULL) {
  if (!is.null(given)) return(given)
  if (is.null(attr(object$coding$terms, "offset"))) object$asked$call$data$offset
}

# A term for what was an argument of the fit, which becomes a column.
with_term <- function(words, name, values, is_own) {
  if (!is_own) stop("the fit had ", name, " as an argument: write it into the formula of your own fit of other data", call. = FALSE)
  words$data[[paste0(".", name)]] <- values
  words$formula <- stats::update(words$formula, stats::as.formula(paste0(". ~ . + ", name, "(.", name, ")")))
  words
}

# coxph() wants strata and offsets in the formula.
survival_words <- function(object, words, is_own) {
  offset <- refit_offset(object)
  if (!is.null(offset)) words <- with_term(words, "offset", offset, is_own)
  strata <- object$asked$call$data$survival$strata
  if (!is.null(strata) && !length(object$coding$apart)) words <- with_term(words, "strata", factor(object$asked$strata[strata + 1L]), is_own)
  words$formula <- with_survival(words$formula)
  words
}

# So does multinom() want offsets, a column for each class.
class_words <- function(object, words, is_own) {
  offset <- refit_offset(object)
  if (!is.null(offset)) words <- with_term(words, "offset", matrix(offset, object$n), is_own)
  words
}

multinom <- function() {
  if (!requireNamespace("nnet", quietly = TRUE)) stop("refit() of many classes is by nnet::multinom(), and package nnet is not installed; give `with`", call. = FALSE)
  getExportedValue("nnet", "multinom")
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
  data[[target]] <- if (object$family == "cox") surv_of(samples$survival)
    else if (object$family == "multinomial") factor(object$asked$labels[samples$y + 1], object$asked$labels)
    else if (object$family %in% CLASSES) (samples$y + 1) / 2 else samples$y
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
