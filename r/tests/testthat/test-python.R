# The same data give the same model in Python: where BESTSET_PYTHON names an interpreter with the package.

sets <- function() {
  set.seed(11)
  wide <- matrix(rnorm(50 * 300), 50)
  sparse <- matrix(rbinom(80 * 40, 2, 0.1), 80)
  found <- list(
    mtcars = list(x = as.matrix(mtcars[-1]), y = mtcars$mpg),
    swiss = list(x = as.matrix(swiss[-1]), y = swiss$Fertility),
    iris = list(x = as.matrix(iris[51:150, -5]), y = rep(0:1, each = 50), family = "binomial"),
    wide = list(x = wide, y = wide[, 3] - 2 * wide[, 70] + rnorm(50)),
    counts = list(x = sparse, y = sparse[, 5] + sparse[, 9] + 0.5 * rnorm(80))
  )
  for (name in c("prostate", "hitters")) {
    file <- file.path(Sys.getenv("BESTSET_DATA"), paste0(name, ".csv"))
    if (!file.exists(file)) next
    data <- utils::read.csv(file)
    found[[name]] <- list(x = as.matrix(data[-ncol(data)]), y = data[[ncol(data)]])
  }
  found
}

numbers_of <- function(fit) unname(c(coef(fit, complete = TRUE), fit$objective, fit$lower_bound, fit$lambda0, fit$lambda2))

test_that("R and Python agree", {
  python <- Sys.getenv("BESTSET_PYTHON")
  if (!nzchar(python)) skip("BESTSET_PYTHON names no interpreter with the package bestset")
  for (name in names(sets())) {
    set <- sets()[[name]]
    family <- if (is.null(set$family)) "gaussian" else set$family
    folder <- tempfile()
    dir.create(folder)
    x <- unname(set$x)
    storage.mode(x) <- "double"
    set.seed(3)
    foldid <- sample(rep_len(1:5, nrow(x)))
    write <- function(values, file) writeBin(values, file.path(folder, file))
    write(as.vector(x), "x")
    write(as.double(set$y), "y")
    write(as.integer(foldid), "foldid")
    writeLines(paste(dim(x), collapse = " "), file.path(folder, "shape"))
    writeLines(c(gaussian = "squared", binomial = "logistic")[[family]], file.path(folder, "loss"))
    ask <- function(...) suppressWarnings(bestset(x, set$y, family = family, ...))
    ours <- list(
      ask(prove = FALSE), ask(k = 3, prove = FALSE), ask(lambda0 = 0.5, lambda2 = 0.3, prove = FALSE),
      ask(k = 3, lambda2 = 0.3, method = "exact", max_nodes = 300),
      suppressWarnings(cv.bestset(x, set$y, family = family, foldid = foldid, prove = FALSE))
    )
    write_model(ours[[1]], file.path(folder, "from_r.json"))
    said <- suppressWarnings(system2(python, c("-W", "ignore", "equal.py", folder), stdout = TRUE, stderr = TRUE))
    if (!file.exists(file.path(folder, "margins"))) fail(paste(c(name, said), collapse = "\n"))
    theirs <- readBin(file.path(folder, "found"), "double", 1e6)
    expect_equal(unlist(lapply(ours, numbers_of)), theirs, tolerance = 1e-12, label = name)
    # Files go both ways.
    margins <- readBin(file.path(folder, "margins"), "double", 1e6)
    expect_equal(predict(ours[[1]], x), margins, tolerance = 1e-12, label = name)
    model <- read_model(file.path(folder, "model.json"))
    expect_equal(predict(model, x), predict(ours[[1]], x), tolerance = 1e-12, label = name)
  }
})
