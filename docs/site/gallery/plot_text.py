"""
A handful of words out of thousands
===================================

Texts as a sparse matrix, which stays sparse: which words tell two topics apart? Simulated, since the usual corpora are not shipped with
any package.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from bestset import BestSubsetClassifier

rng = np.random.default_rng(0)
common = [f"word{i}" for i in range(3000)]
topics = {"sport": ["goal", "match", "coach"], "money": ["bank", "bond", "tax"]}
texts, labels = [], []
for _ in range(400):
    label = "sport" if rng.random() < 0.5 else "money"
    words = list(rng.choice(common, 40)) + [word for word in topics[label] if rng.random() < 0.5]
    texts.append(" ".join(words))
    labels.append(label)

vectors = TfidfVectorizer()
X = vectors.fit_transform(texts)
model = BestSubsetClassifier().fit(X, labels)
words = vectors.get_feature_names_out()
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz} entries; {len(model.support_)} words chosen")

# %%
# All of them are words of one of the topics; their sign says of which.

chosen = sorted(model.support_, key=lambda j: model.coef_.ravel()[j])
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.barh([words[j] for j in chosen], [model.coef_.ravel()[j] for j in chosen], color="#3b6ea5")
ax.set_xlabel(f"coefficient: for {model.classes_[1]} to the right, for {model.classes_[0]} to the left")
plt.show()
assert {words[j] for j in chosen} <= {word for topic in topics.values() for word in topic}
