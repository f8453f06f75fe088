"""Sparse text: a handful of words out of thousands. The matrix stays sparse."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from bestset import BestSubsetClassifier

rng = np.random.default_rng(0)
common = [f"word{i}" for i in range(3000)]
topics = {"sport": ["goal", "match", "coach"], "money": ["bank", "bond", "tax"]}
texts, labels = [], []
for _ in range(400):
    label = "sport" if rng.random() < 0.5 else "money"
    words = list(rng.choice(common, 40))
    words += [w for w in topics[label] if rng.random() < 0.5]
    texts.append(" ".join(words))
    labels.append(label)

vectors = TfidfVectorizer()
X = vectors.fit_transform(texts)
model = BestSubsetClassifier().fit(X, labels)
words = vectors.get_feature_names_out()[model.support_]
print(f"{X.shape[1]} words, {X.nnz} entries; selected:", sorted(words))
assert set(words) <= {"goal", "match", "coach", "bank", "bond", "tax"}
