# Ctrl-C, sent to a child process.

test_that("an interrupt ends a solve with an answer", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- tempfile()
  dir.create(folder)
  script <- file.path(folder, "child.R")
  writeLines(c(
    sprintf(".libPaths(c(%s))", paste(deparse(.libPaths()), collapse = "")),
    "library(bestset)",
    "set.seed(1)",
    "x <- matrix(rnorm(300 * 3000), 300)",
    "y <- rnorm(300)",
    sprintf("writeLines(as.character(Sys.getpid()), '%s/pid.part')", folder),
    sprintf("file.rename('%s/pid.part', '%s/pid')", folder, folder),
    # Far more than can be proved.
    "fit <- suppressWarnings(bestset(x, y, k = 40, method = 'exact', threads = 2, progress = FALSE))",
    sprintf("saveRDS(list(fit$status, fit$objective, fit$lower_bound, fit$size), '%s/answer.part')", folder),
    sprintf("file.rename('%s/answer.part', '%s/answer')", folder, folder)
  ), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), wait = FALSE, stdout = FALSE, stderr = file.path(folder, "errors"))
  await <- function(name) {
    file <- file.path(folder, name)
    for (i in 1:1200) if (file.exists(file)) return(file) else Sys.sleep(0.05)
    skip(paste("the child process has no", name, ":", paste(readLines(file.path(folder, "errors")), collapse = " ")))
  }
  pid <- as.integer(readLines(await("pid")))
  Sys.sleep(1)
  tools::pskill(pid, tools::SIGINT)
  answer <- readRDS(await("answer"))
  expect_identical(answer[[1]], "interrupted")
  expect_true(answer[[3]] <= answer[[2]])
  # After the first pass there is a bound that says something.
  expect_gt(answer[[3]], 0)
  # On a busy machine it may come before the first feature.
  expect_lte(answer[[4]], 40)
})

test_that("an interrupt as soon as the engine is heard returns an answer with a bound", {
  skip_on_os("windows")
  skip_on_cran()
  set.seed(1)
  x <- matrix(rnorm(200 * 1000), 200)
  y <- rnorm(200)
  # Counted by events: the engine says how far it is, and work that would take hours is interrupted when it first does.
  asked <- bestset:::ask(x, y, control = bestset_control(method = "exact", threads = 2))
  asked$call$choice <- bestset:::choice_of(k = 20)
  heard <- character()
  interrupt <- function(what, done, all) {
    heard <<- c(heard, what)
    suspendInterrupts(tools::pskill(Sys.getpid(), tools::SIGINT))
  }
  found <- bestset:::call_select(asked$call, interrupt)$found
  expect_gt(length(heard), 0)
  expect_identical(found$status, "interrupted")
  expect_gt(found$lower_bound, 0)
  expect_lte(found$lower_bound, found$objective)
})
