#' Matrices that stay on disk
#'
#' An array of NumPy in Fortran order (`f8`, `f4` or `i1`), or a folder with the parts of a sparse matrix as SciPy names them
#' (`indptr.npy`, `indices.npy`, `data.npy`, `shape.npy`). Columns are read in blocks of a few megabytes when they are needed.
#'
#' @param path The file or folder.
#' @return An object of class `"bestset_file"`, which [bestset()], [cv.bestset()], [subsets()] and [stability()] take for `x`. It holds
#'   the path, not the data.
#' @examples
#' \dontrun{
#' x <- open_npy("genes.npy")
#' fit <- bestset(x, y, k = 10)
#' }
#' @export
open_npy <- function(path) {
  path <- normalizePath(path, mustWork = TRUE)
  found <- call_open(path)
  structure(c(list(path = path), found), class = "bestset_file")
}

#' @export
print.bestset_file <- function(x, ...) {
  cat(x$rows, " rows and ", x$columns, " columns of ", x$numbers, if (x$sparse) ", sparse", " on disk: ", x$path, "\n", sep = "")
  invisible(x)
}

#' @export
dim.bestset_file <- function(x) c(x$rows, x$columns)
