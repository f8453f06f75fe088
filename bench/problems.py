"""The problems of the benchmark, each a named case that builds its data from an explicit seed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from objective import lambda1_max
from problem import Problem

ELASTIC_NETS = ("celer", "skglm", "adelie", "glmnet", "scikit-learn")
#: the others need minutes on News20 to find the setting that reaches the gap
FAST_ELASTIC_NETS = ("celer", "skglm")
PAPER_SIZES = (200, 300, 400, 500, 600)
PAPER_SNR = (2, 5, 20)
PAPER_SEEDS = (1, 2, 3, 4, 5)
GAP_AT_LAMBDA0_ZERO = 1e-8


@dataclass(frozen=True)
class Case:
    """A problem, the peers and published algorithms tried on it, whether it is a quick one, and whether it is profiled."""

    name: str
    group: str
    build: Callable[[], Problem]
    peers: tuple[str, ...]
    quick: bool = False
    published: bool = False
    profiled: bool = False
    #: seconds given to exact solvers, where they are not the run's
    time_limit: float | None = None


class DataMissing(Exception):
    """A data file the case needs is not there."""


def autoregressive(rng: np.random.Generator, n: int, p: int, rho: float) -> np.ndarray:
    """Rows from N(0, S), S_ij = rho^|i-j|, column-major: x_j = rho x_(j-1) + sqrt(1-rho^2) z_j."""
    X = np.empty((n, p), order="F")
    X[:, 0] = rng.standard_normal(n)
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho * rho) * rng.standard_normal(n)
    return X


def unit_columns(X: np.ndarray) -> np.ndarray:
    X /= np.linalg.norm(X, axis=0)
    return X


def with_noise(rng: np.random.Generator, signal: np.ndarray, snr: float) -> np.ndarray:
    """signal + noise, SNR = var(signal) / var(noise)."""
    return signal + rng.standard_normal(len(signal)) * np.sqrt(signal.var() / snr)


def paper_lambdas(snr: float) -> tuple[float, float, float]:
    return (0.03, 0.02, 1.0) if snr == 20 else (0.1, 0.2, 1.0)


def paper_data(n: int, snr: int, seed: int, p: int = 3000) -> tuple[np.ndarray, np.ndarray, int]:
    """MATH.md section 8: AR(1) 0.4, columns scaled to norm one *before* y is drawn, 3 % of beta uniform on [-1, 1]."""
    rng = np.random.default_rng([seed, n, snr])
    X = unit_columns(autoregressive(rng, n, p, 0.4))
    size = round(0.03 * p)
    support = rng.choice(p, size, replace=False)
    signal = X[:, support] @ rng.uniform(-1.0, 1.0, size)
    return X, with_noise(rng, signal, snr), size


def paper(n: int, snr: int, seed: int) -> Problem:
    """The paper's simulation at the paper's penalties."""
    X, y, size = paper_data(n, snr, seed)
    return Problem("", X, y, "squared", *paper_lambdas(snr), seed=seed, true_size=size)


def paper_without_l1(n: int, snr: int, seed: int) -> Problem:
    """The same with lambda1 = 0, the form l0bnb solves too."""
    X, y, size = paper_data(n, snr, seed)
    lambda0, _, lambda2 = paper_lambdas(snr)
    return Problem("", X, y, "squared", lambda0, 0.0, lambda2, seed=seed, true_size=size)


def wide(p: int, seed: int = 1) -> Problem:
    """n = 1000, AR(1) 0.1, columns of norm one, ten coefficients +-1, SNR 5, lambda = (0.03, 0.02, 1)."""
    rng = np.random.default_rng([seed, 1000, p])
    X = unit_columns(autoregressive(rng, 1000, p, 0.1))
    support = rng.choice(X.shape[1], 10, replace=False)
    y = with_noise(rng, X[:, support] @ rng.choice([-1.0, 1.0], 10), 5)
    return Problem("", X, y, "squared", 0.03, 0.02, 1.0, seed=seed, true_size=10)


def hard_scaling(seed: int = 1) -> Problem:
    """Raw Gaussian columns of norm about sqrt(n), y = X beta + eps on that scale (SNR 5), lambda = (0.1, 0.2, 1)."""
    rng = np.random.default_rng([seed, 600, 3000])
    X = autoregressive(rng, 600, 3000, 0.4)
    support = rng.choice(3000, 90, replace=False)
    y = with_noise(rng, X[:, support] @ rng.uniform(-1.0, 1.0, 90), 5)
    return Problem("", X, y, "squared", 0.1, 0.2, 1.0, seed=seed, true_size=90, gap=1e-8)


def elastic_net(loss: str, X, y: np.ndarray, share: float, lambda2: float, seed: int = 0) -> Problem:
    """lambda0 = 0, lambda1 = `share` of the smallest lambda1 whose solution is zero."""
    lambda1 = share * lambda1_max(loss, X, y)
    return Problem("", X, y, loss, 0.0, lambda1, lambda2, seed=seed, gap=GAP_AT_LAMBDA0_ZERO)


def dense_regression(lambda2: float) -> Problem:
    X, y, _ = paper_data(400, 20, 1)
    return elastic_net("squared", X, y, 0.1, lambda2, seed=1)


def logistic_data(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """AR(1) 0.4 rows, 30 coefficients +-1, P(y = 1) = 1 / (1 + exp(-x'beta)), y = +-1."""
    rng = np.random.default_rng([seed, n, p])
    X = autoregressive(rng, n, p, 0.4)
    support = rng.choice(p, 30, replace=False)
    u = X[:, support] @ rng.choice([-1.0, 1.0], 30)
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-u)), 1.0, -1.0), 30


def dense_logistic(lambda2: float) -> Problem:
    X, y, _ = logistic_data(400, 3000, 1)
    return elastic_net("logistic", X, y, 0.1, lambda2, seed=1)


def logistic_l0(seed: int = 1) -> Problem:
    """n = 400, p = 3000, lambda = (2, 1, 1): lambda0 near half of log n, as BIC would set it."""
    X, y, size = logistic_data(400, 3000, seed)
    return Problem("", X, y, "logistic", 2.0, 1.0, 1.0, seed=seed, true_size=size)


class News20:
    """LIBSVM `news20`, 15,935 x 62,061: counts of words; 20 classes, mapped linearly to [-10, 10] for regression."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "news20.bz2"

    @functools.cached_property
    def raw(self) -> tuple[sp.csc_matrix, np.ndarray]:
        if not self.path.exists():
            raise DataMissing(f"{self.path.name} is not in the directory given by --data")
        from sklearn.datasets import load_svmlight_file

        X, labels = load_svmlight_file(str(self.path))
        return sp.csc_matrix(X), labels

    @property
    def counts(self) -> sp.csc_matrix:
        return self.raw[0]

    @functools.cached_property
    def unit(self) -> sp.csc_matrix:
        """Columns of norm one; empty columns stay empty."""
        X = self.counts.copy()
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
        X.data /= np.repeat(norms, np.diff(X.indptr))
        return X

    @property
    def target(self) -> np.ndarray:
        return -10.0 + 20.0 * (self.raw[1] - 1.0) / 19.0

    @property
    def halves(self) -> np.ndarray:
        """The first ten classes against the last ten."""
        return np.where(self.raw[1] <= 10, -1.0, 1.0)

    def elastic_net(self, loss: str, lambda2: float) -> Problem:
        return elastic_net(loss, self.unit, self.target if loss == "squared" else self.halves, 0.1, lambda2)

    def regression(self, X: sp.csc_matrix, gap: float) -> Problem:
        return Problem("", X, self.target, "squared", 0.1, 0.15, 1.0, gap=gap)


def cases(data: Path) -> Iterator[Case]:
    """All cases in the order they run: what is compared by time first, the long simulation last, seed by seed."""
    news = News20(data)
    yield Case("lasso-dense", "lambda0-zero", lambda: dense_regression(0.0), ELASTIC_NETS, quick=True)
    yield Case("enet-dense", "lambda0-zero", lambda: dense_regression(0.1), ELASTIC_NETS, quick=True)
    yield Case("lasso-news20", "lambda0-zero", lambda: news.elastic_net("squared", 0.0), FAST_ELASTIC_NETS)
    yield Case("enet-news20", "lambda0-zero", lambda: news.elastic_net("squared", 0.1), FAST_ELASTIC_NETS)
    yield Case("logistic-lasso-dense", "logistic", lambda: dense_logistic(0.0), ELASTIC_NETS, quick=True)
    yield Case("logistic-enet-dense", "logistic", lambda: dense_logistic(0.1), ELASTIC_NETS)
    yield Case("logistic-lasso-news20", "logistic", lambda: news.elastic_net("logistic", 0.0), FAST_ELASTIC_NETS)
    yield Case("logistic-l0", "logistic", logistic_l0, ("el0ps", "abess"), time_limit=60.0)

    yield Case("wide-p100000", "wide", lambda: wide(100_000), ("abess", "plain-cd"), profiled=True)
    yield Case("wide-p10000", "wide", lambda: wide(10_000), ())
    yield Case("hard-scaling", "hard-scaling", hard_scaling, ("abess", "el0ps", "plain-cd"), time_limit=60.0)
    yield Case("news20-unit", "news20", lambda: news.regression(news.unit, 1e-6), ("el0ps", "plain-cd"))
    yield Case("news20-raw", "news20", lambda: news.regression(news.counts, 1e-4), ("el0ps", "plain-cd"))

    for seed, snr, n in itertools.product(PAPER_SEEDS, PAPER_SNR, PAPER_SIZES):
        peers = ("abess", "plain-cd", *(("el0ps",) if n == 200 else ()))
        yield Case(
            f"paper-snr{snr}-n{n}-seed{seed}",
            "paper",
            functools.partial(paper, n, snr, seed),
            peers if seed == 1 else (),
            quick=n == 200 and seed == 1,
            published=True,
            profiled=(n, snr, seed) == (600, 20, 1),
        )
    for snr in (5, 20):
        build = functools.partial(paper_without_l1, 200, snr, 1)
        yield Case(f"paper-l1zero-snr{snr}-n200", "paper-l1zero", build, ("el0ps", "l0bnb", "abess", "plain-cd"))
