"""Classification in a pipeline, with names: which measurements tell tumours apart?"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from bestset import BestSubsetClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
labels = y.map({0: "malignant", 1: "benign"})

model = BestSubsetClassifier().fit(X, labels)
print("selected", [X.columns[j] for j in model.support_])
print("probability of the first sample:", dict(zip(model.classes_, model.predict_proba(X[:1])[0].round(3))))

three = BestSubsetClassifier(k=3)
scores = cross_val_score(three, X, labels, cv=5)
print(f"accuracy with three features: {scores.mean():.3f} ± {scores.std():.3f}")
assert scores.mean() > 0.9
