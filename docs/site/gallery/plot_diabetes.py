"""
Which variables matter, and how sure is that?
=============================================

442 patients, ten measurements and their squares and products: 64 candidate features (scikit-learn's diabetes data). Which of them
predict the progress of the disease a year later?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import bestset
from bestset import plots

X, y = load_diabetes(return_X_y=True, as_frame=True)
terms = PolynomialFeatures(2, include_bias=False).fit(X)
made = pd.DataFrame(terms.transform(X), columns=terms.get_feature_names_out())
# sex has two values: its square is itself.
made = made.drop(columns="sex^2")

# %%
# The path shows in what order features are worth their price, and which of them stay when others come.

path = bestset.path(made, y, max_size=12)
plots.coefficient_path(path, named=6)
plt.show()

# %%
# EBIC chooses, and the answer says how good it is: nothing better at this penalty.

found = bestset.solve(made, y)
print(found.summary())

# %%
# How clear is the choice? The three best subsets, each proved. The second costs little more, and differs in one feature.

ranked = bestset.solve(made, y, lambda0=found.lambda0, method="exact", top=3)
for place, subset in enumerate(ranked.ranked, 1):
    print(f"{place}. {subset.objective:.0f}  {', '.join(subset.selected)}")

# %%
# And on random halves of the patients? What nearly all halves choose does not hang on a few patients.

stable = bestset.stability(made, y, 6, subsamples=50)
order = np.argsort(-stable.largest)[:12]
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.barh([made.columns[j] for j in order][::-1], 100 * stable.largest[order][::-1], color="#3b6ea5")
ax.set_xlabel("chosen in % of the halves, at some size up to 6")
plt.show()
assert stable.largest[made.columns.get_loc("bmi")] > 0.9
