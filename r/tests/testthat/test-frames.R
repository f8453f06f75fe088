frame <- function() {
  set.seed(6)
  n <- 90
  data <- data.frame(a = rnorm(n), b = rnorm(n), colour = factor(sample(c("red", "green", "blue"), n, TRUE)), size = sample(c("L", "S"), n, TRUE))
  data$y <- data$a + c(blue = 0, green = 2, red = -2)[as.character(data$colour)] + 0.3 * rnorm(n)
  data
}

test_that("factors are in or out as a whole", {
  data <- frame()
  fit <- bestset(y ~ ., data)
  expect_named(coef(fit), c("(Intercept)", "a", "colourgreen", "colourred"))
  other <- bestset(data[-5], data$y)
  expect_identical(coef(fit), coef(other))
  expect_identical(predict(fit, data), predict(other, data))
  alone <- bestset(y ~ ., data, groups = FALSE, k = 1)
  expect_identical(alone$size, 1L)
  # No size of one feature has all of a group of two.
  expect_false(any(c("colourgreen", "colourred") %in% names(coef(bestset(y ~ ., data, k = 1)))))
})

test_that("levels that new data have lost, or have more", {
  data <- frame()
  new <- droplevels(data[data$colour == "red", ][1:3, ])
  for (fit in list(bestset(y ~ ., data), bestset(data[-5], data$y))) {
    expect_identical(predict(fit, new), predict(fit, data)[rownames(data) %in% rownames(new)])
    expect_identical(unname(predict(fit, new[1, ])), unname(predict(fit, new)[1]))
    strange <- new
    strange$colour <- "violet"
    expect_error(predict(fit, strange), "violet")
    unknown <- data[1:3, ]
    unknown$colour[2] <- NA
    expect_identical(is.na(unname(predict(fit, unknown))), c(FALSE, TRUE, FALSE))
    expect_error(predict(fit, data["b"]))
  }
  # Columns that the model does not use may be missing, and in any order.
  fit <- bestset(data[-5], data$y)
  expect_identical(predict(fit, data[c("colour", "a")]), predict(fit, data))
})

test_that("columns of a matrix are found by name", {
  d <- simulated()
  fit <- bestset(d$x, d$y)
  expect_identical(predict(fit, d$x[, 12:1]), predict(fit, d$x))
  expect_identical(predict(fit, newx = d$x[, c("v7", "v3")]), predict(fit, d$x))
  expect_error(predict(fit, d$x[, 1:3]), "no column \"v7\"")
  expect_error(predict(fit, unname(d$x[, 1:3])), "must have 12 columns")
  some <- d$x
  some[2, 1] <- NA
  some[3, 3] <- NA
  expect_identical(which(is.na(predict(fit, some))), 3L)
  expect_error(bestset(cbind(d$x, v1 = 1), d$y), "two columns named \"v1\"")
})

test_that("formulas with transformations, interactions and without an intercept", {
  fit <- bestset(log(mpg) ~ poly(hp, 2) + wt:qsec + I(disp^2), mtcars)
  expect_identical(deparse(formula(fit)[[2]]), "log(mpg)")
  expect_equal(unname(predict(fit, mtcars)), fitted(fit))
  fit <- bestset(mpg ~ . - 1, mtcars)
  expect_false("(Intercept)" %in% names(coef(fit)))
  expect_error(bestset(mpg ~ ., mtcars, intercept = FALSE), "formula says")
  fit <- bestset(mpg ~ . - qsec, mtcars, subset = cyl > 4, weights = wt)
  expect_identical(nobs(fit), sum(mtcars$cyl > 4))
  expect_identical(weights(fit), mtcars$wt[mtcars$cyl > 4])
  fit <- bestset(mpg ~ wt + hp + offset(qsec), mtcars)
  expect_equal(unname(predict(fit, mtcars)), fitted(fit))
  expect_equal(unname(predict(fit)), unname(predict(fit, mtcars)))
})

test_that("update, formula, refit", {
  fit <- bestset(mpg ~ ., mtcars)
  expect_identical(update(fit, k = 3)$size, 3L)
  expect_identical(formula(fit, selected = TRUE), mpg ~ cyl + wt, ignore_attr = TRUE)
  expect_equal(coef(refit(fit)), coef(lm(mpg ~ cyl + wt, mtcars)))
  other <- bestset(as.matrix(mtcars[-1]), mtcars$mpg)
  expect_equal(coef(refit(other)), coef(lm(mpg ~ cyl + wt, mtcars)))
  expect_equal(coef(refit(fit, data = mtcars[1:20, ])), coef(lm(mpg ~ cyl + wt, mtcars[1:20, ])))
  data <- frame()
  expect_equal(coef(refit(bestset(y ~ ., data))), coef(lm(y ~ a + colour, data)))
  classes <- bestset(am ~ wt + hp + qsec, mtcars, family = "binomial", lambda2 = 0.1)
  expect_s3_class(refit(classes), "glm")
  expect_error(refit(bestset(mpg ~ ., mtcars, family = "huber")), "with")
  skip_if_not_installed("survival")
  Surv <- survival::Surv
  lung <- na.omit(survival::lung)
  fit <- bestset(time ~ age + ph.ecog + wt.loss + sex, lung, k = 2)
  expect_s3_class(refit(fit, with = survival::coxph, response = Surv(time, status)), "coxph")
})
