"""First fit: the few features that matter, and how good the answer is known to be."""

import numpy as np

from bestset import BestSubsetRegressor

rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((100, 20)))
y = 3.0 + 2.0 * X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(100)

# Neither a price nor a size is given: a path over the price is computed and EBIC chooses.
model = BestSubsetRegressor().fit(X, y)
print("features", model.support_, "coefficients", model.coef_[model.support_].round(2))
print(model.summary())
assert model.support_.tolist() == [3, 7]
assert model.lower_bound_ <= model.objective_
