#' Models in files
#'
#' The files are those of the command line and of the Python package: a model written by one of the three is read by the others.
#'
#' @param object An answer of [bestset()] or [cv.bestset()]. Factors of a data frame, and those of a formula with treatment contrasts,
#'   are written as categories, so that new files need their texts alone; other terms of a formula are columns with the name of the term.
#' @param file The file.
#' @return `write_model()`: the file, invisibly. `read_model()`: an object of class `"bestset_model"` with methods of [coef()],
#'   [predict()], [certificate()] and [print()].
#' @examples
#' fit <- bestset(mpg ~ ., mtcars, threads = 2)
#' file <- tempfile(fileext = ".json")
#' write_model(fit, file)
#' all.equal(predict(read_model(file), mtcars), predict(fit, mtcars))
#' @export
write_model <- function(object, file) {
  if (!inherits(object, "bestset")) stop("there is no model of bestset() in an object of class ", class(object)[[1]], call. = FALSE)
  setup <- object$asked$call$setup
  labels <- object$asked$labels
  many <- object$family == "multinomial"
  call_write_model(path.expand(file), c(
    object[c("support", "values", "intercept", "objective", "relaxation", "lower_bound", "status", "lambda0", "lambda1", "lambda2", "k")],
    list(loss = setup$loss, classes = if (many) length(labels), delta = setup$delta, theta = setup$theta, ties = setup$ties, features = object$p, scale = setup$scale,
      has_intercept = setup$intercept, target = object$target, labels = if (!is.null(labels)) as.character(labels),
      baseline = object$survival$baseline, strata = object$asked$strata),
    stored_names(object), fixed_parts(object)
  ))
  invisible(file)
}

# The column that is the offset of a formula, or whose logarithm is: what a file can name.
fixed_parts <- function(object) {
  if (is.null(object$asked$call$data$offset)) return(NULL)
  terms <- object$coding$terms
  parts <- as.list(attr(terms, "variables"))[attr(terms, "offset") + 1L]
  inner <- if (length(parts) == 1 && !isTRUE(object$coding$has_offset) && object$family != "multinomial") parts[[1]][[2]]
  if (is.name(inner)) return(list(offset = as.character(inner)))
  if (is.call(inner) && identical(inner[[1]], quote(log)) && length(inner) == 2 && is.name(inner[[2]])) return(list(exposure = as.character(inner[[2]])))
  warning("the offset is no column of the data: the file has none, and predictions of it need one", call. = FALSE)
  NULL
}

# The names of the features as the command line has them, `column=level` for the levels of a category, and the categories.
stored_names <- function(object) {
  # A formula has odd names between backticks, files have the names.
  names <- if (!is.null(object$names)) sub("^`(.*)`$", "\\1", object$names)
  levels <- object$coding$levels
  if (!is.null(object$coding$terms)) {
    treated <- vapply(object$coding$contrasts, identical, TRUE, "contr.treatment")
    levels <- object$coding$xlevels[intersect(names(treated)[treated], attr(object$coding$terms, "term.labels"))]
  }
  categories <- list()
  for (column in names(levels)) {
    known <- levels[[column]]
    features <- match(paste0(column, known[-1], recycle0 = TRUE), names)
    if (!length(features) || anyNA(features)) next
    names[features] <- paste0(column, "=", known[-1])
    categories <- c(categories, list(list(column = column, reference = known[[1]], levels = known[-1], first = features[[1]])))
  }
  list(names = names, categories = categories)
}

#' @rdname write_model
#' @export
read_model <- function(file) {
  if (!file.exists(file)) stop("there is no file ", dQuote(file, FALSE), call. = FALSE)
  text <- paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  found <- tryCatch(call_read_model(enc2utf8(text)), error = function(e) stop(file, ": ", conditionMessage(e), call. = FALSE))
  encoding <- found$encoding
  found$p <- found$features
  found$size <- length(found$support)
  found$family <- names(LOSSES)[match(found$loss, LOSSES)]
  if (is.na(found$family)) stop("the model has the loss \"", found$loss, "\", which this package does not know yet", call. = FALSE)
  found$has_intercept <- found$family != "cox" && (is.null(encoding$intercept) || isTRUE(encoding$intercept))
  found$target <- if (is.null(encoding$target)) "y" else encoding$target
  labels <- if (is.null(encoding$labels)) unlist(c(encoding$class_names, encoding$classes[c("negative", "positive")]), use.names = FALSE) else unlist(encoding$labels)
  many <- found$family == "multinomial"
  found$labels <- if (!is.null(labels)) utils::type.convert(labels, as.is = TRUE) else if (many) seq_along(found$intercept) - 1 else c(-1, 1)
  if (many) found <- in_classes(found, found$labels, name_of(found, found$support))
  found$proved <- found$status == "optimal"
  structure(found, class = "bestset_model")
}

#' @export
coef.bestset_model <- function(object, complete = FALSE, ...) coefficients_of(object, answer_of(object), complete)

#' @export
predict.bestset_model <- function(object, newdata, type = c("link", "response", "class", "risk", "survival", "hazard", "median"),
                                  offset = NULL, times = NULL, strata = NULL, ...) {
  type <- match.arg(type)
  point <- answer_of(object)
  if (is.data.frame(newdata) && !is.null(object$names)) {
    columns <- lapply(object$names[object$support], function(name) stored_column(object, newdata, name))
    x <- matrix(as.double(unlist(columns)), nrow(newdata), length(columns))
    if (is.null(offset)) offset <- stored_offset(object$encoding, newdata)
    object$p <- ncol(x)
    object["names"] <- list(NULL)
    point$support <- seq_len(ncol(x))
  } else {
    x <- newdata
    named <- c(object$encoding$offset, object$encoding$exposure)
    if (is.null(offset) && length(named)) stop("the model has the offset or exposure ", dQuote(named[[1]], FALSE), ": give `offset`, or a data frame", call. = FALSE)
  }
  margins <- margins(object, point, x, offset)
  if (type %in% CURVES) {
    check_survival(object, type)
    # Files of others have numbers from 0 in place of labels.
    known <- if (is.null(object$encoding$strata)) vapply(object$baseline$strata, function(s) as.character(s$stratum), "") else object$encoding$strata
    numbers <- stratum_numbers(strata, known, length(margins))
    if (!is.null(numbers) && is.null(object$encoding$strata)) numbers <- as.integer(known)[numbers + 1L]
    return(curves_of(object$baseline, margins, type, times, numbers))
  }
  scaling <- object$encoding$scaling
  if (type != "link" && !is.null(scaling)) return(scaling$from + (margins - scaling$low) / scaling$factor)
  shown_as(object, margins, type)
}

# The offset that the file names, and the logarithm of the exposure.
stored_offset <- function(encoding, frame) {
  named <- c(encoding$offset, encoding$exposure)
  lost <- setdiff(named, names(frame))
  if (length(lost)) stop("newdata has no column ", dQuote(lost[[1]], FALSE), ", the offset or exposure of the model", call. = FALSE)
  parts <- c(lapply(encoding$offset, function(name) as.double(frame[[name]])), lapply(encoding$exposure, function(name) log(as.double(frame[[name]]))))
  if (length(parts)) Reduce(`+`, parts)
}

# A column of a data frame, or the indicator of a level of one; filled where the fit filled.
stored_column <- function(object, frame, name) {
  encoding <- object$encoding
  filled <- is.null(encoding$imputed) || isTRUE(encoding$imputed)
  if (name %in% names(frame)) {
    values <- as.double(frame[[name]])
    mean <- if (filled) encoding$means[[name]]
    if (!is.null(mean)) values[is.na(values)] <- mean
    return(values)
  }
  for (category in encoding$categories) {
    level <- match(name, paste0(category$column, "=", unlist(category$levels)))
    if (is.na(level) || !category$column %in% names(frame)) next
    column <- as.character(frame[[category$column]])
    if (filled && !is.null(category$usual)) column[is.na(column) | column == ""] <- category$usual
    return(indicators(column, c(category$reference, unlist(category$levels)), category$column)[, level])
  }
  stop("newdata has no column ", dQuote(name, FALSE), ", which the model uses", call. = FALSE)
}

#' @export
print.bestset_model <- function(x, ...) {
  cat(x$target, ": ", x$size, " of ", x$p, " features, family ", x$family, "\n", sep = "")
  if (length(coef(x))) print(coef(x))
  cat("\n", statement(x), "\n", sep = "")
  invisible(x)
}
