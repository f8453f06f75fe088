# From words to an answer.

# Selects a model. `coding` says how new data become columns; `folding` is for cross-validation.
fit <- function(x, y, lambda0 = NULL, k = NULL, lambda2 = NULL, criterion = "ebic", gamma = 1, max_size = NULL, nlambda0 = NULL, ..., call,
                coding = NULL, target = "y", folding = NULL) {
  asked <- ask_for(x, y, coding, lambda2 = lambda2, ...)
  if (!is.null(folding)) folding <- folding(asked)
  asked$call$choice <- choice_of(lambda0, k, lambda2, criterion, gamma, max_size, nlambda0, folding)
  made <- select_with(asked)
  made$call <- call
  made$coding <- coding
  made$target <- target
  if (!is.null(folding)) made <- validated(made, folding)
  warn(made)
  made
}

# As `ask()`, words of the problem and of the way of solving together.
ask_for <- function(x, y, coding, ...) {
  words <- apart(list(...))
  do.call(ask, c(list(x, y), words$problem, list(members = coding$members, control = words$control)))
}

# The samples and the problem, as the engine reads them, with what R knows of them.
ask <- function(x, y, family = NULL, weights = NULL, offset = NULL, groups = NULL, control, theta = NULL, strata = NULL, ...) {
  theta <- theta_of(if (is.function(family)) family() else family, theta)
  family <- family_of(family, y)
  read <- design(x)
  size <- shape(x)
  if (any(size == 0)) stop("x has ", size[[1]], " rows and ", size[[2]], " columns of features; it needs some of both", call. = FALSE)
  names <- if (inherits(x, "bestset_file")) x$names else feature_names(x)
  target <- response(y, family, size[[1]], strata)
  many <- family == "multinomial"
  fixed <- if (many) class_offset(offset, size[[1]], length(target$labels)) else numbers(offset, "offset", size[[1]])
  data <- c(read, list(y = target$y, weights = numbers(weights, "weights", size[[1]]), offset = fixed, survival = target$times))
  asked <- list(
    call = list(data = data, setup = setup_of(names, size[[2]], family = family, groups = groups, theta = theta, ...), control = control),
    family = family, names = names, n = size[[1]], p = size[[2]], labels = target$labels, kind = target$kind,
    strata = target$strata, groups = groups
  )
  if (many) asked$call$setup$classes <- length(target$labels)
  check_classes(asked)
  if (!is.null(control$warm_start)) asked$call$control$warm_start <- given(control$warm_start, asked, what = "warm_start")
  asked
}

# Asks the engine.
select_with <- function(asked) {
  both <- with_progress(asked$call$control, function(progress) call_select(asked$call, progress))
  found <- both$found
  found$kept <- .savvy_wrap_Kept(both$kept)
  result(found, asked)
}

# An answer with its class.
result <- function(found, asked) {
  found$size <- length(found$support)
  found$proved <- found$status == "optimal"
  # What was estimated is what deviances, further prices and model files are of.
  if (!is.null(found$delta)) asked$call$setup$delta <- found$delta
  found$asked <- asked
  for (name in c("family", "names", "n", "p")) found[[name]] <- asked[[name]]
  found <- shaped(found, asked)
  found$ranked <- lapply(found$ranked, shaped, asked)
  if (!is.null(found$path)) found$path <- path_of(found$path, asked)
  if (!is.null(found$trace)) found$trace <- as.data.frame(found$trace)
  if (found$status == "interrupted" && identical(asked$call$control$on_interrupt, "stop")) stop_interrupted()
  structure(found, class = "bestset")
}

# A data frame with a row for each point; coefficients and criteria beside it.
path_of <- function(found, asked) {
  columns <- c("lambda0", "lambda2", "size", "objective", "lower_bound", "gap", "relative_gap", "r2", "r2_limit", "intercept")
  points <- as.data.frame(found[columns])
  points$status <- found$point_status
  points <- cbind(points, as.data.frame(found$criteria[setdiff(names(found$criteria), "r2")]))
  beta <- sparseMatrix(i = found$i + 1L, p = found$p, x = found$x, dims = c(asked$p, nrow(points)),
    dimnames = list(asked$names, NULL))
  if (is.null(found$classes)) return(list(points = points, beta = beta, status = found$status))
  # Those of many classes; beta has their lengths.
  points$intercept <- NULL
  list(points = points, beta = beta, status = found$status, classes = lapply(found$classes, shaped, asked))
}

# Coefficients of the engine, with a column for each of many classes.
shaped <- function(found, asked) in_classes(found, asked$labels, name_of(asked, found$support))

stop_interrupted <- function() {
  signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
  invokeRestart("abort")
}

# What there is to know about an answer, as warnings; the summary has the rest.
warn <- function(object) {
  if (object$status %in% LIMITS) {
    limits <- object$remarks[object$remark_kinds == "limit"]
    what <- if (object$status == "interrupted") "interrupted" else paste("stopped at its", gsub("_", " ", object$status))
    warning(what, "; the answer is the best so far, and its bound holds", if (length(limits)) paste0(". ", paste(limits, collapse = " ")), call. = FALSE)
    said <- object$remark_kinds %in% c("limit", "provable")
  } else {
    said <- object$remark_kinds == "provable"
  }
  for (text in object$remarks[!said]) warning(text, call. = FALSE)
}

# The same problem with another number of features.
solved_at <- function(object, k = NULL, lambda0 = NULL) {
  asked <- object$asked
  if (is.null(asked)) stop("the data of this model are not here; fit it anew", call. = FALSE)
  asked$call$choice <- choice_of(lambda0, k)
  asked$call$setup$lambda2 <- object$lambda2
  asked$call$control["warm_start"] <- list(NULL)
  found <- select_with(asked)
  for (name in c("call", "coding", "target")) found[[name]] <- object[[name]]
  found
}

# The name of feature j, or x and its number.
name_of <- function(object, j) if (is.null(object$names)) paste0("x", j, recycle0 = TRUE) else object$names[j]
