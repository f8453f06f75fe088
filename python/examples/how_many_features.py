"""How many features? The best subset of every size, and three ways to choose between sizes."""

import numpy as np

import bestset

rng = np.random.default_rng(2)
X = rng.standard_normal((120, 15))
y = X[:, [1, 4, 9]] @ [1.5, -1.0, 0.7] + rng.standard_normal(120)

# Every size, each proved best; least squares goes by leaps and bounds.
sizes = bestset.subsets(X, y, 8, fit_intercept=True)
print(sizes)
print("BIC takes", sizes.best("bic").support, "and Cp", sizes.best("cp").support)

# A path over the price of a feature, judged by EBIC.
path = bestset.path(X, y, lambda2=0.5, fit_intercept=True)
print("EBIC takes", path.best("ebic").support)

# Cross-validation, with the one-standard-error rule.
model = bestset.BestSubsetRegressorCV(select="1se").fit(X, y)
print("cross-validation takes", model.support_)
assert all(s.proved for s in sizes)
assert path.best("ebic").support.tolist() == [1, 4, 9]
