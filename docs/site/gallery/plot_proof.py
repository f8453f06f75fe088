"""
A proof, watched as it closes
=============================

The objective comes down to the best subset within moments. The lower bound takes longer to come up: when the two meet, there is nothing
better, and the answer is proved.
"""

import matplotlib.pyplot as plt
import numpy as np

import bestset
from bestset import plots

rng = np.random.default_rng(3)
n, p, rho = 150, 60, 0.7
X = rng.standard_normal((n, p))
for j in range(1, p):
    X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
beta = np.zeros(p)
beta[[4, 13, 22, 31, 40, 49]] = [2.0, -1.5, 1.2, -1.0, 0.8, -0.6]
y = X @ beta + 2.5 * rng.standard_normal(n)

# %%
# `max_nodes` is a limit that does not depend on the machine; `time_limit` is one in seconds.

found = bestset.solve(X, y, lambda0=8.0, lambda2=0.2, standardize="variance", method="exact", max_nodes=20000)
plots.gap(found).set_ylim(395, 445)
plt.show()

# %%
# What is said at the end, and the nodes it took:

print(found.standing)
print(found.n_iter, "nodes")
assert found.proved
