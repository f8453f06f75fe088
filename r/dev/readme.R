# Runs the session of README.md and compares what is printed with what it says; `--write` writes it anew.

lines <- readLines("README.md", encoding = "UTF-8")
ends <- which(lines == "```")
printed <- character()
place <- 0
envir <- new.env(parent = globalenv())
run <- function(block) {
  code <- block[!startsWith(block, "#>")]
  parsed <- parse(text = code, keep.source = TRUE)
  out <- character()
  last <- 0
  for (i in seq_along(parsed)) {
    reference <- attr(parsed, "srcref")[[i]]
    out <- c(out, code[(last + 1):reference[[3]]])
    last <- reference[[3]]
    shown <- utils::capture.output({
      value <- tryCatch(withVisible(eval(parsed[[i]], envir)), error = function(e) {
        cat("Error:", conditionMessage(e), "\n")
        list(visible = FALSE)
      })
      if (value$visible) print(value$value)
    })
    out <- c(out, sub(" +$", "", paste("#>", shown, recycle0 = TRUE)))
  }
  if (last < length(code)) out <- c(out, code[(last + 1):length(code)])
  out
}
i <- 1
while (i <= length(lines)) {
  printed <- c(printed, lines[[i]])
  if (lines[[i]] == "```r") {
    end <- ends[ends > i][[1]]
    printed <- c(printed, run(lines[(i + 1):(end - 1)]))
    i <- end
  } else {
    i <- i + 1
  }
}
if ("--write" %in% commandArgs(TRUE)) {
  writeLines(enc2utf8(printed), "README.md", useBytes = TRUE)
} else if (!identical(printed, lines)) {
  first <- which(printed[seq_along(lines)] != lines | is.na(printed[seq_along(lines)]))[[1]]
  stop("README.md, line ", first, " is\n  ", lines[[first]], "\nand would be\n  ", printed[[first]])
} else {
  cat("README.md: the session prints what it says\n")
}
