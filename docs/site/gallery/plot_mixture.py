"""
Which substances is a mixture made of?
======================================

Forty known spectra, one measured mixture. Amounts cannot be negative, and there is no intercept: bounds on the coefficients.
"""

import matplotlib.pyplot as plt
import numpy as np

from bestset import BestSubsetRegressor

rng = np.random.default_rng(0)
wavelengths = np.linspace(0.0, 1.0, 120)
centres = rng.uniform(0.0, 1.0, 40)
spectra = np.exp(-((wavelengths[:, None] - centres) ** 2) / 0.002)
mixture = 0.8 * spectra[:, 5] + 0.5 * spectra[:, 17] + 0.01 * rng.standard_normal(120)

model = BestSubsetRegressor(positive=True, fit_intercept=False, standardize=False, lambda2=1e-3).fit(spectra, mixture)
print("components", model.support_, "amounts", model.coef_[model.support_].round(3))
print(model.standing_)

# %%
# The spectra overlap, yet the two are told apart from their neighbours.

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(wavelengths, 0.5 * spectra, color="0.85", lw=0.7, zorder=0)
ax.plot([], [], color="0.85", label="the 40 spectra, at half their height")
ax.plot(wavelengths, mixture, ".", color="gray", markersize=4, label="measured")
for j, color in zip(model.support_, ["#3b6ea5", "#c1622d", "#0b7468"]):
    ax.plot(wavelengths, model.coef_[j] * spectra[:, j], color=color, label=f"{model.coef_[j]:.2f} of substance {j}")
ax.set(xlabel="wavelength", ylabel="absorption")
ax.legend(frameon=False)
plt.show()
assert {5, 17} <= set(model.support_.tolist()) and np.all(model.coef_ >= 0)
