"""Fits data sets that R has written, a folder for each, and writes what was found: run by test-python.R. Nothing here depends on the time it
takes."""

import sys
from pathlib import Path

import bestset
import numpy as np
from bestset import BestSubsetClassifierCV, BestSubsetRegressorCV, BestSubsetSurvivalCV, Times


def numbers(found: bestset.Result) -> list[float]:
    """Coefficients, of many classes those of one after the other, and certificate."""
    if found.class_coef is not None:
        coef = np.column_stack([found.class_intercept, found.class_coef]).ravel()
    else:
        coef = np.concatenate([[found.intercept], found.coef])
    return [*coef, found.objective, found.lower_bound, found.lambda0, found.lambda2]


def compare(folder: Path) -> None:
    """What Python finds in the data of a folder, and what it makes of R's model there."""
    n, p = (int(v) for v in (folder / "shape").read_text().split())
    loss, foldid = (folder / "loss").read_text().strip(), np.fromfile(folder / "foldid", dtype=np.int32)
    x = np.fromfile(folder / "x").reshape((n, p), order="F")
    y = np.fromfile(folder / "y")
    splits = [(np.flatnonzero(foldid != part), np.flatnonzero(foldid == part)) for part in np.unique(foldid)]
    if loss == "cox":
        y = Times(y, np.fromfile(folder / "event"))
    estimators = {
        "cox": BestSubsetSurvivalCV(cv=splits, prove=0),
        "logistic": BestSubsetClassifierCV(cv=splits, prove=0),
        "multinomial": BestSubsetClassifierCV(cv=splits, prove=0),
        "poisson": BestSubsetRegressorCV(cv=splits, prove=0, loss="poisson"),
        "squared": BestSubsetRegressorCV(cv=splits, prove=0),
    }
    validated = estimators[loss].fit(x, y)
    found = [
        bestset.solve(x, y, loss=loss, prove=0),
        bestset.solve(x, y, loss=loss, k=3, prove=0),
        bestset.solve(x, y, loss=loss, lambda0=0.5, lambda2=0.3, prove=0),
        bestset.solve(x, y, loss=loss, k=3, lambda2=0.3, method="exact", max_nodes=300),
        validated.results_[0],
    ]
    np.concatenate([numbers(f) for f in found]).tofile(folder / "found")
    found[0].save(folder / "model.json")
    theirs = bestset.load(folder / "from_r.json")
    if loss == "cox":
        theirs.curves(x, [0.5, 1.0]).tofile(folder / "curves")
    np.asarray(theirs.decision_function(x)).ravel(order="F").tofile(folder / "margins")


for word in sys.argv[1:]:
    compare(Path(word))
