# What is said: bounds that stay true, errors as R counts, and what is odd about the data.

test_that("bounds in few digits still are bounds", {
  set.seed(1)
  numbers <- c(rnorm(500) * 10^sample(-8:8, 500, TRUE), 0.1, 0.3, 0, 0.79673, 123456.7)
  for (x in numbers) {
    expect_lte(as.numeric(bounded(x, 7, FALSE)), x)
    expect_gte(as.numeric(bounded(x, 4, TRUE)), x)
  }
  expect_identical(c(bounded(0.79673, 4, TRUE), bounded(0.79673, 4, FALSE)), c("0.7968", "0.7967"))
  expect_identical(c(percent(0.1234), percent(1.234), percent(Inf)), c("12.4 %", "124 %", "an unknown share"))
  expect_identical(c(bounded(1234567.8, 4, FALSE), bounded(-Inf, 7, FALSE)), c("1234567", "-Inf"))
  d <- simulated()
  fit <- bestset(d$x, d$y, lambda0 = 0.5, lambda2 = 0.3, prove = 0)
  shown <- regmatches(fit$standing, regexpr("exceeds 0[.][0-9]+", fit$standing))
  if (length(shown)) expect_gte(as.numeric(sub("exceeds ", "", shown)), fit$r2_limit)
})

test_that("errors name the value, its place from one, and what to do", {
  d <- simulated()
  big <- d$x
  big[4, 2] <- -3e200
  expect_error(bestset(big, d$y), "column 2 of X is too large: its largest entry is -3e200.*divide it by 1e200")
  weights <- rep(1, 60)
  weights[[7]] <- -2
  expect_error(bestset(d$x, d$y, weights = weights), "weight\\[7\\] is -2; weights must be at least 0, and 0 leaves a sample out")
})

test_that("one value of the target, constant columns and sizes nobody asked for are said", {
  d <- simulated()
  expect_warning(bestset(d$x, rep(3, 60)), "The target is 3 in every sample")
  expect_warning(subsets(d$x, rep(3, 60), nvmax = 2), "The target is 3 in every sample")
  expect_warning(bestset(d$x[1, , drop = FALSE], 2), "There is one sample only")
  flat <- d$x
  flat[, 2] <- 1
  flat[, 5] <- 0
  fit <- bestset(flat, d$y)
  expect_identical(fit$constant, c(2L, 5L))
  expect_output(print(summary(fit)), "v2 and v5 are constant")
  best <- subsets(flat, d$y)
  expect_output(print(best), "left out: v2 and v5 are constant")
  expect_output(print(best), "sizes up to 8 of 12, as without nvmax")
  expect_false(any(grepl("without nvmax", capture.output(print(subsets(d$x, d$y, nvmax = 8))))))
  expect_length(bestset(d$x, d$y)$constant, 0)
})
