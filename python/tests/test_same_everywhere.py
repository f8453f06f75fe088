"""The command line and Python give the same model on the same data: support and coefficients to 1e-12."""

import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import bestset
from bestset import BestSubsetClassifier, BestSubsetClassifierCV, BestSubsetRegressor, BestSubsetRegressorCV

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
COMMANDS = [ROOT / "target" / kind / "bestset" for kind in ("release", "debug")]
#: File, target, arguments that the command line needs to read it, and the largest size of `subsets`.
FILES = [
    ("prostate.csv", "y", (), None),
    ("hitters.csv", "Salary", (), None),
    ("diabetes64.csv", "y", (), 4),
    ("eyedata.csv", "y", ("--header", "yes"), 2),
    ("golub.csv.gz", "y", (), 1),
]


def command():
    """The newest command line that has been built."""
    built = [path for path in COMMANDS if path.exists()]
    if not built:
        pytest.skip("the command line is not built: cargo build --release -p bestset-cli")
    return max(built, key=lambda path: path.stat().st_mtime)


def told(word, file, target, *more):
    """What the command line answers."""
    words = [command(), word, DATA / file, "--target", target, *more, "--json"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    # 3 to 5: an answer that a limit ended or that is not proved; what else fails has no answer.
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def read(file, target):
    pandas = pytest.importorskip("pandas")
    if not (DATA / file).exists():
        pytest.skip(f"{DATA / file} is not there")
    frame = pandas.read_csv(DATA / file, float_precision="round_trip")
    return frame.drop(columns=target), frame[target]


def same(there, intercept, here):
    """The same features with the same coefficients."""
    own = dict(zip(here.selected, here.values))
    assert sorted(there) == sorted(own)
    for name, value in there.items():
        assert value == pytest.approx(own[name], rel=1e-12, abs=0.0), name
    assert intercept == pytest.approx(here.intercept, rel=1e-12, abs=1e-12)


def answer(found):
    return {feature["name"]: feature["coefficient"] for feature in found["features"]}, found["intercept"]


@pytest.mark.parametrize("file, target, reading, most", FILES[:2], ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("word", ["fit", "cv", "exact"])
def test_the_same_model(file, target, reading, most, word):
    model_is_the_same(file, target, reading, most, word)


@pytest.mark.parametrize("file, target, reading, most", FILES[2:], ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("word", ["fit", "cv", "exact"])
@pytest.mark.long
def test_the_same_model_of_many_features(file, target, reading, most, word):
    model_is_the_same(file, target, reading, most, word)


def model_is_the_same(file, target, reading, most, word):
    X, y = read(file, target)
    classes = y.dtype == object or y.dtype.kind not in "fi"
    estimators = {
        "fit": (BestSubsetRegressor, BestSubsetClassifier),
        "exact": (BestSubsetRegressor, BestSubsetClassifier),
        "cv": (BestSubsetRegressorCV, BestSubsetClassifierCV),
    }
    given = {"method": "exact"} if word == "exact" else {}
    # Ten folds of thousands of genes say no more than three.
    if word == "cv" and file.startswith("golub"):
        given, reading = {"cv": 3}, (*reading, "--folds", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimators[word][classes](**given).fit(X, y)
    here = model.results_[0]
    there = told(word, file, target, *reading)
    same(*answer(there), here)
    assert there["status"] == here.status or "limit" in there["status"] + here.status
    if word == "fit":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = bestset.solve(X, y, loss="logistic" if classes else "squared")
        same(*answer(there), found)
        np.testing.assert_array_equal(found.coef, here.coef)


@pytest.mark.parametrize("file, target, reading, most", FILES, ids=lambda value: value if isinstance(value, str) else "")
def test_the_same_subsets(file, target, reading, most):
    X, y = read(file, target)
    classes = y.dtype == object or y.dtype.kind not in "fi"
    found = bestset.subsets(X, y, most, loss="logistic" if classes else "squared")
    limit = () if most is None else ("--max-size", most)
    there = told("subsets", file, target, *reading, *limit)["sizes"]
    assert [s["size"] for s in there] == [s.size for s in found]
    for one, here in zip(there, found):
        same(dict(one["features"]), one["intercept"], here)
        assert one["status"] == here.status


def test_a_model_of_the_command_line_predicts_here_and_the_other_way_round(tmp_path):
    X, y = read("prostate.csv", "y")
    told("fit", "prostate.csv", "y", "-o", tmp_path / "there.json")
    model = BestSubsetRegressor().fit(X, y)
    model.save(tmp_path / "here.json")
    loaded = bestset.load(tmp_path / "there.json")
    assert loaded.target == "y" and loaded.status == model.status_
    np.testing.assert_allclose(loaded.predict(X), model.predict(X), rtol=1e-12)
    words = [command(), "predict", tmp_path / "here.json", DATA / "prostate.csv", "--json"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(json.loads(done.stdout)["predictions"], model.predict(X), rtol=1e-12)
    labels = np.where(y > 2.5, "high", "low")
    classes = BestSubsetClassifier().fit(X, labels)
    classes.save(tmp_path / "classes.json")
    words = [command(), "predict", tmp_path / "classes.json", DATA / "prostate.csv", "--json"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["predictions"] == classes.predict(X).tolist()
