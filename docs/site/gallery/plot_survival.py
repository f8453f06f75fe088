"""
Survival: who relapses sooner
=============================

Four hundred patients, sixty measurements, of which four matter; two in five leave the study before anything happens. The data are simulated, so
that what should be found is known. The page of a fit (``report``) shows the same curves.
"""

import matplotlib.pyplot as plt
import numpy as np

import bestset
from bestset import BestSubsetSurvival, BestSubsetSurvivalCV, Times

rng = np.random.default_rng(4)
n, p = 400, 60
X = rng.standard_normal((n, p))
X[:, 1:] = 0.5 * X[:, :-1] + np.sqrt(0.75) * X[:, 1:]
beta = np.zeros(p)
beta[[5, 20, 33, 47]] = [0.9, -0.7, 0.6, -0.5]
relapse = 24 * rng.weibull(1.3, n) * np.exp(-X @ beta / 1.3)
left = rng.exponential(45, n)
y = Times(np.minimum(relapse, left), relapse <= left)
train, test = np.arange(n) < 280, np.arange(n) >= 280

model = BestSubsetSurvival().fit(X[train], y[train])
print(f"features {model.support_.tolist()}: {model.status_}")
for j in model.support_:
    print(f"x{j}: hazard ratio {np.exp(model.coef_[j]):.2f}, in truth {np.exp(beta[j]):.2f}")
assert set(np.flatnonzero(beta)) <= set(model.support_)

# %%
# How well it orders patients that it has not seen: Harrell's C, the share of pairs whose order is right. Half is guessing.

print(f"C on 120 new patients: {model.score(X[test], y[test]):.3f}")

# %%
# Their thirds by predicted risk. Steps are what happened (Kaplan and Meier), dashes what the model says of the same patients.

u = X[test] @ model.coef_
groups = np.digitize(u, np.quantile(u, [1 / 3, 2 / 3]))
times = y[test]


def kaplan_meier(time, event):
    at, left = [0.0], [1.0]
    for t in np.unique(time[event]):
        at.append(t)
        left.append(left[-1] * (1 - np.sum(event & (time == t)) / np.sum(time >= t)))
    return at, left


fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
predicted = model.predict_survival_function(X[test])
grid = np.linspace(0, 60, 200)
for g, (name, colour) in enumerate([("low risk", "#0b7468"), ("middle risk", "#3157d5"), ("high risk", "#b8480f")]):
    inside = groups == g
    ax.step(*kaplan_meier(times.time[inside], times.event[inside]), where="post", color=colour, label=name)
    mean = np.mean([curve(np.clip(grid, None, model.unique_times_[-1])) for curve, i in zip(predicted, inside) if i], axis=0)
    ax.plot(grid, mean, "--", color=colour, lw=1)
ax.set(xlabel="months", ylabel="share without relapse", xlim=(0, 60), ylim=(0, 1))
ax.legend(frameon=False)
plt.show()

# %%
# How many features: cross-validation by the partial likelihood, in which the patients left out are compared with all the others.

chosen = BestSubsetSurvivalCV(lambda2=0.01, prove=None).fit(X[train], y[train])
print(f"cross-validation: {len(chosen.support_)} features, {len(set(chosen.support_) & set(np.flatnonzero(beta)))} of the 4 true ones")

# %%
# Counts work the same way. Relapses in a year of follow-up of different lengths, with the logarithm of the time as offset:

years = rng.uniform(0.5, 3.0, n)
relapses = rng.poisson(years * np.exp(0.2 + 0.6 * X @ beta))
counts = bestset.BestSubsetRegressor(loss="poisson").fit(X, relapses, offset=np.log(years))
print(f"rates: features {counts.support_.tolist()}, {counts.status_}")
print(f"D2 {counts.score(X, relapses, offset=np.log(years)):.2f}")
