"""Certify someone else's solution: how far is it from the best possible?"""

import numpy as np
from sklearn.linear_model import OrthogonalMatchingPursuit

import bestset

# Two features whose sum is what a third one looks like: greedy methods take the third.
rng = np.random.default_rng(1)
X = rng.standard_normal((80, 30))
X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(80)
y = X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(80)

greedy = OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, y)
judged = bestset.certify(X, y, greedy.coef_, greedy.intercept_, k=2)
print("greedy takes", np.flatnonzero(greedy.coef_))
print(judged)

best = bestset.certify(X, y, judged.solution.coef, judged.solution.intercept, k=2)
print("the best subset is", judged.solution.support)
assert not judged.proved and best.proved
assert judged.solution.support.tolist() == [1, 2]
