"""
Another package's answer, certified
===================================

Greedy selection and the lasso give subsets quickly. How good are they? `certify` takes coefficients from anywhere.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso, LinearRegression, OrthogonalMatchingPursuit

import bestset

# %%
# Two features whose sum is what a third one looks like: methods that take one feature at a time take the third.

rng = np.random.default_rng(1)
X = rng.standard_normal((80, 30))
X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(80)
y = X[:, 1] + X[:, 2] + 0.1 * rng.standard_normal(80)

greedy = OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, y)
lasso = Lasso(alpha=0.4).fit(X, y)
chosen = np.flatnonzero(lasso.coef_)
refitted = np.zeros(30)
least = LinearRegression().fit(X[:, chosen], y)
refitted[chosen] = least.coef_

answers = {
    "greedy": (greedy.coef_, greedy.intercept_),
    "lasso": (lasso.coef_, lasso.intercept_),
    "lasso, refitted": (refitted, least.intercept_),
}
judged = {name: bestset.certify(X, y, coef, intercept, lambda0=0.5) for name, (coef, intercept) in answers.items()}
for name, one in judged.items():
    size = np.count_nonzero(answers[name][0])
    print(f"{name:>16}: {size} features, objective {one.objective:6.2f}, best possible within {one.relative_gap:.1%}")

# %%
# No subset lies below the line. What was found on the way is proved best.

best = judged["greedy"].solution
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
names = [*judged, "bestset"]
ax.barh(names[::-1], [best.objective] + [judged[name].objective for name in names[-2::-1]], color="#3b6ea5")
ax.axvline(best.lower_bound, color="#c1622d", label="lower bound of every subset")
ax.set_xlabel("objective")
ax.legend(frameon=False)
plt.show()
print("the best subset is", best.support)
assert best.support.tolist() == [1, 2] and best.proved and not judged["greedy"].proved
