test_that("the true features are found, and proved", {
  d <- simulated()
  fit <- bestset(d$x, d$y, prove = Inf)
  expect_identical(fit$support, c(3L, 7L))
  expect_identical(fit$status, "optimal")
  expect_true(fit$lower_bound <= fit$objective)
  expect_named(coef(fit), c("(Intercept)", "v3", "v7"))
  expect_length(coef(fit, complete = TRUE), 13)
  expect_output(print(fit), "2 of 12 features")
  expect_output(print(summary(fit)), "penalty per feature")
  expect_output(print(certificate(fit)), "proved best")
})

test_that("sparse is dense, to the bit", {
  d <- simulated()
  d$x[abs(d$x) < 0.7] <- 0
  sparse <- Matrix::Matrix(d$x, sparse = TRUE)
  expect_s4_class(sparse, "dgCMatrix")
  for (words in list(list(), list(k = 3), list(lambda0 = 1))) {
    a <- do.call(bestset, c(list(d$x, d$y), words))
    b <- do.call(bestset, c(list(sparse, d$y), words))
    expect_identical(a$support, b$support)
    expect_equal(coef(a), coef(b), tolerance = 1e-12)
    expect_equal(a$objective, b$objective, tolerance = 1e-12)
    expect_equal(predict(a, d$x), predict(b, sparse), tolerance = 1e-12)
    expect_equal(fitted(a), fitted(b), tolerance = 1e-12)
  }
  # Other classes of sparse matrices become one of columns.
  expect_identical(coef(bestset(methods::as(sparse, "RsparseMatrix"), d$y)), coef(bestset(sparse, d$y)))
  expect_identical(bestset(sparse != 0, d$y, k = 2)$size, 2L)
})

test_that("a single column, and a single solution", {
  d <- simulated()
  one <- d$x[, 3, drop = FALSE]
  fit <- bestset(one, d$y)
  expect_named(coef(fit), c("(Intercept)", "v3"))
  expect_length(predict(fit, one), 60)
  expect_length(coef(cv.bestset(one, d$y, nfolds = 5)), 2)
  expect_identical(dim(summary(subsets(one, d$y))$which), c(1L, 2L))
  grDevices::pdf(NULL)
  expect_silent(plot(fit))
  grDevices::dev.off()
  # A grid of one price is one answer, with all methods.
  fit <- bestset(d$x, d$y, lambda0 = 1)
  expect_null(fit$path)
  expect_length(coef(fit), fit$size + 1)
  expect_length(predict(fit, d$x[1, , drop = FALSE]), 1)
  expect_error(coef(fit, lambda0 = 2), "one answer")
  expect_error(coef(fit, k = 9), "one answer")
  expect_identical(coef(fit, k = fit$size), coef(fit))
  # Nothing is worth its price: the null model.
  fit <- bestset(d$x, d$y, lambda0 = 1e6)
  expect_equal(coef(fit), c("(Intercept)" = mean(d$y)))
  expect_equal(predict(fit, d$x[1:2, ]), rep(mean(d$y), 2))
  expect_output(print(fit), "0 of 12 features")
})

test_that("a grid that is given is used, and one that is not a grid is refused", {
  d <- simulated()
  prices <- c(0.5, 4, 2, 1)
  fit <- bestset(d$x, d$y, lambda0 = prices)
  expect_equal(fit$path$points$lambda0, sort(prices, decreasing = TRUE)[seq_len(nrow(fit$path$points))])
  expect_true(fit$lambda0 %in% prices)
  found <- cv.bestset(d$x, d$y, lambda0 = prices, nfolds = 5, lambda2 = c(0.01, 0.1))
  expect_true(all(found$path$points$lambda0 %in% prices))
  expect_setequal(found$path$points$lambda2, c(0.01, 0.1))
  expect_error(cv.bestset(d$x, d$y, lambda0 = 1), "nothing to choose")
  expect_error(bestset(d$x, d$y, lambda0 = 1, k = 2), "not both")
  expect_error(bestset(d$x, d$y, lambda0 = "much"), "must be a number")
  expect_error(bestset(d$x, d$y, lambda = 1), "no lambda here: lambda0 is the price")
  expect_error(cv.bestset(d$x, d$y, alpha = 1), "no alpha here")
  expect_error(subsets(d$x, d$y, nbest = 2), "top")
  expect_error(bestset(d$x, d$y, lambdaGrid = 1), "unused argument")
  expect_error(bestset(d$x, d$y, lambda0 = -1), "lambda0 is -1")
  expect_error(bestset(d$x, d$y, k = 2.5), "whole number")
  expect_error(bestset(d$x, d$y, k = 1:3), "subsets\\(\\)")
  expect_error(bestset(d$x, d$y, lambda2 = c(1, 2)), "lambda2 with the values")
})

test_that("what is missing is named", {
  d <- simulated()
  x <- d$x
  x[4, 2] <- NA
  expect_error(bestset(x, d$y), "x\\[4, \"v2\"\\] is NA")
  x[4, 2] <- Inf
  expect_error(bestset(x, d$y), "x\\[4, \"v2\"\\] is Inf")
  expect_error(bestset(d$x, replace(d$y, 5, NA)), "y\\[5\\] is missing")
  expect_error(bestset(d$x, d$y[-1]), "y has length 59")
  expect_error(bestset(d$x, d$y, weights = rep(1, 3)), "weights must be 60 numbers")
  expect_error(bestset(d$x, d$y, weights = replace(rep(1, 60), 7, -1)), "weight\\[7\\] is -1")
  expect_error(bestset(d$x, d$y, exclude = "v99"), "no column of x")
  expect_error(bestset(d$x, d$y, exclude = 13), "count from 1 to 12")
  expect_error(bestset(d$x, d$y, penalty.factor = replace(rep(1, 12), 2, -1)), "feature 2 is -1")
  expect_error(bestset(d$x, d$y, lower.limits = 1), "must contain 0")
  expect_error(bestset(d$x, letters[1:2][1 + (d$y > 0)], family = "gaussian"), "family = \"binomial\"")
  expect_error(bestset(d$x, d$y, family = "tweedie"), "family is \"tweedie\"")
  expect_error(bestset(d$x, d$y, family = "poisson"), "the poisson loss needs targets at least 0")
  expect_error(bestset(d$x[0, ], numeric()), "0 rows")
  expect_error(bestset("x", d$y), "must be a numeric matrix")
  expect_error(bestset(d$x, d$y, family = "binomial"), "needs two classes")
  # A formula leaves such rows out, and says so.
  data <- as.data.frame(cbind(d$x, y = d$y))
  data$v2[4] <- NA
  fit <- bestset(y ~ ., data)
  expect_identical(nobs(fit), 59L)
  expect_output(print(summary(fit)), "left out: 1 with missing values")
  expect_error(bestset(y ~ ., data, na.action = na.fail), "missing")
})

test_that("coefficients off the path are never made up", {
  d <- simulated()
  fit <- bestset(d$x, d$y)
  sizes <- unique(fit$path$points$size)
  expect_length(coef(fit, k = 1), 2)
  expect_error(coef(fit, k = 50), "the path has no model with 50 features; it has 0, 1")
  prices <- fit$path$points$lambda0
  expect_error(coef(fit, lambda0 = 2 * max(prices)), "the path goes from")
  expect_error(coef(fit, lambda0 = min(prices) / 2), "exact = TRUE")
  between <- sqrt(prices[[2]] * prices[[3]])
  expect_message(coef(fit, lambda0 = between), "taken is that at")
  expect_silent(coef(fit, lambda0 = prices[[2]]))
  exact <- coef(fit, lambda0 = between, exact = TRUE)
  expect_identical(exact, coef(bestset(d$x, d$y, lambda0 = between)))
  expect_error(coef(fit, k = 1, lambda0 = 1), "not both")
  expect_equal(coef(fit, k = 12, exact = TRUE), coef(bestset(d$x, d$y, k = 12)))
  expect_identical(predict(fit, type = "nonzero", k = 1), 3L)
  expect_false(isTRUE(all.equal(predict(fit, d$x, k = 1), predict(fit, d$x))))
})

test_that("words of glmnet", {
  d <- simulated()
  expect_false(3L %in% bestset(d$x, d$y, exclude = 3)$support)
  expect_false(3L %in% bestset(d$x, d$y, exclude = "v3")$support)
  expect_identical(coef(bestset(d$x, d$y, exclude = "v3")), coef(bestset(d$x, d$y, penalty.factor = replace(rep(1, 12), 3, Inf))))
  expect_true(1L %in% bestset(d$x, d$y, penalty.factor = replace(rep(1, 12), 1, 0))$support)
  expect_true(1L %in% bestset(d$x, d$y, always = "v1")$support)
  expect_identical(bestset(d$x, d$y, lower.limits = 0)$support, 3L)
  expect_true(all(abs(coef(bestset(d$x, d$y, lower.limits = -0.5, upper.limits = 0.5))[-1]) <= 0.5))
  expect_named(coef(bestset(d$x, d$y, intercept = FALSE)), c("v3", "v7"))
  # A weight of two is two copies.
  twice <- rep(1:2, 30)
  a <- bestset(d$x, d$y, k = 2, lambda2 = 0, weights = twice)
  b <- bestset(d$x[rep(1:60, twice), ], rep(d$y, twice), k = 2, lambda2 = 0)
  expect_equal(coef(a), coef(b), tolerance = 1e-10)
  # An offset is a fixed part.
  shift <- seq(0, 1, length.out = 60)
  a <- bestset(d$x, d$y, k = 2, offset = shift)
  expect_equal(coef(a), coef(bestset(d$x, d$y - shift, k = 2)), tolerance = 1e-10)
  expect_equal(predict(a), predict(a, d$x, offset = shift))
  expect_error(predict(a, d$x), "had an offset")
})

test_that("methods say what they cannot", {
  d <- simulated()
  fit <- bestset(d$x, d$y)
  expect_error(vcov(fit), "refit\\(\\)")
  expect_error(confint(fit), "refit\\(\\)")
  expect_error(bestset(d$x, d$y, method = "simplex"), "it must be one of")
  expect_error(certificate(lm(d$y ~ 1)), "certify\\(\\)")
  expect_error(plot(bestset(d$x, d$y, k = 2), "path"), "no path")
})

test_that("several best subsets", {
  d <- simulated()
  fit <- bestset(d$x, d$y, k = 2, lambda2 = 0, method = "exact", top = 3)
  expect_length(fit$ranked, 3)
  expect_identical(fit$ranked[[1]]$support, fit$support)
  expect_true(all(diff(vapply(fit$ranked, `[[`, 0, "objective")) >= 0))
})

test_that("the answer does not depend on the number of threads", {
  d <- simulated(80, 30)
  expect_identical(coef(bestset(d$x, d$y, threads = 1)), coef(bestset(d$x, d$y, threads = 2)))
  expect_error(bestset(d$x, d$y, threads = 0), "threads is 0")
})

test_that("a limit that strikes is a warning, and the bound holds", {
  d <- simulated()
  expect_warning(fit <- bestset(d$x, d$y, k = 4, method = "exact", time_limit = 0), "best so far")
  expect_true(fit$lower_bound <= fit$objective)
  expect_error(bestset(d$x, d$y, time_limit = -1), "time_limit is -1")
})
