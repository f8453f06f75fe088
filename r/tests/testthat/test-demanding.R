# What a demanding user tries.

demanding <- function() {
  set.seed(1)
  data <- data.frame(a = rnorm(60), b = runif(60), f = factor(sample(c("u", "v", "w"), 60, TRUE), levels = c("u", "v", "w", "never")))
  data$g <- sample(c("x", "z"), 60, TRUE)
  data$t <- data$b > 0.5
  data$y <- 2 * data$a + 3 * (data$f == "v") + 0.3 * rnorm(60)
  data
}

test_that("links other than the usual are refused", {
  data <- demanding()
  expect_error(bestset(y > 0 ~ a + b, data, family = binomial("probit")), "bestset has \"logit\"")
  expect_error(bestset(y ~ a + b, data, family = gaussian("log")), "bestset has \"identity\"")
  expect_error(bestset(y ~ a, data, family = quasibinomial()), "quasibinomial")
})

test_that("rows left out come back as lm has them", {
  data <- demanding()
  data$a[3] <- NA
  data$f[5] <- NA
  plain <- bestset(y ~ ., data)
  expect_length(fitted(plain), 58)
  padded <- bestset(y ~ ., data, na.action = na.exclude)
  lm <- lm(y ~ a + f, data, na.action = na.exclude)
  for (values in list(fitted(padded), residuals(padded), predict(padded))) {
    expect_identical(unname(is.na(values)), unname(is.na(fitted(lm))))
  }
  expect_identical(fitted(padded)[-c(3, 5)], fitted(plain))
  expect_identical(deviance(padded), deviance(plain))
  skip_if_not_installed("generics")
  expect_identical(nrow(generics::augment(padded)), 58L)
  expect_identical(which(is.na(generics::augment(padded, data)$.resid)), c(3L, 5L))
})

test_that("variables that are not selected may be missing or strange in new data", {
  data <- demanding()
  fit <- bestset(y ~ a + f + g + poly(b, 2) + factor(g) + log(b):t + offset(b / 2), transform(data, y = y + b / 2))
  expect_setequal(names(coef(fit)), c("(Intercept)", "a", "fv", "fw"))
  expect_equal(unname(predict(fit, data[c("a", "f", "b")])), fitted(fit))
  expect_error(predict(fit, data[c("a", "f")]), "no column \"b\"")
  fit <- bestset(y ~ . + poly(b, 2) + factor(g) + log(b):t + b:g, data)
  expect_equal(unname(predict(fit, data[c("a", "f")])), fitted(fit))
  strange <- transform(data, g = "new", b = NA)
  expect_equal(unname(predict(fit, strange)), fitted(fit))
  expect_error(predict(fit, data["b"]), "no column \"a\"")
  expect_length(predict(fit, data[0, ]), 0)
  expect_identical(unname(predict(fit, data[7, ])), unname(predict(fit, data)[7]))
  turned <- transform(data, f = factor(as.character(f), levels = c("w", "v", "u")), more = 1)
  expect_identical(predict(fit, turned), predict(fit, data))
})

test_that("offsets of a formula and of an argument", {
  data <- demanding()
  both <- bestset(y ~ a + offset(b), data, offset = a / 2)
  expect_error(predict(both, data), "had an offset")
  expect_equal(unname(predict(both, data, offset = data$a / 2)), fitted(both))
  one <- bestset(y ~ a + offset(b), data)
  expect_error(predict(one, data, offset = data$b), "formula has the offset")
  expect_error(predict(bestset(y ~ a, data, offset = b), data[1:3, ], offset = 1), "3 numbers")
})

test_that("names as they are", {
  data <- demanding()
  x <- cbind(data$a, data$b, matrix(rnorm(240), 60))
  colnames(x) <- c("a", "b", "c d", "gr\u00f6\u00dfe", "a:b", "y")
  fit <- bestset(x, data$y, k = 6, lambda2 = 0)
  plain <- unname(coef(lm(data$y ~ x)))
  expect_equal(unname(coef(fit)), plain)
  # The column `a:b` is no interaction, the column `y` not the target.
  expect_equal(unname(coef(refit(fit))), plain)
  y <- data$y
  expect_equal(unname(coef(refit(bestset(as.data.frame(x), y, k = 6)))), plain)
  frame <- data.frame(x[, -6], `the y` = data$y, check.names = FALSE)
  expect_equal(unname(coef(refit(bestset(`the y` ~ ., frame, k = 5)))), unname(coef(lm(data$y ~ x[, -6]))))
  latin <- x
  colnames(latin)[4] <- iconv("gr\u00f6\u00dfe", "UTF-8", "latin1")
  again <- bestset(latin, data$y, k = 6, lambda2 = 0)
  expect_identical(predict(again, x), predict(fit, latin))
  file <- tempfile()
  write_model(again, file)
  expect_identical(names(coef(read_model(file)))[5], "gr\u00f6\u00dfe")
})

test_that("a factor is named as a whole", {
  data <- demanding()
  fit <- bestset(y ~ a + f + b, data, always = "b", exclude = "f")
  expect_named(coef(fit), c("(Intercept)", "a", "b"))
  expect_identical(coef(bestset(data[c("a", "f", "b")], data$y, always = "b", exclude = "f")), coef(fit))
  set.seed(2)
  noise <- transform(data, y = rnorm(60))
  expect_true(all(c("fv", "fw") %in% names(coef(bestset(y ~ a + f + b, noise, always = "f")))))
  expect_error(bestset(y ~ a, data, always = "nothing"), "\"nothing\"")
})

test_that("what does not fit is refused", {
  expect_error(bestset(Species ~ ., iris, family = "gaussian"), "factor with 3 different values")
  data <- demanding()
  x <- as.matrix(data[c("a", "b")])
  expect_error(bestset(cbind(x, x2 = 1:60), data$y, lower.limits = c(-1, 0)), "lower.limits must be 3 numbers")
  expect_error(bestset(matrix("a", 60, 2), data$y), "type character")
  expect_error(bestset(data$a, data$y), "cbind")
  expect_error(bestset(~ a + b, data), "no target")
  frame <- data["b"]
  frame$m <- x
  expect_error(bestset(frame, data$y), "column \"m\" is matrix")
  frame$m <- Sys.Date()
  expect_error(bestset(frame, data$y), "column \"m\" is Date")
})

test_that("sparse matrices of every kind", {
  set.seed(4)
  x <- Matrix::rsparsematrix(60, 20, 0.2)
  x@x[1:5] <- 0
  y <- as.vector(2 * x[, 1] - x[, 2] + 0.1 * rnorm(60))
  dense <- bestset(as.matrix(x), y)
  for (kind in c("CsparseMatrix", "TsparseMatrix", "RsparseMatrix")) expect_identical(coef(bestset(as(x, kind), y)), coef(bestset(x, y)))
  expect_equal(coef(bestset(x, y)), coef(dense))
  expect_equal(coef(bestset(x != 0, y, k = 3)), coef(bestset(1 * (as.matrix(x) != 0), y, k = 3)))
  twice <- Matrix::sparseMatrix(i = c(1, 1, 2, 3, 4), j = c(1, 1, 2, 2, 1), x = 1:5, dims = c(6, 2), repr = "T")
  expect_equal(coef(bestset(twice, 1:6)), coef(bestset(as.matrix(twice), 1:6)))
  gone <- x
  gone[7, 2] <- NA
  expect_identical(which(is.na(predict(dense, gone))), 7L)
  expect_equal(predict(dense, gone)[-7], predict(dense, as.matrix(x))[-7])
  expect_equal(unname(coef(refit(bestset(x, y, k = 2)))), unname(coef(lm(y ~ as.matrix(x[, 1:2])))))
})

test_that("random numbers are left alone where none are drawn, and processes may fork", {
  d <- simulated()
  set.seed(3)
  before <- .Random.seed
  bestset(d$x, d$y)
  cv.bestset(d$x, d$y, foldid = rep(c(2, 5, 9), 20))
  subsets(d$x, d$y, nvmax = 3)
  certify(numeric(12), d$x, d$y, k = 2)
  expect_identical(.Random.seed, before)
  skip_on_os("windows")
  sizes <- parallel::mclapply(1:4, function(k) bestset(d$x, d$y, k = k)$size, mc.cores = 2)
  expect_identical(unlist(sizes), 1:4)
})

test_that("a saved fit has the samples once, and works in another session", {
  d <- simulated(400, 100)
  fit <- bestset(d$x, d$y, k = 2)
  expected <- predict(fit, d$x)
  file <- tempfile()
  saveRDS(list(fit = fit, x = d$x, expected = expected), file, compress = FALSE)
  # The fit and x, which is kept by itself as well.
  expect_lt(file.size(file), 2.5 * 8 * length(d$x))
  script <- tempfile(fileext = ".R")
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(bestset)",
    sprintf("kept <- readRDS(%s)", deparse(file)),
    "stopifnot(identical(predict(kept$fit, kept$x), kept$expected), length(fitted(kept$fit)) == 400)",
    "stopifnot(coef(kept$fit, k = 3, exact = TRUE)[['v3']] > 1)"
  ), script)
  expect_identical(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script))), 0L)
})

test_that("stability by formula, subsets drawn", {
  set.seed(6)
  by_formula <- stability(mpg ~ ., mtcars, subsamples = 10)
  set.seed(6)
  expect_identical(stability(mtcars[-1], mtcars$mpg, subsamples = 10), by_formula)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (scale in c("bic", "cp", "adjusted_r2")) expect_silent(plot(subsets(mpg ~ ., mtcars), scale))
  expect_silent(plot(subsets(as.matrix(mtcars["wt"]), mtcars$mpg)))
})

test_that("the offset of a formula stays in it", {
  written <- bestset(mpg ~ . - disp + offset(disp / 100), mtcars, k = 2)
  given <- bestset(mpg ~ . - disp, mtcars, k = 2, offset = disp / 100)
  plain <- lm(mpg ~ cyl + wt + offset(disp / 100), mtcars)
  expect_equal(coef(refit(written)), coef(plain))
  expect_equal(coef(refit(given)), coef(plain))
  expect_equal(deviance(refit(written)), deviance(plain))
})

test_that("every word of the problem is known as one", {
  words <- c(names(formals(bestset:::ask)), names(formals(bestset:::setup_of)))
  inside <- c("x", "y", "names", "p", "control", "members", "...")
  expect_setequal(bestset:::PROBLEM, setdiff(words, inside))
  expect_true(all(bestset:::PROBLEM %in% names(formals(bestset:::bestset.default))))
  # A model without an intercept is judged as one.
  x <- as.matrix(mtcars[c("wt", "hp")])
  plain <- lm(mpg ~ wt + hp - 1, mtcars)
  judged <- certify(plain, x, mtcars$mpg, k = 2, lambda2 = 0, intercept = FALSE, method = "exact")
  expect_equal(2 * judged$objective, deviance(plain))
  expect_identical(judged$status, "optimal")
})

test_that("an interaction without its parts is refitted as the columns that were selected", {
  set.seed(4)
  data <- data.frame(f = factor(rep(c("u", "v"), 40)), g = factor(rep(c("a", "b", "c", "d"), each = 20)), z = rnorm(80))
  data$y <- 3 * (data$f == "v" & data$g == "c") - 2 * (data$f == "v" & data$g == "b") + data$z + 0.3 * rnorm(80)
  fit <- bestset(y ~ f * g + z, data, lambda2 = 1e-9, exclude = c("f", "g"))
  expect_identical(names(coef(fit)), c("(Intercept)", "z", "fv:gb", "fv:gc", "fv:gd"))
  # The formula y ~ z + f:g has eight columns.
  expect_silent(again <- refit(fit))
  expect_equal(unname(coef(again)), unname(coef(fit)), tolerance = 1e-6)
  expect_warning(refit(fit, data = data), "columns that are not selected")
  expect_identical(names(coef(refit(bestset(y ~ f * z, data, always = c("f", "z", "f:z"))))), c("(Intercept)", "fv", "z", "fv:z"))
})

test_that("places in errors count from one", {
  x <- cbind(a = 1:10, b = rnorm(10))
  expect_error(bestset(x, c(1, -2, 3:10), family = "poisson"), "y\\[2\\] is -2")
  expect_error(bestset(x, c(1, 2, 0, 4:10), family = "Gamma"), "y\\[3\\] is 0")
})
