#' bestset: best subset selection with a proof
#'
#' The few features that matter, and how good the answer is. Every answer comes with a lower bound on the objective that *any*
#' subset could reach, and with the gap between the two.
#'
#' \deqn{P(\beta, b) = \sum_i w_i\,\ell(x_i^\top\beta + b + o_i,\; y_i) + \lambda_0 \sum_j f_j [\beta_j \ne 0]
#'   + \lambda_1 \sum_j |\beta_j| + \lambda_2 \sum_j \beta_j^2}{P(b) = sum of losses + lambda0 * (number of non-zero b) +
#'   lambda1 * sum |b| + lambda2 * sum b^2}
#'
#' is minimised. Losses are summed, never averaged; the squared loss is half the squared residual; the ridge term has no half.
#' [bestset()] chooses a model, [cv.bestset()] by cross-validation, [subsets()] gives the best subset of every size, [certify()]
#' judges coefficients of any other package, [stability()] says how often features are chosen on subsamples.
#'
#' @section Threads:
#' One per processor, unless `threads` is given, or the option `bestset.threads`, or the environment variables `OMP_NUM_THREADS`
#' or `OMP_THREAD_LIMIT` are set. The answer does not depend on their number.
#'
#' @importFrom Matrix sparseMatrix
#' @importFrom methods is as
#' @importFrom stats coef deviance family fitted formula logLik model.frame model.matrix model.offset model.response model.weights na.omit
#'   na.pass nobs predict residuals setNames terms update vcov weights
#' @importFrom utils head
#' @importFrom graphics abline axis image legend lines matplot par points segments text
#' @importFrom grDevices hcl.colors
#' @keywords internal
#' @docType package
#' @name bestset-package
#' @aliases bestset-package
NULL
