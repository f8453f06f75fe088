library(testthat)
library(bestset)

test_check("bestset")
