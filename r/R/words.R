# Words of users into what the engine reads: `data`, `setup`, `choice` and `control`. Nothing is decided here.

LOSSES <- c(gaussian = "squared", binomial = "logistic", poisson = "poisson", Gamma = "gamma", negbin = "negative_binomial",
  huber = "huber", squared_hinge = "squared_hinge", cox = "cox", multinomial = "multinomial")
# Families whose linear predictor is the logarithm of the mean.
LOG_LINK <- c("poisson", "Gamma", "negbin")
# Other words for them.
ALIASES <- c(gamma = "Gamma", negative_binomial = "negbin", nb = "negbin")
CLASSES <- c("binomial", "squared_hinge", "multinomial")
# What is predicted of survival times besides the linear predictor.
CURVES <- c("survival", "hazard", "median")
CRITERIA <- c("aic", "bic", "ebic", "gic", "cp", "adjusted_r2")
METHODS <- c("incremental", "exact", "primal_dual", "primal_dual_plain", "dual_ascent", "dual_iht", "cdss")
LIMITS <- c("time_limit", "iteration_limit", "node_limit", "memory_limit", "interrupted", "read_failed")
SCORES <- c(mse = "squared_error", mae = "absolute_error", deviance = "deviance", class = "accuracy", auc = "auc", C = "concordance")

#' How a model is looked for
#'
#' What may be given to [bestset()] and its relatives beside the problem.
#'
#' @param method `"incremental"`: the relaxation on a growing set of features, then a search, then `prove`. `"exact"`: branch and
#'   bound until the gap is closed or a limit strikes. The published algorithms: `"primal_dual"`, `"primal_dual_plain"`,
#'   `"dual_ascent"`, `"dual_iht"`, `"cdss"`.
#' @param prove How much is spent on closing the gap after a fit: `"auto"`, as long again as the fit, two seconds at least and 150 nodes at the most;
#'   a number of seconds, `Inf` for no limit; `FALSE` or 0 for nothing.
#' @param gap Relative gap that counts as proved.
#' @param time_limit Seconds after which the best answer so far is returned, with a valid bound.
#' @param threads How many threads; `NULL` for one per processor, see [bestset-package].
#' @param top How many of the best subsets `method = "exact"` looks for (`ranked` of the answer).
#' @param max_iter,max_nodes,max_memory The most iterations, nodes of branch and bound, bytes besides the data.
#' @param warm_start Coefficients to start from, whatever [certify()] takes: an answer of [bestset()], a vector with names or with one entry for
#'   each feature, of many classes a matrix with a row for each feature and a column for each class.
#' @param stop When the published ascents take their gap for no longer decreasing: `"literal"` or `"patient"`.
#' @param checkpoint A file that keeps what is done, and from which an interrupted call goes on.
#' @param trace Whether to keep how the solve went.
#' @param on_interrupt What Ctrl-C does: `"return"` the best answer so far with its bound and a warning, or `"stop"`.
#' @param progress Whether to show how far it is, by package cli where it is installed.
#' @return A list, for the engine.
#' @examples
#' str(bestset_control(method = "exact", time_limit = 10)[c("method", "time_limit")])
#' @export
bestset_control <- function(method = "incremental", prove = "auto", gap = 1e-6, time_limit = NULL, threads = NULL, top = 1,
                            max_iter = NULL, max_nodes = NULL, max_memory = NULL, warm_start = NULL, stop = "literal",
                            checkpoint = NULL, trace = TRUE, on_interrupt = c("return", "stop"), progress = interactive()) {
  one_of(method, METHODS, "method")
  one_of(stop, c("literal", "patient"), "stop")
  for (name in c("max_iter", "max_nodes", "max_memory", "top")) whole(get(name), name)
  list(
    method = method, prove = proof(prove), gap = number(gap, "gap"), time_limit = number(time_limit, "time_limit"),
    threads = threads_of(threads), top = top, max_iter = max_iter, max_nodes = max_nodes, max_memory = max_memory,
    warm_start = warm_start, stop = stop, checkpoint = if (!is.null(checkpoint)) path.expand(checkpoint), trace = isTRUE(trace),
    on_interrupt = match.arg(on_interrupt), progress = isTRUE(progress)
  )
}

# Words of the problem: those of `ask()` and `setup_of()`.
PROBLEM <- c("family", "lambda1", "lambda2", "weights", "offset", "standardize", "intercept", "penalty.factor", "shrinkage", "exclude",
  "always", "lower.limits", "upper.limits", "groups", "group_prices", "delta", "theta", "ties", "strata")

# Words of the problem apart from those of the way of solving.
apart <- function(words) {
  is_problem <- names(words) %in% PROBLEM
  list(problem = words[is_problem], control = do.call(bestset_control, words[!is_problem]))
}

# "auto" is NULL for the engine, nothing 0.
proof <- function(prove) {
  if (identical(prove, "auto") || isTRUE(prove)) return(NULL)
  if (is.null(prove) || isFALSE(prove)) return(0)
  if (!is.numeric(prove) || length(prove) != 1 || is.na(prove) || prove < 0) {
    stop("prove is ", deparse(prove), "; it must be \"auto\", a number of seconds, or FALSE", call. = FALSE)
  }
  as.double(prove)
}

threads_of <- function(threads) {
  if (!is.null(threads)) {
    whole(threads, "threads")
    return(as.integer(threads))
  }
  given <- c(getOption("bestset.threads"), Sys.getenv("OMP_NUM_THREADS"), Sys.getenv("OMP_THREAD_LIMIT"))
  given <- suppressWarnings(as.integer(given))
  given <- given[!is.na(given) & given > 0]
  if (length(given)) given[[1]] else NULL
}

# Words of others that would be taken for the beginning of one of ours, or be refused without saying why.
STRANGE <- c(
  lambda = "lambda0 is the price of a feature, lambda1 and lambda2 are those of absolute and of squared size, of sums of losses",
  alpha = "lambda1 and lambda2 are the prices of absolute and of squared size", nlambda = "nlambda0 is the most points of the path",
  pmax = "max_size is the largest size of the path, k the largest number of features", dfmax = "max_size is the largest size of the path",
  nbest = "top, with method = \"exact\", is how many of the best subsets are looked for", force.in = "always names features that cost nothing",
  force.out = "exclude names features that are kept out", support.size = "k is the largest number of features, max_size that of a path"
)

refuse_strange <- function(names) {
  found <- intersect(names, names(STRANGE))
  if (length(found)) stop("there is no ", found[[1]], " here: ", STRANGE[[found[[1]]]], call. = FALSE)
}

# One value of those known.
one_of <- function(value, known, name) {
  if (!is.character(value) || length(value) != 1 || !value %in% known) {
    stop(name, " is ", short(value), "; it must be one of ", paste0("\"", known, "\"", collapse = ", "), call. = FALSE)
  }
  value
}

short <- function(value) {
  text <- paste(deparse(value, nlines = 2L), collapse = " ")
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

# A whole number of at least one, or nothing.
whole <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < 1 || value != floor(value)) {
    stop(name, " is ", short(value), "; it must be a whole number, at least 1", call. = FALSE)
  }
  as.double(value)
}

number <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) {
    stop(name, " is ", short(value), "; it must be a number", call. = FALSE)
  }
  as.double(value)
}

# A vector of doubles of this length.
numbers <- function(values, name, n) {
  if (is.null(values)) return(NULL)
  if (!is.numeric(values) || length(values) != n) {
    stop(name, " must be ", n, " numbers; it is ", class(values)[[1]], " of length ", length(values), call. = FALSE)
  }
  if (anyNA(values)) stop(name, "[", which(is.na(values))[[1]], "] is missing", call. = FALSE)
  as.double(values)
}

# The family of a word or of one of R's; where none is given, what y is decides.
family_of <- function(family, y = NULL) {
  if (is.null(family)) return(family_by_target(y))
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) {
    name <- if (startsWith(family$family, "Negative Binomial")) "negbin" else family$family
    usual <- c(gaussian = "identity", binomial = "logit", poisson = "log", Gamma = "log", negbin = "log")
    if (name %in% names(usual) && family$link != usual[[name]]) {
      stop("family ", name, " has the link \"", family$link, "\"; bestset has \"", usual[[name]], "\", for instance ",
        if (name == "Gamma") "Gamma(\"log\")" else paste0("family = \"", name, "\""), call. = FALSE)
    }
    family <- name
  }
  if (is.character(family) && length(family) == 1 && family %in% names(ALIASES)) family <- ALIASES[[family]]
  one_of(family, names(LOSSES), "family")
  if (inherits(y, "Surv") && family != "cox") stop("y is a Surv() of survival times, which are for family \"cox\", not \"", family, "\"", call. = FALSE)
  family
}

# Theta as given, or that of MASS::negative.binomial(theta).
theta_of <- function(family, theta) {
  if (!is.null(theta) || !inherits(family, "family") || !startsWith(family$family, "Negative Binomial")) return(number(theta, "theta"))
  number(get(".Theta", envir = environment(family$variance)), "theta")
}

# Places of features that are given by number, by name, their own or that of the term they belong to, or by a mask.
places <- function(given, name, names, p, members = NULL) {
  if (is.null(given)) return(integer())
  if (is.logical(given)) {
    if (length(given) != p || anyNA(given)) stop(name, " is a mask of length ", length(given), "; there are ", p, " features", call. = FALSE)
    return(which(given))
  }
  if (is.character(given)) {
    known <- given %in% names | given %in% names(members)
    if (!all(known)) stop(name, " lists ", dQuote(given[!known][[1]], FALSE), ", which is no column of x", call. = FALSE)
    found <- lapply(given, function(one) if (one %in% names) match(one, names) else members[[one]])
    return(unique(unlist(found)))
  }
  bad <- is.na(given) | given < 1 | given > p | given != floor(given)
  if (any(bad)) stop(name, " lists ", given[bad][[1]], "; features count from 1 to ", p, call. = FALSE)
  as.integer(given)
}

# The problem, but for the number of features.
setup_of <- function(names, p, family = "gaussian", lambda1 = 0, lambda2 = NULL, standardize = TRUE, intercept = TRUE,
                     penalty.factor = NULL, shrinkage = NULL, exclude = NULL, always = NULL, lower.limits = -Inf,
                     upper.limits = Inf, groups = NULL, group_prices = NULL, delta = NULL, theta = NULL, ties = "efron", members = NULL) {
  scale <- if (isTRUE(standardize)) "norm" else if (isFALSE(standardize)) "none" else standardize
  one_of(scale, c("norm", "variance", "none"), "standardize")
  price <- numbers(if (length(penalty.factor) == 1) rep(penalty.factor, p) else penalty.factor, "penalty.factor", p)
  # As in glmnet: an infinite factor keeps a feature out.
  never <- union(places(exclude, "exclude", names, p, members), which(price == Inf))
  if (length(price)) price[price == Inf] <- 1
  limits <- list(lower.limits = lower.limits, upper.limits = upper.limits)
  for (side in names(limits)) if (length(limits[[side]]) != 1) numbers(limits[[side]], side, p)
  if (any(lengths(limits) != 1)) limits <- lapply(limits, rep_len, p)
  free <- all(lower.limits == -Inf) && all(upper.limits == Inf)
  list(
    loss = LOSSES[[family]], delta = if (!is.null(delta)) number(delta, "delta"), theta = theta, ties = if (family == "cox") one_of(ties, TIES, "ties"),
    lambda1 = number(lambda1, "lambda1"), lambda2 = if (length(lambda2)) number(lambda2[[1]], "lambda2"),
    # The partial likelihood has none.
    intercept = isTRUE(intercept) && family != "cox", scale = scale,
    lower = if (!free) as.double(limits[[1]]), upper = if (!free) as.double(limits[[2]]), price = price,
    shrinkage = numbers(shrinkage, "shrinkage", p), always = places(always, "always", names, p, members), never = never,
    groups = groups_of(groups, p), group_prices = if (!is.null(group_prices)) as.double(group_prices)
  )
}

# Numbers of the groups; labels in the order of `sort(unique(groups))`.
groups_of <- function(groups, p) {
  if (is.null(groups) || isFALSE(groups)) return(NULL)
  if (length(groups) != p) stop("groups must have one label for each of the ", p, " features; it has ", length(groups), call. = FALSE)
  if (anyNA(groups)) stop("groups[", which(is.na(groups))[[1]], "] is missing", call. = FALSE)
  match(groups, sort(unique(groups))) - 1L
}

# What decides the number of features.
choice_of <- function(lambda0 = NULL, k = NULL, lambda2 = NULL, criterion = "ebic", gamma = 1, max_size = NULL, nlambda0 = NULL,
                      folding = NULL) {
  if (!is.null(lambda0) && !is.null(k)) {
    stop("lambda0 is ", short(lambda0), " and k is ", short(k), "; give a price of a feature or a number of them, not both", call. = FALSE)
  }
  if (length(k) > 1) stop("k has ", length(k), " values; give one, or ask subsets() for the best subset of every size", call. = FALSE)
  if (!is.null(lambda0) && (!is.numeric(lambda0) || anyNA(lambda0))) stop("lambda0 is ", short(lambda0), "; it must be a number, or several", call. = FALSE)
  several <- length(lambda0) > 1 || !is.null(folding)
  list(
    lambda0 = if (!several) number(lambda0, "lambda0"), k = whole(k, "k"), criterion = one_of(criterion, CRITERIA, "criterion"),
    gamma = number(gamma, "gamma"), folding = folding,
    lambda0s = if (several && length(lambda0)) sort(unique(as.double(lambda0)), decreasing = TRUE),
    lambda2s = if (length(lambda2) > 1) as.double(lambda2), points = whole(nlambda0, "nlambda0"), max_size = whole(max_size, "max_size")
  )
}
