#' Plots of an answer
#'
#' @param x An answer of [bestset()] or [cv.bestset()].
#' @param type `"path"`: coefficients, of many classes their lengths, against the number of features. `"cv"`: scores on samples left out, with their standard
#'   errors. `"gap"`: objective and lower bound along the path, or as the solve went. `"support"`: which features are in at each size.
#' @param ... Further arguments of [plot()].
#' @return `x`, invisibly.
#' @examples
#' fit <- bestset(mpg ~ ., mtcars, threads = 2)
#' plot(fit)
#' plot(fit, "support")
#' @export
plot.bestset <- function(x, type = NULL, ...) {
  if (is.null(type)) type <- if (!is.null(x$cvm)) "cv" else if (!is.null(x$path)) "path" else "gap"
  one_of(type, c("path", "cv", "gap", "support"), "type")
  if (type %in% c("path", "support") && is.null(x$path)) {
    stop("there is one answer and no path: fit without lambda0 and k for one", call. = FALSE)
  }
  switch(type, path = plot_path(x, ...), cv = plot_cv(x, ...), gap = plot_gap(x, ...), support = plot_support(x, ...))
  invisible(x)
}

# The points of the path with the shrinkage of the answer, one for each size: the one that fits best.
by_size <- function(x) {
  points <- x$path$points
  own <- which(points$lambda2 == x$lambda2)
  own <- own[order(points$size[own], -points$r2[own])]
  own[!duplicated(points$size[own])]
}

plot_path <- function(x, xlab = "features", ylab = if (is.null(x$path$classes)) "coefficient" else "length of the coefficients of all classes", ...) {
  own <- by_size(x)
  beta <- as.matrix(x$path$beta[, own, drop = FALSE])
  used <- which(rowSums(beta != 0) > 0)
  sizes <- x$path$points$size[own]
  if (!length(used)) stop("no feature is ever selected on the path", call. = FALSE)
  colours <- hcl.colors(length(used), "Dark 3")
  # A grid of one point is drawn as points.
  matplot(sizes, t(beta[used, , drop = FALSE]), type = if (length(sizes) > 1) "b" else "p", pch = 16, cex = 0.6, lty = 1, col = colours,
    xlab = xlab, ylab = ylab, ...)
  abline(v = x$size, lty = 3)
  last <- beta[used, ncol(beta)]
  shown <- head(order(-abs(last)), 10)
  text(max(sizes), last[shown], name_of(x, used[shown]), pos = 2, cex = 0.7, col = colours[shown])
}

plot_cv <- function(x, xlab = "features", ylab = x$measure, ...) {
  if (is.null(x$cvm)) stop("there are no folds; cv.bestset() makes some", call. = FALSE)
  points <- x$path$points
  own <- which(points$lambda2 == points$lambda2[x$index[["min"]]] & !is.na(x$cvm))
  own <- own[!duplicated(points$size[own])]
  error <- ifelse(is.na(x$cvsd), 0, x$cvsd)[own]
  low <- x$cvm[own] - error
  high <- x$cvm[own] + error
  plot(points$size[own], x$cvm[own], ylim = range(low, high), pch = 16, xlab = xlab, ylab = ylab, ...)
  segments(points$size[own], low, points$size[own], high, col = "grey")
  points(points$size[own], x$cvm[own], pch = 16)
  abline(v = points$size[x$index], lty = c(3, 2))
  legend("topright", c("min", "1se"), lty = c(3, 2), bty = "n")
}

plot_gap <- function(x, ...) {
  if (is.null(x$path)) {
    trace <- x$trace
    if (is.null(trace) || !nrow(trace)) stop("there is no trace; fit with trace = TRUE", call. = FALSE)
    return(two_lines(trace$seconds, trace$objective, trace$lower_bound, "seconds", ...))
  }
  points <- x$path$points[x$path$points$lambda2 == x$lambda2, ]
  two_lines(points$lambda0, points$objective, points$lower_bound, "lambda0", log = "x", ...)
  abline(v = x$lambda0, lty = 3)
}

two_lines <- function(at, above, below, xlab, ylab = "objective", ...) {
  below[!is.finite(below)] <- NA
  plot(at, above, type = "o", pch = 16, cex = 0.6, xlab = xlab, ylab = ylab, ylim = range(above, below, na.rm = TRUE), ...)
  lines(at, below, lty = 2)
  legend("bottomright", c("objective", "lower bound"), lty = 1:2, bty = "n")
}

plot_support <- function(x, xlab = "features", ylab = "", ...) {
  own <- by_size(x)
  member <- as.matrix(x$path$beta[, own, drop = FALSE] != 0)
  used <- which(rowSums(member) > 0)
  if (!length(used)) stop("no feature is ever selected on the path", call. = FALSE)
  used <- used[order(rowSums(member[used, , drop = FALSE]))]
  old <- par(mar = par("mar") + c(0, 3, 0, 0))
  on.exit(par(old))
  image(seq_along(own), seq_along(used), 1 * t(member[used, , drop = FALSE]), col = c("white", "steelblue"), axes = FALSE, xlab = xlab,
    ylab = ylab, zlim = c(0, 1), ...)
  axis(1, seq_along(own), x$path$points$size[own])
  axis(2, seq_along(used), name_of(x, used), las = 1, cex.axis = 0.7)
}
