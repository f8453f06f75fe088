"""How many features? The best subset of every size, and three ways to choose between sizes."""

import numpy as np

import bestset

rng = np.random.default_rng(2)
X = rng.standard_normal((120, 15))
y = X[:, [1, 4, 9]] @ [1.5, -1.0, 0.7] + rng.standard_normal(120)

# Every size, each proved best; least squares goes by leaps and bounds.
sizes = bestset.subsets(X, y)
print(sizes)
print("BIC takes", sizes.best("bic").support, "and Cp", sizes.best("cp").support)

# A path over the price of a feature, judged by EBIC.
path = bestset.path(X, y)
print("EBIC takes", path.best("ebic").support)

# Cross-validation, with the one-standard-error rule, and how often each feature is in the folds' answers.
model = bestset.BestSubsetRegressorCV(select="1se").fit(X, y)
print("cross-validation takes", model.support_, "chosen in", model.cv_frequencies_, "of the folds")

# How often features are chosen on halves of the samples.
print(bestset.stability(X, y, 3, subsamples=50))
assert all(s.proved for s in sizes)
assert path.best("ebic").support.tolist() == [1, 4, 9]
