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

# Data sets that other interfaces are compared on, of several families.
sets <- function() {
  set.seed(11)
  wide <- matrix(rnorm(50 * 300), 50)
  sparse <- matrix(rbinom(80 * 40, 2, 0.1), 80)
  found <- list(
    mtcars = list(x = as.matrix(mtcars[-1]), y = mtcars$mpg),
    swiss = list(x = as.matrix(swiss[-1]), y = swiss$Fertility),
    iris = list(x = as.matrix(iris[51:150, -5]), y = rep(0:1, each = 50), family = "binomial"),
    wide = list(x = wide, y = wide[, 3] - 2 * wide[, 70] + rnorm(50)),
    counts = list(x = sparse, y = sparse[, 5] + sparse[, 9] + 0.5 * rnorm(80)),
    poisson = list(x = sparse, y = rpois(80, exp(0.3 + 0.6 * sparse[, 5] - 0.5 * sparse[, 9])), family = "poisson")
  )
  found$species <- list(x = as.matrix(iris[-5]), y = rep(0:2, each = 50), family = "multinomial")
  kinds <- max.col(cbind(sparse[, 5], sparse[, 9], 0.5, sparse[, 14]) + matrix(rnorm(320, sd = 0.4), 80)) - 1
  found$kinds <- list(x = sparse, y = kinds, family = "multinomial")
  # Times with ties.
  time <- round(rexp(80, exp(sparse[, 5] - 0.8 * sparse[, 9])), 1) + 0.1
  found$times <- list(x = sparse, y = cbind(time = pmin(time, 2), status = 1 * (time <= 2)), family = "cox")
  for (name in c("prostate", "hitters")) {
    file <- file.path(Sys.getenv("BESTSET_DATA"), paste0(name, ".csv"))
    if (!file.exists(file)) next
    data <- utils::read.csv(file)
    found[[name]] <- list(x = as.matrix(data[-ncol(data)]), y = data[[ncol(data)]])
  }
  found
}
