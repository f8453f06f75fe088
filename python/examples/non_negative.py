"""Non-negative coefficients: which of many known spectra is a mixture made of?"""

import numpy as np

from bestset import BestSubsetRegressor

rng = np.random.default_rng(0)
wavelengths = np.linspace(0.0, 1.0, 120)
centres = rng.uniform(0.0, 1.0, 40)
spectra = np.asfortranarray(np.exp(-((wavelengths[:, None] - centres) ** 2) / 0.002))
mixture = 0.8 * spectra[:, 5] + 0.5 * spectra[:, 17] + 0.01 * rng.standard_normal(120)

model = BestSubsetRegressor(positive=True, fit_intercept=False, standardize=False, lambda2=1e-3).fit(spectra, mixture)
print("components", model.support_, "amounts", model.coef_[model.support_].round(2))
assert np.all(model.coef_ >= 0)
assert {5, 17} <= set(model.support_.tolist())
