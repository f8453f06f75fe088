"""solve, path, subsets and certify against their definitions."""

import itertools
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from common import enumerate_best, hard, objective, regression
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import bestset


def small(loss, seed=0, n=40, p=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * [1.0, 3.0, 0.5, 1.0, 2.0][:p]
    y = 1.0 + X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.standard_normal(n)
    return X, np.where(y > 1, 1.0, -1.0) if loss in ("logistic", "squared_hinge") else y


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "squared_hinge"])
@pytest.mark.parametrize("bounds", [None, (0.0, None)])
def test_exact_is_the_best_of_all_subsets(loss, bounds):
    X, y = small(loss)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    found = bestset.solve(
        X, y, lambda0=1.5, lambda2=0.3, loss=loss, delta=1.345, method="exact", standardize=False, sample_weight=w, bounds=bounds
    )
    best, subset = enumerate_best(X, y, loss, 1.5, 0.3, w, bounds=bounds)
    assert found.proved and found.support.tolist() == list(subset)
    assert found.objective == pytest.approx(best, rel=1e-6)
    assert found.objective == pytest.approx(objective(X, y, found.coef, found.intercept, loss, 1.5, 0, 0.3, w))


def test_standardising_is_a_penalty_on_scaled_coefficients():
    X, y = small("squared")
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    deviation = np.sqrt(np.average((X - np.average(X, axis=0, weights=w)) ** 2, axis=0, weights=w))
    norm = deviation * np.sqrt(w.sum())
    for standardize, scale in ((True, norm), ("norm", norm), ("variance", deviation)):
        problem = {"lambda0": 1.0, "lambda1": 0.2, "lambda2": 0.5, "sample_weight": w, "method": "exact"}
        found = bestset.solve(X, y, standardize=standardize, bounds=(-0.4, 0.9), **problem)
        by_hand = bestset.solve(X / scale, y, standardize=False, bounds=(-0.4 * scale, 0.9 * scale), **problem)
        assert found.objective == pytest.approx(by_hand.objective)
        np.testing.assert_allclose(found.coef, by_hand.coef / scale, rtol=1e-6, atol=1e-9)
        assert found.intercept == pytest.approx(by_hand.intercept)
        assert found.coef.max() <= 0.9 and found.coef.min() >= -0.4


@pytest.mark.parametrize("method", ["incremental", "exact"])
def test_size_in_place_of_a_price(method):
    X, y = small("squared")
    found = bestset.solve(X, y, k=2, lambda2=0.3, method=method, standardize=False)
    best, subset = enumerate_best(X, y, "squared", 0.0, 0.3, largest=2)
    assert found.support.tolist() == list(subset) and found.k == 2
    assert found.lower_bound <= best + 1e-9 and found.objective == pytest.approx(best)
    assert found.proved or method == "incremental"
    only = bestset.certify(X, y, found.coef, found.intercept, k=1, lambda2=0.3)
    assert only.objective == math.inf and not only.proved and "not allowed" in repr(only)


def test_all_methods_agree_with_their_bounds():
    X, y = regression()
    exact = bestset.solve(X, y, lambda0=1.0, method="exact")
    for method in ("incremental", "primal_dual", "primal_dual_plain", "dual_ascent", "cdss"):
        found = bestset.solve(X, y, lambda0=1.0, method=method, max_iter=200)
        assert found.lower_bound <= exact.objective + 1e-9
        assert found.objective >= exact.lower_bound - 1e-9
        assert found.method == method


def test_the_stopping_rule_of_the_published_ascents_can_be_chosen():
    X, y = regression()
    given = {"lambda0": 1.0, "lambda2": 0.5, "method": "dual_ascent"}
    literal, patient = (bestset.solve(X, y, stop=stop, **given) for stop in ("literal", "patient"))
    assert literal.n_iter < patient.n_iter
    assert bestset.solve(X, y, **given).n_iter == literal.n_iter
    with pytest.raises(ValueError, match="stop is 'soon'"):
        bestset.solve(X, y, stop="soon", **given)


def test_inputs_give_the_same_answer():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = regression()
    X = np.asfortranarray(X.astype(np.float32).astype(float))
    names = [f"c{j}" for j in range(X.shape[1])]
    csc = sparse.csc_array(X)
    shuffled = csc.copy()
    shuffled.indices[:100] = shuffled.indices[99::-1]
    shuffled.data[:100] = shuffled.data[99::-1]
    shuffled.has_sorted_indices = False
    wide = sparse.csc_array((csc.data, csc.indices.astype(np.int64), csc.indptr.astype(np.int64)), shape=csc.shape)
    given = [
        X, X.copy(order="C"), X.astype(np.float32), X.astype(">f8"), X.tolist(), np.repeat(X, 2, axis=0)[::2], csc,
        shuffled, wide, csc.tocsr(), csc.tocoo(), csc.astype(np.float32), sparse.csr_matrix(X),
        pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names),
    ]
    reference = bestset.solve(X, y, lambda0=1.0)
    for one in given:
        found = bestset.solve(one, y, lambda0=1.0)
        np.testing.assert_allclose(found.coef, reference.coef, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.predict(one), reference.predict(X), rtol=1e-5)
    assert found.selected == ["c3", "c7"]
    assert not shuffled.has_sorted_indices, "the caller's matrix is left as it was"


def test_certify_says_the_same_of_its_own_and_less_of_others():
    sklearn = pytest.importorskip("sklearn.linear_model")
    X, y = regression(noise=2.0)
    problem = {"lambda0": 3.0, "lambda2": 0.5, "standardize": False}
    found = bestset.solve(X, y, **problem, method="exact")
    own = bestset.certify(X, y, found.coef, found.intercept, **problem, method="exact")
    assert own.proved and own.gap == pytest.approx(found.gap, abs=1e-9)
    lasso = sklearn.Lasso(alpha=0.1).fit(X, y)
    for method in ("incremental", "exact"):
        judged = bestset.certify(X, y, lasso.coef_, lasso.intercept_, **problem, method=method)
        value = objective(X, y, lasso.coef_, lasso.intercept_, "squared", 3.0, 0.0, 0.5)
        assert judged.objective == pytest.approx(value)
        assert judged.lower_bound <= found.objective and not judged.proved
        assert judged.improvement == pytest.approx(value - judged.solution.objective)
    scaled = bestset.certify(X * 10, y, found.coef / 10, found.intercept, lambda0=3.0)
    plain = bestset.certify(X, y, found.coef, found.intercept, lambda0=3.0)
    assert scaled.objective == pytest.approx(plain.objective) and scaled.standing == plain.standing


def test_path_points_are_solves_and_criteria_have_their_formulas():
    X, y = regression(noise=1.5)
    path = bestset.path(X, y, lambda2=0.5, standardize=False, max_size=6)
    assert path.sizes[0] == 0 and len(path) == len(path.lambda0s) and np.all(np.diff(path.lambda0s) < 0)
    n, p = X.shape
    for i, point in enumerate(path):
        assert point.lower_bound <= point.objective
        value = objective(X, y, point.coef, point.intercept, "squared", point.lambda0, 0.0, 0.5)
        assert point.objective == pytest.approx(value)
        rss, k = np.sum((y - point.predict(X)) ** 2), len(point.support)
        bic = n * math.log(rss / n) + (k + 1) * math.log(n)
        assert path.criteria["bic"][i] == pytest.approx(bic)
        assert path.criteria["ebic"][i] == pytest.approx(bic + 2 * math.log(math.comb(p, k)))
    assert path.best("ebic").support.tolist() == [3, 7]
    given = bestset.path(X, y, [50.0, 5.0], lambda2=[1.0, 0.1])
    assert given.lambda0s.tolist() == [50.0, 5.0, 50.0, 5.0] and given.lambda2s.tolist() == [1.0, 1.0, 0.1, 0.1]
    assert "path of 4 points" in repr(given) and "<table>" in given._repr_html_()


def test_subsets_of_every_size():
    X, y = small("squared")
    found = bestset.subsets(X, y)
    assert len(found) == 5 and all(s.proved and s.reached for s in found)
    assert len(bestset.subsets(X, y, 50)) == 5, "there are no more features"
    for subset in found:
        best, which = enumerate_best(X, y, "squared", 0.0, 0.0, largest=subset.size)
        assert subset.objective == pytest.approx(best, rel=1e-6)
    ridge = bestset.subsets(X, np.where(y > 0, 1, 0), 2, loss="logistic", lambda2=0.5)
    assert [len(s.support) for s in ridge] == [1, 2] and ridge[0].bic is not None
    assert "optimal" in repr(found) and "<table>" in found._repr_html_()


def test_small_sizes_of_many_columns_need_no_ridge():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((15, 40))
    y = X[:, 3] - X[:, 17] + rng.standard_normal(15)
    found = bestset.subsets(X, y, 3, lambda2=0)
    assert [s.size for s in found if s.proved] == [1, 2, 3]
    centred, target = X - X.mean(axis=0), y - y.mean()
    for s in found:
        fits = (np.linalg.lstsq(centred[:, S], target)[1][0] for S in itertools.combinations(range(40), s.size))
        assert 2 * s.objective == pytest.approx(min(fits), rel=1e-9)
    exact = bestset.solve(X, y, k=3, lambda2=0, method="exact")
    assert exact.proved and exact.support.tolist() == found[2].support.tolist()
    with pytest.raises(ValueError, match="ask for at most"):
        bestset.subsets(X, y, 20, lambda2=0)


def test_sizes_that_a_limit_did_not_reach_are_not_compared():
    X, y = hard()
    found = bestset.subsets(X, y, 12, max_nodes=3)
    assert not all(s.reached for s in found) and "not reached" in repr(found)
    with pytest.warns(UserWarning, match="not reached"):
        assert found.best("bic").reached


def test_criteria_count_choices_of_groups():
    X, y = regression(n=80, p=9)
    groups = np.array([0, 0, 1, 2, 2, 2, 3, 4, 4])
    for given, free in (({}, []), ({"always": [2]}, [1]), ({"never": [3, 4, 5]}, [2])):
        path = bestset.path(X, y, groups=groups, **given)
        for point, ebic, bic in zip(path, path.criteria["ebic"], path.criteria["bic"], strict=True):
            chosen = set(groups[point.support]) - set(free)
            assert ebic - bic == pytest.approx(2 * math.log(math.comb(5 - len(free), len(chosen)))), (given, point)


def test_features_always_never_priced_and_grouped():
    pandas = pytest.importorskip("pandas")
    X, y = regression()
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    found = bestset.solve(frame, y, lambda0=1.0, always=["c0"], never=["c3", 4])
    assert 0 in found.support and 3 not in found.support
    dear = bestset.solve(X, y, lambda0=1.0, price=np.r_[np.ones(7), 1e4, np.ones(12)])
    assert 7 not in dear.support and 3 in dear.support
    shrunk = bestset.solve(X, y, lambda0=1.0, lambda2=0.5, standardize="variance", shrinkage=np.r_[np.ones(3), 1e3, np.ones(16)])
    assert abs(shrunk.coef[3]) < 0.5
    labels = np.array(["a", "b", "c", "d"])[np.arange(20) % 4]
    grouped = bestset.solve(X, y, lambda0=2.0, lambda2=0.5, standardize=False, groups=labels)
    assert grouped.groups.tolist() == ["d"] and set(grouped.support) <= {3, 7, 11, 15, 19}
    assert grouped.lower_bound <= grouped.objective
    proved = bestset.solve(X, y, lambda0=2.0, lambda2=0.01, groups=labels, method="exact", top=2)
    assert proved.status == "optimal" and len(proved.ranked) == 2
    few = bestset.solve(X, y, k=12, groups=labels)
    assert few.status == "optimal" and len(few.support) in (5, 10)
    sizes = bestset.subsets(X, y, 12, groups=labels)
    assert all(s.proved for s in sizes) and np.array_equal(sizes[9].support, few.support)
    assert np.array_equal(sizes[5].support, sizes[4].support)
    with pytest.raises(ValueError, match="the same group"):
        bestset.solve(X, y, lambda0=1.0, groups=labels, always=[0])
    shifted = bestset.solve(X, y, lambda0=1.0, offset=y)
    assert len(shifted.support) == 0 and shifted.objective == pytest.approx(0.0)


def test_copies_but_for_rounding_are_named():
    X, y = small("squared")
    X = np.column_stack([X, 3.0 * X[:, 2]])
    last = X.shape[1] - 1
    found = bestset.solve(X, y, lambda0=1.0, lambda2=0.0, method="exact")
    assert found.dependent == [[2, last]]
    assert f"x2 and x{last} are combinations of each other but for rounding" in repr(found)
    sizes = bestset.subsets(X, y, 2)
    assert sizes.dependent == [[2, last]]
    assert "but for rounding" in repr(sizes) and "but for rounding" in sizes._repr_html_()
    assert bestset.solve(X, y, lambda0=1.0, lambda2=0.1, method="exact").dependent == []


def test_best_few_subsets():
    X, y = regression()
    found = bestset.solve(X, y, lambda0=1.0, method="exact", top=4)
    values = [r.objective for r in found.ranked]
    assert len(values) == 4 and values == sorted(values) and values[0] == pytest.approx(found.objective)
    assert all(r.proved for r in found.ranked)


def test_warm_starts_and_limits():
    X, y = hard()
    problem = {"lambda0": 2.0, "lambda2": 1.0, "fit_intercept": False, "standardize": False}
    first = bestset.solve(X, y, **problem, prove=None)
    again = bestset.solve(X, y, **problem, prove=None, warm_start=first)
    assert again.objective <= first.objective + 1e-9
    assert bestset.solve(X, y, **problem, prove=None, warm_start=first.coef).objective <= first.objective + 1e-9
    nodes = bestset.solve(X, y, **problem, method="exact", max_nodes=5)
    assert nodes.status == "node_limit" and nodes.lower_bound <= nodes.objective
    timed = bestset.solve(X, y, **problem, method="exact", time_limit=0.2)
    assert timed.status == "time_limit" and timed.lower_bound <= timed.objective


def test_results_tell_what_they_are():
    X, y = regression()
    found = bestset.solve(X, y, lambda0=1.0, method="exact", fit_intercept=True)
    assert "proved best" in repr(found) and "x3" in repr(found) and found.standing in repr(found)
    assert "penalty per feature" in found.summary() and "(intercept)" in found.summary()
    assert found.r2 <= found.r2_limit <= 1.0
    assert found._repr_html_().startswith("<table>")
    assert found.trace["gap"][-1] == pytest.approx(found.gap, abs=1e-9)
    assert np.all(np.diff(found.trace["lower_bound"]) >= 0)
    bare = bestset.solve(X, y, lambda0=1.0, lambda2=0.0, prove=None, trace=False)
    assert bare.lower_bound <= 0.0 and "lambda2 > 0" in repr(bare) and len(bare.trace["gap"]) == 0
    assert "best known" in repr(bestset.certify(X, y, bare.coef, lambda0=1.0))


def test_neither_price_nor_size_is_chosen_as_the_estimator_does():
    X, y = regression(noise=1.5)
    found = bestset.solve(X, y, criterion="bic")
    model = bestset.BestSubsetRegressor(criterion="bic").fit(X, y)
    np.testing.assert_array_equal(found.coef, model.coef_)
    assert found.path is not None and found.chosen_by.startswith("chosen by BIC")
    values = found.path.criteria["bic"]
    assert np.nanmin(values) == pytest.approx(values[[p.support.tolist() for p in found.path].index(found.support.tolist())])
    assert bestset.solve(X, y, k=500).k == X.shape[1], "more than there are is all"


def test_proof_as_asked():
    X, y = regression(noise=3.0)
    bare = bestset.solve(X, y, lambda0=5.0, prove=None)
    for prove in (0, False):
        assert bestset.solve(X, y, lambda0=5.0, prove=prove).lower_bound == bare.lower_bound
    proved = bestset.solve(X, y, lambda0=5.0)
    assert proved.proved and proved.lower_bound >= bare.lower_bound and "proved best possible" in proved.standing
    assert bestset.solve(X, y, lambda0=5.0, prove=60.0).proved
    # Without a ridge, what features cost bounds all subsets; with lambda1 as well nothing has a bound.
    assert 0.0 < bestset.solve(X[:15], y[:15], lambda0=5.0, lambda2=0.0, prove=1.0).lower_bound
    with pytest.warns(UserWarning, match="Not proved"):
        bestset.solve(X[:15], y[:15], lambda0=5.0, lambda1=0.1, lambda2=0.0, prove=1.0)


def test_a_limit_and_an_edge_are_said():
    X, y = regression(noise=1.0)
    with pytest.warns(UserWarning, match="Models of more than 1 feature were"):
        found = bestset.solve(X, y, max_size=1)
    assert len(found.support) == 1 and "were not compared" in found.remarks[0] and "remark" in repr(found)
    with pytest.warns(UserWarning, match="time limit"):
        bestset.solve(X, y, time_limit=0.0)


def test_stability_counts_by_its_definition():
    X, y = regression(noise=1.0)
    found = bestset.stability(X, y, 3, subsamples=10, random_state=1)
    assert found.frequencies.shape == (4, 20) and found.subsamples == 10 and found.status == "converged"
    np.testing.assert_allclose(found.frequencies * 10, np.round(found.frequencies * 10), atol=1e-9)
    assert np.all(found.frequencies.sum(axis=1) <= np.arange(4) + 1e-9)
    assert {3, 7} <= set(found.selected(0.9).tolist()) and "x3" in repr(found)
    again = bestset.stability(X, y, 3, subsamples=10, random_state=1)
    np.testing.assert_array_equal(found.frequencies, again.frequencies)


def test_checkpoints_go_on_where_they_stopped(tmp_path):
    X, y = regression(noise=1.5)
    plain = bestset.solve(X, y)
    for name, call in {
        "path": lambda file: bestset.path(X, y, max_size=6, checkpoint=file).best("ebic"),
        "criterion": lambda file: bestset.solve(X, y, checkpoint=file),
        "exact": lambda file: bestset.solve(X, y, lambda0=plain.lambda0, method="exact", checkpoint=file),
        "folds": lambda file: bestset.BestSubsetRegressorCV(cv=3, checkpoint=file).fit(X, y).results_[0],
    }.items():
        first, again = call(tmp_path / name), call(tmp_path / name)
        assert (tmp_path / name).exists()
        np.testing.assert_array_equal(first.coef, again.coef)
    with pytest.raises(ValueError, match="other data or settings"):
        bestset.solve(X + 1.0, y, checkpoint=tmp_path / "criterion")


def test_models_are_saved_and_loaded(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = regression()
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    found = bestset.solve(frame, pandas.Series(y, name="yield"), loss="huber", delta=2.0)
    found.save(tmp_path / "model.json")
    loaded = bestset.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.coef, found.coef)
    np.testing.assert_allclose(loaded.predict(frame[frame.columns[::-1]]), found.predict(X))
    np.testing.assert_array_equal(loaded.predict(X), found.predict(X))
    assert (loaded.target, loaded.loss, loaded.delta) == ("yield", "huber", 2.0)
    assert loaded.lower_bound == found.lower_bound and "c3" in loaded.summary()
    loaded.save(tmp_path / "again.json")
    assert bestset.load(tmp_path / "again.json").predict(X).tolist() == loaded.predict(X).tolist()
    with pytest.raises(ValueError, match="no column 'c3'"):
        loaded.predict(frame.drop(columns="c3"))
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="bad.json"):
        bestset.load(tmp_path / "bad.json")


def test_reports_belong_to_their_model(tmp_path):
    X, y = regression()
    found = bestset.solve(X, y)
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "x3" in page
    with pytest.raises(ValueError, match="not what was fitted"):
        found.report(tmp_path / "other.html", X + 1.0 * (np.arange(100) == 3)[:, None])
    gone = bestset.solve(X.tolist(), y)
    with pytest.raises(ValueError, match="pass it"):
        gone.report(tmp_path / "gone.html")
    gone.report(tmp_path / "gone.html", X)
    assert (tmp_path / "gone.html").exists()


def message(call, kind=ValueError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_errors_name_the_value_and_its_place():
    X, y = regression(n=30)
    solve = lambda X=X, y=y, lambda0=1.0, lambda2=0.5, **k: bestset.solve(X, y, lambda0, 0.0, lambda2, **k)  # noqa: E731
    bad = X.copy(order="F")
    bad[4, 2] = np.nan
    assert "X[4, 2] is NaN" in message(lambda: solve(bad))
    assert "X[4, 2] is NaN" in message(lambda: solve(sparse.csc_array(bad)))
    short = y.copy()
    short[3] = np.inf
    assert "y[3] is inf" in message(lambda: solve(y=short))
    assert "y has length 29, but X has 30 rows" in message(lambda: solve(y=y[:-1]))
    assert "two dimensions" in message(lambda: solve(X=y))
    assert "one dimension" in message(lambda: solve(y=X))
    assert "lambda0 is -1" in message(lambda: solve(lambda0=-1.0))
    assert "not both" in message(lambda: solve(k=2))
    assert "standardize is 'unit'" in message(lambda: solve(standardize="unit"))
    assert "prove is 'long'" in message(lambda: solve(prove="long"))
    assert "random_state is -1" in message(lambda: bestset.stability(X, y, random_state=-1))
    assert "share is 2" in message(lambda: bestset.stability(X, y, share=2.0))
    assert "no loss named 'cubic'" in message(lambda: solve(loss="cubic"))
    assert "no method named 'magic'" in message(lambda: solve(method="magic"))
    assert "30 different values" in message(lambda: solve(loss="logistic"))
    assert "k is 0" in message(lambda: solve(k=0, lambda0=None))
    assert "max_size is 2.5" in message(lambda: bestset.solve(X, y, max_size=2.5))
    assert "[1, inf]" in message(lambda: solve(bounds=(1.0, None)))
    assert "a pair" in message(lambda: solve(bounds=3.0))
    assert "weight[0] is -1" in message(lambda: solve(sample_weight=-np.ones(30)))
    assert "weights are zero" in message(lambda: solve(sample_weight=np.zeros(30), standardize=True))
    assert "time_limit is -1" in message(lambda: solve(time_limit=-1.0))
    assert "always lists 'c9'" in message(lambda: solve(always=["c9"]))
    assert "beyond the last feature" in message(lambda: solve(never=[20]))
    assert "warm_start must have one entry for each of the 20" in message(lambda: solve(warm_start=np.ones(3)))
    assert "exact needs" in message(lambda: bestset.solve(X[:6], y[:6], 1.0, lambda1=0.1, lambda2=0.0, method="exact"))
    assert "lambda0" in message(lambda: bestset.path(X, y, [1.0, 2.0]))
    assert "on_interrupt" in message(lambda: solve(on_interrupt="ignore"))
    assert "Complex" in message(lambda: solve(X=X + 1j))
    assert "callable" in message(lambda: solve(callback=3), TypeError)
    assert "fit_intercept=True" in message(lambda: bestset.certify(X, y, np.zeros(20), 1.0, lambda0=1.0, fit_intercept=False))


def test_a_proof_holds_in_exact_fractions(tmp_path):
    X, y = small("squared", n=9)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    proof, data = tmp_path / "proof.bsp", tmp_path / "data.csv"
    tool = Path(__file__).parents[1] / "tools" / "check_proof.py"
    for given in ({"k": 2}, {"lambda0": 0.5, "sample_weight": w}, {"lambda0": 0.5, "top": 3, "lambda2": 0.0}):
        found = bestset.solve(X, y, method="exact", proof=proof, proof_data=data, **given)
        assert found.proved
        checked = subprocess.run([sys.executable, tool, data, proof], capture_output=True, text=True)
        assert checked.returncode == 0 and checked.stdout.startswith("Proved"), checked.stdout
        # The command that the package installs.
        installed = [sys.executable, "-c", "import sys; from bestset._cli import check; sys.exit(check())"]
        command = subprocess.run([*installed, data, proof], capture_output=True, text=True)
        assert command.returncode == 0 and command.stdout.startswith("Proved: "), command.stdout
    data.write_text(data.read_text().replace("1", "2", 1))
    assert subprocess.run([sys.executable, tool, data, proof], capture_output=True).returncode == 1
    assert subprocess.run([*installed, data, proof], capture_output=True).returncode == 1
    assert subprocess.run([*installed, data], capture_output=True).returncode == 2
    with pytest.raises(ValueError, match='method="exact"'):
        bestset.solve(X, y, k=2, proof=proof)
    with pytest.raises(ValueError, match="no proof"):
        bestset.solve(X, y, k=2, method="exact", proof_data=data)
    with pytest.raises(ValueError, match="a proof with sample_weight and offset .* give proof_data"):
        bestset.solve(X, y, k=2, method="exact", proof=proof, sample_weight=w, offset=w)


def test_a_proof_that_a_limit_cuts_leaves_the_answer(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 300))
    y = X[:, :20].sum(axis=1) + 10.0 * rng.standard_normal(60)
    proof = tmp_path / "proof.bsp"
    with pytest.warns(ConvergenceWarning, match=r"the proof is unfinished \(node limit\)"):
        found = bestset.solve(X, y, lambda0=0.01, lambda2=0.01, method="exact", max_nodes=1, proof=proof)
    assert found.status == "node_limit" and not proof.exists()
    assert any("ask again with more time" in text for text in found.remarks)


def test_huber_does_not_depend_on_the_units_of_y(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((120, 10))
    y = 20 * X[:, 3] - 15 * X[:, 7] + 10 * rng.standard_normal(120)
    y[:5] += 3000
    plain = bestset.solve(X, y, loss="huber")
    assert plain.support.tolist() == [3, 7] and 8 < plain.delta / 1.345 < 13
    other = bestset.solve(X, 1000 * y, loss="huber")
    assert other.support.tolist() == [3, 7]
    np.testing.assert_allclose(other.coef, 1000 * plain.coef, rtol=1e-6)
    np.testing.assert_allclose(other.delta, 1000 * plain.delta)
    given = bestset.solve(X, y, loss="huber", delta=plain.delta)
    np.testing.assert_array_equal(given.coef, plain.coef)
    plain.save(tmp_path / "model.json")
    assert bestset.load(tmp_path / "model.json").delta == plain.delta
    point = bestset.path(X, y, loss="huber")[1]
    assert point.delta == plain.delta and bestset.solve(X, y).delta is None
