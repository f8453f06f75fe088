"""Counts and amounts: the engine against scikit-learn and against its own command line."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import d2_tweedie_score

import bestset
from bestset import BestSubsetRegressor, BestSubsetRegressorCV
from test_same_everywhere import command

FAMILIES = [("poisson", None), ("gamma", None), ("negative_binomial", 2.0)]


def drawn(loss, n=150, p=8, seed=3):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    time = rng.uniform(0.5, 3.0, n)
    mean = time * np.exp(0.4 + 0.6 * X[:, 1] - 0.5 * X[:, 4])
    if loss == "gamma":
        return X, mean * rng.gamma(2.0, 0.5, n), time
    if loss == "poisson":
        return X, rng.poisson(mean).astype(float), time
    return X, rng.negative_binomial(2, 2.0 / (2.0 + mean)).astype(float), time


@pytest.mark.parametrize("loss, reference", [("poisson", PoissonRegressor), ("gamma", GammaRegressor)])
def test_without_penalty_it_is_the_usual_fit(loss, reference):
    X, y, _ = drawn(loss)
    model = BestSubsetRegressor(loss=loss, lambda0=0.0, lambda2=1e-10, prove=None).fit(X, y)
    usual = reference(alpha=0.0, tol=1e-10, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(model.coef_, usual.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.predict(X), usual.predict(X), rtol=1e-4)
    assert model.score(X, y) == pytest.approx(usual.score(X, y), abs=1e-8)
    assert model.score(X, y) == pytest.approx(d2_tweedie_score(y, model.predict(X), power={"poisson": 1, "gamma": 2}[loss]))


@pytest.mark.parametrize("loss, theta", FAMILIES)
def test_the_true_features_are_found_and_proved(loss, theta):
    X, y, time = drawn(loss)
    found = bestset.solve(X, y, loss=loss, theta=theta, lambda0=4.0, lambda2=1.0, offset=np.log(time), method="exact")
    assert found.proved and found.support.tolist() == [1, 4]
    judged = bestset.certify(X, y, found.coef, found.intercept, loss=loss, theta=theta, lambda0=4.0, lambda2=1.0, offset=np.log(time), method="exact")
    assert judged.gap <= 1e-6 * found.objective
    cv = BestSubsetRegressorCV(loss=loss, theta=theta, cv=4, prove=None).fit(X, y, offset=np.log(time))
    assert {1, 4} <= set(cv.support_.tolist())
    every = bestset.subsets(X, y, 3, loss=loss, theta=theta, lambda2=1.0, offset=np.log(time))
    assert every[1].support.tolist() == [1, 4]


@pytest.mark.parametrize("loss, theta", FAMILIES)
def test_the_command_line_gives_the_same_model_and_predictions(loss, theta, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, time = drawn(loss)
    frame = pandas.DataFrame(X, columns=list("abcdefgh")).assign(y=y, time=time)
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame = pandas.read_csv(tmp_path / "data.csv", float_precision="round_trip")
    family = {"negative_binomial": "negbin"}.get(loss, loss)
    words = ["fit", tmp_path / "data.csv", "--family", family, "--exposure", "time", "-o", tmp_path / "m.json", "--json"]
    words += [] if theta is None else ["--theta", theta]
    done = subprocess.run([str(w) for w in [command(), *words]], capture_output=True, text=True)
    assert done.stdout, done.stderr
    there = {feature["name"]: feature["coefficient"] for feature in json.loads(done.stdout)["features"]}
    here = BestSubsetRegressor(loss=loss, theta=theta).fit(frame[list("abcdefgh")], frame["y"], offset=np.log(frame["time"]))
    own = dict(zip(here.results_[0].selected, here.results_[0].values))
    assert sorted(own) == sorted(there)
    assert all(there[name] == pytest.approx(own[name], rel=1e-12) for name in own)
    loaded = bestset.load(tmp_path / "m.json")
    means = here.predict(frame[list("abcdefgh")], offset=np.log(frame["time"]))
    np.testing.assert_allclose(loaded.predict(frame), means, rtol=1e-12)
    words = [command(), "predict", tmp_path / "m.json", tmp_path / "data.csv", "--json"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    np.testing.assert_allclose(told["predictions"], means, rtol=1e-12)
    assert told["score"]["name"] == "D²"
    assert told["score"]["value"] == pytest.approx(here.score(frame[list("abcdefgh")], frame["y"], offset=np.log(frame["time"])))


def test_bad_targets_are_named():
    X, y, _ = drawn("poisson")
    y[7] = -3.0
    with pytest.raises(ValueError, match=r"y\[7\] is -3"):
        bestset.solve(X, y, loss="poisson")
    with pytest.raises(ValueError, match="above 0"):
        bestset.solve(X, np.zeros(len(y)), loss="gamma")
    with pytest.raises(ValueError, match="every count"):
        BestSubsetRegressor(loss="poisson").fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="theta"):
        BestSubsetRegressor(loss="negative_binomial").fit(X, np.abs(y))
    with pytest.raises(ValueError, match="theta is -1"):
        BestSubsetRegressor(loss="negative_binomial", theta=-1.0).fit(X, np.abs(y))
    with pytest.raises(ValueError, match="bounded curvature"):
        bestset.solve(X, np.abs(y), loss="poisson", lambda0=1.0, method="primal_dual")


def test_separated_classes_have_a_bounded_answer():
    X, _, _ = drawn("poisson")
    found = bestset.solve(X, np.where(X[:, 0] > 0, 1, 0), loss="logistic", k=1, method="exact")
    assert found.proved and np.isfinite(found.coef).all() and found.support.tolist() == [0]


def test_a_saved_model_names_its_offset(tmp_path):
    """Of a series its name, of an array `offset`; other data without that column are refused, those that have it predict what the fit does."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.standard_normal((80, 4)), columns=list("abcd"))
    exposure = pd.Series(rng.uniform(-1, 1, 80), name="months")
    y = rng.poisson(np.exp(0.5 * X["a"] + exposure)).astype(float)
    for offset, name in ((exposure, "months"), (exposure.to_numpy(), "offset")):
        found = bestset.solve(X, y, loss="poisson", lambda0=2.0, offset=offset)
        found.save(tmp_path / "model.json")
        loaded = bestset.load(tmp_path / "model.json")
        assert loaded.encoding["offset"] == name
        with pytest.raises(ValueError, match=f"no column {name!r}, the offset of the model"):
            loaded.decision_function(X)
        margins = loaded.decision_function(X.assign(**{name: exposure}))
        np.testing.assert_allclose(margins, found.intercept + X.to_numpy() @ found.coef + exposure, rtol=1e-12)
    found = bestset.solve(X, y, loss="poisson", lambda0=2.0)
    found.save(tmp_path / "model.json")
    assert bestset.load(tmp_path / "model.json").encoding["offset"] is None
