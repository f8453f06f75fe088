# Fits of survival::coxph, ridge() and glmnet to the problems of a JSON file; answers as JSON.
suppressMessages({library(survival); library(jsonlite)})
args <- commandArgs(TRUE)
problems <- fromJSON(args[[1]], simplifyVector = TRUE, simplifyDataFrame = FALSE, simplifyMatrix = TRUE)
one <- function(problem) {
  x <- as.matrix(problem$x)
  y <- if (is.null(problem$entry)) Surv(problem$time, problem$event) else Surv(problem$entry, problem$time, problem$event)
  data <- list(y = y, x = x)
  terms <- if (problem$lambda2 > 0) "ridge(x, theta = theta, scale = FALSE)" else "x"
  theta <- 2 * problem$lambda2
  if (!is.null(problem$strata)) { data$s <- problem$strata; terms <- paste(terms, "+ strata(s)") }
  data$theta <- theta
  w <- if (is.null(problem$weights)) rep(1, nrow(x)) else problem$weights
  data$w <- w
  # ridge() is fitted by an inner loop of its own, which a tolerance below rounding keeps from ending.
  control <- coxph.control(eps = if (problem$lambda2 > 0) 1e-11 else 1e-14, toler.chol = 1e-13, iter.max = 200, outer.max = 50)
  fit <- coxph(as.formula(paste("y ~", terms)), data = data, weights = w, ties = problem$ties, control = control)
  # The partial likelihood itself at the coefficients: a fit of no steps from there.
  init <- unname(coef(fit))
  plain <- if (is.null(problem$strata)) "y ~ x" else "y ~ x + strata(s)"
  at <- coxph(as.formula(plain), data = data, weights = w, ties = problem$ties, init = init, control = coxph.control(iter.max = 0))
  base <- if (is.null(problem$strata)) { b <- basehaz(at, centered = FALSE); list(time = b$time, hazard = b$hazard) }
  list(coef = init, loglik = at$loglik[[2]], base = base)
}
write(toJSON(lapply(problems, one), digits = 17, auto_unbox = TRUE), args[[2]])
