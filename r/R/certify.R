#' How far given coefficients, from any package, can be from the best possible
#'
#' Judges coefficients by the objective of [bestset()]: their own value, a lower bound that no coefficients are below, and the best
#' answer that was found on the way.
#'
#' @param object Coefficients: a vector with one entry for each column of `x`, or with names; a fit with a method of [coef()] such as
#'   `lm`, `glm`, `coxph`, `glmnet` (with `s`) or `regsubsets` (with `id`). A coefficient named `(Intercept)`, or `(intercept)` as the command writes it, is the intercept.
#'   Of many classes a matrix with a row for each feature and a column for each class, a `glmnet` of family multinomial, or a fit of
#'   `nnet::multinom()`, whose coefficients are taken in the middle of the classes, where they are shrunk least.
#' @param x,y The samples, with all features that a subset could have. For a model with a formula the columns of its model matrix.
#' @param lambda0,k The objective to judge by: a price of a feature, or the largest number of them.
#' @param intercept The intercept of coefficients that have none of their own, of many classes one for each; `FALSE` where the model to judge
#'   has none.
#' @param s,id The point of a `glmnet` path; the size of a `regsubsets` object.
#' @param lambda2 As in [bestset()]; coefficients of least squares are judged with `lambda2 = 0`.
#' @param ... Further arguments of [bestset()] and [bestset_control()].
#' @return An object of class `"certificate"`; `found` is the answer that was found on the way.
#' @examples
#' x <- as.matrix(mtcars[-1])
#' step <- lm(mpg ~ wt + qsec + am, mtcars)
#' certify(step, x, mtcars$mpg, k = 3, lambda2 = 0, method = "exact", threads = 2)
#' @export
certify <- function(object, x, y, k = NULL, lambda0 = NULL, lambda2 = NULL, intercept = 0, s = NULL, id = NULL, ...) {
  if (is.null(lambda0) && is.null(k)) stop("give lambda0 (the price of a feature) or k (how many): the objective to judge by", call. = FALSE)
  words <- list(...)
  coding <- NULL
  if (is.data.frame(x)) {
    coding <- columns_of(x)
    x <- coding$x
    if (is.null(words$groups)) words$groups <- useful(coding$groups)
  }
  if (is.logical(intercept)) {
    words$intercept <- intercept
    intercept <- 0
  }
  asked <- do.call(ask_for, c(list(x, y, coding, lambda2 = lambda2), words))
  asked$call$choice <- choice_of(lambda0, k)
  given <- given(object, asked, intercept, s, id)
  found <- with_progress(asked$call$control, function(progress) call_certify(asked$call, given, progress))
  answer <- result(found$selected, asked)
  found$selected <- NULL
  if (answer$status %in% LIMITS) {
    warning("the search was ", if (answer$status == "interrupted") answer$status else paste("stopped at its", gsub("_", " ", answer$status)), "; the bound holds, and more time may raise it", call. = FALSE)
  }
  found[c("lambda0", "lambda1", "lambda2", "k")] <- answer[c("lambda0", "lambda1", "lambda2", "k")]
  found$proved <- found$status == "optimal"
  found$found <- answer
  found$best_known <- paste(format(answer$objective, digits = 7), "with", answer$size, "features")
  structure(found, class = "certificate")
}

# Support, values and intercept of what is given: an answer as it is where it is one of these features, others by what coef() has.
given <- function(object, asked, intercept = 0, s = NULL, id = NULL, what = "object") {
  if (inherits(object, "bestset") && object$p == asked$p && identical(object$names, asked$names) &&
      length(object$intercept) == max(1, asked$call$setup$classes)) return(answer_of(object))
  if (asked$family == "multinomial") given_classes(object, asked, intercept, s, what) else given_coefficients(object, asked, intercept, s, id, what)
}

# The same of coefficients that are one for each feature.
given_coefficients <- function(object, asked, intercept, s, id, what) {
  values <- if (is.numeric(object)) object else if (inherits(object, "glmnet") || inherits(object, "cv.glmnet")) {
    if (is.null(s)) stop("give s, the point of the glmnet path to judge", call. = FALSE)
    found <- coef(object, s = s)
    if (ncol(found) != 1) stop("s has ", ncol(found), " values; give one", call. = FALSE)
    setNames(as.vector(found), rownames(found))
  } else if (!is.null(id)) coef(object, id) else coef(object)
  if (is.matrix(values) || is(values, "Matrix")) values <- one_line(values, what)
  if (!is.numeric(values)) stop("no coefficients were found in ", what, ", of class ", class(object)[[1]], call. = FALSE)
  if (is.null(names(values)) || is.null(asked$names)) {
    known <- is_intercept(names(values))
    if (length(known) && any(known)) {
      intercept <- values[[which(known)]]
      values <- values[!known]
    } else if (length(values) == asked$p + 1 && !is.numeric(object)) {
      intercept <- values[[1]]
      values <- values[-1]
    }
    if (length(values) != asked$p) stop(what, " has ", length(values), " coefficients for ", asked$p, " features", call. = FALSE)
    support <- which(values != 0)
    return(list(support = support, values = as.double(values[support]), intercept = intercept))
  }
  known <- is_intercept(names(values))
  if (any(known)) intercept <- values[[which(known)]]
  values <- values[!known]
  # lm() has NA for what others determine.
  values <- values[!is.na(values) & values != 0]
  found <- match(names(values), asked$names)
  if (anyNA(found)) stop("the coefficient ", dQuote(names(values)[is.na(found)][[1]], FALSE), " of ", what, " is no column of x", call. = FALSE)
  order <- order(found)
  list(support = found[order], values = as.double(values[order]), intercept = intercept)
}

# Which names are that of the intercept, as coef() or the command write it.
is_intercept <- function(names) names %in% c("(Intercept)", "(intercept)")

# The one row or column of a matrix, by the names along it.
one_line <- function(values, what) {
  if (!any(dim(values) == 1)) {
    stop(what, " is a matrix of ", nrow(values), " x ", ncol(values), "; one row or one column of coefficients is needed, one for each feature", call. = FALSE)
  }
  setNames(as.vector(values), if (ncol(values) == 1) rownames(values) else colnames(values))
}
