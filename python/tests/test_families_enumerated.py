"""Counts and amounts: answers, bounds and "optimal" against every subset, each fitted by a damped Newton method from the definition."""

import itertools

import numpy as np
import pytest

import bestset


def half_deviances(loss, y, theta):
    """Half the deviance, its first and its second derivative in the linear predictor."""
    log_y = np.log(np.where(y > 0, y, 1.0))
    if loss == "poisson":
        return lambda u: np.exp(u) - y * u + y * log_y - y, lambda u: np.exp(u) - y, np.exp
    if loss == "gamma":
        return lambda u: u + y * np.exp(-u) - log_y - 1, lambda u: 1 - y * np.exp(-u), lambda u: y * np.exp(-u)
    share = lambda u: 1 / (1 + theta * np.exp(-u))
    return (
        lambda u: (y + theta) * (np.logaddexp(np.log(theta), u) - np.log(theta + y)) - y * (u - log_y),
        lambda u: (y + theta) * share(u) - y,
        lambda u: (y + theta) * share(u) * (1 - share(u)),
    )


def least(value, slope, curvature, size):
    """The minimum of a smooth convex function."""
    z = np.zeros(size)
    now = value(z)
    for _ in range(200):
        g, h = slope(z), curvature(z)
        step = -np.linalg.lstsq(h + 1e-13 * np.trace(h) * np.eye(size), g, rcond=None)[0]
        share = 1.0
        while not value(z + share * step) <= now + 1e-4 * share * (g @ step):
            share *= 0.5
            if share < 1e-14:
                return now
        z = z + share * step
        before, now = now, value(z)
        if before - now <= 1e-15 * max(1.0, abs(now)):
            return now
    return now


def problem(rng, loss):
    """Columns of any size, nearly equal ones, far from zero, or zeros and ones; targets over several orders."""
    n, p = int(rng.integers(6, 40)), int(rng.integers(2, 6))
    X, kind = rng.standard_normal((n, p)), rng.integers(5)
    X = [X, X * 10.0 ** rng.uniform(-3, 3, p), X, X + 100, (X > 0.8).astype(float)][kind]
    if kind == 2:
        X[:, -1] = X[:, 0] + 1e-7 * rng.standard_normal(n)
    length = np.maximum(np.linalg.norm(X - X.mean(0), axis=0), 1e-12)
    u = np.clip((X - X.mean(0)) / length @ rng.standard_normal(p) * rng.choice([1, 3, 6]), -8, 8)
    if loss == "poisson":
        return X, rng.poisson(np.exp(u + rng.choice([-1, 0, 2, 5]))).astype(float)
    if loss == "gamma":
        return X, np.maximum(rng.gamma(rng.choice([0.3, 1, 5]), np.exp(u)), 1e-8) * 10.0 ** rng.uniform(-3, 3)
    return X, rng.poisson(np.exp(u) * rng.gamma(2, 0.5, n)).astype(float)


@pytest.mark.parametrize("problems", [15, pytest.param(80, marks=pytest.mark.long)])
@pytest.mark.parametrize("loss", ["poisson", "gamma", "negative_binomial"])
def test_bounds_and_answers_against_every_subset(loss, problems):
    proved = 0
    for seed in range(problems):
        rng = np.random.default_rng(seed)
        X, y = problem(rng, loss)
        n, p = X.shape
        w = rng.choice([0.0, 1.0, 2.0, 0.3], n) if rng.random() < 0.3 else np.ones(n)
        offset = rng.standard_normal(n) if rng.random() < 0.3 else np.zeros(n)
        if not (w * y).any():
            continue
        lambda2, lambda0, theta = 10.0 ** rng.uniform([-4, -3, -1], [1, 1, 2])
        intercept, k = bool(rng.random() < 0.7), int(rng.integers(1, p + 1)) if rng.random() < 0.3 else None
        value, slope, curvature = half_deviances(loss, y, theta)

        def fitted(support):
            A = X[:, support] if not intercept else np.column_stack([X[:, support], np.ones(n)])
            ridge = np.where(np.arange(A.shape[1]) < len(support), lambda2, 0.0)
            with np.errstate(all="ignore"):
                return least(
                    lambda z: w @ value(A @ z + offset) + ridge @ (z * z),
                    lambda z: A.T @ (w * slope(A @ z + offset)) + 2 * ridge * z,
                    lambda z: A.T @ ((w * curvature(A @ z + offset))[:, None] * A) + 2 * np.diag(ridge),
                    A.shape[1],
                )

        sizes = range((p if k is None else k) + 1)
        price = lambda0 if k is None else 0.0
        best = min(fitted(list(s)) + price * q for q in sizes for s in itertools.combinations(range(p), q))
        for method in ["exact", "incremental"]:
            found = bestset.solve(
                X, y, None if k else lambda0, lambda2=lambda2, k=k, loss=loss, theta=theta if loss == "negative_binomial" else None,
                method=method, fit_intercept=intercept, sample_weight=w, offset=offset, standardize=False, threads=1, prove=None,
            )
            room = 1e-8 * max(1.0, abs(best))
            assert found.lower_bound <= best + room, (seed, method, found.lower_bound, best)
            assert found.objective >= best - 10 * room, (seed, method, found.objective, best)
            if found.status == "optimal":
                proved += 1
                assert found.objective <= best + 3e-6 * max(abs(best), 1e-3), (seed, method, found.objective, best)
    assert proved >= problems
