"""The objective, its relaxation and its dual, as the harness evaluates them from the coefficients a solver returns.

Nothing a solver says about its own objective enters the table: P is recomputed here. The formulas are those of
MATH.md sections 1 to 4.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from problem import Problem


def linear_predictor(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """u = X beta, touching the columns of the support only."""
    support = np.flatnonzero(beta)
    return np.asarray(problem.X[:, support] @ beta[support]).ravel()


def loss_value(loss: str, u: np.ndarray, y: np.ndarray) -> float:
    """Sum over i of (y-u)^2/2 for `squared`, log(1+exp(-yu)) for `logistic`."""
    if loss == "squared":
        return 0.5 * float(np.sum((y - u) ** 2))
    if loss == "logistic":
        return float(np.sum(np.logaddexp(0.0, -y * u)))
    raise ValueError(f"no loss named {loss!r}")


def loss_derivative(loss: str, u: np.ndarray, y: np.ndarray) -> np.ndarray:
    """alpha_i = loss'(u_i): u - y for `squared`, -y/(1+exp(yu)) for `logistic`."""
    if loss == "squared":
        return u - y
    if loss == "logistic":
        return -y * np.exp(-np.logaddexp(0.0, y * u))
    raise ValueError(f"no loss named {loss!r}")


def loss_conjugate(loss: str, alpha: np.ndarray, y: np.ndarray) -> float:
    """Sum of loss*(alpha_i): a^2/2 + ya for `squared`; s log s + (1-s) log(1-s), s = -ya in [0,1], for `logistic`."""
    if loss == "squared":
        return float(np.sum(0.5 * alpha**2 + y * alpha))
    if loss == "logistic":
        s = -y * alpha
        if s.min() < 0.0 or s.max() > 1.0:
            return np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            entropy = np.where(s > 0, s * np.log(s), 0.0) + np.where(s < 1, (1 - s) * np.log1p(-s), 0.0)
        return float(np.sum(entropy))
    raise ValueError(f"no loss named {loss!r}")


def primal(problem: Problem, beta: np.ndarray) -> float:
    """P(beta) = sum of losses + lambda0 ||beta||_0 + lambda1 ||beta||_1 + lambda2 ||beta||_2^2."""
    return (
        loss_value(problem.loss, linear_predictor(problem, beta), problem.y)
        + problem.lambda0 * np.count_nonzero(beta)
        + problem.lambda1 * float(np.sum(np.abs(beta)))
        + problem.lambda2 * float(np.sum(beta**2))
    )


def relaxation(problem: Problem, beta: np.ndarray) -> float:
    """R(beta): P with each penalty replaced by its convex envelope rho.

    rho(b) = lambda1 |b| + (2 sqrt(lambda0 lambda2) |b|  if |b| <= sqrt(lambda0/lambda2),  else lambda0 + lambda2 b^2)
    """
    size = np.abs(beta[beta != 0])
    slope = 2.0 * np.sqrt(problem.lambda0 * problem.lambda2)
    ridge = problem.lambda0 + problem.lambda2 * size**2
    linear = size**2 * problem.lambda2 <= problem.lambda0
    envelope = problem.lambda1 * size + np.where(linear, slope * size, ridge)
    return loss_value(problem.loss, linear_predictor(problem, beta), problem.y) + float(envelope.sum())


def dual(problem: Problem, alpha: np.ndarray, tau: np.ndarray | None = None) -> float:
    """D(alpha) = -sum loss*(alpha_i) + sum_j min(0, lambda0 - (|x_j' alpha| - lambda1)_+^2 / (4 lambda2)).

    Needs lambda2 > 0. Any alpha gives a lower bound of P and of R.
    """
    tau = problem.X.T @ alpha if tau is None else tau
    phi = problem.lambda0 - np.maximum(np.abs(tau) - problem.lambda1, 0.0) ** 2 / (4.0 * problem.lambda2)
    return -loss_conjugate(problem.loss, alpha, problem.y) + float(np.minimum(phi, 0.0).sum())


def feasible_dual(problem: Problem, alpha: np.ndarray) -> float:
    """D at the best multiple of alpha at hand, for lambda0 = 0.

    With a ridge term every alpha is feasible: D(alpha). Without one |x_j' alpha| <= lambda1 must hold for all j: alpha
    is multiplied by clip(-y'alpha / ||alpha||^2, +-c), c = lambda1 / max_j |x_j' alpha|, which is the best multiple
    for the squared loss, by min(1, c) for the others.
    """
    tau = np.asarray(problem.X.T @ alpha).ravel()
    if problem.lambda2 > 0.0:
        return dual(problem, alpha, tau)
    limit = problem.lambda1 / max(float(np.abs(tau).max()), np.finfo(float).tiny)
    scale = min(1.0, limit)
    if problem.loss == "squared":
        scale = float(np.clip(-(problem.y @ alpha) / (alpha @ alpha), -limit, limit))
    return -loss_conjugate(problem.loss, scale * alpha, problem.y)


def relative_duality_gap(problem: Problem, beta: np.ndarray, alpha: np.ndarray | None = None) -> float:
    """(P(beta) - D) / P(beta) at lambda0 = 0, D the larger of the bounds from two dual points.

    The first, for every solver alike, is loss'(X beta), read off the coefficients; the second is the solver's own
    `alpha`, where it returns one.
    """
    if not problem.is_convex:
        raise ValueError("the duality gap of P is zero at the optimum only when lambda0 = 0")
    value = primal(problem, beta)
    points = [loss_derivative(problem.loss, linear_predictor(problem, beta), problem.y)]
    if alpha is not None:
        points.append(alpha)
    return (value - max(feasible_dual(problem, point) for point in points)) / abs(value)


def lambda1_max(problem_loss: str, X, y: np.ndarray) -> float:
    """Smallest lambda1 whose lasso solution is zero: max_j |x_j' loss'(0)|."""
    return float(np.abs(X.T @ loss_derivative(problem_loss, np.zeros(len(y)), y)).max())


def refit(problem: Problem, support: np.ndarray) -> np.ndarray:
    """argmin of P over coefficients that vanish outside `support`.

    For solvers that choose the support by another criterion (no l1 term): what their support is worth under P.
    beta = b+ - b-, both >= 0, makes the problem smooth; solved by L-BFGS-B to machine accuracy.
    """
    A = problem.X[:, support]
    A = A.toarray() if sp.issparse(A) else A
    k = len(support)

    def value_and_gradient(z: np.ndarray) -> tuple[float, np.ndarray]:
        b = z[:k] - z[k:]
        u = A @ b
        value = loss_value(problem.loss, u, problem.y) + problem.lambda1 * z.sum() + problem.lambda2 * (b @ b)
        gradient = A.T @ loss_derivative(problem.loss, u, problem.y) + 2.0 * problem.lambda2 * b
        return value, np.concatenate([gradient + problem.lambda1, -gradient + problem.lambda1])

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    found = minimize(
        value_and_gradient, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * k), options=options
    )
    beta = np.zeros(problem.shape[1])
    beta[support] = found.x[:k] - found.x[k:]
    return beta
