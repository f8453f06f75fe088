"""Exact proof: branch and bound closes the gap, and lists the runners-up."""

import numpy as np

import bestset

rng = np.random.default_rng(4)
X = np.asfortranarray(rng.standard_normal((150, 60)))
y = X[:, :6] @ [1.0, -0.9, 0.8, -0.7, 0.6, -0.5] + rng.standard_normal(150)

quick = bestset.solve(X, y, lambda0=4.0, prove=None)
proved = bestset.solve(X, y, lambda0=4.0, method="exact", top=3, time_limit=60)
print(f"quick answer: {quick.objective:.4f}, at most {quick.gap:.4f} too high")
print(f"proved: {proved.objective:.4f}, {proved.status} after {proved.n_iter} nodes")
for place, subset in enumerate(proved.ranked, 1):
    print(f"  {place}. {subset.objective:.4f} {subset.support}")
assert proved.status == "optimal" and all(subset.proved for subset in proved.ranked)
assert quick.lower_bound <= proved.objective <= quick.objective + 1e-9
