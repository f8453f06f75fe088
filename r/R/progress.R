# How far it is, by package cli where it is installed.

# Runs `body` with a function that the engine calls now and then, or with none.
with_progress <- function(control, body) {
  if (!isTRUE(control$progress) || !requireNamespace("cli", quietly = TRUE)) return(body(NULL))
  said <- "starting"
  bar <- cli::cli_progress_bar(format = "{cli::pb_spin} bestset: {said} [{cli::pb_elapsed}]", total = NA, clear = TRUE)
  on.exit(cli::cli_progress_done(id = bar))
  show <- function(what, done, all) {
    said <<- switch(what,
      path = paste("a path,", done, "features"), folds = paste("fold", done, "of", all), solving = "solving and proving")
    cli::cli_progress_update(id = bar, force = TRUE)
  }
  # An interrupt is for the engine, which looks for it by itself.
  body(function(what, done, all) suspendInterrupts(tryCatch(show(what, done, all), error = function(e) NULL)))
}
