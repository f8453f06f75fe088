"""
Would other samples give the same features?
===========================================

The certificate is about these samples. Whether others would give the same subset is another question: fit random halves of the samples,
and count. Here the tumours of scikit-learn's breast cancer data, 30 measurements of 569 cell nuclei.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import bestset

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
found = bestset.stability(X, y, 5, loss="logistic", subsamples=30)

# %%
# By size: a dark cell is a feature that every half chooses at that size. Of a single feature the halves are not sure, of two nearly all are.

order = np.argsort(-found.largest)[:12]
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
mesh = ax.pcolormesh(100 * found.frequencies[1:, order].T, cmap="Blues", vmin=0, vmax=100, edgecolors="white")
ax.set_yticks(np.arange(len(order)) + 0.5, [X.columns[j] for j in order])
ax.set_xticks(np.arange(5) + 0.5, [str(size) for size in range(1, 6)])
ax.set_xlabel("size")
ax.invert_yaxis()
fig.colorbar(mesh, ax=ax, label="% of the halves")
plt.show()

# %%
# What at least six of ten halves choose at some size:

print([X.columns[j] for j in found.selected(0.6)])
