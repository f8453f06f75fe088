"""Prediction with default settings: best subset by cross-validation beside the lasso, the elastic net and abess.

    make bench-prediction                        # installs what it needs into .venv, writes bench/PREDICTION.md
    .venv/bin/python bench/prediction.py --only eyedata

Five outer folds, `numpy.random.default_rng(1000).permutation(n) % 5`, the same for everybody. Regression: squared error over the
variance of y; classification: mean deviance and wrong classes. Every method chooses its own settings inside each outer fold.
The data are not part of the project: they are looked for beside it, in ../shared/data, or where BESTSET_DATA says.
"""

import argparse
import os
import pathlib
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.linear_model import ElasticNetCV, LassoCV, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bestset import BestSubsetClassifierCV, BestSubsetRegressor, BestSubsetRegressorCV

try:
    import abess
except ImportError:
    abess = None

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("BESTSET_DATA", HERE.parent.parent / "shared" / "data"))
FILES = {"eyedata": ("eyedata.csv", "y"), "hitters": ("hitters.csv", "Salary"), "diabetes64": ("diabetes64.csv", "y"),
         "prostate": ("prostate.csv", "y"), "golub": ("golub.csv.gz", "y")}


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def regressors():
    ratios = [0.1, 0.5, 0.9]
    yield "best subset, CV (default)", BestSubsetRegressorCV
    yield "best subset, CV, rule 1se", lambda: BestSubsetRegressorCV(select="1se")
    yield "best subset, EBIC (default)", BestSubsetRegressor
    yield "lasso, CV", lambda: scaled(LassoCV(cv=10))
    yield "elastic net, CV", lambda: scaled(ElasticNetCV(cv=10, l1_ratio=ratios))
    if abess is not None:
        yield "abess, CV", lambda: abess.LinearRegression(cv=5)
        yield "abess, default (EBIC)", abess.LinearRegression


def classifiers():
    yield "best subset, CV (default)", BestSubsetClassifierCV
    yield "lasso, CV", lambda: scaled(
        LogisticRegressionCV(Cs=20, cv=10, penalty="l1", solver="liblinear", scoring="neg_log_loss"))
    yield "elastic net, CV", lambda: scaled(
        LogisticRegressionCV(Cs=10, cv=5, penalty="elasticnet", solver="saga", l1_ratios=[0.5], max_iter=500,
                             scoring="neg_log_loss"))
    if abess is not None:
        yield "abess, CV", lambda: abess.LogisticRegression(cv=5)


def size(model):
    last = model[-1] if hasattr(model, "steps") else model
    return int(np.count_nonzero(np.ravel(last.coef_)))


def deviance(model, X, y):
    chance = np.asarray(model.predict_proba(X))
    chance = chance[:, 1] if chance.ndim == 2 else chance
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    return -2 * np.sum(np.where(y > 0, np.log(chance), np.log1p(-chance))), int(np.sum((chance > 0.5) != (y > 0)))


def outer(name):
    file, target = FILES[name]
    frame = pd.read_csv(DATA / file)
    y = frame.pop(target)
    X = np.asfortranarray(frame.to_numpy(float))
    classes = y.dtype == object
    y = (y == sorted(y.unique())[1]).to_numpy(int) if classes else y.to_numpy(float)
    part = np.random.default_rng(1000).permutation(len(y)) % 5
    rows = []
    for label, make in classifiers() if classes else regressors():
        lack, wrong, sizes, start = 0.0, 0, [], time.process_time()
        for fold in range(5):
            train, test = part != fold, part == fold
            model = make().fit(X[train], y[train])
            if classes:
                found = deviance(model, X[test], y[test])
                lack, wrong = lack + found[0], wrong + found[1]
            else:
                lack += np.sum((y[test] - model.predict(X[test])) ** 2)
            sizes.append(size(model))
        seconds = time.process_time() - start
        lack /= len(y) if classes else np.sum((y - y.mean()) ** 2)
        error = f"{lack:.3f}" + (f", {wrong} of {len(y)} wrong" if classes else "")
        rows.append(f"| {label} | {error} | {np.mean(sizes):.1f} ({min(sizes)}–{max(sizes)}) | {seconds:.1f} |")
        print(name, rows[-1], flush=True)
    measure = "mean deviance" if classes else "squared error / variance"
    head = f"## {name}: {X.shape[0]} × {X.shape[1]}\n\n| | {measure} | features, mean (range) | seconds of processor |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def speed():
    """Default cross-validation at n = 100, p = 4000, λ2 grid included, beside the peers' own in one run."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((100, 4000)))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(100)
    ways = [("BestSubsetRegressorCV()", BestSubsetRegressorCV), ("LassoCV(cv=10)", lambda: LassoCV(cv=10))]
    if abess is not None:
        ways.append(("abess.LinearRegression(cv=10)", lambda: abess.LinearRegression(cv=10)))
    rows = []
    for label, make in ways:
        start, clock = time.perf_counter(), time.process_time()
        model = make().fit(X, y)
        wall, busy = time.perf_counter() - start, time.process_time() - clock
        true = int(np.count_nonzero(np.ravel(model.coef_)[:5]))
        rows.append(f"| {label} | {wall:.2f} | {busy:.2f} | {size(model)}, {true} of 5 true |")
        print("speed", rows[-1], flush=True)
    head = "## Time: n = 100, p = 4000, five true features\n\n| | seconds | of processor | features |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def fold():
    """One fold of a cross-validation beside one fit, both to the same largest size, at n = 1800, p = 10,000."""
    rng = np.random.default_rng(1)
    X = rng.binomial(2, 0.3, (1800, 10_000)).astype(np.float64, order="F")
    y = X[:, :30] @ rng.standard_normal(30) * 0.3 + rng.standard_normal(1800)
    clock = time.process_time()
    BestSubsetRegressor(lambda2=0.01, max_size=40, prove=None).fit(X, y)
    one = time.process_time() - clock
    split = [(np.arange(0, 1200), np.arange(1200, 1800)), (np.arange(600, 1800), np.arange(600))]
    clock = time.process_time()
    BestSubsetRegressorCV(lambda2=0.01, max_size=40, prove=None, cv=split).fit(X, y)
    each = (time.process_time() - clock - one) / 2
    text = f"One fit takes {one:.1f} s of processor, one fold of its cross-validation {each:.1f} s: {each / one:.2f} times.\n"
    print(text, flush=True)
    return "## A fold beside a fit: n = 1800, p = 10,000 (counts 0, 1, 2), sizes up to 40, one λ2\n\n" + text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="comma-separated: " + ", ".join([*FILES, "speed", "fold"]))
    only = parser.parse_args().only
    wanted = only.split(",") if only else [*FILES, "speed", "fold"]
    parts = []
    for name in wanted:
        if name in FILES and not (DATA / FILES[name][0]).exists():
            print(f"{name}: {DATA / FILES[name][0]} is not there: skipped")
            continue
        parts.append({"speed": speed, "fold": fold}[name]() if name not in FILES else outer(name))
    if not only:
        title = "# Prediction with default settings\n\n" + __doc__.split("\n\n", 2)[2].strip() + "\n\n"
        (HERE / "PREDICTION.md").write_text(title + "\n".join(parts))


if __name__ == "__main__":
    main()
