# At most two threads, and no progress.
options(bestset.threads = 2)

# Data that are not part of the package: a folder that BESTSET_DATA names, or beside the checkout. NULL where there are none.
shared <- function(name) {
  folder <- Sys.getenv("BESTSET_DATA")
  file <- file.path(folder, name)
  if (!nzchar(folder) || !file.exists(file)) testthat::skip(paste("no", name, "in BESTSET_DATA"))
  file
}

simulated <- function(n = 60, p = 12, seed = 3) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n, dimnames = list(NULL, paste0("v", seq_len(p))))
  list(x = x, y = 2 * x[, 3] - x[, 7] + 0.5 * rnorm(n))
}
