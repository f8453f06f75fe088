"""Best subset against the lasso on correlated columns: fewer features, less bias."""

import numpy as np
from sklearn.linear_model import LassoCV

from bestset import BestSubsetRegressorCV

rng = np.random.default_rng(5)
n, p, rho = 200, 100, 0.8
X = rng.standard_normal((n, p))
for j in range(1, p):
    X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
true = np.zeros(p)
true[[10, 30, 50, 70, 90]] = [2.0, -2.0, 1.5, -1.5, 1.0]
y = X @ true + rng.standard_normal(n)

subset = BestSubsetRegressorCV(select="1se").fit(X, y)
lasso = LassoCV(cv=5).fit(X, y)
for name, coef in (("best subset", subset.coef_), ("lasso", lasso.coef_)):
    chosen = np.flatnonzero(coef)
    right, error = np.isin(chosen, np.flatnonzero(true)).sum(), np.linalg.norm(coef - true)
    print(f"{name:>11}: {len(chosen)} features, {right} of the 5 true ones, error {error:.2f}")
assert set(np.flatnonzero(true)) <= set(subset.support_.tolist())
assert len(subset.support_) < np.count_nonzero(lasso.coef_)
