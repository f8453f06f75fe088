"""What users hand over: masks, indices, sparse matrices that are none, numbers that are too large."""

import json

import numpy as np
import pytest
from scipy import sparse

import bestset
from bestset import BestSubsetClassifier, BestSubsetRegressor, _input
from common import regression


def message(call, kind=ValueError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_masks_are_masks():
    assert _input.places([True, False, True], "always", None, 3) == [0, 2]
    assert _input.places(np.array([False, True]), "never", None, 2) == [1]
    assert _input.places([0, 1], "always", None, 3) == [0, 1]
    assert _input.places(np.array([2]), "always", None, 3) == [2]
    assert _input.places(["b"], "always", ("a", "b"), 2) == [1]
    assert _input.places([], "always", None, 3) == _input.places(None, "always", None, 3) == []
    place = lambda features: message(lambda: _input.places(features, "always", None, 3))  # noqa: E731
    assert "a mask of length 2; X has 3 features" in place([True, False])
    assert "mixes True and False with indices" in place([True, 2])
    assert "lists -1; features count from 0" in place([-1])
    assert "lists 3, which is beyond the last feature, 2" in place([3])
    assert f"lists {2**70}, which is beyond" in place([2**70])
    assert "lists 1.5, which is no index" in place([1.5])
    assert "lists None, which is no index" in place([None])


def test_a_mask_holds_features_in_and_out():
    X, y = regression()
    mask = np.zeros(20, dtype=bool)
    mask[[5, 11]] = True
    held = bestset.solve(X, y, lambda0=1.0, lambda2=0.5, always=mask.tolist())
    same = bestset.solve(X, y, lambda0=1.0, lambda2=0.5, always=[5, 11])
    assert {5, 11} <= set(held.support.tolist()) and held.objective == same.objective
    without = bestset.solve(X, y, lambda0=1.0, lambda2=0.5, never=mask)
    assert not {5, 11} & set(without.support.tolist())


@pytest.mark.parametrize("k", [2**70, float("nan"), float("inf"), "three", 1.5, 0, -3])
def test_sizes_are_named(k):
    X, y = regression()
    assert f"k is {k!r}; it must be" in message(lambda: bestset.solve(X, y, k=k, lambda2=0.5, method="exact"))
    assert f"k is {k!r}; it must be" in message(lambda: BestSubsetRegressor(k=k).fit(X, y))
    assert "max_nodes is" in message(lambda: bestset.solve(X, y, 1.0, lambda2=0.5, method="exact", max_nodes=2**70))


def test_masked_entries_are_refused_and_an_empty_mask_is_none():
    X, y = regression()
    mask = np.zeros(X.shape, dtype=bool)
    free = np.ma.MaskedArray(X, mask)
    assert bestset.solve(free, y, 1.0, lambda2=0.5).objective == bestset.solve(X, y, 1.0, lambda2=0.5).objective
    mask[3, 7] = mask[5, 1] = True
    masked = np.ma.MaskedArray(X, mask)
    gap = np.ma.MaskedArray(y, np.arange(len(y)) == 4)
    for call in (
        lambda: bestset.solve(masked, y, 1.0),
        lambda: BestSubsetRegressor().fit(masked, y),
        lambda: BestSubsetRegressor().fit(X, y).predict(masked),
        lambda: BestSubsetClassifier().fit(X, y > 0).predict(masked),
    ):
        assert "X[3, 7] is masked, the first of 2 such entries" in message(call)
    assert "y[4] is masked" in message(lambda: bestset.solve(X, gap, 1.0))
    assert "y[4] is masked" in message(lambda: BestSubsetRegressor().fit(X, gap))
    assert "y[4] is masked" in message(lambda: bestset.solve(X, gap > 0, 1.0, loss="logistic"))
    assert "sample_weight[4] is masked" in message(lambda: BestSubsetRegressor().fit(X, y, sample_weight=gap))
    assert "sample_weight[4] is masked" in message(lambda: bestset.solve(X, y, 1.0, sample_weight=gap))


@pytest.mark.parametrize("kind", ["csc", "csr", "coo", "bsr"])
def test_sparse_matrices_are_checked_before_scipy_reads_them(kind):
    X, y = regression()
    X = np.where(np.abs(X) > 1.0, X, 0.0)
    expected = bestset.solve(X, y, 1.0, lambda2=0.5).objective
    whole = sparse.csc_array(X).asformat(kind)
    assert bestset.solve(whole, y, 1.0, lambda2=0.5).objective == pytest.approx(expected, rel=1e-12)

    def broken(change):
        found = whole.copy()
        change(found)
        for call in (lambda: bestset.solve(found, y, 1.0), lambda: BestSubsetRegressor().fit(found, y)):
            message_of = message(call)
        return message_of

    if kind == "coo":
        far = broken(lambda a: setattr(a, "coords", (np.full_like(a.coords[0], 10**6), a.coords[1])))
        assert "X.coords[0][0] is 1000000; it must be at least 0 and below 100" in far
        return

    def put(name, place, value):
        return lambda a: getattr(a, name).__setitem__(place, value)

    assert "X.indptr[0] is 1; it must be 0" in broken(put("indptr", 0, 1))
    assert "X.indptr[4] is" in broken(put("indptr", 3, 10**6)) and "less than the 1000000" in broken(put("indptr", 3, 10**6))
    assert "X.indptr ends with 1000000" in broken(put("indptr", -1, 10**6))
    assert "X.indices[0] is 1000000; it must be" in broken(put("indices", 0, 10**6))
    assert "X.indices[0] is -1; it must be" in broken(put("indices", 0, -1))
    assert "entries for the shape" in broken(lambda a: setattr(a, "indptr", a.indptr[:-2]))
    assert "whole numbers" in broken(lambda a: setattr(a, "indptr", a.indptr.astype(float)))


def test_models_of_the_command_line_bring_what_was_usual(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = regression()
    frame = pandas.DataFrame({"a": X[:, 3], "code=7.0": (X[:, 7] > 0).astype(float)})
    bestset.solve(frame, y, lambda0=0.1, lambda2=0.5).save(tmp_path / "model.json")
    saved = json.loads((tmp_path / "model.json").read_text())
    category = {"column": "code", "reference": "24.0", "levels": ["7.0"], "first": 1, "usual": "7.0"}
    saved["encoding"].update(categories=[category], means={"a": 2.0}, imputed=True)

    def predict(a, code, imputed=True):
        saved["encoding"]["imputed"] = imputed
        (tmp_path / "model.json").write_text(json.dumps(saved))
        return bestset.load(tmp_path / "model.json").predict(pandas.DataFrame({"a": [a], "code": [code]}))[0]

    one, seven = predict(1.0, "24"), predict(1.0, "7")
    assert one != seven and predict(1.0, 24) == predict(1.0, "24.00") == one and predict(1.0, 7.0) == seven
    assert predict(np.nan, "7") == predict(2.0, "7") and predict(1.0, None) == predict(1.0, pandas.NA) == seven
    assert "row 0 of column 'a' has no value" in message(lambda: predict(np.nan, "7", imputed=False))
    assert "row 0 of column 'code' has no value" in message(lambda: predict(1.0, None, imputed=False))
    assert "is '8', a level that the model does not know" in message(lambda: predict(1.0, "8"))


def test_columns_that_are_no_numbers_are_named():
    pandas = pytest.importorskip("pandas")
    X, y = regression()
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    town = frame.assign(town=["Rome", "Oslo"] * (len(y) // 2))
    when = frame.assign(seen=pandas.date_range("2020-01-01", periods=len(y)))
    for fit in (lambda X: bestset.solve(X, y, 1.0, lambda2=0.5), lambda X: BestSubsetRegressor().fit(X, y)):
        assert "column 'town' of X holds texts such as 'Rome'" in message(lambda fit=fit: fit(town))
        assert "column 'town' of X holds texts such as 'Rome'" in message(lambda fit=fit: fit(town.astype({"town": "category"})))
        assert "column 'seen' of X holds dates" in message(lambda fit=fit: fit(when))
    # Numbers that are kept as objects are numbers.
    assert bestset.solve(frame.astype(object), y, 1.0, lambda2=0.5).objective == bestset.solve(X, y, 1.0, lambda2=0.5).objective
