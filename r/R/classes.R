# Many classes: one column of coefficients, of predictors and of probabilities for each.

# Texts as a target are classes by themselves up to so many different ones; more are rather names, as the command line has it.
MOST_CLASSES <- 50

# The one column of a target.
one_column <- function(y, family) {
  if (!is.matrix(y) && !is.data.frame(y)) return(y)
  if (ncol(y) != 1) stop("y has ", ncol(y), " columns; it must have one", if (identical(family, "multinomial")) ", a factor of the classes", call. = FALSE)
  if (is.data.frame(y)) y[[1]] else y[, 1]
}

# The family that a target asks for where none is given.
family_by_target <- function(y) {
  if (inherits(y, "Surv")) return("cox")
  if (is.data.frame(y) && ncol(y) == 1) y <- y[[1]]
  if (!is.factor(y) && !is.character(y)) return("gaussian")
  classes <- length(unique(as.vector(y[!is.na(y)])))
  if (!is.factor(y) && classes > MOST_CLASSES) {
    stop("y is text with ", classes, " different values, more than ", MOST_CLASSES, ", as names are; family = \"multinomial\" takes them for classes", call. = FALSE)
  }
  if (classes > 2) "multinomial" else "binomial"
}

# Numbers of the classes as the engine reads them, and the labels in their order. Levels without samples are none.
class_target <- function(y, family) {
  levels <- if (is.factor(y)) levels(droplevels(y)) else sort(unique(as.vector(y)))
  kind <- if (is.factor(y)) "factor" else typeof(y)
  many <- family == "multinomial"
  if (if (many) length(levels) < 2 else length(levels) != 2) {
    stop("family \"", family, "\" needs two classes", if (many) " or more", "; y has ", length(levels), " different value", if (length(levels) != 1) "s",
      if (length(levels) == 1) paste0(", ", dQuote(levels, FALSE)), if (length(levels) > 2) " (family = \"multinomial\" takes them together)", call. = FALSE)
  }
  place <- match(as.vector(y), as.vector(levels))
  list(y = if (many) place - 1 else 2 * place - 3, labels = levels, kind = kind)
}

# Refuses a class that nothing is left of: without weight, or with all of its samples in one fold.
check_classes <- function(asked, foldid = NULL) {
  if (asked$family != "multinomial") return(invisible())
  weights <- asked$call$data$weights
  of <- factor(asked$labels[asked$call$data$y + 1], asked$labels)
  counted <- if (is.null(weights)) rep(TRUE, asked$n) else weights > 0
  lost <- setdiff(asked$labels, of[counted])
  if (length(lost)) stop("no sample of class ", dQuote(lost[[1]], FALSE), " has a weight above 0; leave the class out of y", call. = FALSE)
  if (is.null(foldid)) return(invisible())
  within <- tapply(foldid[counted], of[counted], function(folds) length(unique(folds)) == 1)
  if (any(within)) {
    stop("all samples of class ", dQuote(names(within)[within][[1]], FALSE), " are in one fold: without them there are none of it; leave the class out of y, or use fewer folds",
      call. = FALSE)
  }
}

# Coefficients with a column for each class, where there are many.
in_classes <- function(point, labels, names) {
  if (length(point$intercept) == 1) return(point)
  labels <- as.character(labels)
  point$values <- matrix(point$values, length(point$support), length(labels), dimnames = list(names, labels))
  point$intercept <- setNames(point$intercept, labels)
  point
}

# Predictors, a column for each class.
class_margins <- function(found, point) {
  if (length(point$intercept) == 1) return(found)
  matrix(found, ncol = length(point$intercept), dimnames = list(NULL, names(point$intercept)))
}

# log(sum(exp(u))) of every row.
log_sums <- function(u) {
  most <- apply(u, 1, max)
  most + log(rowSums(exp(u - most)))
}

probabilities <- function(u) exp(u - log_sums(u))

# The likeliest class of every row, the first of equals.
likeliest <- function(u) {
  found <- rep(NA_integer_, nrow(u))
  known <- !is.na(rowSums(u))
  found[known] <- max.col(u[known, , drop = FALSE], "first")
  found
}

# Offsets of classes: a column for each.
class_offset <- function(offset, n, classes) {
  if (is.null(offset)) return(NULL)
  if (is.data.frame(offset)) offset <- as.matrix(offset)
  if (!is.matrix(offset) || !is.numeric(offset) || nrow(offset) != n || ncol(offset) != classes) {
    found <- if (is.matrix(offset)) paste(dim(offset), collapse = " x ") else paste(class(offset)[[1]], "of length", length(offset))
    stop("offset must be a numeric matrix with a row for each of the ", n, " samples and a column for each of the ", classes, " classes; it is ", found, call. = FALSE)
  }
  as.double(numbers(as.vector(offset), "offset", n * classes))
}

# Support, values and intercepts of what is given: a matrix with a column for each class, what nnet::multinom() or glmnet() made.
given_classes <- function(object, asked, intercept, s, what) {
  labels <- as.character(asked$labels)
  values <- if (inherits(object, "glmnet") || inherits(object, "cv.glmnet")) {
    if (is.null(s)) stop("give s, the point of the glmnet path to judge", call. = FALSE)
    of <- coef(object, s = s)
    if (!is.list(of)) stop("the glmnet object is not one of family \"multinomial\"", call. = FALSE)
    if (ncol(of[[1]]) != 1) stop("s has ", ncol(of[[1]]), " values; give one", call. = FALSE)
    vapply(of, as.vector, numeric(nrow(of[[1]]))) |> `rownames<-`(sub("^$", "(Intercept)", rownames(of[[1]])))
  } else if (inherits(object, "multinom")) {
    of <- coef(object)
    of <- if (is.matrix(of)) t(of) else cbind(of)
    of <- cbind(0, of)
    # The first class has zeros there; the same model in the middle of its classes is shrunk least.
    structure(of - rowMeans(of), dimnames = list(rownames(of), object$lev))
  } else if (is.numeric(object) || is(object, "Matrix")) as.matrix(object) else coef(object)
  if (!is.matrix(values) || !is.numeric(values)) stop("no coefficients of classes were found in ", what, ", of class ", class(object)[[1]], call. = FALSE)
  if (ncol(values) != length(labels)) {
    stop(what, " has coefficients in ", ncol(values), " columns; they need one for each of the ", length(labels), " classes", call. = FALSE)
  }
  if (!is.null(colnames(values))) {
    strange <- setdiff(colnames(values), labels)
    if (length(strange)) stop("the coefficients have a column ", dQuote(strange[[1]], FALSE), ", which is no class of y", call. = FALSE)
    values <- values[, labels, drop = FALSE]
  }
  values[is.na(values)] <- 0
  known <- if (is.null(rownames(values))) rep(FALSE, nrow(values)) else is_intercept(rownames(values))
  if (is.null(rownames(values)) && nrow(values) == asked$p + 1) known[[1]] <- TRUE
  intercept <- if (any(known)) values[known, ] else class_intercepts(intercept, labels)
  values <- values[!known, , drop = FALSE]
  if (is.null(rownames(values)) || is.null(asked$names)) {
    if (nrow(values) != asked$p) stop(what, " has coefficients of ", nrow(values), " features for ", asked$p, " features", call. = FALSE)
    places <- seq_len(asked$p)
  } else {
    places <- match(rownames(values), asked$names)
    if (anyNA(places)) stop("the coefficient ", dQuote(rownames(values)[is.na(places)][[1]], FALSE), " of ", what, " is no column of x", call. = FALSE)
  }
  used <- which(rowSums(values != 0) > 0)
  used <- used[order(places[used])]
  list(support = places[used], values = as.double(values[used, ]), intercept = as.double(intercept))
}

# Intercepts of classes: by their names where they have some, zero where none is given.
class_intercepts <- function(intercept, labels) {
  if (identical(as.double(intercept), 0)) return(numeric(length(labels)))
  if (!is.numeric(intercept) || length(intercept) != length(labels) || anyNA(intercept)) {
    stop("intercept is ", short(intercept), "; it must have a number for each of the ", length(labels), " classes", call. = FALSE)
  }
  if (is.null(names(intercept))) return(as.double(intercept))
  strange <- setdiff(names(intercept), labels)
  if (length(strange)) stop("intercept has the name ", dQuote(strange[[1]], FALSE), ", which is no class of y", call. = FALSE)
  as.double(intercept[labels])
}
