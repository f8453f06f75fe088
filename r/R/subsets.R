#' The best subset of every size, each proved
#'
#' As `leaps::regsubsets()`, for more features and more losses: the best subset of at most 1, 2, ..., `nvmax` features. For least squares
#' `lambda2 = NULL` stands for 0 with more samples than features or a few more features, else for 0.01 as in [bestset()], which says what
#' can be proved with `lambda2 = 0`.
#'
#' @inheritParams bestset
#' @param x A formula, or the features, as in [bestset()]; for `plot()` an answer of `subsets()`.
#' @param nvmax The largest size; `NULL` for all features, at most eight, of which the answer says so when it is printed.
#' @param ... For the methods: further arguments, of the problem as in [bestset()] and of [bestset_control()]. A time limit is for
#'   all sizes together.
#' @param object,id An answer of `subsets()`; sizes.
#' @return An object of class `"bestset_subsets"`. Its `summary()` has what that of `regsubsets()` has: `which`, `rsq`, `rss`,
#'   `adjr2`, `cp`, `bic`, `outmat`; and `proved`. `coef(object, id)` has the coefficients of a size.
#' @examples
#' best <- subsets(mpg ~ ., mtcars, threads = 2)
#' best
#' coef(best, 3)
#' summary(best)$adjr2
#' @export
subsets <- function(x, ...) {
  refuse_strange(...names())
  UseMethod("subsets")
}

#' @rdname subsets
#' @export
subsets.default <- function(x, y, nvmax = NULL, ...) fit_subsets(x, y, nvmax = nvmax, ..., call = called(match.call()))

#' @rdname subsets
#' @export
subsets.data.frame <- function(x, y, groups = NULL, ...) by_frame(fit_subsets, x, y, groups, called(match.call()), "y", ...)

#' @rdname subsets
#' @export
subsets.formula <- function(formula, data = NULL, weights = NULL, subset = NULL, na.action = NULL, offset = NULL, groups = NULL,
                            strata = NULL, ...) {
  by_formula(fit_subsets, match.call(), parent.frame(), groups, ...)
}

fit_subsets <- function(x, y, nvmax = NULL, ..., call, coding = NULL, target = NULL) {
  asked <- ask_for(x, y, coding, ...)
  nvmax <- whole(nvmax, "nvmax")
  found <- with_progress(asked$call$control, function(progress) call_subsets(asked$call, nvmax, progress))
  each <- function(name) vapply(found$sizes, function(s) if (is.null(s[[name]])) NA_real_ else as.double(s[[name]]), 0)
  table <- data.frame(size = each("size"))
  for (name in c("objective", "lower_bound", "gap", "loss", "r2", "adjusted_r2", "cp", "aic", "bic")) table[[name]] <- each(name)
  table$status <- vapply(found$sizes, `[[`, "", "status")
  table$proved <- table$status == "optimal"
  table$reached <- vapply(found$sizes, `[[`, TRUE, "reached")
  for (text in found$remarks) warning(text, call. = FALSE)
  limits <- intersect(table$status, LIMITS)
  if (length(limits)) {
    warning("stopped at a limit (", gsub("_", " ", limits[[1]]), "): sizes that are not proved say so in `proved`", call. = FALSE)
  }
  structure(list(call = call, table = table, sizes = lapply(found$sizes, shaped, asked), names = asked$names, p = asked$p, n = asked$n, family = asked$family,
    has_intercept = asked$call$setup$intercept, lambda2 = found$lambda2, dependent = found$dependent, constant = found$constant, stops = is.null(nvmax) && nrow(table) < asked$p, seconds = found$seconds),
    class = "bestset_subsets")
}

#' @rdname subsets
#' @export
coef.bestset_subsets <- function(object, id = seq_along(object$sizes), ...) {
  bad <- setdiff(id, seq_along(object$sizes))
  if (length(bad)) stop("id lists ", bad[[1]], "; there are the sizes 1 to ", length(object$sizes), call. = FALSE)
  one <- function(size) coefficients_of(object, object$sizes[[size]])
  if (length(id) == 1) one(id) else lapply(setNames(id, id), one)
}

#' @export
summary.bestset_subsets <- function(object, ...) {
  which <- t(vapply(object$sizes, function(s) seq_len(object$p) %in% s$support, logical(object$p)))
  if (object$p == 1) which <- t(which)
  dimnames(which) <- list(seq_along(object$sizes), name_of(object, seq_len(object$p)))
  outmat <- ifelse(which, "*", " ")
  if (object$has_intercept) which <- cbind("(Intercept)" = TRUE, which)
  table <- object$table
  structure(list(which = which, rsq = table$r2, rss = 2 * table$loss, adjr2 = table$adjusted_r2, cp = table$cp, aic = table$aic,
    bic = table$bic, proved = table$proved, outmat = outmat, obj = object), class = "summary.bestset_subsets")
}

#' @export
print.summary.bestset_subsets <- function(x, ...) {
  print(x$obj)
  cat("\n")
  print(x$outmat, quote = FALSE)
  invisible(x)
}

#' @export
print.bestset_subsets <- function(x, shown = 8, ...) {
  cat("Call: ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  features <- vapply(x$sizes, function(s) {
    names <- name_of(x, s$support)
    paste0(paste(head(names, shown), collapse = ", "), if (length(names) > shown) " ...")
  }, "")
  columns <- x$table[c("size", "r2", "adjusted_r2", "cp", "bic")]
  # Cp is for least squares.
  columns <- columns[!vapply(columns, function(values) all(is.na(values)), TRUE)]
  table <- cbind(format(columns, digits = 4), status = gsub("_", " ", x$table$status), features = features)
  # One line for each size, however long.
  cells <- rbind(names(table), as.matrix(table))
  left <- colnames(cells) %in% c("status", "features")
  padded <- vapply(seq_along(left), function(j) formatC(trimws(cells[, j]), width = max(nchar(cells[, j])) * (1 - 2 * left[[j]])), cells[, 1])
  cat(trimws(apply(padded, 1, paste, collapse = "  "), "right"), sep = "\n")
  for (group in x$dependent) cat("dependent: ", dependence(name_of(x, group)), "\n", sep = "")
  if (length(x$constant)) cat("left out: ", left_out(x, x$constant), "\n", sep = "")
  if (isTRUE(x$stops)) cat("sizes up to ", nrow(x$table), " of ", x$p, ", as without nvmax: a larger one asks for more\n", sep = "")
  invisible(x)
}

#' @rdname subsets
#' @param scale What the sizes are ranked by: `"bic"`, `"aic"`, `"cp"`, `"adjusted_r2"` or `"r2"`.
#' @export
plot.bestset_subsets <- function(x, scale = "bic", ...) {
  one_of(scale, c("bic", "aic", "cp", "adjusted_r2", "r2"), "scale")
  values <- x$table[[scale]]
  order <- order(values, decreasing = !scale %in% c("adjusted_r2", "r2"))
  used <- sort(unique(unlist(lapply(x$sizes, `[[`, "support"))))
  within <- vapply(x$sizes[order], function(size) 1 * (used %in% size$support), numeric(length(used)))
  old <- par(mar = c(7, 5, 2, 1))
  on.exit(par(old))
  # The best on top, as leaps draws them.
  image(seq_along(used), seq_along(order), matrix(within, length(used)), zlim = c(0, 1), col = c("white", "grey30"), axes = FALSE, xlab = "", ylab = scale, ...)
  axis(1, seq_along(used), name_of(x, used), las = 2, cex.axis = 0.8)
  axis(2, seq_along(order), format(values[order], digits = 3), las = 1, cex.axis = 0.8)
  invisible(x)
}
