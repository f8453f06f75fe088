"""
Choosing λ2
===========

λ2 shrinks the coefficients of the features that are in. It is what bounds live on, and with noise it predicts better; too much of it
hides the signal. Cross-validation compares sizes for each λ2.
"""

import matplotlib.pyplot as plt
import numpy as np

import bestset
from bestset import plots

rng = np.random.default_rng(3)
n, p, rho = 120, 60, 0.7
X = rng.standard_normal((n, p))
for j in range(1, p):
    X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
beta = np.zeros(p)
beta[[4, 13, 22, 31, 40, 49]] = [2.0, -1.5, 1.2, -1.0, 0.8, -0.6]
y = X @ beta + 2.6 * rng.standard_normal(n)

model = bestset.BestSubsetRegressorCV(prove=None).fit(X, y)
plots.cv_curve(model)
plt.show()

# %%
# The two rules: the best mean, and the fewest features within one standard error of it.

print(f"min: lambda2 = {model.lambda2_min_:.3g}, {len(model.support_)} features")
sparse = bestset.BestSubsetRegressorCV(select="1se", prove=None).fit(X, y)
print(f"1se: lambda2 = {sparse.lambda2_1se_:.3g}, {len(sparse.support_)} features")

# %%
# And what a larger λ2 does for the proof: the same size, without branching.

gaps = []
ridges = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
for lambda2 in ridges:
    gaps.append(100 * bestset.solve(X, y, k=6, lambda2=lambda2, prove=None).relative_gap)
fig, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.plot(ridges, gaps, marker="o", color="#3b6ea5")
ax.set(xscale="log", xlabel="λ2", ylabel="gap without branching, %", ylim=(0, None))
plt.show()
assert gaps[-1] < gaps[0]
