#' Matrices in files
#'
#' `open_npy()`: an array of NumPy in Fortran order (`f8`, `f4` or `i1`), or a folder with the parts of a sparse matrix as SciPy names
#' them (`indptr.npy`, `indices.npy`, `data.npy`, `shape.npy`). Columns stay on disk, and are read in blocks of a few megabytes when they
#' are needed. Columns have the names that a file beside the array says, `genes.npy.names`, a list of texts in JSON, as `bestset convert` writes
#' it.
#'
#' `open_bed()`: genotypes of PLINK, `NAME.bed` with `NAME.bim` and `NAME.fam`. A column counts the copies of the effect allele, and has its
#' mean where a genotype is not known. They are read for each fit, and stay packed in memory, two bits for each, where there is
#' room for them, and in their file where there is none.
#'
#' @param path The file or folder; for PLINK the name of any of the three files.
#' @return An object of class `"bestset_file"`, which [bestset()], [cv.bestset()], [subsets()], [certify()] and [stability()] take for `x`. It
#'   holds the path, not the data. That of `open_bed()` has the people in `fam`, in the order of the rows: `family`, `person`, `sex` and
#'   `phenotype`, of which -9 is missing.
#' @examples
#' \dontrun{
#' x <- open_npy("genes.npy")
#' fit <- bestset(x, y, k = 10)
#' x <- open_bed("cohort.bed")
#' fit <- bestset(x, x$fam$phenotype, k = 10)
#' }
#' @export
open_npy <- function(path) {
  path <- normalizePath(path, mustWork = TRUE)
  found <- call_open(path)
  if (!is.null(found$stale)) warning(found$stale, call. = FALSE)
  found$stale <- NULL
  structure(c(list(path = path), found), class = "bestset_file")
}

#' @rdname open_npy
#' @export
open_bed <- function(path) {
  stem <- sub("\\.(bed|bim|fam)$", "", path, ignore.case = TRUE)
  bed <- normalizePath(paste0(stem, ".bed"), mustWork = TRUE)
  found <- call_open(bed)
  fam <- utils::read.table(paste0(stem, ".fam"), colClasses = "character", quote = "", comment.char = "")
  fam <- data.frame(family = fam[[1]], person = fam[[2]], sex = fam[[5]], phenotype = utils::type.convert(fam[[6]], as.is = TRUE))
  structure(c(list(path = bed), found, list(fam = fam)), class = "bestset_file")
}

#' @export
print.bestset_file <- function(x, ...) {
  if (x$numbers == "genotypes") {
    cat("genotypes of ", x$rows, " people at ", x$columns, " variants: ", x$path, "\n", sep = "")
  } else {
    cat(x$rows, " rows and ", x$columns, " columns of ", x$numbers, if (x$sparse) ", sparse", " on disk: ", x$path, "\n", sep = "")
  }
  invisible(x)
}

#' @export
dim.bestset_file <- function(x) c(x$rows, x$columns)
