classes <- function(n = 200) {
  set.seed(5)
  x <- matrix(rnorm(n * 8), n, dimnames = list(NULL, letters[1:8]))
  list(x = x, y = factor(ifelse(x[, 2] - x[, 5] + 0.7 * rlogis(n) > 0, "yes", "no")))
}

test_that("two classes, however they are written", {
  d <- classes()
  fit <- bestset(d$x, d$y, family = "binomial")
  expect_true(all(c("b", "e") %in% names(coef(fit))))
  one <- coef(fit)
  expect_identical(coef(bestset(d$x, d$y == "yes", family = binomial())), one)
  expect_identical(coef(bestset(d$x, 1 * (d$y == "yes"), family = binomial)), one)
  expect_identical(coef(bestset(d$x, as.character(d$y), family = "binomial")), one)
  share <- predict(fit, d$x, type = "response")
  expect_true(all(share > 0 & share < 1))
  class <- predict(fit, d$x, type = "class")
  expect_identical(levels(class), c("no", "yes"))
  expect_identical(class == "yes", predict(fit, d$x) > 0)
  expect_gt(mean(class == d$y), 0.7)
  number <- bestset(d$x, ifelse(d$y == "yes", 7, 3), family = "binomial")
  expect_true(all(predict(number, d$x, type = "class") %in% c(3, 7)))
  # As a glm would have them.
  free <- bestset(d$x, d$y, family = "binomial", k = 8, lambda2 = 0, prove = FALSE)
  glm <- glm(d$y ~ d$x, family = binomial)
  expect_equal(unname(coef(free)), unname(coef(glm)), tolerance = 1e-4)
  expect_equal(deviance(free), deviance(glm), tolerance = 1e-8)
  expect_equal(as.numeric(logLik(free)), as.numeric(logLik(glm)), tolerance = 1e-8)
  expect_identical(attr(logLik(free), "df"), 9L)
})

test_that("counts and amounts as glm has them", {
  set.seed(8)
  n <- 150
  x <- matrix(rnorm(n * 5), n, dimnames = list(NULL, letters[1:5]))
  time <- runif(n, 0.5, 3)
  mean <- time * exp(0.4 + 0.5 * x[, 1] - 0.6 * x[, 3])
  w <- sample(1:3, n, TRUE)
  check <- function(y, family, ...) {
    free <- bestset(x, y, family = family, k = 5, lambda2 = 0, prove = FALSE, weights = w, offset = log(time), ...)
    glm <- suppressWarnings(glm(y ~ x, family = family, weights = w, offset = log(time), control = list(epsilon = 1e-12, maxit = 100)))
    expect_equal(unname(coef(free)), unname(coef(glm)), tolerance = 1e-6)
    expect_equal(deviance(free), deviance(glm), tolerance = 1e-8)
    expect_equal(fitted(free), unname(fitted(glm)), tolerance = 1e-6)
    expect_equal(predict(free, type = "link"), unname(predict(glm)), tolerance = 1e-6)
    expect_equal(unname(residuals(free, "deviance")), unname(residuals(glm, "deviance") / sqrt(w)), tolerance = 1e-6)
    list(free = free, glm = glm)
  }
  poisson <- check(rpois(n, mean), poisson())
  expect_equal(as.numeric(logLik(poisson$free)), as.numeric(logLik(poisson$glm)), tolerance = 1e-8)
  gamma <- check(mean * rgamma(n, 2, 2), Gamma("log"))
  expect_equal(family(gamma$free)$link, "log")
  skip_if_not_installed("MASS")
  counts <- rnbinom(n, size = 2, mu = mean)
  negative <- check(counts, MASS::negative.binomial(2))
  expect_identical(coef(bestset(x, counts, family = "negbin", theta = 2)), coef(bestset(x, counts, family = MASS::negative.binomial(2))))
  expect_error(bestset(x, counts, family = "negbin"), "theta")
  expect_error(bestset(x, -counts - 1, family = "poisson"), "poisson")
  expect_error(bestset(x, counts, family = Gamma()), "log")
})

test_that("support vectors and Huber", {
  d <- classes()
  fit <- bestset(d$x, d$y, family = "squared_hinge")
  expect_gt(mean(predict(fit, type = "class") == d$y), 0.7)
  expect_error(predict(fit, type = "response"), "probabilities")
  expect_error(logLik(fit), "no likelihood")
  s <- simulated()
  s$y[1] <- 1000
  robust <- bestset(s$x, s$y, family = "huber", k = 2)
  expect_identical(robust$support, c(3L, 7L))
  expect_equal(sum(weights(robust)), 0)
  delta <- robust$delta
  expect_equal(2 * sum(ifelse(abs(residuals(robust)) <= delta, residuals(robust)^2 / 2, delta * abs(residuals(robust)) - delta^2 / 2)), deviance(robust))
  # Units of the response, and a delta of one's own.
  other <- bestset(s$x, 1000 * s$y, family = "huber", k = 2)
  expect_equal(c(other$delta, coef(other)), 1000 * c(delta, coef(robust)), tolerance = 1e-6)
  expect_equal(bestset(s$x, s$y, family = "huber", k = 2, delta = 1.345)$delta, 1.345)
})

test_that("least squares as lm has them", {
  fit <- bestset(mpg ~ ., mtcars, k = 3, lambda2 = 0)
  lm <- lm(mpg ~ wt + qsec + am, mtcars)
  expect_equal(residuals(fit), unname(residuals(lm)))
  expect_equal(deviance(fit), deviance(lm))
  expect_equal(logLik(fit), logLik(lm), ignore_attr = TRUE)
  expect_equal(attr(logLik(fit), "df"), attr(logLik(lm), "df"))
  expect_equal(BIC(fit), BIC(lm))
  expect_equal(AIC(fit), AIC(lm))
  weighted <- bestset(mpg ~ ., mtcars, k = 3, lambda2 = 0, weights = qsec)
  again <- lm(formula(weighted, selected = TRUE), mtcars, weights = qsec)
  expect_equal(as.numeric(logLik(weighted)), as.numeric(logLik(again)))
})

test_that("cross-validation is drawn by R", {
  s <- simulated()
  set.seed(9)
  a <- cv.bestset(s$x, s$y, nfolds = 5)
  set.seed(9)
  b <- cv.bestset(s$x, s$y, nfolds = 5)
  expect_identical(a$foldid, b$foldid)
  expect_identical(coef(a), coef(b))
  expect_identical(a$cvm, b$cvm)
  expect_setequal(tabulate(a$foldid), 12)
  again <- cv.bestset(s$x, s$y, foldid = letters[a$foldid])
  expect_identical(again$cvm, a$cvm)
  expect_identical(dim(a$folds), c(nrow(a$path$points), 5L))
  expect_equal(rowMeans(a$folds), a$cvm)
  one <- cv.bestset(s$x, s$y, foldid = a$foldid, select = "1se")
  expect_lte(one$size, a$size)
  expect_identical(names(a$index), c("min", "1se"))
  expect_output(print(summary(a)), "in folds")
  # The score is what it says: predictions of samples left out.
  k <- a$size
  errors <- vapply(1:5, function(fold) {
    out <- a$foldid == fold
    mean((s$y[out] - mean(s$y[!out]))^2)
  }, 0)
  expect_equal(a$folds[which(a$path$points$size == 0)[1], ], errors)
  expect_error(cv.bestset(s$x, s$y, nfolds = 1), "nfolds is 1")
  expect_error(cv.bestset(s$x, s$y, foldid = rep(1, 60)), "folds is 1")
  expect_error(cv.bestset(s$x, s$y, foldid = 1:3), "foldid has length 3")
  expect_error(cv.bestset(s$x, s$y, k = 3), "leave it out")
  expect_error(cv.bestset(s$x, s$y, type.measure = "auc"), "two classes")
})

test_that("measures of classes", {
  d <- classes()
  set.seed(2)
  wrong <- cv.bestset(d$x, d$y, family = "binomial", type.measure = "class", nfolds = 5, lambda2 = 0.1)
  share <- min(table(d$y)) / 200
  expect_equal(wrong$cvm[wrong$path$points$size == 0][1], share)
  expect_lt(min(wrong$cvm), share)
  # Each fold has its share of both.
  expect_true(all(abs(tapply(d$y == "yes", wrong$foldid, mean) - mean(d$y == "yes")) < 0.03))
  auc <- suppressWarnings(cv.bestset(d$x, d$y, family = "binomial", type.measure = "auc", foldid = wrong$foldid))
  expect_gt(max(auc$cvm), 0.7)
})
