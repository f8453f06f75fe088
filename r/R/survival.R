# Survival times: what users write, as the engine reads it, and what it says of them.

TIES <- c("efron", "breslow")

# Time, event, entry and strata; `y` is what Surv() makes, or a matrix or data frame as glmnet wants it, with the columns `time` and `status`
# (and `start`), or two columns (time, status) or three (start, stop, event) without names.
survival_times <- function(y, n, strata = NULL) {
  columns <- time_columns(y)
  if (nrow(columns) != n) stop("y has ", nrow(columns), " survival times, but x has ", n, " rows", call. = FALSE)
  missing <- which(is.na(rowSums(columns)))
  if (length(missing)) stop("y[", missing[[1]], "] is missing; leave out such samples (Surv() makes NA of a start that is not before its stop)", call. = FALSE)
  strange <- which(!columns[, "status"] %in% c(0, 1))
  if (length(strange)) {
    stop("status[", strange[[1]], "] is ", columns[strange[[1]], "status"], "; it must be 0 for censored or 1 for an event", call. = FALSE)
  }
  strata <- strata_of(strata, n)
  list(
    times = list(time = unname(columns[, "time"]), event = unname(columns[, "status"]),
      entry = if ("start" %in% colnames(columns)) unname(columns[, "start"]), strata = if (!is.null(strata)) as.integer(strata) - 1L),
    strata = levels(strata)
  )
}

# Columns start (where there is one), time and status.
time_columns <- function(y) {
  if (inherits(y, "Surv")) {
    kind <- attr(y, "type")
    if (!kind %in% c("right", "counting")) {
      stop("y is a Surv() of type \"", kind, "\"; family \"cox\" takes right-censored times, Surv(time, status) or Surv(start, stop, event)", call. = FALSE)
    }
    columns <- unclass(as.matrix(y))
    return(matrix(columns, nrow(columns), dimnames = list(NULL, c(if (kind == "counting") "start", "time", "status"))))
  }
  columns <- if (is.data.frame(y)) data.matrix(y) else y
  if (!is.matrix(columns) || !(is.numeric(columns) || is.logical(columns)) || !ncol(columns) %in% 2:3) {
    stop("y is ", paste(class(y), collapse = "/"), "; family \"cox\" needs survival::Surv(time, status) or Surv(start, stop, event), or a matrix with the ",
      "columns time and status", call. = FALSE)
  }
  columns <- columns + 0
  usual <- c(if (ncol(columns) == 3) "start", "time", "status")
  names <- sub("^stop$", "time", sub("^event$", "status", colnames(columns)))
  if (!length(names)) names <- usual
  if (!setequal(names, usual)) {
    stop("y has the columns ", paste(dQuote(colnames(columns), FALSE), collapse = ", "), "; they must be named time and status, or start, stop and event", call. = FALSE)
  }
  matrix(columns, nrow(columns), dimnames = list(NULL, names))[, usual, drop = FALSE]
}

# Labels of strata, or several columns of them, as one factor.
strata_of <- function(strata, n) {
  if (is.null(strata)) return(NULL)
  if (is.data.frame(strata)) strata <- interaction(strata, drop = TRUE, sep = ", ")
  if (length(strata) != n) stop("strata has length ", length(strata), ", but there are ", n, " rows", call. = FALSE)
  if (anyNA(strata)) stop("strata[", which(is.na(strata))[[1]], "] is missing", call. = FALSE)
  droplevels(as.factor(strata))
}

# The terms of a model frame that are calls of strata(), by number.
strata_terms <- function(terms) {
  variables <- as.list(attr(terms, "variables"))[-1]
  is_strata <- vapply(variables, function(v) is.call(v) && deparse(v[[1]])[[1]] %in% c("strata", "survival::strata"), TRUE)
  if (!any(is_strata)) return(integer())
  factors <- attr(terms, "factors")
  found <- which(colSums(factors[is_strata, , drop = FALSE]) > 0)
  if (any(colSums(factors[, found, drop = FALSE] > 0) > 1)) stop("the formula has an interaction with strata(), which there is not here", call. = FALSE)
  unname(found)
}

# The strata that a model frame has, by terms of the formula or by an argument.
strata_in <- function(frame, terms) {
  found <- strata_terms(terms)
  given <- frame[["(strata)"]]
  if (!length(found)) return(given)
  if (!is.null(given)) stop("strata are given by the formula and by an argument; give them once", call. = FALSE)
  parts <- frame[attr(terms, "term.labels")[found]]
  if (length(parts) == 1) parts[[1]] else interaction(parts, drop = TRUE, sep = ", ")
}

# A formula that finds Surv() and strata() without library(survival); other terms of coxph() are refused.
with_survival <- function(formula) {
  envir <- environment(formula)
  other <- intersect(all.names(formula), c("cluster", "frailty", "tt"))
  if (length(formula) == 3 && "Surv" %in% all.names(formula[[2]]) && length(other)) {
    stop("the formula has ", other[[1]], "(), which there is not here", call. = FALSE)
  }
  wanted <- intersect(all.names(formula), c("Surv", "strata"))
  lost <- wanted[!vapply(wanted, exists, TRUE, envir = envir, mode = "function")]
  if (!length(lost)) return(formula)
  if (!requireNamespace("survival", quietly = TRUE)) stop(lost[[1]], "() is of package survival, which is not installed", call. = FALSE)
  envir <- new.env(parent = envir)
  for (name in lost) assign(name, getExportedValue("survival", name), envir)
  environment(formula) <- envir
  formula
}

# What survival times say of a point: of the answer as it was kept, of another point of the path asked of the engine.
survival_at <- function(object, point) {
  if (identical(point, at(object)) && !is.null(object$survival)) return(object$survival)
  call_survival(object$asked$call, margins(object, point))
}

# Survival, cumulative hazards or medians of samples with these linear predictors.
curves_of <- function(baseline, margins, type, times, strata) {
  if (is.null(baseline)) stop("the model has no baseline hazard: type = \"", type, "\" is for family \"cox\", of a model file of this version", call. = FALSE)
  if (is.null(strata) && length(baseline$strata) > 1) stop("the model has ", length(baseline$strata), " strata: give that of each new sample by `strata`", call. = FALSE)
  if (type == "median") times <- NULL else if (is.null(times)) times <- sort(unique(unlist(lapply(baseline$strata, `[[`, "times"))))
  if (!is.null(times)) times <- numbers(times, "times", length(times))
  known <- !is.na(margins)
  found <- call_curves(baseline, margins[known], type, list(times = times, strata = strata[known]))
  if (type == "median") return(replace(margins, known, found))
  table <- matrix(NA_real_, length(margins), length(times), dimnames = list(NULL, format(times, digits = 7, trim = TRUE)))
  table[known, ] <- matrix(found, sum(known), byrow = TRUE)
  table
}

# Numbers of the strata of new samples, from their labels.
stratum_numbers <- function(given, known, n) {
  if (is.null(given) || length(known) < 2) return(NULL)
  labels <- as.character(strata_of(given, n))
  strange <- setdiff(labels, known)
  if (length(strange)) {
    stop("the stratum ", dQuote(strange[[1]], FALSE), " is not one of the model: ", paste(dQuote(known, FALSE), collapse = ", "), call. = FALSE)
  }
  match(labels, known) - 1L
}

check_survival <- function(object, type) {
  if (object$family != "cox") stop("type = \"", type, "\" is for survival times, family \"cox\"; the family is \"", object$family, "\"", call. = FALSE)
}

# The strata of new samples: by the terms of the formula, or as given.
new_strata <- function(object, newdata, given) {
  terms <- object$coding$terms
  if (is.null(terms) || !length(object$coding$apart)) return(given)
  if (!is.null(given)) stop("the formula has the strata: newdata gives them, and `strata` must be left out", call. = FALSE)
  one <- function(label) {
    lost <- setdiff(all.vars(str2lang(label)), names(newdata))
    if (length(lost)) stop("newdata has no column ", dQuote(lost[[1]], FALSE), ", which the strata are made of", call. = FALSE)
    eval(str2lang(label), as.data.frame(newdata), environment(terms))
  }
  parts <- lapply(attr(terms, "term.labels")[object$coding$apart], one)
  if (length(parts) == 1) parts[[1]] else interaction(parts, drop = TRUE, sep = ", ")
}

# Martingale residuals of the engine, and the deviance residuals that survival makes of them.
survival_residuals <- function(object, type) {
  found <- call_survival(object$asked$call, margins(object))$residuals
  if (type == "martingale") return(found)
  event <- object$asked$call$data$survival$event
  sign(found) * sqrt(-2 * (found + ifelse(event == 1, log(pmax(event - found, 1e-300)), 0)))
}
