"""Data and enumeration for the tests."""

import itertools
import os

import numpy as np
from scipy.optimize import minimize


def share(total):
    """How many problems a test draws that draws so many: a fifth of them, and all with CHECK=yes, as CI has it."""
    return total if os.environ.get("CHECK") else -(-total // 5)


def regression(n=100, p=20, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    return X, 1.0 + 2.0 * X[:, 3] - X[:, 7 % p] + noise * rng.standard_normal(n)


def hard(n=60, p=300, seed=0):
    """A problem that branch and bound does not close in minutes."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    return X, X[:, :40] @ rng.choice([-1.0, 1.0], 40) + 3.0 * rng.standard_normal(n)


def loss_value(loss, u, y, delta=1.345):
    if loss == "squared":
        return 0.5 * (y - u) ** 2
    if loss == "huber":
        r = np.abs(y - u)
        return np.where(r <= delta, 0.5 * r**2, delta * r - 0.5 * delta**2)
    if loss == "logistic":
        return np.logaddexp(0.0, -y * u)
    return np.maximum(0.0, 1.0 - y * u) ** 2


def objective(X, y, coef, intercept, loss, lambda0, lambda1, lambda2, w=None, delta=1.345):
    """P by its definition."""
    w = np.ones(len(y)) if w is None else w
    losses = w @ loss_value(loss, X @ coef + intercept, y, delta)
    return losses + lambda0 * np.count_nonzero(coef) + lambda1 * np.abs(coef).sum() + lambda2 * coef @ coef


def _ridge(Z, y, lambda2, w, fit_intercept):
    w = np.ones(len(y)) if w is None else w
    A = np.column_stack([Z, np.full(len(y), float(fit_intercept))])
    ridge = 2 * lambda2 * np.diag([1.0] * Z.shape[1] + [0.0 if fit_intercept else 1.0])
    theta = np.linalg.lstsq(A.T @ (w[:, None] * A) + ridge, A.T @ (w * y), rcond=None)[0]
    return 0.5 * w @ (y - A @ theta) ** 2 + lambda2 * theta[:-1] @ theta[:-1]


def enumerate_best(X, y, loss, lambda0, lambda2, w=None, fit_intercept=True, bounds=None, largest=None):
    """The least P over all subsets, by the normal equations or a general optimiser on each."""
    p, best = X.shape[1], (np.inf, ())
    for size in range((p if largest is None else largest) + 1):
        for subset in itertools.combinations(range(p), size):
            columns = list(subset)
            if loss == "squared" and bounds is None:
                best = min(best, (_ridge(X[:, columns], y, lambda2, w, fit_intercept) + lambda0 * size, subset))
                continue

            def value(theta):
                coef = np.zeros(p)
                coef[columns] = theta[:size]
                return objective(X, y, coef, theta[-1] * fit_intercept, loss, 0.0, 0.0, lambda2, w)

            limits = [bounds or (None, None)] * size + [(None, None)]
            found = minimize(value, np.zeros(size + 1), method="L-BFGS-B", bounds=limits, options={"ftol": 1e-15, "gtol": 1e-9})
            best = min(best, (found.fun + lambda0 * size, subset))
    return best
