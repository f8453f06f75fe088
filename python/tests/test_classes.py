"""More than two classes together: against scikit-learn on the same features, files, the command line, what is refused."""

import json
import pickle
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from test_same_everywhere import command

import bestset
from bestset import BestSubsetClassifier, BestSubsetClassifierCV, BestSubsetSelector

NAMES = np.array(["ash", "beech", "cedar", "date"])


def drawn(seed=0, n=150, p=12, classes=3):
    """Classes told by the first two features, on scales of their own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-1, 2, p) + rng.uniform(-3, 3, p)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    angle = 2 * np.pi * np.arange(classes) / classes
    scores = 1.5 * (np.outer(Z[:, 0], np.cos(angle)) + np.outer(Z[:, 1], np.sin(angle)))
    y = np.argmax(scores + rng.gumbel(size=(n, classes)), axis=1)
    return X, NAMES[:classes][y]


def reference(X, y, support, lambda2, weights=None):
    """scikit-learn on columns of norm one, back on the scale of X: its penalty is ½‖b‖² beside C times a sum of losses."""
    weights = np.ones(len(y)) if weights is None else weights
    chosen = X[:, support]
    centre = np.average(chosen, axis=0, weights=weights)
    norm = np.sqrt(np.sum(weights[:, None] * (chosen - centre) ** 2, axis=0))
    model = LogisticRegression(C=1 / (2 * lambda2), solver="newton-cg", tol=1e-13, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit((chosen - centre) / norm, y, sample_weight=weights)
    coef = model.coef_ / norm
    intercept = model.intercept_ - coef @ centre
    return coef - coef.mean(axis=0), intercept - intercept.mean(), model


def test_losses_that_are_not_of_classes_say_which_are():
    X, y = drawn()
    for call in (lambda **more: bestset.solve(X, y, lambda0=1.0, **more), lambda **more: bestset.certify(X, y, np.zeros(12), lambda0=1.0, **more)):
        with pytest.raises(ValueError, match=r"y holds texts such as '\w+', and loss='squared' wants numbers: .* loss='multinomial'"):
            call()
        with pytest.raises(ValueError, match="y has 3 different values; loss='multinomial' is for more than two"):
            call(loss="logistic")
    with pytest.raises(ValueError, match="a row for each class goes with loss='multinomial'"):
        bestset.certify(X, np.arange(len(y)) % 3, np.zeros((3, 12)), lambda0=1.0)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("lambda2", [0.01, 0.1, 3.0])
def test_coefficients_are_those_of_scikit_learn(classes, lambda2):
    X, y = drawn(seed=classes, classes=classes)
    weights = np.random.default_rng(1).uniform(0.3, 2.0, len(y))
    for given in (None, weights):
        model = BestSubsetClassifier(k=2, lambda2=lambda2).fit(X, y, sample_weight=given)
        assert model.coef_.shape == (classes, 12) and model.intercept_.shape == (classes,)
        assert list(model.support_) == [0, 1]
        coef, intercept, _ = reference(X, y, model.support_, lambda2, given)
        scale = np.abs(coef).max(axis=0)
        np.testing.assert_allclose(model.coef_[:, model.support_] / scale, coef / scale, atol=1e-8)
        np.testing.assert_allclose(model.intercept_, intercept, atol=1e-7)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
        assert model.lower_bound_ <= model.objective_ and model.dual_gap_ >= 0.0


def test_what_a_classifier_says():
    X, y = drawn()
    model = BestSubsetClassifier(method="exact").fit(X, y)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-6 * model.objective_
    assert list(model.classes_) == ["ash", "beech", "cedar"] and list(model.support_) == [0, 1]
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    np.testing.assert_allclose(np.log(shares), model.predict_log_proba(X))
    loss = -np.log(shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]).sum()
    counts = np.unique(y, return_counts=True)[1]
    assert model.r2_ == pytest.approx(1 - loss / -(counts * np.log(counts / len(y))).sum(), abs=1e-9)
    text = model.summary()
    assert "beech" in text and "multinomial loss" in text and "proved best" in text
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), shares)
    shifted = np.zeros((len(y), 3))
    shifted[:, 1] = 50.0
    assert set(model.predict(X, shifted)) == {"beech"}
    fixed = BestSubsetClassifier(k=2).fit(X, y, offset=np.random.default_rng(2).standard_normal((len(y), 3)))
    assert not np.allclose(fixed.coef_, model.coef_)


def test_enumeration_of_small_subsets():
    from itertools import combinations

    X, y = drawn(seed=5, n=60, p=6)
    for k, lambda2 in ((1, 0.05), (2, 0.5), (3, 0.01)):
        model = BestSubsetClassifier(k=k, lambda2=lambda2, method="exact").fit(X, y)
        least = np.inf
        for support in combinations(range(6), k):
            coef, _, fitted = reference(X, y, list(support), lambda2)
            chosen = X[:, support]
            norm = np.sqrt(np.sum((chosen - chosen.mean(axis=0)) ** 2, axis=0))
            inside = (chosen - chosen.mean(axis=0)) / norm
            log = fitted.predict_log_proba(inside)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
            least = min(least, -log.sum() + lambda2 * np.sum((coef * norm) ** 2))
        assert model.objective_ == pytest.approx(least, rel=1e-6) and model.status_ == "optimal"
        assert model.lower_bound_ <= least * (1 + 1e-9)


def test_cross_validation_and_selector():
    X, y = drawn(n=120)
    model = BestSubsetClassifierCV(cv=4).fit(X, y)
    assert set(model.support_) >= {0, 1} and model.coef_.shape == (3, 12)
    assert model.cv_mean_.ndim == 1 and np.nanmax(model.cv_mean_) < 0.0 and isinstance(model.lambda0_min_, float)
    accurate = BestSubsetClassifierCV(cv=4, scoring="accuracy", select="1se").fit(X, y)
    assert 0.4 < np.nanmax(accurate.cv_mean_) <= 1.0
    with pytest.raises(ValueError, match="two classes"):
        BestSubsetClassifierCV(cv=4, scoring="roc_auc").fit(X, y)
    chosen = BestSubsetSelector(loss="logistic", k=2).fit(X, y)
    assert list(chosen.support_) == [0, 1] and chosen.coef_.shape == (3, 12)
    whole = BestSubsetClassifier(multi_class="ovr").fit(X, y)
    assert whole.coef_.shape == (3, 12) and whole.status_.shape == (3,)


def test_functions_and_certificates():
    X, y = drawn()
    found = bestset.solve(X, y, loss="multinomial", k=2)
    assert found.support.tolist() == [0, 1] and found.class_coef.shape == (3, 12)
    assert found.predict(X).shape == (150, 3)
    coef, intercept, _ = reference(X, y, found.support, found.lambda2)
    whole = np.zeros((3, 12))
    whole[:, found.support] = coef
    judged = bestset.certify(X, y, whole, intercept, k=2, loss="multinomial", method="exact")
    assert judged.proved and judged.objective == pytest.approx(found.objective, rel=1e-8)
    worse = bestset.certify(X, y, 0.5 * whole, intercept, k=2, loss="multinomial", method="exact")
    assert not worse.proved and worse.gap > 0.1
    best = bestset.subsets(X, y, 3, loss="multinomial")
    assert [s.size for s in best] == [1, 2, 3] and list(best[1].support) == [0, 1]
    along = bestset.path(X, y, loss="multinomial", max_size=3)
    assert all(point.lower_bound <= point.objective for point in along)


@pytest.mark.parametrize("word", ["fit", pytest.param("exact", marks=pytest.mark.long), pytest.param("cv", marks=pytest.mark.long)])
def test_files_and_the_command_line(tmp_path, word):
    pandas = pytest.importorskip("pandas")
    X, y = drawn()
    frame = pandas.DataFrame(X, columns=list("abcdefghijkl")).assign(tree=y)
    frame.to_csv(tmp_path / "trees.csv", index=False)
    frame = pandas.read_csv(tmp_path / "trees.csv", float_precision="round_trip")
    features = frame.drop(columns="tree")
    made = {"fit": BestSubsetClassifier(), "exact": BestSubsetClassifier(method="exact"), "cv": BestSubsetClassifierCV()}
    model = made[word]
    words = [command(), word, tmp_path / "trees.csv", "-t", "tree", "-o", tmp_path / "there.json", "--json"]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(features, frame["tree"])
    assert told["data"]["class_names"] == list(model.classes_)
    own = {name: model.coef_[:, j] for name, j in zip(model.results_[0].selected, model.support_)}
    assert sorted(own) == sorted(f["name"] for f in told["features"])
    for feature in told["features"]:
        np.testing.assert_allclose(feature["coefficients"], own[feature["name"]], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(told["intercepts"], model.intercept_, rtol=1e-12)
    model.save(tmp_path / "here.json")
    for file in ("here.json", "there.json"):
        loaded = bestset.load(tmp_path / file)
        assert loaded.classes == ("ash", "beech", "cedar")
        np.testing.assert_allclose(loaded.predict_proba(features), model.predict_proba(features), rtol=1e-12)
        np.testing.assert_array_equal(loaded.predict(features), model.predict(features))
        words = [command(), "predict", tmp_path / file, tmp_path / "trees.csv", "--json"]
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        assert told["predictions"] == model.predict(features).tolist()
        np.testing.assert_allclose(told["class_probabilities"], model.predict_proba(features), rtol=1e-12)
        assert told["score"]["value"] == pytest.approx(model.score(features, frame["tree"]))
        assert told["d2"] == pytest.approx(model.r2_, abs=1e-9)
    loaded.save(tmp_path / "again.json")
    assert bestset.load(tmp_path / "again.json").class_rows == loaded.class_rows


def test_numbers_as_labels(tmp_path):
    X, kinds = load_iris(return_X_y=True)
    model = BestSubsetClassifier().fit(X, kinds)
    model.save(tmp_path / "iris.json")
    loaded = bestset.load(tmp_path / "iris.json")
    assert loaded.classes == (0, 1, 2)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert model.score(X, kinds) > 0.9


def test_what_is_refused():
    X, y = drawn()
    with pytest.raises(ValueError, match="one class"):
        BestSubsetClassifier().fit(X, np.full(len(y), "ash"))
    with pytest.raises(ValueError, match="no sample of class 'beech' has a weight above 0"):
        BestSubsetClassifier().fit(X, y, sample_weight=(y != "beech").astype(float))
    with pytest.raises(ValueError, match="multi_class is 'each'"):
        BestSubsetClassifier(multi_class="each").fit(X, y)
    with pytest.raises(ValueError, match="goes with the logistic loss"):
        BestSubsetClassifier(multi_class="multinomial", loss="squared_hinge").fit(X, y)
    alone = y.copy()
    alone[alone == "cedar"] = "ash"
    alone[5] = "cedar"
    found = BestSubsetClassifier().fit(X, alone)
    assert np.isfinite(found.coef_).all() and found.lower_bound_ <= found.objective_
    with pytest.raises(ValueError, match="class 2 has no sample"):
        BestSubsetClassifierCV(cv=3).fit(X, alone)
    with pytest.raises(ValueError, match="a row for each class"):
        bestset.certify(X, y, np.zeros(12), k=2, loss="multinomial")


@pytest.mark.parametrize("estimator", [BestSubsetClassifier(lambda2=0.1), BestSubsetClassifierCV(cv=3)])
def test_a_report_has_a_curve_and_coefficients_for_every_class(tmp_path, estimator):
    X, y = drawn()
    model = estimator.fit(X, y)
    page = tmp_path / "page.html"
    model.report(page)
    text = page.read_text()
    assert all(word in text for word in ("Mean AUC", "class-roc", "Deviance explained", "Deviance where fitted"))
    assert all(f"for {label}" in text for label in model.classes_)
    is_judged = any(f"{word} on samples left out" in text for word in ("Error", "Score"))
    assert is_judged == isinstance(estimator, BestSubsetClassifierCV)


def test_separated_classes_have_a_bounded_answer():
    X, _ = drawn()
    kinds = np.digitize(X[:, 3], np.quantile(X[:, 3], [0.3, 0.7]))
    found = bestset.solve(X, kinds, loss="multinomial", k=1)
    assert found.support.tolist() == [3] and np.isfinite(found.coef).all() and found.lower_bound <= found.objective
