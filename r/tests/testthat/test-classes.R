# Many classes: family multinomial, beside nnet and glmnet.

# P by its definition, columns standardised to norm one, coefficients as coef(complete = TRUE) has them.
objective_at <- function(beta, x, y, lambda0, lambda2, weights = 1, offset = 0) {
  u <- cbind(1, x) %*% beta + offset
  scale <- sqrt(colSums(scale(x, scale = FALSE)^2))
  loss <- log(rowSums(exp(u))) - u[cbind(seq_along(y), as.integer(y))]
  slopes <- beta[-1, , drop = FALSE]
  sum(weights * loss) + lambda0 * sum(rowSums(slopes != 0) > 0) + lambda2 * sum((scale * slopes)^2)
}

kinds <- function(n = 150, p = 8, seed = 5) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, letters[seq_len(p)]))
  y <- factor(c("low", "middle", "high")[max.col(cbind(x[, 2], 0.3, x[, 5]) + matrix(0.7 * rnorm(3 * n), n))], c("low", "middle", "high"))
  list(x = x, y = y, weights = sample(1:3, n, TRUE), shift = matrix(0.3 * rnorm(3 * n), n))
}

# P of columns of norm one minimised by Newton's method from zero, until steps are nothing: an independent answer.
newton <- function(x, y, lambda2, offset = 0, weights = 1, intercept = TRUE) {
  centre <- if (intercept) colMeans(x) else 0 * x[1, ]
  scale <- sqrt(colSums(scale(x, center = centre, scale = FALSE)^2))
  z <- scale(x, center = centre, scale = scale)
  if (intercept) z <- cbind(1, z)
  classes <- nlevels(y)
  own <- outer(as.integer(y), seq_len(classes), `==`)
  q <- ncol(z)
  free <- if (intercept) 1 else integer()
  ridge <- diag(rep(replace(rep(lambda2, q), free, 0), classes), q * classes)
  # A constant for all classes cancels.
  level <- kronecker(matrix(1, classes, classes), diag(replace(numeric(q), free, 1), q))
  beta <- numeric(q * classes)
  for (i in 1:100) {
    u <- z %*% matrix(beta, q) + offset
    p <- exp(u - apply(u, 1, max))
    p <- p / rowSums(p)
    slope <- as.vector(t(z) %*% (weights * (p - own))) + 2 * as.vector(ridge %*% beta)
    bend <- 2 * ridge + level
    for (a in seq_len(classes)) for (b in seq_len(classes)) {
      rows <- q * (a - 1) + seq_len(q)
      columns <- q * (b - 1) + seq_len(q)
      bend[rows, columns] <- bend[rows, columns] + t(z) %*% (z * (weights * p[, a] * ((a == b) - p[, b])))
    }
    step <- solve(bend, slope)
    beta <- beta - step
    if (max(abs(step)) < 1e-12) break
  }
  slopes <- matrix(beta, q)
  if (intercept) slopes <- slopes[-1, , drop = FALSE]
  `dimnames<-`(slopes / scale, list(colnames(x), levels(y)))
}

test_that("a factor of more than two levels is enough", {
  fit <- bestset(Species ~ ., iris)
  expect_identical(fit$family, "multinomial")
  x <- as.matrix(iris[-5])
  one <- coef(fit, complete = TRUE)
  expect_identical(dimnames(one), list(c("(Intercept)", colnames(x)), levels(iris$Species)))
  # The coefficients of a feature sum to zero over the classes.
  expect_lt(max(abs(rowSums(one))), 1e-12)
  expect_equal(fit$objective, objective_at(one, x, iris$Species, fit$lambda0, fit$lambda2), tolerance = 1e-10)
  same <- list(
    bestset(x, iris$Species), bestset(x, as.character(iris$Species)), bestset(iris[-5], iris$Species), bestset(x, iris$Species, family = "multinomial"),
    bestset(x, iris["Species"]), bestset(Species ~ ., transform(iris, Species = factor(Species, c(levels(Species), "none"))))
  )
  for (other in same) expect_identical(coef(other, complete = TRUE), one)
  numbers <- bestset(x, as.integer(iris$Species), family = "multinomial")
  expect_identical(unname(coef(numbers, complete = TRUE)), unname(one))
  expect_identical(colnames(coef(numbers)), c("1", "2", "3"))
  expect_identical(predict(numbers, type = "class"), as.integer(predict(fit, type = "class")))
  # A factor of two levels asks for family binomial.
  two <- droplevels(iris[51:150, ])
  expect_identical(bestset(Species ~ ., two)$family, "binomial")
  expect_identical(coef(bestset(Species ~ ., two)), coef(bestset(Species ~ ., two, family = "binomial")))
  sparse <- bestset(Matrix::Matrix(x, sparse = TRUE), iris$Species)
  expect_equal(coef(sparse, complete = TRUE), one, tolerance = 1e-9)
})

test_that("two classes of family multinomial are those of family binomial with half the ridge", {
  two <- droplevels(iris[51:150, ])
  many <- bestset(Species ~ ., two, family = "multinomial", lambda0 = 0.5, lambda2 = 0.2)
  one <- bestset(Species ~ ., two, family = "binomial", lambda0 = 0.5, lambda2 = 0.1)
  expect_equal(many$objective, one$objective, tolerance = 1e-7)
  expect_equal(unname(coef(many)[, 2] - coef(many)[, 1]), unname(coef(one)), tolerance = 1e-4)
})

# What nnet::multinom() goes to: its search ends by the value, with coefficients that are right to half of the digits, and one step of Newton's
# method by its own second derivatives gives the others.
polished <- function(theirs) {
  x <- model.matrix(theirs)
  p <- fitted(theirs)
  own <- outer(as.integer(model.response(model.frame(theirs))), seq_len(ncol(p)), `==`)
  slope <- crossprod(x, as.vector(theirs$weights) * (p - own))[, -1]
  t(t(coef(theirs)) - matrix(solve(theirs$Hessian, as.vector(slope)), ncol(x)))
}

test_that("without a price and next to no ridge it is nnet::multinom", {
  skip_if_not_installed("nnet")
  d <- kinds()
  data <- data.frame(d$x, y = d$y, w = d$weights)
  data$shift <- d$shift
  # A ridge of 1e-12 on columns of norm one: without any the engine has no bound and no answer.
  check <- function(formula, weights = NULL, Hess = TRUE) {
    words <- list(formula, data, trace = FALSE, reltol = 1e-16, abstol = 1e-16, maxit = 5000, Hess = Hess)
    if (!is.null(weights)) words$weights <- weights
    theirs <- do.call(getExportedValue("nnet", "multinom"), words)
    fit <- do.call(bestset, c(list(formula, data, lambda0 = 0, lambda2 = 1e-12, prove = FALSE, gap = 1e-12), if (!is.null(weights)) list(weights = weights)))
    ours <- coef(fit, complete = TRUE)
    # Against the first class, as multinom() has them.
    against <- t(ours[, -1] - ours[, 1])
    expect_equal(against, coef(theirs), tolerance = 1e-7)
    if (Hess) expect_equal(against, polished(theirs), tolerance = 1e-9)
    expect_equal(deviance(fit), deviance(theirs), tolerance = 1e-11)
    expect_lte(deviance(fit), deviance(theirs) + 1e-8)
    expect_equal(c(logLik(fit), attr(logLik(fit), "df")), c(logLik(theirs), attr(logLik(theirs), "df")), tolerance = 1e-10)
    expect_equal(AIC(fit), AIC(theirs), tolerance = 1e-10)
    expect_equal(unname(fitted(fit)), unname(fitted(theirs)), tolerance = 1e-6)
    expect_equal(unname(residuals(fit)), unname(residuals(theirs)), tolerance = 1e-5)
    again <- refit(fit, reltol = 1e-14, maxit = 5000)
    expect_s3_class(again, "multinom")
    expect_equal(deviance(again), deviance(theirs), tolerance = 1e-9)
  }
  check(y ~ a + b + e)
  check(y ~ b + factor(a > 0) + e)
  check(y ~ b + e - 1)
  check(y ~ b + e, weights = d$weights)
  # multinom() has no second derivatives where there is an offset.
  check(y ~ b + e + offset(shift), Hess = FALSE)
})

test_that("coefficients on a support are those of an independent Newton method", {
  d <- kinds()
  check <- function(fit, theirs) expect_lt(max(abs(coef(fit)[rownames(theirs), ] - theirs)), 1e-8)
  x <- as.matrix(iris[3:4])
  for (lambda2 in c(1e-6, 1e-3, 0.1)) {
    # Without a ridge there is no answer for iris: the classes can be separated.
    if (lambda2 > 1e-6) check(bestset(x, iris$Species, lambda0 = 0, lambda2 = lambda2, prove = FALSE, gap = 1e-12), newton(x, iris$Species, lambda2))
    ask <- function(...) bestset(d$x[, 1:5], d$y, lambda0 = 0, lambda2 = lambda2, prove = FALSE, gap = 1e-12, ...)
    check(ask(), newton(d$x[, 1:5], d$y, lambda2))
    check(ask(offset = d$shift), newton(d$x[, 1:5], d$y, lambda2, d$shift))
    check(ask(intercept = FALSE), newton(d$x[, 1:5], d$y, lambda2, intercept = FALSE))
  }
})

test_that("factors, weights, offsets, sizes and limits", {
  d <- kinds()
  data <- data.frame(d$x, y = d$y, site = factor(rep_len(c("north", "south", "west"), 150)))
  fit <- bestset(y ~ ., data, k = 4)
  expect_identical(sum(c("sitesouth", "sitewest") %in% rownames(coef(fit))) %in% c(0L, 2L), TRUE)
  in_for_all <- bestset(y ~ ., data, always = "site")
  expect_true(all(c("sitesouth", "sitewest") %in% rownames(coef(in_for_all))))
  expect_identical(dim(predict(in_for_all, data[1:3, ])), c(3L, 3L))
  # A weight of two is a copy.
  copies <- rep(seq_len(150), d$weights)
  ask <- function(x, y, ...) bestset(x, y, lambda0 = 1, lambda2 = 0.5, standardize = FALSE, ...)
  expect_equal(coef(ask(d$x, d$y, weights = d$weights)), coef(ask(d$x[copies, ], d$y[copies])), tolerance = 1e-5)
  shifted <- bestset(d$x, d$y, offset = d$shift, k = 2)
  expect_equal(shifted$objective, objective_at(coef(shifted, complete = TRUE), d$x, d$y, 0, shifted$lambda2, offset = d$shift), tolerance = 1e-8)
  expect_equal(predict(shifted, d$x, offset = d$shift), predict(shifted), tolerance = 1e-12)
  expect_error(predict(shifted, d$x), "had an offset")
  expect_error(predict(shifted, d$x, offset = d$shift[, 1]), "column for each of the 3 classes")
  expect_error(bestset(d$x, d$y, offset = d$shift[, 1]), "column for each of the 3 classes; it is numeric of length 150")
  limited <- bestset(d$x, d$y, k = 2, lower.limits = -0.5, upper.limits = 0.5)
  expect_true(all(abs(coef(limited)[-1, ]) <= 0.5))
  # Against all pairs of features.
  best <- subsets(d$x, d$y, nvmax = 2, lambda2 = 0.3)
  pairs <- utils::combn(8, 2)
  found <- apply(pairs, 2, function(pair) bestset(d$x[, pair], d$y, lambda0 = 0, lambda2 = 0.3)$objective)
  expect_equal(best$table$objective[[2]], min(found), tolerance = 1e-7)
  expect_identical(rownames(coef(best, 2))[-1], letters[pairs[, which.min(found)]])
  expect_true(all(best$table$proved))
  exact <- bestset(d$x, d$y, k = 2, lambda2 = 0.3, method = "exact", top = 3)
  expect_equal(vapply(exact$ranked, `[[`, 0, "objective"), sort(found)[1:3], tolerance = 1e-6)
  expect_identical(dim(exact$ranked[[3]]$values), c(2L, 3L))
  expect_identical(bestset(d$x, d$y, k = 2, lambda2 = 0.3, warm_start = exact)$support, exact$support)
})

test_that("what is said of a fit of many classes", {
  d <- kinds()
  data <- data.frame(d$x, y = d$y)
  fit <- bestset(y ~ ., data)
  expect_output(print(fit), "features, family multinomial\n +low +middle +high")
  expect_output(print(summary(fit)), "share of deviance explained")
  expect_identical(predict(fit, data, type = "class"), predict(fit, type = "class"))
  expect_identical(levels(predict(fit, type = "class")), levels(d$y))
  p <- predict(fit, data[1:9, ], type = "response")
  expect_equal(rowSums(p), rep(1, 9))
  expect_identical(levels(d$y)[apply(p, 1, which.max)], as.character(predict(fit, data[1:9, ], type = "class")))
  expect_equal(p, fitted(fit)[1:9, ])
  expect_equal(predict(fit, data[1:9, ]), sweep(d$x[1:9, fit$support] %*% coef(fit)[-1, ], 2, coef(fit)[1, ], `+`), tolerance = 1e-12)
  holes <- data[1:3, ]
  holes[2, fit$support[[1]]] <- NA
  expect_identical(which(is.na(predict(fit, holes, type = "class"))), 2L)
  expect_true(all(is.na(predict(fit, holes)[2, ])) && !anyNA(predict(fit, holes)[-2, ]))
  expect_equal(deviance(fit), -2 * sum(log(fitted(fit)[cbind(1:150, as.integer(d$y))])), tolerance = 1e-12)
  expect_identical(attr(logLik(fit), "df"), 2 * (fit$size + 1))
  expect_identical(nobs(fit), 150L)
  # Another point of the path, and one that it does not have.
  sizes <- fit$path$points$size
  other <- sizes[sizes > 0 & sizes != fit$size][[1]]
  expect_identical(dim(coef(fit, k = other)), c(other + 1L, 3L))
  place <- which(sizes == other)[[1]]
  expect_equal(unname(sqrt(rowSums(coef(fit, k = other)[-1, , drop = FALSE]^2))), unname(fit$path$beta[fit$path$beta[, place] != 0, place]), tolerance = 1e-10)
  expect_identical(predict(fit, data, type = "nonzero"), fit$support)
  expect_error(coef(fit, k = 77), "exact = TRUE")
  grDevices::pdf(NULL)
  for (type in c("path", "gap", "support")) expect_silent(plot(fit, type))
  grDevices::dev.off()
  expect_error(residuals(fit, "deviance"), "type is \"deviance\"")
  expect_error(family(fit), "not one of R's")
  expect_error(vcov(fit), "refit")
  expect_identical(deparse(formula(update(fit, k = 1), selected = TRUE)), paste("y ~", names(data)[update(fit, k = 1)$support]))
  # Row names and rows left out.
  holed <- data
  holed$b[c(3, 9)] <- NA
  padded <- bestset(y ~ ., holed, na.action = na.exclude)
  expect_identical(dim(fitted(padded)), c(150L, 3L))
  expect_identical(which(is.na(fitted(padded)[, 1])), c(3L, 9L))
  expect_identical(length(predict(padded, type = "class")), 150L)
  none <- bestset(d$x, d$y, lambda0 = 1e6)
  expect_identical(dim(coef(none)), c(1L, 3L))
  expect_equal(fitted(none)[1, ], prop.table(table(d$y))[levels(d$y)] |> c(), tolerance = 1e-6)
  expect_identical(dim(predict(none, d$x[1:2, ])), c(2L, 3L))
  skip_if_not_installed("generics")
  tidied <- generics::tidy(fit)
  expect_equal(tidied$estimate, as.vector(coef(fit)))
  expect_identical(unique(tidied$y.level), levels(d$y))
  expect_equal(generics::glance(fit)$deviance, deviance(fit))
  expect_equal(as.matrix(generics::augment(fit, data)[paste0(".probability_", levels(d$y))]), fitted(fit), ignore_attr = TRUE)
  expect_identical(generics::augment(fit, newdata = data[1:4, ])$.fitted, predict(fit, data[1:4, ], type = "class"))
  expect_identical(sum(is.na(generics::augment(padded, holed)$.fitted)), 2L)
  expect_identical(nrow(generics::tidy(subsets(y ~ a + b + e, data, lambda2 = 0.3))), 18L)
})

test_that("cross-validation, stability and judging of classes", {
  d <- kinds()
  set.seed(1)
  cv <- cv.bestset(d$x, d$y, nfolds = 5)
  expect_identical(cv$measure, "mean deviance")
  expect_true(all(c("b", "e") %in% rownames(coef(cv))))
  # Every fold has its share of every class.
  expect_lte(max(apply(table(cv$foldid, d$y), 2, function(counts) diff(range(counts)))), 1)
  wrong <- cv.bestset(d$x, d$y, foldid = cv$foldid, type.measure = "class")
  expect_identical(wrong$measure, "share of wrong classes")
  expect_lt(min(wrong$cvm), 0.8 * wrong$cvm[wrong$path$points$size == 0][[1]])
  expect_error(cv.bestset(d$x, d$y, type.measure = "auc"), "two classes")
  expect_output(print(summary(cv)), "in folds")
  set.seed(2)
  expect_identical(sort(stability(d$x, d$y, subsamples = 10)$largest$feature[1:2]), c("b", "e"))
  fit <- bestset(d$x, d$y, k = 2, lambda2 = 0.1)
  judged <- certify(fit, d$x, d$y, k = 2, lambda2 = 0.1)
  expect_equal(judged$objective, fit$objective, tolerance = 1e-9)
  expect_identical(certify(coef(fit), d$x, d$y, k = 2, lambda2 = 0.1)$objective, judged$objective)
  expect_identical(certify(coef(fit)[, 3:1], d$x, d$y, k = 2, lambda2 = 0.1)$objective, judged$objective)
  expect_identical(certify(unname(coef(fit, complete = TRUE)), d$x, d$y, k = 2, lambda2 = 0.1)$objective, judged$objective)
  worse <- coef(fit)
  worse[3, 1] <- worse[3, 1] + 1
  expect_gt(certify(worse, d$x, d$y, k = 2, lambda2 = 0.1)$gap, 0.1)
  # Intercepts apart, in the order of the classes or by their names.
  slopes <- coef(fit, complete = TRUE)[-1, ]
  own <- coef(fit)[1, ]
  expect_identical(certify(slopes, d$x, d$y, k = 2, lambda2 = 0.1, intercept = own)$objective, judged$objective)
  expect_identical(certify(slopes, d$x, d$y, k = 2, lambda2 = 0.1, intercept = rev(own))$objective, judged$objective)
  expect_identical(certify(slopes, d$x, d$y, k = 2, lambda2 = 0.1, intercept = unname(own))$objective, judged$objective)
  expect_gt(certify(slopes, d$x, d$y, k = 2, lambda2 = 0.1)$objective, judged$objective)
  expect_error(certify(slopes, d$x, d$y, k = 2, intercept = 1), "intercept is 1; it must have a number for each of the 3 classes")
  expect_error(certify(slopes, d$x, d$y, k = 2, intercept = c(a = 1, b = 2, c = 3)), "intercept has the name \"a\"")
  # A start has a row for each feature and a column for each class, also where there is one feature.
  expect_error(bestset(d$x, d$y, k = 2, warm_start = t(slopes)), "8 columns; they need one for each of the 3 classes")
  expect_identical(bestset(d$x, d$y, k = 2, lambda2 = 0.1, warm_start = slopes)$support, fit$support)
  one <- bestset(d$x[, 2, drop = FALSE], d$y, lambda0 = 0, lambda2 = 0.1, warm_start = slopes["b", , drop = FALSE])
  expect_identical(one$size, 1L)
  expect_error(certify(coef(fit)[, 1:2], d$x, d$y, k = 2), "2 columns; they need one for each of the 3 classes")
  expect_error(certify(`colnames<-`(coef(fit), c("low", "middle", "top")), d$x, d$y, k = 2), "\"top\", which is no class")
  expect_error(certify(coef(fit, complete = TRUE)[, 1], d$x, d$y, k = 2), "coefficients")
  skip_if_not_installed("nnet")
  plain <- nnet::multinom(y ~ b + e, data.frame(d$x, y = d$y), trace = FALSE)
  theirs <- certify(plain, d$x, d$y, k = 2, lambda2 = 0.01)
  middle <- cbind(low = 0, t(coef(plain)))
  middle <- rbind(middle - rowMeans(middle), matrix(0, 0, 3))
  beta <- `[<-`(coef(fit, complete = TRUE) * 0, rownames(middle), TRUE, middle)
  expect_equal(theirs$objective, objective_at(beta, d$x, d$y, 0, 0.01), tolerance = 1e-9)
  expect_lte(theirs$lower_bound, theirs$objective)
  skip_if_not_installed("glmnet")
  lasso <- glmnet::glmnet(d$x, d$y, family = "multinomial")
  expect_gt(certify(lasso, d$x, d$y, s = 0.05, k = 8, lambda2 = 0.01)$gap, 0)
  expect_error(certify(lasso, d$x, d$y, k = 8), "give s")
})

test_that("model files of many classes", {
  d <- kinds()
  data <- data.frame(d$x, y = d$y, site = factor(rep_len(c("north", "south", "west"), 150)))
  fit <- bestset(y ~ ., data, always = "site")
  file <- tempfile(fileext = ".json")
  write_model(fit, file)
  model <- read_model(file)
  expect_identical(unname(coef(model)), unname(coef(fit)))
  expect_identical(colnames(coef(model)), levels(d$y))
  expect_equal(predict(model, data, type = "response"), predict(fit, data, type = "response"), tolerance = 1e-12)
  expect_identical(predict(model, data, type = "class"), as.character(predict(fit, data, type = "class")))
  expect_output(print(model), "family multinomial")
  expect_identical(certificate(model)$lower_bound, fit$lower_bound)
  shifted <- bestset(d$x, d$y, offset = d$shift, k = 2)
  expect_warning(write_model(shifted, file), "offset")
  expect_equal(predict(read_model(file), d$x, offset = d$shift), predict(shifted), tolerance = 1e-12)
  # The command line reads it, and predicts the same.
  command <- Sys.getenv("BESTSET_COMMAND")
  if (!nzchar(command)) skip("BESTSET_COMMAND names no program bestset")
  write_model(fit, file)
  table <- tempfile(fileext = ".csv")
  utils::write.csv(data, table, row.names = FALSE, quote = FALSE)
  said <- system2(command, c("predict", file, table), stdout = TRUE)
  theirs <- utils::read.csv(text = said, check.names = FALSE)
  expect_identical(theirs[[ncol(theirs) - 3]], as.character(predict(fit, type = "class")))
  expect_equal(as.matrix(theirs[paste("probability", levels(d$y))]), fitted(fit), tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("what is wrong with classes is said by their names", {
  d <- kinds()
  expect_error(bestset(d$x, factor(rep("low", 150))), "needs two classes; y has 1 different value, \"low\"")
  expect_error(bestset(d$x, factor(rep("low", 150)), family = "multinomial"), "two classes or more; y has 1 different value, \"low\"")
  expect_error(bestset(d$x, d$y, lambda2 = 0), "set lambda2 above 0")
  expect_error(bestset(d$x, replace(d$y, 4, NA)), "y\\[4\\] is missing")
  expect_error(bestset(d$x, d$y, family = "binomial"), "has 3 different values \\(family = \"multinomial\" takes them together\\)")
  expect_error(bestset(d$x, d$y, family = "gaussian"), "classes: family = \"multinomial\"")
  expect_error(bestset(d$x, d$y, weights = 1 * (d$y != "high")), "no sample of class \"high\" has a weight")
  expect_error(bestset(d$x, paste0("name", 1:150)), "150 different values, more than 50")
  expect_error(bestset(d$x, model.matrix(~ d$y - 1), family = "multinomial"), "3 columns; it must have one, a factor")
  expect_error(cv.bestset(d$x, replace(as.character(d$y), 7, "rare"), nfolds = 5), "class \"rare\" are in one fold")
  expect_error(bestset(d$x, d$y, family = "squared_hinge"), "needs two classes")
  expect_error(bestset(d$x, d$y, criterion = "cp"), "squared loss")
})
