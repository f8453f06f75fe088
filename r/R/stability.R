#' How often features are selected on random subsamples
#'
#' Stability selection (Meinshausen and Buehlmann 2010): paths on subsamples, and for each size the share of them whose answer has a
#' feature. The draws are seeded by R's random numbers: [set.seed()] fixes them.
#'
#' @inheritParams bestset
#' @param lambda0 The prices of the paths; `NULL` for those where answers change.
#' @param max_size The largest size of the paths; `NULL` for the usual one, at most half of the features.
#' @param subsamples How many subsamples.
#' @param share The share of the samples in each; for two classes of both of them.
#' @param ... Further arguments of [bestset()] and [bestset_control()].
#' @return An object of class `"bestset_stability"`: `table`, a data frame with the share of each feature by size, and `largest`, the
#'   largest share of each feature over the sizes, in descending order.
#' @examples
#' set.seed(1)
#' stability(mpg ~ ., mtcars, subsamples = 20, threads = 2)
#' @export
stability <- function(x, ...) {
  refuse_strange(...names())
  UseMethod("stability")
}

#' @rdname stability
#' @export
stability.default <- function(x, y, lambda0 = NULL, max_size = NULL, subsamples = 100, share = 0.5, ...) {
  fit_stability(x, y, lambda0 = lambda0, max_size = max_size, subsamples = subsamples, share = share, ...)
}

#' @rdname stability
#' @export
stability.data.frame <- function(x, y, groups = NULL, ...) by_frame(fit_stability, x, y, groups, NULL, NULL, ...)

#' @rdname stability
#' @export
stability.formula <- function(formula, data = NULL, weights = NULL, subset = NULL, na.action = NULL, offset = NULL, groups = NULL,
                              strata = NULL, ...) {
  by_formula(fit_stability, match.call(), parent.frame(), groups, ...)
}

fit_stability <- function(x, y, lambda0 = NULL, max_size = NULL, subsamples = 100, share = 0.5, ..., call = NULL, coding = NULL, target = NULL) {
  asked <- ask_for(x, y, coding, ...)
  asked$call$choice <- choice_of(max_size = max_size)
  if (!is.null(lambda0)) asked$call$choice$lambda0s <- sort(unique(as.double(lambda0)), decreasing = TRUE)
  seed <- as.double(sample.int(.Machine$integer.max, 1))
  found <- call_stability(asked$call, whole(subsamples, "subsamples"), number(share, "share"), seed)
  order <- order(-found$largest_share, found$largest_feature)
  largest <- data.frame(feature = name_of(asked, found$largest_feature), share = found$largest_share)[order, ]
  rownames(largest) <- NULL
  table <- data.frame(size = found$size, feature = name_of(asked, found$feature), share = found$share)
  if (found$status %in% LIMITS) warning("stopped at its ", gsub("_", " ", found$status), ": ", found$subsamples, " subsamples were done", call. = FALSE)
  structure(list(largest = largest, table = table, subsamples = found$subsamples, status = found$status), class = "bestset_stability")
}

#' @export
print.bestset_stability <- function(x, n = 10, ...) {
  cat("largest share of ", x$subsamples, " subsamples whose answer of some size has the feature\n", sep = "")
  print(head(x$largest, n), digits = 3, row.names = FALSE)
  if (nrow(x$largest) > n) cat("and", nrow(x$largest) - n, "more\n")
  invisible(x)
}
