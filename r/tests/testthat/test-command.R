# The same data give the same model on the command line, to the bit: where BESTSET_COMMAND names the program.

test_that("R and the command line agree to the bit", {
  command <- Sys.getenv("BESTSET_COMMAND")
  if (!nzchar(command)) skip("BESTSET_COMMAND names no program bestset")
  asked <- list(
    list(words = character(), ours = list()),
    list(words = c("-k", "3"), ours = list(k = 3)),
    list(words = c("--lambda0", "0.5", "--lambda2", "0.3"), ours = list(lambda0 = 0.5, lambda2 = 0.3))
  )
  for (name in names(sets())) {
    set <- sets()[[name]]
    x <- set$x
    if (is.null(colnames(x))) colnames(x) <- paste0("v", seq_len(ncol(x)))
    folder <- tempfile()
    dir.create(folder)
    data <- file.path(folder, "data.csv")
    # All digits, so that the file has the same numbers.
    family <- if (is.null(set$family)) "gaussian" else set$family
    target <- if (family == "cox") set$y else cbind(target = set$y)
    table <- cbind(x, target)
    cells <- matrix(sprintf("%.17g", table), nrow(table))
    writeLines(c(paste(colnames(table), collapse = ","), apply(cells, 1, paste, collapse = ",")), data)
    roles <- if (family == "cox") c("--time", "time", "--event", "status") else c("--target", "target", "--family", family)
    for (one in asked) {
      file <- file.path(folder, "model.json")
      words <- c("fit", data, roles, "--prove", "0", "--threads", "2", one$words, "-o", file)
      said <- system2(command, shQuote(words), stdout = TRUE, stderr = TRUE)
      expect_null(attr(said, "status"), info = paste(name, paste(said, collapse = "\n")))
      ours <- do.call(bestset, c(list(x, set$y, family = family, prove = FALSE), one$ours))
      theirs <- read_model(file)
      expect_identical(coef(theirs, complete = TRUE), coef(ours, complete = TRUE), info = name)
      fields <- c("objective", "lower_bound", "lambda0", "lambda2", "status")
      expect_identical(unclass(theirs)[fields], unclass(ours)[fields], info = name)
      expect_identical(theirs$baseline, ours$survival$baseline, info = name)
    }
  }
})
