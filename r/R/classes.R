# Many classes together: a coefficient of each feature for every class.

# The coefficients of class k of a point.
class_point <- function(point, k) list(support = point$support, values = point$classes$values[k, ], intercept = point$classes$intercepts[[k]])

# What the engine says of the classes of a point: values with a row for each class.
classes_of <- function(found) {
  if (is.null(found)) return(NULL)
  list(values = matrix(found$values, nrow = length(found$intercepts), byrow = TRUE), intercepts = found$intercepts)
}

# A column of linear predictors for each class; offsets are a matrix with as many columns.
class_margins <- function(object, point, newdata = NULL, offset = NULL) {
  labels <- as.character(labels_of(object))
  given <- object$asked$call$data$offset
  if (!is.null(given)) object$asked$call$data["offset"] <- list(NULL)
  found <- vapply(seq_along(labels), function(k) as.double(margins(object, class_point(point, k), newdata)), numeric(rows_of(object, newdata)))
  found <- matrix(found, ncol = length(labels), dimnames = list(NULL, labels))
  if (is.null(newdata)) return(if (is.null(given)) found else found + as.vector(given))
  if (!is.null(given) && is.null(offset)) stop("the fit had an offset: give that of the new samples", call. = FALSE)
  if (is.null(offset)) found else found + class_offset(offset, nrow(found), ncol(found))
}

rows_of <- function(object, newdata) if (is.null(newdata)) object$n else if (is.null(dim(newdata))) length(newdata) else nrow(newdata)

# An offset for each class.
class_offset <- function(offset, n, classes) {
  if (is.null(offset)) return(NULL)
  if (!is.numeric(offset) || !identical(as.integer(dim(offset)), as.integer(c(n, classes)))) {
    stop("offset must be a matrix with ", n, " rows and a column for each of the ", classes, " classes", call. = FALSE)
  }
  if (anyNA(offset)) stop("offset is missing in row ", row(offset)[is.na(offset)][[1]], call. = FALSE)
  as.double(offset)
}

# Linear predictors of the classes as what is asked for.
classes_shown <- function(object, margins, type) {
  if (type == "link") return(margins)
  if (type == "class") {
    place <- rep(NA_integer_, nrow(margins))
    known <- !is.na(margins[, 1])
    place[known] <- max.col(margins[known, , drop = FALSE], "first")
    return(labelled(object, place))
  }
  if (type != "response") check_survival(object, type)
  share <- exp(margins - apply(margins, 1, max))
  share / rowSums(share)
}

# A matrix with a row for each coefficient and a column for each class.
class_coefficients <- function(object, point, complete) {
  places <- if (complete) seq_len(object$p) else point$support
  values <- matrix(0, length(places), length(point$classes$intercepts))
  values[match(point$support, places), ] <- t(point$classes$values)
  values <- rbind(if (has_intercept(object)) point$classes$intercepts, values)
  dimnames(values) <- list(c(if (has_intercept(object)) "(Intercept)", name_of(object, places)), as.character(labels_of(object)))
  values
}

# Coefficients of many classes from a matrix with a column for each, or from a path of glmnet.
given_classes <- function(object, asked, s) {
  values <- if (inherits(object, c("glmnet", "cv.glmnet"))) {
    if (length(s) != 1) stop("give s, one point of the glmnet path to judge", call. = FALSE)
    coef(object, s = s)
  } else if (is.numeric(object) || is.list(object) && !is.object(object)) object else coef(object)
  if (is.list(values)) values <- do.call(cbind, lapply(values, function(one) as.matrix(one)[, 1]))
  if (!is.matrix(values) || !is.numeric(values) || ncol(values) != length(asked$labels) || is.null(rownames(values))) {
    stop("the coefficients of ", length(asked$labels), " classes must be a matrix with a named row for each feature and a column for each class", call. = FALSE)
  }
  if (!is.null(colnames(values)) && setequal(colnames(values), asked$labels)) values <- values[, as.character(asked$labels), drop = FALSE]
  is_intercept <- rownames(values) %in% c("(Intercept)", "")
  intercepts <- if (any(is_intercept)) values[is_intercept, ] else numeric(ncol(values))
  values <- values[!is_intercept, , drop = FALSE]
  values <- values[rowSums(values != 0) > 0, , drop = FALSE]
  found <- match(rownames(values), asked$names)
  if (anyNA(found)) stop("the coefficient ", dQuote(rownames(values)[is.na(found)][[1]], FALSE), " is no column of x", call. = FALSE)
  values <- values[order(found), , drop = FALSE]
  list(support = sort(found), values = numeric(length(found)), intercept = 0, classes = list(values = as.double(values), intercepts = as.double(intercepts)))
}
