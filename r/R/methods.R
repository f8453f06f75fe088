# What R users expect of a fit.

# A bound with few digits, rounded to the side on which it still is one: lower bounds down, gaps up.
bounded <- function(x, digits, above) {
  if (!is.finite(x)) return(format(x))
  whole <- if (x == 0) 1 else floor(log10(abs(x))) + 1
  # As format() has it: no digit before the point is left out.
  call_shown(x, max(digits, if (whole <= 15) whole), above)
}

percent <- function(x) if (!is.finite(x)) "an unknown share" else call_percent(x)

# The lower bound, or how far below the objective it is: the digits left out of both could be more than there is between them.
lower_bound <- function(x, digits) {
  bound <- bounded(x$lower_bound, digits, FALSE)
  if (!is.finite(x$gap) || !call_misleads(format(x$objective, digits = digits), bound, x$gap)) return(bound)
  if (x$gap > 0) paste("the objective less", bounded(x$gap, 4, TRUE)) else "the objective itself"
}

# What the certificate says, in words.
statement <- function(object) {
  if (!is.finite(object$lower_bound)) return("no bound: it takes lambda2 > 0, or limits on every coefficient")
  if (object$status == "optimal") return("best possible: proved best within the tolerance")
  size <- if (is.null(object$k)) "" else paste0(" of at most ", object$k, " feature", if (object$k != 1) "s")
  paste0("best possible within ", percent(object$relative_gap), ": no subset", size, " lowers the objective by more than ",
    bounded(object$gap, 4, TRUE))
}

chosen_by <- function(object) {
  by <- if (is.null(object$criterion)) "cross-validation" else object$criterion
  # A size that nobody gave is one that was chosen: the best at no price that was compared.
  paste0(if (is.null(object$k)) paste0("lambda0 = ", format(object$lambda0, digits = 6)) else paste0("none: at most k = ", object$k),
    if (!is.null(object$path)) paste0(", chosen by ", by, " along a path of ", nrow(object$path$points), " points"))
}

problem <- function(object) {
  paste0("family ", object$family, ", lambda1 = ", format(object$lambda1, digits = 6), ", lambda2 = ", format(object$lambda2, digits = 6))
}

#' @export
print.bestset <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  if (!is.null(x$call)) cat("Call: ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat(x$size, " of ", x$p, " features, family ", x$family, "\n", sep = "")
  if (length(coef(x))) print(format(coef(x), digits = digits), quote = FALSE, right = TRUE)
  cat("\n", statement(x), "\n", sep = "")
  invisible(x)
}

#' @export
summary.bestset <- function(object, ...) {
  values <- coef(object)
  table <- if (is.matrix(values)) as.data.frame(values, optional = TRUE) else data.frame(coefficient = values)
  if (!is.null(object$frequencies)) {
    shares <- c(if (has_intercept(object)) NA, object$frequencies)
    table[["in folds"]] <- ifelse(is.na(shares), "", paste(round(100 * shares), "%"))
  }
  lines <- c(
    `penalty per feature` = chosen_by(object), problem = problem(object), certificate = statement(object), standing = object$standing
  )
  if (object$family == "cox") lines <- c(lines, survival = survival_line(object))
  left_out <- length(object$coding$na.action)
  if (left_out) lines <- c(lines, samples = paste0(object$n, "; left out: ", left_out, " with missing values"))
  for (group in object$dependent) lines <- c(lines, dependent = dependence(name_of(object, group)))
  if (length(object$constant)) lines <- c(lines, `left out` = left_out(object, object$constant))
  lines <- c(lines, setNames(object$remarks, rep("remark", length(object$remarks))))
  structure(list(call = object$call, target = object$target, size = object$size, p = object$p, family = object$family,
    coefficients = table, lines = lines), class = "summary.bestset")
}

survival_line <- function(object) {
  found <- object$survival
  strata <- length(object$asked$strata)
  paste0(found$events, " events of ", object$n, " samples, ", object$asked$call$setup$ties, " ties", if (strata > 1) paste0(", ", strata, " strata"),
    "; concordance ", format(found$concordance, digits = 4))
}

dependence <- function(names) {
  if (length(names) == 1) return(paste(names, "is constant but for rounding"))
  paste(paste(names, collapse = ", "), "are combinations of each other but for rounding: subsets with all of them were taken to fit no better than with one less")
}

# Which features were left out because they are constant; the first of many.
left_out <- function(object, constant, shown = 8) {
  names <- c(name_of(object, head(constant, shown)), if (length(constant) > shown) paste(length(constant) - shown, "more"))
  if (length(names) == 1) return(paste(names, "is constant"))
  paste(paste(head(names, -1), collapse = ", "), "and", names[[length(names)]], "are constant")
}

#' @export
print.summary.bestset <- function(x, ...) {
  cat(x$target, ": ", x$size, " of ", x$p, " features, family ", x$family, "\n\n", sep = "")
  print(x$coefficients, ...)
  cat("\n")
  width <- max(nchar(names(x$lines)))
  cat(paste0(formatC(names(x$lines), width = -width), "  ", x$lines), sep = "\n")
  invisible(x)
}

#' What is proved of an answer
#'
#' @param object An answer of [bestset()], [cv.bestset()] or [certify()], or a model from [read_model()].
#' @return An object of class `"certificate"`: the objective, a lower bound that no coefficients are below, the gap between the
#'   two, the status, and the standing in words. The certificate is about the objective, not about the truth: the best subset of
#'   noisy data need not be the true one.
#' @examples
#' certificate(bestset(Fertility ~ ., swiss, threads = 2))
#' @export
certificate <- function(object) {
  if (!inherits(object, c("bestset", "certificate", "bestset_model"))) {
    stop("there is no certificate in an object of class ", class(object)[[1]], "; certify() makes one for coefficients", call. = FALSE)
  }
  fields <- c("objective", "lower_bound", "gap", "relative_gap", "relaxation", "status", "standing", "r2", "r2_limit", "lambda0",
    "lambda1", "lambda2", "k")
  structure(unclass(object)[intersect(fields, names(object))], class = "certificate")
}

#' @export
print.certificate <- function(x, digits = 7, ...) {
  rows <- c(
    objective = format(x$objective, digits = digits), `lower bound` = lower_bound(x, digits),
    gap = if (is.finite(x$gap)) paste0(bounded(x$gap, 4, TRUE), " (", percent(x$relative_gap), ")") else "not known",
    verdict = if (is.finite(x$objective)) statement(x) else "not allowed: more features than k, or outside the limits",
    standing = x$standing, status = gsub("_", " ", x$status), `best known` = x$best_known
  )
  cat(paste0(formatC(names(rows), width = 11), "  ", rows), sep = "\n")
  invisible(x)
}

#' @export
fitted.bestset <- function(object, ...) stats::napredict(object$coding$na.action, means(object))

# The fitted values of the samples that were used.
means <- function(object) shown_as(object, margins(object), if (object$family == "squared_hinge") "link" else "response")

#' @export
residuals.bestset <- function(object, type = NULL, ...) {
  type <- one_of(if (is.null(type)) if (object$family == "cox") "martingale" else "response" else type,
    c(if (object$family == "cox") "martingale" else "response", if (object$family != "multinomial") "deviance"), "type")
  if (object$family == "cox") return(stats::naresid(object$coding$na.action, survival_residuals(object, type)))
  y <- target_of(object)
  if (object$family == "squared_hinge") stop("there are no residuals for family \"squared_hinge\"", call. = FALSE)
  mean <- means(object)
  is_plain <- type == "response" || object$family %in% c("gaussian", "huber")
  found <- if (is_plain) y - mean else sign(y - mean) * sqrt(2 * losses(object))
  stats::naresid(object$coding$na.action, found)
}

# The target as numbers: two classes as 0 and 1, many as a column of these for each.
target_of <- function(object) {
  y <- object$asked$call$data$y
  if (object$family == "multinomial") return(structure(1 * outer(y + 1, seq_along(labels_of(object)), `==`), dimnames = list(NULL, labels_of(object))))
  if (object$family == "binomial") (y + 1) / 2 else y
}

# The loss of each sample, without weights.
losses <- function(object) {
  y <- object$asked$call$data$y
  u <- margins(object)
  switch(object$family,
    gaussian = (y - u)^2 / 2,
    binomial = -stats::plogis(y * u, log.p = TRUE),
    multinomial = log_sums(u) - u[cbind(seq_along(y), y + 1)],
    poisson = stats::poisson()$dev.resids(y, exp(u), rep(1, length(y))) / 2,
    Gamma = stats::Gamma()$dev.resids(y, exp(u), rep(1, length(y))) / 2,
    negbin = {
      theta <- object$asked$call$setup$theta
      (y + theta) * log((theta + exp(u)) / (theta + y)) - ifelse(y > 0, y * (u - log(pmax(y, 1e-300))), 0)
    },
    squared_hinge = pmax(0, 1 - y * u)^2,
    huber = {
      delta <- object$asked$call$setup$delta
      r <- abs(y - u)
      ifelse(r <= delta, r^2 / 2, delta * r - delta^2 / 2)
    }
  )
}

weights_of <- function(object) {
  weights <- object$asked$call$data$weights
  if (is.null(weights)) rep(1, object$n) else weights
}

#' @export
weights.bestset <- function(object, ...) object$asked$call$data$weights

#' @export
deviance.bestset <- function(object, ...) {
  if (object$family == "cox") return(-2 * object$survival$log_likelihood)
  2 * sum(weights_of(object) * losses(object))
}

# As coxph() has it: events count, not samples.
#' @export
nobs.bestset <- function(object, ...) if (object$family == "cox") object$survival$events else sum(weights_of(object) > 0)

#' @export
logLik.bestset <- function(object, ...) {
  if (object$family == "cox") {
    return(structure(object$survival$log_likelihood, df = object$size, nobs = object$survival$events, class = "logLik"))
  }
  w <- weights_of(object)
  n <- sum(w > 0)
  y <- target_of(object)
  mean <- if (object$family %in% LOG_LINK) means(object)
  value <- switch(object$family,
    gaussian = (sum(log(w[w > 0])) - n * (log(2 * pi) + 1 - log(n) + log(deviance.bestset(object)))) / 2,
    binomial = , multinomial = -sum(w * losses(object)),
    poisson = sum(w * (y * log(mean) - mean - lgamma(y + 1))),
    # As logLik() of glm() has it: with the dispersion deviance/n.
    Gamma = -(stats::Gamma()$aic(y, n, mean, w, deviance.bestset(object)) - 2) / 2,
    negbin = {
      theta <- object$asked$call$setup$theta
      sum(w * (lgamma(theta + y) - lgamma(theta) - lgamma(y + 1) + theta * log(theta / (theta + mean)) +
        ifelse(y > 0, y * log(mean / (theta + mean)), 0)))
    },
    stop("family \"", object$family, "\" is no likelihood", call. = FALSE)
  )
  df <- object$size + has_intercept(object) + (object$family %in% c("gaussian", "Gamma"))
  # The coefficients of one class are determined by the others.
  if (object$family == "multinomial") df <- df * (length(labels_of(object)) - 1)
  structure(value, df = df, nobs = n, class = "logLik")
}

#' @export
formula.bestset <- function(x, selected = FALSE, ...) {
  terms <- x$coding$terms
  if (!selected && !is.null(terms)) return(stats::formula(terms))
  right <- if (selected) selected_terms(x) else quoted(if (is.null(x$coding$columns)) name_of(x, seq_len(x$p)) else x$coding$columns)
  right <- c(right, attr(terms, "term.labels")[x$coding$apart], offset_terms(terms))
  if (!length(right)) right <- "1"
  if (!has_intercept(x) && x$family != "cox") right <- c(right, "-1")
  left <- if (is.null(terms)) quoted(x$target) else paste(deparse(terms[[2]], backtick = TRUE), collapse = "")
  stats::as.formula(paste(left, "~", paste(right, collapse = " + ")), env = if (is.null(terms)) parent.frame() else environment(terms))
}

# The offsets that a formula has.
offset_terms <- function(terms) {
  parts <- as.list(attr(terms, "variables"))[attr(terms, "offset") + 1L]
  vapply(parts, function(part) paste(deparse(part, width.cutoff = 500, backtick = TRUE), collapse = " "), "")
}

# Names of columns as a formula has them: what looks like an interaction or a call is a name all the same.
quoted <- function(names) ifelse(make.names(names) == names, names, paste0("`", names, "`"))

# The terms or columns that the selected features belong to.
selected_terms <- function(object) {
  if (!is.null(object$coding$terms)) return(attr(object$coding$terms, "term.labels")[unique(object$coding$assign[object$support])])
  if (!is.null(object$coding$columns)) return(quoted(needed_columns(object, object$support)))
  quoted(name_of(object, object$support))
}

#' @export
vcov.bestset <- function(object, ...) {
  stop("there is no vcov() of selected features: standard errors that take the selection for given are too small, and tests with them ",
    "are not valid. refit() gives an ordinary fit of the selected features to those who know this; stability() says how often ",
    "features are selected on subsamples", call. = FALSE)
}

#' @export
family.bestset <- function(object, ...) {
  switch(object$family, gaussian = stats::gaussian(), binomial = stats::binomial(), poisson = stats::poisson(),
    Gamma = stats::Gamma("log"), stop("family \"", object$family, "\" is not one of R's", call. = FALSE))
}
