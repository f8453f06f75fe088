# Data as R users have them, turned into what the engine reads; without a copy where that is possible.

# X as the engine reads it.
design <- function(x) {
  if (inherits(x, "bestset_file")) return(list(file = x$path))
  if (inherits(x, "sparseMatrix")) {
    # Sorted and summed up by Matrix itself; patterns and logicals become numbers.
    x <- as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    check_finite(x@x, NULL)
    return(list(n = nrow(x), p = x@p, i = x@i, x = x@x))
  }
  if (is.object(x) && !is.matrix(x)) x <- as.matrix(x)
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    found <- if (is.matrix(x)) paste("a matrix of type", typeof(x)) else paste(class(x), collapse = "/")
    stop("x must be a numeric matrix, a sparse matrix of package Matrix, a data frame, or an array opened by open_npy(); it is ", found,
      if (is.numeric(x)) ": for one feature give cbind(x)", call. = FALSE)
  }
  if (storage.mode(x) != "double") storage.mode(x) <- "double"
  check_finite(x, colnames(x))
  list(n = nrow(x), columns = ncol(x), x = x)
}

# Refuses what is missing or infinite, and says where.
check_finite <- function(x, names) {
  if (!length(x) || all(is.finite(range(x)))) return(invisible())
  place <- which(!is.finite(x))
  count <- if (length(place) > 1) paste0(", the first of ", length(place), " such values") else ""
  advice <- "; leave out such rows (na.omit) or fill them in"
  if (is.matrix(x)) {
    at <- arrayInd(place[[1]], dim(x))
    column <- if (is.null(names)) at[[2]] else dQuote(names[[at[[2]]]], FALSE)
    stop("x[", at[[1]], ", ", column, "] is ", x[[place[[1]]]], count, advice, call. = FALSE)
  }
  stop("x has ", length(place), " values that are missing or infinite", advice, call. = FALSE)
}

shape <- function(x) if (inherits(x, "bestset_file")) c(x$rows, x$columns) else dim(x)

feature_names <- function(x) {
  names <- colnames(x)
  if (is.null(names)) return(NULL)
  names <- enc2utf8(names)
  again <- anyDuplicated(names)
  if (again) stop("x has two columns named ", dQuote(names[[again]], FALSE), "; rename one of them", call. = FALSE)
  names
}

# The target as the engine reads it, and the labels that -1 and +1, or the numbers of classes or strata, stand for.
response <- function(y, family, n, strata = NULL) {
  if (family == "cox") {
    found <- survival_times(y, n, strata)
    return(list(y = found$times$time, times = found$times, strata = found$strata))
  }
  if (!is.null(strata)) stop("strata are for survival times, family \"cox\"; the family is \"", family, "\"", call. = FALSE)
  y <- one_column(y, family)
  if (is.null(y)) stop("there is no target: give y, or a formula with a left side", call. = FALSE)
  if (length(y) != n) stop("y has length ", length(y), ", but x has ", n, " rows", call. = FALSE)
  if (anyNA(y)) stop("y[", which(is.na(y))[[1]], "] is missing; leave out such samples", call. = FALSE)
  if (family %in% CLASSES) return(class_target(y, family))
  if (!is.numeric(y) && !is.logical(y)) {
    levels <- length(unique(as.vector(y)))
    stop("y is ", class(y)[[1]], " with ", levels, " different values; family \"", family, "\" needs numbers (classes: family = \"",
      if (levels > 2) "multinomial" else "binomial", "\")", call. = FALSE)
  }
  list(y = as.double(y))
}

# Columns of a data frame as numbers: a factor or text becomes indicators against its first level, which are one group.
columns_of <- function(frame, known = NULL) {
  levels_of <- function(name) {
    column <- frame[[name]]
    if (!is.null(known)) known[[name]] else if (is.factor(column)) levels(droplevels(column)) else if (is.character(column)) sort(unique(column))
  }
  levels <- sapply(names(frame), levels_of, simplify = FALSE)
  one <- function(name) {
    column <- frame[[name]]
    if (is.null(levels[[name]])) {
      if (!is.null(dim(column)) || !(is.numeric(column) || is.logical(column))) {
        stop("column ", dQuote(name, FALSE), " is ", class(column)[[1]], "; it must have numbers, or be a factor", call. = FALSE)
      }
      return(matrix(as.double(column), dimnames = list(NULL, name)))
    }
    indicators(as.character(column), levels[[name]], name)
  }
  parts <- lapply(names(frame), one)
  groups <- rep(seq_along(parts), vapply(parts, ncol, 1L))
  list(x = do.call(cbind, parts), groups = groups, levels = Filter(Negate(is.null), levels), members = members(groups, names(frame)))
}

# The columns of each variable or term, by its name.
members <- function(assign, labels) split(seq_along(assign), factor(labels[assign], labels))

indicators <- function(column, levels, name) {
  strange <- setdiff(column, c(levels, NA))
  if (length(strange)) {
    stop("column ", dQuote(name, FALSE), " has the level ", dQuote(strange[[1]], FALSE), ", which the model does not know; it knows ",
      paste(dQuote(levels, FALSE), collapse = ", "), call. = FALSE)
  }
  found <- 1 * outer(column, levels[-1], `==`)
  dimnames(found) <- list(NULL, paste0(name, levels[-1], recycle0 = TRUE))
  found
}

# Groups that say nothing are none.
useful <- function(groups) if (anyDuplicated(groups)) groups

# The model frame that a call asks for.
framed <- function(call, envir) {
  words <- match(c("formula", "data", "subset", "weights", "na.action", "offset", "strata"), names(call), 0L)
  frame <- call[c(1L, words)]
  frame[[1L]] <- quote(stats::model.frame)
  frame$formula <- with_survival(stats::as.formula(eval(call$formula, envir)))
  frame$drop.unused.levels <- TRUE
  eval(frame, envir)
}

# A model frame as matrix, with what new data need to become one as well. The columns of a term are one group.
encoded <- function(frame) {
  terms <- attr(frame, "terms")
  y <- model.response(frame)
  strata <- strata_in(frame, terms)
  apart <- strata_terms(terms)
  labels <- attr(terms, "term.labels")
  # Indicators of factors are against their first level, though the partial likelihood has no intercept.
  if (inherits(y, "Surv")) attr(terms, "intercept") <- 1L
  # Strata are no features: a number takes the place of their many levels.
  plain <- frame
  if (length(apart)) plain[labels[apart]] <- 0
  x <- model.matrix(terms, plain)
  assign <- attr(x, "assign")
  is_feature <- assign > 0 & !assign %in% apart
  assign <- assign[is_feature]
  xlevels <- stats::.getXlevels(terms, frame)
  list(
    x = x[, is_feature, drop = FALSE], y = y, weights = model.weights(frame), offset = model.offset(frame), strata = strata,
    groups = useful(assign), intercept = attr(terms, "intercept") == 1,
    coding = list(terms = terms, xlevels = xlevels[setdiff(names(xlevels), labels[apart])], contrasts = attr(x, "contrasts"),
      assign = assign, apart = apart, members = members(assign, labels), na.action = attr(frame, "na.action"),
      has_offset = !is.null(frame[["(offset)"]]))
  )
}
