"""
Best subset or lasso: when?
===========================

The lasso shrinks to select; best subset selects, and shrinks only as much as it is told. With a clear signal best subset finds the true
features and few others; with a weak one no subset can be told from noise, and the lasso predicts better.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from bestset import BestSubsetRegressorCV

# A weak signal takes the largest size or λ2 that is compared, and says so.
warnings.simplefilter("ignore", UserWarning)
n, p, rho, true = 100, 60, 0.6, [5, 15, 25, 35, 45]


def data(snr, seed):
    """Neighbours correlated, five features true; the signal has `snr` times the variance of the noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    signal = X[:, true] @ [1.0, -1.0, 1.0, -1.0, 1.0]
    return X, signal + np.sqrt(signal.var() / snr) * rng.standard_normal(n)


def error(model, X):
    """Squared error of the predictor on new samples, over the variance of the signal."""
    beta = np.zeros(p)
    beta[true] = [1.0, -1.0, 1.0, -1.0, 1.0]
    fresh, _ = data(1.0, 999)
    difference = fresh @ (model.coef_ - beta) + model.intercept_
    return np.mean(difference**2) / np.var(fresh @ beta)


# %%
# Four strengths of the signal, five data sets each; both choose their own settings by cross-validation.

snrs = [0.25, 1.0, 4.0, 16.0]
errors = {"best subset": [], "lasso": []}
sizes = {"best subset": [], "lasso": []}
for snr in snrs:
    rows = {name: [] for name in errors}
    for seed in range(5):
        X, y = data(snr, seed)
        for name, model in (("best subset", BestSubsetRegressorCV(cv=5, prove=None)), ("lasso", LassoCV(cv=5))):
            model.fit(X, y)
            rows[name].append((error(model, X), np.count_nonzero(model.coef_)))
    for name, found in rows.items():
        errors[name].append(np.mean([e for e, _ in found]))
        sizes[name].append(np.mean([s for _, s in found]))

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for name, color in (("best subset", "#3b6ea5"), ("lasso", "#c1622d")):
    axes[0].plot(snrs, errors[name], marker="o", label=name, color=color)
    axes[1].plot(snrs, sizes[name], marker="o", label=name, color=color)
axes[1].axhline(len(true), color="gray", linewidth=0.8, linestyle=":", label="true features")
axes[1].legend(frameon=False)
axes[0].set(xscale="log", yscale="log", xlabel="signal / noise", ylabel="error of the predictor")
axes[1].set(xscale="log", yscale="log", xlabel="signal / noise", ylabel="features")
for ax in axes:
    ax.set_xticks(snrs, [f"{snr:g}" for snr in snrs], minor=False)
    ax.minorticks_off()
axes[0].set_yticks([0.01, 0.03, 0.1, 0.3, 1], ["1 %", "3 %", "10 %", "30 %", "100 %"])
axes[1].set_yticks([5, 10, 20], ["5", "10", "20"])
axes[0].legend(frameon=False)
plt.show()

# %%
# With a clear signal best subset has a smaller error than the lasso with a third of its features, nearly the five true ones. With as much
# noise as signal, or more, the lasso's error is the smaller.

for i, snr in enumerate(snrs):
    print(f"signal/noise {snr:5}: best subset {errors['best subset'][i]:.3f} with {sizes['best subset'][i]:.1f} features, "
          f"lasso {errors['lasso'][i]:.3f} with {sizes['lasso'][i]:.1f}")
assert errors["best subset"][-1] < errors["lasso"][-1]
assert sizes["best subset"][-1] < sizes["lasso"][-1]
