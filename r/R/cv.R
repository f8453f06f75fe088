#' Cross-validation chooses the number of features
#'
#' Compares sizes, and shrinkages `lambda2`, on samples left out, then fits and proves the model of the best size on all samples.
#' The folds are drawn by R's random numbers: [set.seed()] fixes them.
#'
#' @inheritParams bestset
#' @param nfolds The number of folds; of classes each has its share of every one, for survival times its share of the events.
#' @param foldid The fold of each sample, any labels: samples with the same label are left out together.
#' @param type.measure The score: `"mse"`, `"mae"`, `"deviance"`, for classes also `"class"` (share of wrong ones) and `"auc"`, for survival
#'   times `"deviance"` (of the partial likelihood, of all samples less that of the training part, per event left out) and `"C"`
#'   (Harrell's concordance); `"default"` for squared error with least squares and the deviance with all others.
#' @param select The best mean score (`"min"`), or the fewest features within one standard error of it (`"1se"`).
#' @param ... Further arguments of [bestset()] and [bestset_control()]. `lambda2` may have several values to compare.
#' @return As of [bestset()], of class `c("cv.bestset", "bestset")`, with
#'   \item{cvm, cvsd}{mean score and its standard error at each point of `path$points`}
#'   \item{folds}{the score of each fold, one row for each point}
#'   \item{index}{the points of `"min"` and `"1se"`}
#'   \item{foldid}{the folds}
#'   \item{frequencies}{the share of the folds whose answer of the same size has each selected feature}
#' @examples
#' set.seed(1)
#' fit <- cv.bestset(Fertility ~ ., swiss, nfolds = 5, threads = 2)
#' fit
#' plot(fit)
#' @export
cv.bestset <- function(x, ...) {
  refuse_strange(...names())
  UseMethod("cv.bestset")
}

#' @rdname cv.bestset
#' @export
cv.bestset.default <- function(x, y, ..., nfolds = 10, foldid = NULL, type.measure = "default", select = c("min", "1se")) {
  fit_cv(x, y, ..., nfolds = nfolds, foldid = foldid, type.measure = type.measure, select = select, call = called(match.call()),
    target = named(substitute(y)))
}

#' @rdname cv.bestset
#' @export
cv.bestset.data.frame <- function(x, y, groups = NULL, ...) {
  by_frame(fit_cv, x, y, groups, called(match.call()), named(substitute(y)), ...)
}

#' @rdname cv.bestset
#' @export
cv.bestset.formula <- function(formula, data = NULL, weights = NULL, subset = NULL, na.action = NULL, offset = NULL, groups = NULL,
                               strata = NULL, ...) {
  by_formula(fit_cv, match.call(), parent.frame(), groups, ...)
}

fit_cv <- function(..., nfolds = 10, foldid = NULL, type.measure = "default", select = c("min", "1se")) {
  select <- match.arg(select)
  one_of(type.measure, c("default", names(SCORES)), "type.measure")
  words <- list(...)
  for (name in c("k", "criterion")) {
    if (!is.null(words[[name]])) stop(name, " is given, but cross-validation chooses; leave it out, or use bestset()", call. = FALSE)
  }
  if (length(words$lambda0) == 1) stop("lambda0 is one price: there is nothing to choose; give several, or none", call. = FALSE)
  folding <- function(asked) {
    parts <- folds_of(foldid, nfolds, asked)
    check_classes(asked, parts)
    list(
      foldid = parts, one_se = select == "1se",
      score = if (type.measure != "default") SCORES[[type.measure]]
    )
  }
  fit(..., folding = folding)
}

# The fold of each sample: given, or dealt out in a random order, class by class, events and censored times apart.
folds_of <- function(foldid, nfolds, asked) {
  if (is.null(foldid)) {
    whole(nfolds, "nfolds")
    if (nfolds < 2 || nfolds > asked$n) stop("nfolds is ", nfolds, "; it must be at least 2 and at most ", asked$n, ", the number of samples", call. = FALSE)
    class <- if (asked$family %in% CLASSES) asked$call$data$y else if (asked$family == "cox") asked$call$data$survival$event else 0
    foldid <- integer(asked$n)
    foldid[order(rep_len(class, asked$n), stats::runif(asked$n))] <- rep_len(seq_len(nfolds), asked$n)
    return(foldid)
  }
  if (length(foldid) != asked$n) stop("foldid has length ", length(foldid), ", but x has ", asked$n, " rows", call. = FALSE)
  if (anyNA(foldid)) stop("foldid[", which(is.na(foldid))[[1]], "] is missing", call. = FALSE)
  match(foldid, sort(unique(foldid)))
}

# An answer with the scores that chose it. The engine counts right classes, glmnet's word is for wrong ones.
validated <- function(object, folding) {
  found <- object$validation
  object["validation"] <- NULL
  object$foldid <- folding$foldid
  if (!is.null(found)) {
    wrong <- found$score == "accuracy"
    turned <- function(score) if (wrong) 1 - score else score
    object$cvm <- turned(found$mean)
    object$cvsd <- found$standard_error
    object$folds <- matrix(turned(found$folds), nrow = length(found$mean), byrow = TRUE)
    object$measure <- if (wrong) "share of wrong classes" else found$title
    object$index <- c(min = found$best, `1se` = found$one_se)
    object$frequencies <- found$frequencies
  }
  class(object) <- c("cv.bestset", "bestset")
  object
}
