# The same data give the same model in Python: where BESTSET_PYTHON names an interpreter with the package.

# Python has an intercept of zero where there is none.
numbers_of <- function(fit) unname(c(if (fit$family == "cox") 0, coef(fit, complete = TRUE), fit$objective, fit$lower_bound, fit$lambda0, fit$lambda2))

test_that("R and Python agree", {
  python <- Sys.getenv("BESTSET_PYTHON")
  if (!nzchar(python)) skip("BESTSET_PYTHON names no interpreter with the package bestset")
  data <- sets()
  folders <- vapply(names(data), function(name) tempfile(name), "")
  answers <- Map(function(set, folder) {
    family <- if (is.null(set$family)) "gaussian" else set$family
    dir.create(folder)
    x <- unname(set$x)
    storage.mode(x) <- "double"
    set.seed(3)
    foldid <- sample(rep_len(1:3, nrow(x)))
    write <- function(values, file) writeBin(values, file.path(folder, file))
    write(as.vector(x), "x")
    write(if (family == "cox") as.double(set$y[, "time"]) else as.double(set$y), "y")
    write(if (family == "cox") as.double(set$y[, "status"]) else double(nrow(x)), "event")
    write(as.integer(foldid), "foldid")
    writeLines(paste(dim(x), collapse = " "), file.path(folder, "shape"))
    writeLines(bestset:::LOSSES[[family]], file.path(folder, "loss"))
    ask <- function(...) suppressWarnings(bestset(x, set$y, family = family, ...))
    ours <- list(
      ask(prove = FALSE), ask(k = 3, prove = FALSE), ask(lambda0 = 0.5, lambda2 = 0.3, prove = FALSE),
      ask(k = 3, lambda2 = 0.3, method = "exact", max_nodes = 300),
      suppressWarnings(cv.bestset(x, set$y, family = family, foldid = foldid, prove = FALSE))
    )
    write_model(ours[[1]], file.path(folder, "from_r.json"))
    list(x = x, family = family, ours = ours)
  }, data, folders)
  # One interpreter for all: to start it takes longer than to fit.
  said <- suppressWarnings(system2(python, c("-W", "ignore", "equal.py", folders), stdout = TRUE, stderr = TRUE))
  for (name in names(data)) {
    folder <- folders[[name]]
    x <- answers[[name]]$x
    ours <- answers[[name]]$ours
    family <- answers[[name]]$family
    if (!file.exists(file.path(folder, "margins"))) fail(paste(c(name, said), collapse = "\n"))
    theirs <- readBin(file.path(folder, "found"), "double", 1e6)
    expect_equal(unlist(lapply(ours, numbers_of)), theirs, tolerance = 1e-12, label = name)
    # Files go both ways.
    margins <- readBin(file.path(folder, "margins"), "double", 1e6)
    expect_equal(as.vector(predict(ours[[1]], x)), margins, tolerance = 1e-12, label = name)
    model <- read_model(file.path(folder, "model.json"))
    expect_equal(predict(model, x), predict(ours[[1]], x), tolerance = 1e-12, label = name)
    if (family != "cox") next
    expect_equal(predict(model, x, type = "survival"), predict(ours[[1]], x, type = "survival"), tolerance = 1e-12)
    curves <- readBin(file.path(folder, "curves"), "double", 1e6)
    expect_equal(predict(ours[[1]], x, type = "survival", times = c(0.5, 1)), matrix(curves, ncol = 2, byrow = TRUE), tolerance = 1e-12, ignore_attr = TRUE)
  }
})
