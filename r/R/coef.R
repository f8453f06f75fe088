#' Coefficients and predictions
#'
#' Those of the chosen model, or of another point of the path it was chosen from. A point that the path does not have is not made up:
#' the error says which there are, and `exact = TRUE` solves for it.
#'
#' @param object An answer of [bestset()] or [cv.bestset()], or a model from [read_model()].
#' @param newdata New samples: a matrix, a sparse matrix or a data frame, as in the fit, or columns on disk from [open_npy()] or
#'   [open_bed()]. Columns are found by name where both have names; those that the model does not use may be missing. `NULL` for the
#'   samples of the fit.
#' @param type `"link"` for the linear predictor, `"response"` for means and probabilities, `"class"` for classes,
#'   `"coefficients"`, or `"nonzero"` for the numbers of the selected features. Of survival times `"link"` is not centred, `"risk"` (and
#'   `"response"`) is its exponential, `"survival"` and `"hazard"` are the probability of no event and the cumulative hazard until `times`,
#'   and `"median"` is the first time at which survival is one half or less, `Inf` where it stays above.
#' @param times Where survival and cumulative hazards are wanted; `NULL` for all event times of the fit.
#' @param strata The strata of new samples, where they were an argument of the fit; those of `strata()` in its formula are found in `newdata`.
#' @param k,lambda0 Another point of the path: by its number of features, or by its price, of which the nearest of the path that is
#'   not below is taken, with a message, where the path does not have it.
#' @param exact Whether to solve anew where the path has no such point; the data of the fit are used.
#' @param complete Whether all coefficients are wanted, zeros included.
#' @param offset The offset of new samples, where there was one in the fit; of many classes a matrix with a column for each.
#' @param newx The same as `newdata`, as glmnet has it.
#' @param ... Not used.
#' @return A named vector of coefficients, the intercept first; a vector of predictions, `NA` where a selected feature is missing; for
#'   `"survival"` and `"hazard"` a matrix with a row for each sample and a column for each time. Of many classes (family multinomial)
#'   coefficients, `"link"` and `"response"` are matrices with a column for each class; the coefficients of a feature sum to zero over the
#'   classes, unless `lambda1` or limits say otherwise.
#' @examples
#' fit <- bestset(mpg ~ ., mtcars, threads = 2)
#' coef(fit)
#' coef(fit, k = 2)
#' predict(fit, mtcars[1:3, ])
#' @name coef.bestset
#' @export
coef.bestset <- function(object, k = NULL, lambda0 = NULL, exact = FALSE, complete = FALSE, ...) {
  coefficients_of(object, at(object, k, lambda0, exact), complete)
}

coefficients_of <- function(object, point, complete = FALSE) {
  if (is.matrix(point$values)) return(class_coefficients(object, point, complete))
  intercept <- if (has_intercept(object)) c("(Intercept)" = point$intercept)
  if (complete) {
    values <- numeric(object$p)
    values[point$support] <- point$values
    return(c(intercept, setNames(values, name_of(object, seq_len(object$p)))))
  }
  c(intercept, setNames(point$values, name_of(object, point$support)))
}

# A row for each feature, the intercepts first, and a column for each class.
class_coefficients <- function(object, point, complete) {
  values <- point$values
  if (complete) {
    values <- matrix(0, object$p, ncol(values), dimnames = list(name_of(object, seq_len(object$p)), colnames(values)))
    values[point$support, ] <- point$values
  }
  if (has_intercept(object)) rbind("(Intercept)" = point$intercept, values) else values
}

has_intercept <- function(object) {
  if (is.null(object$asked)) isTRUE(object$has_intercept) else object$asked$call$setup$intercept
}

# Support, values and intercept of an answer.
answer_of <- function(object) object[c("support", "values", "intercept")]

# Support, values and intercept of the answer, or of a point of its path.
at <- function(object, k = NULL, lambda0 = NULL, exact = FALSE) {
  if (is.null(k) && is.null(lambda0)) return(answer_of(object))
  if (!is.null(k) && !is.null(lambda0)) stop("give k or lambda0, not both", call. = FALSE)
  if (!is.null(k) && !(is.numeric(k) && length(k) == 1 && !is.na(k) && k >= 0 && k == floor(k))) {
    stop("k is ", short(k), "; it must be one whole number", call. = FALSE)
  }
  number(lambda0, "lambda0")
  place <- if (is.null(k)) place_of_price(object, lambda0, exact) else place_of_size(object, k)
  if (is.character(place)) {
    if (!exact) stop(place, "; exact = TRUE solves for it", call. = FALSE)
    return(answer_of(solved_at(object, k, lambda0)))
  }
  if (place == 0) return(answer_of(object))
  if (!is.null(object$path$classes)) return(object$path$classes[[place]])
  column <- object$path$beta[, place]
  support <- which(column != 0)
  list(support = unname(support), values = unname(column[support]), intercept = object$path$points$intercept[[place]])
}

# The place on the path, 0 for the answer itself, or why there is none.
place_of_size <- function(object, k) {
  if (object$size == k) return(0)
  if (is.null(object$path)) return(paste0("there is one answer, with ", object$size, " features, and none with ", k))
  points <- object$path$points
  fits <- which(points$size == k)
  if (!length(fits)) {
    return(paste0("the path has no model with ", k, " features; it has ", paste(sort(unique(points$size)), collapse = ", ")))
  }
  # Of several shrinkages that of the answer; of several models the one that fits best.
  same <- fits[points$lambda2[fits] == object$lambda2]
  if (length(same)) fits <- same
  fits[[which.max(points$r2[fits])]]
}

place_of_price <- function(object, lambda0, exact) {
  near <- function(a) abs(a - lambda0) <= 1e-8 * abs(lambda0)
  if (is.null(object$k) && near(object$lambda0)) return(0)
  if (is.null(object$path)) return(paste0("there is one answer, ", if (is.null(object$k)) paste("at lambda0 =", signif(object$lambda0, 6)) else paste("with k =", object$k)))
  points <- object$path$points
  own <- which(points$lambda2 == object$lambda2)
  prices <- points$lambda0[own]
  if (any(near(prices))) return(own[[which(near(prices))[[1]]]])
  if (exact || lambda0 > max(prices) || lambda0 < min(prices)) {
    return(paste0("the path goes from lambda0 = ", signif(max(prices), 6), " to ", signif(min(prices), 6), ", and has no point at ", signif(lambda0, 6)))
  }
  above <- own[[which(prices == min(prices[prices > lambda0]))[[1]]]]
  message("the path has no point at lambda0 = ", signif(lambda0, 6), "; taken is that at ", signif(points$lambda0[[above]], 6),
    " (exact = TRUE solves for it)")
  above
}

#' @rdname coef.bestset
#' @export
predict.bestset <- function(object, newdata = NULL, type = c("link", "response", "class", "coefficients", "nonzero", "risk", "survival",
                              "hazard", "median"), k = NULL, lambda0 = NULL, exact = FALSE, offset = NULL, newx = NULL, times = NULL,
                            strata = NULL, ...) {
  type <- match.arg(type)
  point <- at(object, k, lambda0, exact)
  if (type == "coefficients") return(coefficients_of(object, point))
  if (type == "nonzero") return(point$support)
  if (is.null(newdata)) newdata <- newx
  margins <- margins(object, point, newdata, offset)
  found <- if (type %in% CURVES) {
    check_survival(object, type)
    numbers <- if (is.null(newdata)) object$asked$call$data$survival$strata else
      stratum_numbers(new_strata(object, newdata, strata), object$asked$strata, length(margins))
    curves_of(survival_at(object, point)$baseline, margins, type, times, numbers)
  } else shown_as(object, margins, type)
  if (is.null(newdata)) stats::napredict(object$coding$na.action, found) else found
}

# The linear predictor; without new samples that of those of the fit.
margins <- function(object, point = at(object), newdata = NULL, offset = NULL) {
  if (is.null(newdata)) {
    if (is.null(object$asked)) stop("newdata is missing, and a model from a file has no data", call. = FALSE)
    data <- object$asked$call$data
    found <- class_margins(call_predict(object$asked$call, point), point)
    return(if (is.null(data$offset)) found else found + data$offset)
  }
  made <- if (inherits(newdata, "bestset_file")) list(x = newdata, places = places_on_disk(object, newdata, point$support)) else
    new_columns(object, newdata, point$support)
  offset <- new_offset(object, made$offset, offset, nrow(made$x), length(point$intercept))
  # What is missing is sparse in a sparse matrix, and the columns are few.
  if (is(made$x, "Matrix") && anyNA(made$x)) made$x <- as.matrix(made$x)
  missing <- if (is.matrix(made$x)) which(rowSums(is.na(made$x)) > 0)
  if (length(missing)) made$x[is.na(made$x)] <- 0
  if (length(point$support) && nrow(made$x)) {
    places <- if (is.null(made$places)) seq_along(point$support) else made$places
    order <- order(places)
    values <- if (is.matrix(point$values)) point$values[order, ] else point$values[order]
    local <- list(support = places[order], values = as.double(values), intercept = as.double(point$intercept))
    found <- call_predict(list(data = design(made$x), control = bestset_control()), local)
  } else {
    found <- rep(point$intercept, each = nrow(made$x))
  }
  found <- class_margins(unname(found), point)
  if (is.matrix(found)) found[missing, ] <- NA else found[missing] <- NA
  if (is.null(offset)) found else found + offset
}

# The offset of new samples: what the formula has, and what was an argument of the fit is one here.
new_offset <- function(object, said, given, n, classes = 1) {
  given <- if (classes > 1) class_offset(given, n, classes) else numbers(given, "offset", n)
  if (classes > 1) said <- class_offset(said, n, classes)
  in_formula <- !is.null(said)
  asked <- if (in_formula) isTRUE(object$coding$has_offset) else !is.null(object$asked$call$data$offset)
  if (asked && is.null(given)) stop("the fit had an offset: give that of the new samples", call. = FALSE)
  if (in_formula && !asked && !is.null(given)) stop("the formula has the offset: newdata gives it, and `offset` must be left out", call. = FALSE)
  if (in_formula && asked) said + given else if (in_formula) said else given
}

# Where the features of a model are among the columns on disk: by name where both have names.
places_on_disk <- function(object, file, support) {
  if (is.null(object$names) || is.null(file$names)) {
    if (file$columns != object$p) stop("newdata must have ", object$p, " columns; ", file$path, " has ", file$columns, call. = FALSE)
    return(support)
  }
  found <- match(object$names[support], file$names)
  if (anyNA(found)) stop(file$path, " has no column ", dQuote(object$names[support][is.na(found)][[1]], FALSE), ", which the model uses", call. = FALSE)
  found
}

# The columns of new samples that a model uses.
new_columns <- function(object, newdata, support) {
  coding <- object$coding
  if (!is.null(coding$terms)) {
    data <- as.data.frame(newdata)
    terms <- used_terms(object, names(data), support)
    data$.rows <- seq_len(nrow(data))
    frame <- model.frame(terms, data, na.action = na.pass, xlev = coding$xlevels)
    x <- model.matrix(terms, frame, contrasts.arg = coding$contrasts)
    x <- x[, attr(x, "assign") > 0 & !attr(x, "assign") %in% coding$apart, drop = FALSE]
    return(list(x = x[, support, drop = FALSE], offset = model.offset(frame)))
  }
  if (is.data.frame(newdata) && !is.null(coding$columns)) {
    lost <- setdiff(needed_columns(object, support), names(newdata))
    if (length(lost)) stop("newdata has no column ", dQuote(lost[[1]], FALSE), ", which the model uses", call. = FALSE)
    made <- columns_of(as.data.frame(newdata)[needed_columns(object, support)], coding$levels)
    return(list(x = made$x[, object$names[support], drop = FALSE]))
  }
  x <- if (is.data.frame(newdata)) as.matrix(newdata) else newdata
  if (is.null(dim(x)) && object$p == 1) x <- matrix(x, ncol = 1)
  if (!is.null(colnames(x)) && !is.null(object$names)) {
    wanted <- object$names[support]
    lost <- setdiff(wanted, colnames(x))
    if (length(lost)) stop("newdata has no column ", dQuote(lost[[1]], FALSE), ", which the model uses", call. = FALSE)
    return(list(x = x[, wanted, drop = FALSE]))
  }
  if (is.null(dim(x)) || ncol(x) != object$p) stop("newdata must have ", object$p, " columns; it has ", NCOL(x), call. = FALSE)
  list(x = x[, support, drop = FALSE])
}

# Terms for new data: anything stands for variables of terms that are not selected, which may be missing or strange there.
used_terms <- function(object, names, support) {
  terms <- stats::delete.response(object$coding$terms)
  variables <- as.list(attr(terms, "variables"))[-1]
  labels <- vapply(variables, function(v) paste(deparse(v, width.cutoff = 500, backtick = FALSE), collapse = " "), "")
  chosen <- unique(object$coding$assign[support])
  used <- which(rowSums(attr(terms, "factors")[, chosen, drop = FALSE]) > 0)
  used <- union(used, attr(terms, "offset"))
  lost <- setdiff(unlist(lapply(variables[used], all.vars)), names)
  lost <- Filter(function(name) !exists(name, envir = environment(terms)), lost)
  if (length(lost)) stop("newdata has no column ", dQuote(lost[[1]], FALSE), ", which the model uses", call. = FALSE)
  evaluated <- attr(terms, "predvars")
  kinds <- attr(terms, "dataClasses")
  for (v in setdiff(seq_along(variables), used)) evaluated[[v + 1]] <- placeholder(object$coding$xlevels[[labels[[v]]]], kinds[labels[[v]]])
  attr(terms, "predvars") <- evaluated
  terms
}

# What gives a column of this kind as long as `.rows`.
placeholder <- function(levels, kind) {
  if (length(levels)) return(bquote(factor(rep(.(levels[[1]]), length(.rows)), .(levels))))
  if (identical(unname(kind), "logical")) return(quote(logical(length(.rows))))
  columns <- if (startsWith(kind, "nmatrix.")) as.integer(sub("nmatrix.", "", kind, fixed = TRUE)) else 1L
  if (columns > 1) bquote(matrix(0, length(.rows), .(columns))) else quote(numeric(length(.rows)))
}

# The columns of a data frame that these features are made of.
needed_columns <- function(object, support) {
  of <- function(name) {
    levels <- object$coding$levels[[name]]
    features <- if (is.null(levels)) name else paste0(name, levels[-1], recycle0 = TRUE)
    any(features %in% object$names[support])
  }
  Filter(of, object$coding$columns)
}

# Margins as what is asked for.
shown_as <- function(object, margins, type) {
  if (type == "class") {
    if (!object$family %in% CLASSES) stop("there are no classes for family \"", object$family, "\"", call. = FALSE)
    return(labelled(object, if (is.matrix(margins)) likeliest(margins) else 1 + (margins > 0)))
  }
  if (type == "risk") check_survival(object, type)
  if (type == "response" && object$family == "multinomial") return(probabilities(margins))
  if (type == "response" && object$family == "binomial") return(stats::plogis(margins))
  if (type == "risk" || type == "response" && object$family %in% c(LOG_LINK, "cox")) return(exp(margins))
  if (type == "response" && object$family == "squared_hinge") stop("there are no probabilities for family \"squared_hinge\"; ask for type = \"link\" or \"class\"", call. = FALSE)
  margins
}

# What the classes are called.
labels_of <- function(object) if (is.null(object$asked)) object$labels else object$asked$labels

# Classes as the target had them, by number.
labelled <- function(object, place) {
  labels <- labels_of(object)
  if (identical(object$asked$kind, "factor")) factor(labels[place], levels = labels) else labels[place]
}
