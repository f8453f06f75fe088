#' The best subset of the features, and how good it is known to be
#'
#' Minimises the sum of losses with a price on each feature, or subject to a number of features, and proves how good the answer is.
#' Without `lambda0` and `k` a path over `lambda0` is computed and `criterion` chooses.
#'
#' @param x A formula; or the features: a numeric matrix, a sparse matrix of package Matrix (which stays sparse), a data frame, or
#'   an array on disk from [open_npy()]. In a formula or a data frame a factor, or any other term of several columns, is in or out
#'   as a whole (`groups = FALSE` for column by column).
#' @param formula,data,subset,na.action As in [lm()]. Rows with missing values are left out and counted.
#' @param y The target: numbers; for two classes a factor or any two values, of which the second level or the larger counts as
#'   one; for more classes a factor or any values, of which levels without samples are left out; for survival times `Surv(time, status)` or `Surv(start, stop, event)` of package survival, or a matrix with the columns `time` and
#'   `status`, as glmnet wants it.
#' @param family `"gaussian"` (least squares), `"binomial"` (logistic), `"poisson"` and `"negbin"` (counts, see `theta`), `"Gamma"`
#'   (positive amounts), all three with the log link, `"multinomial"` (classes, a feature in for all of them or for none), `"cox"` (survival
#'   times, see `ties` and `strata`), `"huber"` (robust, see `delta`) or `"squared_hinge"` (support vectors); or a family of R: [gaussian()], [binomial()], [poisson()], `Gamma("log")`,
#'   `MASS::negative.binomial(theta)`. `NULL` for what `y` is: `"cox"` for a `Surv()`, `"binomial"` for a factor or texts of two
#'   values, `"multinomial"` of more, and `"gaussian"` for numbers.
#' @param lambda0 The price of a feature; several for a path at these prices.
#' @param k The largest number of features, in place of a price.
#' @param lambda1,lambda2 Prices of absolute and of squared size. `lambda2 = NULL` for 0.01 of the sum of squares of a column: a
#'   coefficient alone of least squares is shrunk by two percent, of other families by more where samples say little (rare classes, small
#'   counts, few events). A lower bound needs `lambda2 > 0` or limits on every coefficient; with
#'   `lambda2 = 0` least squares can be proved with more samples than features or a few more features, of small sizes, and, where columns
#'   are nearly independent, of larger ones.
#' @param criterion,gamma What chooses a point of the path: `"ebic"` (with its `gamma`), `"bic"`, `"aic"`, `"gic"`, `"cp"` or
#'   `"adjusted_r2"`.
#' @param max_size,nlambda0 The largest size and the most points of the path.
#' @param weights Weights of the samples. Whole numbers count like copies of the sample. Unlike in glmnet they are not rescaled.
#' @param offset A fixed part of the linear predictor; of an exposure its logarithm. Of many classes a matrix with a column for each.
#' @param standardize Whether the penalties are on columns of norm one (`TRUE`, `"norm"`), of variance one (`"variance"`) or as they
#'   are (`FALSE`). Coefficients are always those of the columns given.
#' @param intercept Whether there is an intercept, without a price.
#' @param penalty.factor Factors of `lambda0`, one for each feature: 0 for features that cost nothing, `Inf` for features kept out.
#'   Unlike in glmnet they are not rescaled; `shrinkage` has those of `lambda1` and `lambda2`.
#' @param shrinkage Factors of `lambda1` and `lambda2`, one for each feature.
#' @param exclude,always Features kept out, features that cost nothing: by number, by name or by a mask. The name of a factor, or of
#'   a term of the formula, stands for all of its columns.
#' @param lower.limits,upper.limits Limits of the coefficients, one or one for each feature; they must contain zero.
#' @param groups One label for each feature: features with the same label are in or out together. A group costs `lambda0` times its
#'   size; with `k` it counts for as many features as it has.
#' @param group_prices Other prices of the groups, in units of `lambda0`, in the order of `sort(unique(groups))`.
#' @param delta Where the Huber loss turns from squares to absolute values, in units of the response; by default 1.345 times the spread of
#'   the residuals of a first fit, estimated by their median absolute deviation.
#' @param theta Of the negative binomial: the variance of a count of mean m is m + m^2/theta.
#' @param ties Of survival times: how events at the same time are counted, `"efron"` or `"breslow"`.
#' @param strata Of survival times: labels, or a data frame of several; samples are compared within strata only. In a formula `strata(site)` is
#'   the same.
#' @param ... Settings of [bestset_control()]: `method`, `prove`, `time_limit`, `threads` and others.
#' @return An object of class `"bestset"`, for which there are [coef()][coef.bestset], [predict()][predict.bestset],
#'   [summary()], [plot()][plot.bestset], [certificate()], [refit()], [report()] and the usual methods. Its fields:
#'   \item{support, values, intercept}{the selected features, their coefficients, the intercept; of many classes a column of
#'     coefficients and an intercept for each}
#'   \item{objective, lower_bound, gap, relative_gap}{the certificate: no coefficients have an objective below `lower_bound`}
#'   \item{status, proved}{`"optimal"` where the gap is within the tolerance, `"converged"`, or the limit that struck}
#'   \item{standing, r2, r2_limit}{what is proved, in words and as R squared}
#'   \item{lambda0, lambda1, lambda2, k}{the problem that the certificate is for}
#'   \item{path}{the path it was chosen from: `points`, a data frame with a row for each, and `beta`, their coefficients}
#'   \item{ranked}{the best subsets, with `method = "exact"` and `top`}
#'   \item{survival}{of survival times: `events`, `concordance`, `log_likelihood` and the `baseline` hazard}
#'   \item{remarks}{what there is to know about the choice}
#' @seealso [cv.bestset()], [subsets()], [certify()], [stability()].
#' @examples
#' fit <- bestset(mpg ~ ., mtcars, threads = 2)
#' fit
#' coef(fit)
#' # The best three features, proved.
#' best <- bestset(mpg ~ ., mtcars, k = 3, lambda2 = 0, method = "exact", threads = 2)
#' certificate(best)
#' # Many classes: one column of coefficients for each.
#' species <- bestset(Species ~ ., iris, k = 2, threads = 2)
#' coef(species)
#' table(predict(species, type = "class"), iris$Species)
#' @examplesIf requireNamespace("survival", quietly = TRUE)
#' # Survival times: strata() and offset() of the formula as coxph() has them.
#' lung <- na.omit(survival::lung)
#' cox <- bestset(Surv(time, status == 2) ~ . - inst - sex + strata(sex), lung, threads = 2)
#' cox
#' predict(cox, lung[1:3, ], type = "survival", times = c(180, 365))
#' @export
bestset <- function(x, ...) {
  refuse_strange(...names())
  UseMethod("bestset")
}

#' @rdname bestset
#' @export
bestset.default <- function(x, y, family = NULL, lambda0 = NULL, k = NULL, lambda1 = 0, lambda2 = NULL, criterion = "ebic",
                            gamma = 1, max_size = NULL, nlambda0 = NULL, weights = NULL, offset = NULL, standardize = TRUE,
                            intercept = TRUE, penalty.factor = NULL, shrinkage = NULL, exclude = NULL, always = NULL,
                            lower.limits = -Inf, upper.limits = Inf, groups = NULL, group_prices = NULL, delta = NULL, theta = NULL,
                            ties = "efron", strata = NULL, ...) {
  fit(x, y, family = family, lambda0 = lambda0, k = k, lambda1 = lambda1, lambda2 = lambda2, criterion = criterion, gamma = gamma,
    max_size = max_size, nlambda0 = nlambda0, weights = weights, offset = offset, standardize = standardize, intercept = intercept,
    penalty.factor = penalty.factor, shrinkage = shrinkage, exclude = exclude, always = always, lower.limits = lower.limits,
    upper.limits = upper.limits, groups = groups, group_prices = group_prices, delta = delta, theta = theta, ties = ties, strata = strata,
    ..., call = called(match.call()), target = named(substitute(y)))
}

#' @rdname bestset
#' @export
bestset.data.frame <- function(x, y, groups = NULL, ...) by_frame(fit, x, y, groups, called(match.call()), named(substitute(y)), ...)

#' @rdname bestset
#' @export
bestset.formula <- function(formula, data = NULL, weights = NULL, subset = NULL, na.action = NULL, offset = NULL, groups = NULL,
                            strata = NULL, ...) {
  by_formula(fit, match.call(), parent.frame(), groups, ...)
}

# Passes a data frame on, as columns.
by_frame <- function(fit, x, y, groups, call, target, ...) {
  made <- columns_of(x)
  if (is.null(groups)) groups <- useful(made$groups)
  fit(made$x, y, groups = groups, ..., call = call, target = target, coding = list(levels = made$levels, columns = names(x), members = made$members))
}

# Passes a formula on, as columns. What its parts are called is for the model frame alone.
by_formula <- function(fit, call, envir, groups, ...) {
  made <- encoded(framed(call, envir))
  words <- list(...)
  if (!is.null(words$intercept)) stop("the formula says whether there is an intercept: leave it out by `- 1`", call. = FALSE)
  if (is.null(groups)) groups <- made$groups
  terms <- made$coding$terms
  fit(made$x, made$y, weights = made$weights, offset = made$offset, strata = made$strata, groups = groups, intercept = made$intercept, ...,
    call = called(call), target = paste(deparse(terms[[2]]), collapse = ""), coding = made$coding)
}

# The call by the name of the generic.
called <- function(call) {
  call[[1]] <- as.name(sub("\\.(default|formula|data\\.frame)$", "", as.character(call[[1]])[[length(as.character(call[[1]]))]]))
  call
}

# What the target is called.
named <- function(expression) {
  text <- paste(deparse(expression), collapse = "")
  if (nchar(text) > 40) "y" else text
}
