# leaps' exhaustive answers, for every size.

expect_as_leaps <- function(x, y, nvmax = ncol(x)) {
  skip_if_not_installed("leaps")
  theirs <- summary(leaps::regsubsets(x, y, nvmax = nvmax, method = "exhaustive", really.big = TRUE))
  ours <- summary(subsets(x, y, nvmax = nvmax, lambda2 = 0))
  expect_true(all(ours$proved))
  expect_equal(unname(ours$which), unname(theirs$which))
  expect_equal(ours$rss, theirs$rss, tolerance = 1e-8)
  expect_equal(ours$rsq, theirs$rsq, tolerance = 1e-8)
  expect_equal(ours$adjr2, theirs$adjr2, tolerance = 1e-8)
}

test_that("mtcars and swiss", {
  expect_as_leaps(as.matrix(mtcars[-1]), mtcars$mpg)
  expect_as_leaps(as.matrix(swiss[-1]), swiss$Fertility)
})

test_that("files beside the package", {
  read <- function(name) utils::read.csv(shared(name))
  prostate <- read("prostate.csv")
  expect_as_leaps(as.matrix(prostate[names(prostate) != "y"]), prostate$y)
  hitters <- read("hitters.csv")
  expect_as_leaps(as.matrix(hitters[names(hitters) != "Salary"]), hitters$Salary)
  # Hardly more samples than features: sizes that leave degrees of freedom.
  detroit <- read("Detroit.csv")
  suppressWarnings(expect_as_leaps(as.matrix(detroit[names(detroit) != "y"]), detroit$y, nvmax = 8))
})

test_that("the formula gives what the matrix gives", {
  a <- subsets(mpg ~ ., mtcars)
  b <- subsets(as.matrix(mtcars[-1]), mtcars$mpg)
  expect_identical(coef(a), coef(b))
  expect_identical(a$table, b$table)
  expect_length(coef(a), 8)
  expect_named(coef(a, 2), c("(Intercept)", "cyl", "wt"))
  expect_error(coef(a, 9), "sizes 1 to 8")
})

test_that("an exact fit of a size is leaps' fit", {
  fit <- bestset(mpg ~ ., mtcars, k = 3, lambda2 = 0, method = "exact")
  expect_true(fit$proved)
  expect_equal(coef(fit), coef(lm(mpg ~ wt + qsec + am, mtcars)))
})
