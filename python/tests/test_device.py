"""X on a device: the same code on the processor, by array-api-strict and by PyTorch where they are installed."""

import numpy as np
import pytest
from common import regression

import bestset
from bestset import _core, elsewhere
from bestset.device import DeviceDesign, DeviceGenotypes
from bestset.device._arrays import GROUP, ArrayApi, Torch
from bestset.device._genotypes import Whole
from bestset.device._pairs import Order, largest_pairs
from bestset.testing import check_design


@pytest.fixture(params=["array_api_strict", "torch"])
def put(request):
    library = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return library.from_numpy if request.param == "torch" else library.asarray


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8])
def test_dense_arrays(put, kind):
    X, y = regression(n=60, p=40)
    X = (np.rint(3 * X) if kind == np.int8 else X).astype(kind)
    there = DeviceDesign(put(X))
    check_design(there)
    found, here = bestset.solve(there, y, lambda0=0.5), bestset.solve(X.astype(np.float64), y, lambda0=0.5)
    assert np.array_equal(found.support, here.support) and abs(found.objective - here.objective) < 1e-9
    model = bestset.BestSubsetRegressor(lambda0=0.5).fit(there, y)
    assert np.allclose(model.predict(there), here.predict(X))


def packed(people, variants, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.choice(np.array([0, 1, 2, 3], dtype=np.uint8), (variants, people), p=[0.3, 0.02, 0.4, 0.28])
    code[: variants // 2][code[: variants // 2] == 1] = 3
    # What is beyond the last person may be anything.
    code = np.concatenate([code, rng.integers(0, 4, (variants, -people % 4), dtype=np.uint8)], axis=1)
    return code[:, 0::4] | code[:, 1::4] << 2 | code[:, 2::4] << 4 | code[:, 3::4] << 6


@pytest.mark.parametrize("people", [1, 5, 64, 131])
def test_packed_genotypes(put, people):
    bytes_ = packed(people, 37)
    there = DeviceGenotypes(put(bytes_), people)
    kept = (people, np.ascontiguousarray(bytes_).reshape(-1))
    features = np.array([5, 36, 0, 5, 30])
    assert np.array_equal(there.columns(features), _core.block_columns(kept, features))
    check_design(there)
    rng = np.random.default_rng(1)
    vectors = np.asfortranarray(rng.standard_normal((people, 3)) * 10.0 ** rng.uniform(-20, 20, (people, 3)))
    x = _core.block_columns(kept, None)
    room = 2.0**-50 * (np.abs(x).T @ np.abs(vectors))
    assert (np.abs(there.correlate(None, vectors) - _core.block_correlate(kept, None, vectors)) <= people * room).all()
    weights = rng.uniform(0.0, 1.0, people)
    for w in (None, weights):
        assert np.allclose(there.moments(w, None, None), _core.block_moments(kept, w), rtol=1e-11, atol=1e-9)


def test_digits_keep_every_number_to_its_last():
    rng = np.random.default_rng(0)
    for n in (1, 7, 1000):
        v = rng.standard_normal(n) * 2.0 ** rng.uniform(-300, 300, n)
        v[::3] = 0.0
        whole = Whole(v)
        found = sum(np.ldexp(numbers.astype(np.float64), exponent) for numbers, exponent in whole.levels)
        assert (np.abs(found - v) <= (n + 8) * 2.0**-54 * np.abs(v)).all()
        digits = whole.digits().astype(object).reshape(n, -1, 8)
        for k, (numbers, _) in enumerate(whole.levels):
            assert [sum(int(d) << 8 * g for g, d in enumerate(row)) for row in digits[:, k]] == numbers.tolist()
    with pytest.raises(ValueError, match="not finite"):
        Whole(np.array([1.0, np.inf]))


def test_what_cannot_be_multiplied_is_named(put):
    with pytest.raises(ValueError, match="two dimensions"):
        DeviceDesign(put(np.ones(3)))
    with pytest.raises(ValueError, match="is of type int64"):
        DeviceDesign(put(np.ones((3, 2), dtype=np.int64)))
    with pytest.raises(ValueError, match=r"shape \(n_variants, 3\)"):
        DeviceGenotypes(put(np.zeros((5, 2), dtype=np.uint8)), 9)


def test_arrays_of_a_device_are_taken_as_they_are(put, monkeypatch):
    X, y = regression(n=40, p=12)
    assert elsewhere.design(put(X)) is None, "the memory of the processor"

    class OnGpu:
        """As arrays of a GPU answer, by either protocol."""

        def __dlpack_device__(self):
            return 2, 0

    class OfCuda:
        __cuda_array_interface__ = {}

    assert elsewhere.is_on_device(OnGpu()) and elsewhere.is_on_device(OfCuda())
    monkeypatch.setattr(elsewhere, "is_on_device", lambda x: hasattr(x, "__dlpack_device__"))
    assert isinstance(elsewhere.design(put(X)), DeviceDesign)
    found = bestset.solve(put(X), y, lambda0=0.5)
    assert np.array_equal(found.support, bestset.solve(X, y, lambda0=0.5).support)


def test_coherence_on_a_device_proves_what_it_proves_here(put):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 80))
    y = X[:, :3] @ [1.0, -1.0, 0.8] + 0.5 * rng.standard_normal(300)
    asked = []

    class Watched(DeviceDesign):
        def largest(self, left, right, count):
            asked.append(count)
            return super().largest(left, right, count)

    given = {"lambda0": 8.0, "lambda2": 0.0, "method": "exact"}
    there, here = bestset.solve(Watched(put(X)), y, **given), bestset.solve(X, y, **given)
    assert asked and there.status == here.status == "optimal"
    assert np.array_equal(there.support, here.support) and abs(there.lower_bound - here.lower_bound) < 1e-6 * here.objective


def test_pairs_are_not_multiplied_with_fewer_digits(put):
    class Rough(DeviceDesign):
        """As TF32 would."""

        def largest(self, left, right, count):
            return super().largest(*((x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (left, right)), count)

    X, _ = regression(n=40, p=20)
    with pytest.raises(AssertionError, match="off by more than single precision allows"):
        check_design(Rough(put(np.abs(X))))


def test_pairs_of_columns_that_stay_there_are_as_large_as_is_said(put):
    class Listing(DeviceDesign):
        """As where pairs are multiplied fast."""

        def largest_pairs(self, *given):
            return self._largest_pairs(*given)

    class Short(Listing):
        def largest_pairs(self, *given):
            places, values, error = super().largest_pairs(*given)
            return places, 0.9 * values, error

    X, _ = regression(n=40, p=20)
    check_design(Listing(put(X)))
    check_design(Listing(put((X + 3.0).astype(np.float32))))
    # Several groups of columns, of which some cost too much beside others.
    check_design(Listing(put(regression(n=40, p=300)[0])))
    with pytest.raises(AssertionError, match="a product is larger than it says"):
        check_design(Short(put(X)))


def half(x):
    """Rounded to the nearest of eight bits, as bfloat16."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


class Halved(ArrayApi):
    """As a device that multiplies in half precision."""

    _is_half, rough_output, rough_rounding = True, 2.0**-8, Torch.rough_rounding

    def rough(self, x):
        return half(x)

    def rough_products(self, left, right):
        parts = [slice(k, k + 1024) for k in range(0, left.shape[1], 1024)]
        return sum(half(left[:, part] @ right[:, part].T) for part in parts)


def test_sums_of_parts_in_half_precision_are_off_by_no_more_than_is_said():
    # Parts of 514 and -510 of 1024 products of one: half precision has the even numbers up to 512 and every fourth beyond.
    x = np.ones((4096, 2))
    for part, total in enumerate((514, 514, -510, -510)):
        x[1024 * part : 1024 * part + (1024 - total) // 2, 1] = -1.0
    nothing, scales = np.zeros((4096, 0)), np.full(2, 1.0 / 64.0)
    _, values, error = largest_pairs(Halved(x), 4096, [(slice(0, 2), x)], nothing, np.zeros((0, 0)), 1, Order(2, None, np.inf), scales, False)
    assert (8.0 / 4096.0 <= np.abs(values) + error).all()


class Grouped(ArrayApi):
    """As a device that looks for the largest entries in the groups with the largest, a few rows at a time."""

    rough_block = 1 << 16

    def rough_top(self, x, count, own, p):
        rows, width = x.shape
        x[np.arange(rows)[:, None] + own == np.arange(width)] = 0.0
        groups = np.argsort(-np.abs(x).reshape(rows, -1, GROUP).max(axis=2), axis=1)[:, :count]
        at = (groups[:, :, None] * GROUP + np.arange(GROUP)).reshape(rows, -1)
        sizes = np.where((at == np.arange(rows)[:, None] + own) | (at >= p), -1.0, np.abs(np.take_along_axis(x, at, axis=1)))
        at = np.take_along_axis(at, np.argsort(-sizes, axis=1)[:, :count], axis=1)
        return at, np.take_along_axis(x, at, axis=1).astype(np.float32)


@pytest.mark.parametrize("p", [100, 500, 1000])
def test_columns_that_cost_too_much_take_no_place_among_the_largest(p):
    rng = np.random.default_rng(p)
    n, count, room, costs = 30, 5, 64.0, np.floor(70.0 * rng.random(p))
    x = rng.standard_normal((n, p))
    x /= np.linalg.norm(x, axis=0)
    nothing, order = (np.zeros((n, 0)), np.zeros((0, 0))), Order(p, costs, room)
    places, values, error = largest_pairs(Grouped(x), n, [(slice(0, p), x)], *nothing, count, order, np.ones(p), False)
    sizes = np.where(costs[:, None] + costs <= room, np.abs(x.T @ x), 0.0)
    np.fill_diagonal(sizes, 0.0)
    assert (np.take_along_axis(sizes, places, axis=1) <= np.abs(values) + error).all()
    np.put_along_axis(sizes, places, 0.0, axis=1)
    assert (sizes <= np.abs(values).min(axis=1)[:, None] + error).all(), "one that is larger is not listed"


def test_no_pairs_are_asked_of_fewer_than_two_columns():
    asked = []

    class Listing(DeviceDesign):
        def largest_pairs(self, features, *given):
            asked.append(len(features))
            return self._largest_pairs(features, *given)

    # The open nodes leave nothing but the features of the answer.
    rng = np.random.default_rng(64)
    n, p, rho = int(rng.choice([30, 60, 100])), int(rng.choice([20, 30, 60])), rng.choice([0, 0.3, 0.6])
    X = rng.standard_normal((n, p)) + np.sqrt(rho / (1 - rho)) * rng.standard_normal((n, 1))
    k = int(rng.choice([5, 10, 15]))
    y = X[:, :k] @ rng.choice([-1, 1], size=k) + rng.choice([0.1, 0.5, 1.0]) * rng.standard_normal(n)
    lambda0 = float(rng.choice([0.002, 0.01, 0.03])) * ((y - y.mean()) ** 2).sum()
    lambda2 = float(rng.choice([1e-3, 1e-2, 3e-2, 0.1]))
    found = bestset.solve(Listing(X), y, lambda0=lambda0, lambda2=lambda2, method="exact")
    assert found.status == "optimal" and all(count > 1 for count in asked)


@pytest.mark.parametrize("ways", [1, pytest.param(2, marks=pytest.mark.long)])
def test_few_columns_near_and_the_rest_by_sweeps_that_pick(put, ways):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((60, 5000)).astype(np.float32)
    y = X[:, [3, 900, 4000]] @ [1.0, -1.0, 0.7] + 0.6 * rng.standard_normal(60)
    told = []

    class Watched(DeviceDesign):
        def reaching(self, features, vectors, limits, centre, scale):
            found = super().reaching(features, vectors, limits, centre, scale)
            told.extend(len(at) for at, _ in found)
            return found

    for more in ({"standardize": False, "fit_intercept": False}, {})[:ways]:
        given = {"lambda0": 4.0, "lambda2": 2.0, "method": "exact", "max_nodes": 60, **more}
        there, here = bestset.solve(Watched(put(X)), y, **given), bestset.solve(X, y, **given)
        assert np.array_equal(there.support, here.support) and there.n_iter == here.n_iter
        assert abs(there.lower_bound - here.lower_bound) < 1e-7 * here.objective
    assert told and np.median(told) < 500, "few of 5000 are told of"
