"""Draws the pictures of the documentation: python docs/pictures.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import bestset
from bestset import plots

IMAGES = Path(__file__).parent / "images"


def data(n: int = 150, p: int = 60, noise: float = 2.0, rho: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring columns correlated, six of them true."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    beta[[4, 13, 22, 31, 40, 49]] = [2.0, -1.5, 1.2, -1.0, 0.8, -0.6]
    return np.asfortranarray(X), X @ beta + noise * rng.standard_normal(n)


def save(ax: plt.Axes, name: str) -> None:
    ax.figure.savefig(IMAGES / f"{name}.png", dpi=110)
    plt.close(ax.figure)


X, y = data()
path = bestset.path(X, y, max_size=20)
save(plots.coefficient_path(path), "coefficient-path")
save(plots.support(path), "support")
noisy = data(n=120, noise=2.6)
save(plots.cv_curve(bestset.BestSubsetRegressorCV().fit(*noisy)), "cv-curve")
save(plots.gap(bestset.solve(X, y, lambda0=8.0, lambda2=0.5, standardize="variance", method="exact", time_limit=20)), "gap")
