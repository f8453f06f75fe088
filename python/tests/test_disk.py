"""Matrices in files: the answers of the same numbers in memory, to the bit; what is stored is the path; damaged files are errors."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from common import regression

import bestset
from bestset import BestSubsetClassifier, BestSubsetRegressor, BestSubsetRegressorCV, BestSubsetSelector, _mapped, elsewhere
from bestset.testing import check_design


@pytest.fixture
def dense(tmp_path):
    X, y = regression(80, 30)
    np.save(tmp_path / "X.npy", X)
    return bestset.open(tmp_path / "X.npy"), X, y


def parts(folder, matrix):
    matrix.sort_indices()
    folder.mkdir()
    np.save(folder / "indptr.npy", matrix.indptr.astype(np.int64))
    np.save(folder / "indices.npy", matrix.indices.astype(np.int32))
    np.save(folder / "data.npy", matrix.data)
    np.save(folder / "shape.npy", np.array(matrix.shape, dtype=np.int64))
    return bestset.open(folder)


def same(a, b):
    np.testing.assert_array_equal(a.coef, b.coef)
    assert (a.intercept, a.objective, a.lower_bound, a.status) == (b.intercept, b.objective, b.lower_bound, b.status)


def test_every_function_takes_a_file_for_x(dense):
    disk, X, y = dense
    for asked in ({"lambda0": 3.0}, {"k": 2}, {"method": "exact", "lambda0": 3.0}, {}):
        same(bestset.solve(disk, y, **asked), bestset.solve(X, y, **asked))
    for a, b in zip(bestset.path(disk, y), bestset.path(X, y), strict=True):
        same(a, b)
    of_file, of_memory = bestset.subsets(disk, y), bestset.subsets(X, y)
    assert [s.objective for s in of_file] == [s.objective for s in of_memory]
    answer = bestset.solve(X, y, lambda0=3.0)
    certified = [bestset.certify(x, y, answer.coef, answer.intercept, lambda0=3.0) for x in (disk, X)]
    assert certified[0].lower_bound == certified[1].lower_bound
    frequencies = [bestset.stability(x, y, subsamples=6).frequencies for x in (disk, X)]
    np.testing.assert_array_equal(*frequencies)
    np.testing.assert_array_equal(answer.predict(disk), answer.predict(X))


def test_estimators_take_a_file_for_x(dense, tmp_path):
    disk, X, y = dense
    for make in (BestSubsetRegressor, lambda: BestSubsetRegressorCV(cv=3)):
        of_file, of_memory = make().fit(disk, y), make().fit(X, y)
        np.testing.assert_array_equal(of_file.coef_, of_memory.coef_)
        np.testing.assert_array_equal(of_file.predict(disk), of_memory.predict(X))
    classes = np.where(y > 1.0, "high", "low")
    of_file, of_memory = BestSubsetClassifier(k=2).fit(disk, classes), BestSubsetClassifier(k=2).fit(X, classes)
    np.testing.assert_array_equal(of_file.predict_proba(disk), of_memory.predict_proba(X))
    selector = BestSubsetSelector(k=2).fit(disk, y)
    np.testing.assert_array_equal(selector.support_, BestSubsetSelector(k=2).fit(X, y).support_)
    weights = np.linspace(0.5, 1.5, len(y))
    weighted = [BestSubsetRegressor(k=2).fit(x, y, sample_weight=weights).coef_ for x in (disk, X)]
    np.testing.assert_array_equal(*weighted)
    of_file = BestSubsetRegressor(k=2).fit(disk, y)
    of_file.report(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()
    with pytest.raises(ValueError, match="30 rows|30 features"):
        of_file.predict(np.zeros((3, 4)))


def test_narrow_and_sparse_files(tmp_path):
    X, y = regression(60, 20)
    np.save(tmp_path / "X.npy", np.asfortranarray(X, dtype=np.float32))
    narrow = bestset.open(tmp_path / "X.npy")
    assert narrow.dtype == "float32"
    same(bestset.solve(narrow, y, k=2), bestset.solve(np.asfortranarray(X, dtype=np.float32), y, k=2))
    matrix = scipy.sparse.csc_array(np.where(np.abs(X) > 0.5, X, 0.0))
    sparse = parts(tmp_path / "parts", matrix)
    assert "non-zeros on disk (float64)" in repr(sparse)
    same(bestset.solve(sparse, y, k=2), bestset.solve(matrix, y, k=2))
    check_design(narrow)
    check_design(sparse)


def test_a_file_is_stored_as_its_path(dense):
    disk, X, y = dense
    assert repr(disk).endswith("80 samples, 30 features on disk (float64)")
    again = pickle.loads(pickle.dumps(disk))
    assert again.path == disk.path and again.shape == X.shape
    assert len(pickle.dumps(disk)) < 1000
    np.testing.assert_array_equal(again.columns(np.array([5, 2])), X[:, [5, 2]])
    np.testing.assert_array_equal(again.columns(), X)
    assert again.reading["bytes"] > 0
    with pytest.raises(ValueError, match="beyond the last column"):
        again.columns(np.array([30]))


def test_genotypes_have_names(tmp_path):
    rng = np.random.default_rng(3)
    copies = rng.binomial(2, 0.4, (90, 25))
    codes = np.array([3, 2, 0], dtype=np.uint8)[copies]
    codes[5, 7] = 1
    padded = np.vstack([codes, np.zeros((-len(codes) % 4, 25), dtype=np.uint8)])
    packed = sum(padded[k::4].astype(np.uint8) << (2 * k) for k in range(4))
    (tmp_path / "c.bed").write_bytes(b"\x6c\x1b\x01" + packed.T.tobytes())
    (tmp_path / "c.bim").write_text("".join(f"1\trs{j}\t0\t{100 * (j + 1)}\tA\tG\n" for j in range(25)))
    (tmp_path / "c.fam").write_text("".join(f"F{i}\tI{i}\t0\t0\t0\t-9\n" for i in range(90)))
    cohort = bestset.open(tmp_path / "c.bed")
    assert "90 people, 25 variants" in repr(cohort)
    filled = copies.astype(float)
    filled[5, 7] = np.delete(filled[:, 7], 5).mean()
    np.testing.assert_array_equal(cohort.columns(), filled)
    y = copies[:, 3] - copies[:, 20] + 0.1 * rng.standard_normal(90)
    found, model = bestset.solve(cohort, y, k=2), BestSubsetRegressor(k=2).fit(cohort, y)
    assert found.selected == ["1:400:G:A", "1:2100:G:A"] == [model.feature_names_in_[j] for j in model.support_]
    np.testing.assert_allclose(found.coef, bestset.solve(np.asfortranarray(filled), y, k=2).coef, rtol=1e-9)


def test_damaged_files_are_errors_that_name_the_place(dense, tmp_path):
    disk, X, y = dense
    with pytest.raises(ValueError, match="nothing.npy"):
        bestset.open(tmp_path / "nothing.npy")
    np.save(tmp_path / "rows.npy", np.ascontiguousarray(X))
    with pytest.raises(ValueError, match="C order"):
        bestset.open(tmp_path / "rows.npy")
    with open(tmp_path / "X.npy", "r+b") as file:
        file.truncate(1000)
    with pytest.raises(ValueError, match="it has 1000 bytes and had"):
        bestset.solve(disk, y, k=2)


def test_moments_are_kept_when_asked_for(dense, tmp_path):
    disk, X, y = dense
    expected = bestset.solve(disk, y, k=2)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["X.npy"]
    for _ in range(2):
        keeping = bestset.open(tmp_path / "X.npy", keep_moments=True)
        same(bestset.solve(pickle.loads(pickle.dumps(keeping)), y, k=2), expected)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["X.npy", "X.npy.moments"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_map_by_rows_is_not_turned_around_where_it_is_large(tmp_path, monkeypatch, dtype):
    X, y = regression(90, 40)
    np.save(tmp_path / "rows.npy", np.ascontiguousarray(X, dtype=dtype))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert elsewhere.design(mapped) is None, "where there is room a copy by columns is faster"
    copied = bestset.solve(mapped, y, lambda0=2.0, method="exact")
    monkeypatch.setattr(_mapped, "spare", lambda: 0)
    monkeypatch.setattr(_mapped, "BLOCK", 8 * 40 * 7)
    stays = elsewhere.design(mapped)
    assert isinstance(stays, _mapped.MappedRows) and "90 x 40" in repr(stays)
    check_design(stays)
    found = bestset.solve(mapped, y, lambda0=2.0, method="exact")
    assert found.support.tolist() == copied.support.tolist() and found.status == copied.status == "optimal"
    assert found.objective == pytest.approx(copied.objective, rel=1e-12)
    model = bestset.BestSubsetRegressor(lambda0=2.0).fit(mapped, y)
    assert model.support_.tolist() == bestset.BestSubsetRegressor(lambda0=2.0).fit(X.astype(dtype), y).support_.tolist()
    for other in (np.asfortranarray(mapped), np.asarray(mapped), mapped[:, :1], np.load(tmp_path / "rows.npy")):
        assert elsewhere.design(other) is None
