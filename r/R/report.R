#' One HTML page about a model
#'
#' The answer, its proof, the path and the folds, how well it fits: a file that works offline, the same as that of the command line.
#'
#' @param object An answer of [bestset()] or [cv.bestset()], in the session that made it.
#' @param file The file.
#' @param source What the samples are called.
#' @return The file, invisibly.
#' @examples
#' fit <- bestset(Fertility ~ ., swiss, threads = 2)
#' page <- report(fit, tempfile(fileext = ".html"), source = "swiss")
#' file.size(page) > 1e5
#' @export
report <- function(object, file, source = "data") {
  if (!inherits(object, "bestset")) stop("there is no selection in an object of class ", class(object)[[1]], call. = FALSE)
  about <- list(source = source, target = object$target, names = object$names, command = paste(deparse(object$call), collapse = " "),
    labels = if (!is.null(object$asked$labels)) as.character(object$asked$labels), seconds = object$seconds)
  page <- tryCatch(call_report(object$asked$call, object$kept, about), error = function(e) {
    if (grepl("consumed or deleted", conditionMessage(e))) {
      stop("the report needs the answer as it was made, which is not kept in files; update() fits it anew", call. = FALSE)
    }
    stop(e)
  })
  writeLines(enc2utf8(page), file, useBytes = TRUE)
  invisible(file)
}
