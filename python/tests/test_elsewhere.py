"""Matrices that live elsewhere: the same answers as in memory, rounding that is paid for, failures that end a solve with what it has."""

import os
import signal
import time
import warnings

import numpy as np
import pytest
from common import enumerate_best, regression
from sklearn.exceptions import ConvergenceWarning

import bestset
from bestset import BestSubsetClassifier, BestSubsetRegressor, BestSubsetRegressorCV, _core
from bestset.testing import check_design


class Blocks:
    """Columns in parts, multiplied by the engine's own kernels."""

    def __init__(self, x, width=7, moments=True):
        self.parts = [np.asfortranarray(x[:, k : k + width]) for k in range(0, x.shape[1], width)]
        self.width, self.shape, self.rounding, self.calls = width, x.shape, (2**-53, x.shape[0]), []
        if moments:
            self.moments = self._moments

    def correlate(self, features, vectors):
        self.calls.append(("correlate", features, vectors.shape))
        if features is None:
            return np.concatenate([_core.block_correlate(part, None, vectors) for part in self.parts])
        one = [_core.block_correlate(self.parts[j // self.width], np.array([j % self.width]), vectors) for j in features]
        return np.concatenate(one)

    def columns(self, features):
        self.calls.append(("columns", features))
        one = [_core.block_columns(self.parts[j // self.width], np.array([j % self.width])) for j in features]
        return np.concatenate(one, axis=1)

    def _moments(self, weights, centre, scale):
        own = [None if v is None else np.split(v, range(self.width, len(v), self.width)) for v in (centre, scale)]
        parts = [(k, part) for k, part in enumerate(self.parts)]
        return np.concatenate([_core.block_moments(p, weights, *(None if v is None else v[k] for v in own)) for k, p in parts])


def same(one, other):
    for name in ("support", "values", "intercept", "objective", "lower_bound", "status", "n_iter"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize(("kind", "moments"), [(np.float64, True), (np.float32, False)])
def test_the_bits_are_those_of_one_process(kind, moments):
    X, y = regression(n=80, p=60)
    X = np.asfortranarray(X.astype(kind) + np.arange(60, dtype=kind))
    there = Blocks(X, moments=moments)
    weights = np.linspace(0.5, 2.0, 80)
    # Without proofs that the clock would end.
    plain = {"prove": None, "max_size": 6}
    for given in (plain, {"k": 3, "prove": None}, {"lambda0": 0.3, "method": "exact", "top": 2}, {"sample_weight": weights, **plain}):
        same(bestset.solve(there, y, **given), bestset.solve(X, y, **given))
    for one, other in zip(bestset.path(there, y, max_size=6), bestset.path(X, y, max_size=6), strict=True):
        same(one, other)
    for one, other in zip(bestset.subsets(there, y, 3), bestset.subsets(X, y, 3), strict=True):
        assert np.array_equal(one.support, other.support) and one.objective == other.objective
    coef = np.zeros(60)
    coef[[3, 9]] = 1.0
    assert bestset.certify(there, y, coef, lambda0=0.5).lower_bound == bestset.certify(X, y, coef, lambda0=0.5).lower_bound
    drawn = [bestset.stability(x, y, subsamples=4).frequencies for x in (there, X)]
    assert np.array_equal(drawn[0], drawn[1])


def test_estimators_take_it():
    X, y = regression(n=80, p=40)
    for kind, target in ((BestSubsetRegressor, y), (BestSubsetRegressorCV, y), (BestSubsetClassifier, y > 1)):
        one, other = kind(prove=None).fit(Blocks(X), target), kind(prove=None).fit(X, target)
        assert np.array_equal(one.coef_, other.coef_) and one.lower_bound_ == other.lower_bound_
        assert np.allclose(one.predict(Blocks(X)), other.predict(X), rtol=1e-12) and one.n_features_in_ == 40
    with pytest.raises(ValueError, match="X has 30 features; the model was fitted to 40"):
        one.predict(Blocks(X[:, :30]))
    with pytest.raises(ValueError, match="y has length 79, but X has 80 rows"):
        BestSubsetRegressor().fit(Blocks(X), y[1:])


def test_a_pass_is_one_call_unless_trips_are_short():
    X, y = regression(n=50, p=40)
    there = Blocks(X)
    bestset.solve(there, y, lambda0=0.5, prove=None)
    swept = [call for call in there.calls if call[0] == "correlate" and call[1] is None]
    assert swept and len([call for call in there.calls if call[0] == "columns"]) < 10
    short = Blocks(X)
    short.trip = 15
    same(bestset.solve(short, y, lambda0=0.5), bestset.solve(X, y, lambda0=0.5))
    assert max(len(call[1]) for call in short.calls if call[0] == "correlate" and call[1] is not None) <= 15


class Plain:
    """By numpy."""

    def __init__(self, x, rounding=None):
        self.x, self.shape, self.rounding = x, x.shape, rounding or (2**-53, x.shape[0])

    def correlate(self, features, vectors):
        return (self.x if features is None else self.x[:, features]).T @ vectors

    def columns(self, features):
        return self.x[:, features].astype(np.float64)


class Single(Plain):
    """Sums in single precision."""

    def correlate(self, features, vectors):
        x = (self.x if features is None else self.x[:, features]).astype(np.float32)
        return (x.T @ vectors.astype(np.float32)).astype(np.float64)


def test_what_is_tried_out_passes_or_says_why_not():
    X, _ = regression(n=60, p=30)
    check_design(Blocks(X))
    check_design(Plain(X))
    check_design(Plain(np.asfortranarray(X.astype(np.float32))))
    narrow = Single(X, (2**-24, 200.0))
    check_design(narrow, deterministic=False)
    with pytest.raises(AssertionError, match="is off by .* its rounding allows"):
        check_design(Single(X))

    class Shuffled(Plain):
        def columns(self, features):
            return self.x[:, np.sort(features)]

    with pytest.raises(AssertionError, match="in another order"):
        check_design(Shuffled(X))

    class Short(Plain):
        def correlate(self, features, vectors):
            return super().correlate(features, vectors)[:, :1]

    with pytest.raises(AssertionError, match="correlate of some features has shape"):
        check_design(Short(X))

    class Wrong(Blocks):
        def _moments(self, weights, centre, scale):
            return super()._moments(None, centre, scale)

    with pytest.raises(AssertionError, match="moments of feature .* are not those of its column"):
        check_design(Wrong(X))
    with pytest.raises(AssertionError, match="no methods"):
        check_design(object())


class Biased(Plain):
    """Off by as much as it states, always towards zero: the direction in which a bound would be too good."""

    def __init__(self, x, unit, terms, stated=True):
        super().__init__(x, (unit, terms) if stated else None)
        self.share = unit * terms

    def correlate(self, features, vectors):
        x = self.x if features is None else self.x[:, features]
        found = x.T @ vectors
        return found - np.sign(found) * np.minimum(np.abs(found), self.share * (np.abs(x).T @ np.abs(vectors)))


def test_a_bound_pays_for_the_rounding_that_is_stated():
    false = 0
    for seed in range(12):
        X, y = regression(n=20, p=7, noise=2.0, seed=seed)
        best = enumerate_best(X, y, "squared", 2.0, 0.5)[0]
        for method in ("incremental", "exact"):
            given = {"lambda0": 2.0, "lambda2": 0.5, "standardize": False, "method": method, "prove": None}
            for share in (1e-3, 1e-2, 5e-2):
                found = bestset.solve(Biased(X, share / 64, 64), y, **given)
                assert found.lower_bound <= best + 1e-9, (seed, method, share)
            try:
                false += bestset.solve(Biased(X, 5e-2 / 64, 64, stated=False), y, **given).lower_bound > best + 1e-9
            except RuntimeError as error:
                # The last look of branch and bound at its own certificate.
                assert "when computed anew" in str(error)
                false += 1
    assert false > 3, "what is not stated shows"


class Failing(Blocks):
    """Fails after so many calls."""

    def __init__(self, x, left):
        super().__init__(x)
        self.left = left

    def _read(self):
        self.left -= 1
        if self.left < 0:
            raise OSError("the wire was cut")

    def correlate(self, features, vectors):
        self._read()
        return super().correlate(features, vectors)

    def columns(self, features):
        self._read()
        return super().columns(features)

    def _moments(self, weights, centre, scale):
        self._read()
        return super()._moments(weights, centre, scale)


@pytest.mark.parametrize("given", [{"lambda0": 1.0, "prove": None}, {"lambda0": 1.0, "method": "exact"}, {"prove": None}])
def test_a_failure_ends_a_solve_with_what_it_has(given):
    X, y = regression(n=40, p=12, noise=2.0)
    whole, errors, cut = bestset.solve(X, y, **given), 0, 0
    for calls in range(200):
        there = Failing(X, calls)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = bestset.solve(there, y, **given)
        except ValueError as error:
            assert "the wire was cut" in str(error) and "Failing" in str(error)
            errors += 1
            continue
        if there.left >= 0:
            same(found, whole)
            break
        cut += found.status == "read_failed"
        if found.lambda0 == whole.lambda0:
            assert found.lower_bound <= whole.objective + 1e-9
    else:
        raise AssertionError("it reads without end")
    assert errors > 1 and cut > 0, (errors, cut)


class Interrupted(Failing):
    """At some call Ctrl-C, or what takes longer than the limit, which it is told to end by."""

    def __init__(self, x, left, is_signal=True):
        super().__init__(x, left)
        self.is_signal = is_signal

    def watch(self, stopped):
        self.stopped = stopped

    def _read(self):
        self.left -= 1
        if self.left == -1:
            if self.is_signal:
                os.kill(os.getpid(), signal.SIGINT)
            while not self.stopped():
                time.sleep(0.01)
            raise OSError("given up")


@pytest.fixture
def signals():
    """What a shell starts in the background ignores the signal, and Python leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


CUT = {
    "price": lambda X, y: bestset.solve(X, y, lambda0=1.0, prove=None, on_interrupt="return"),
    "exact": lambda X, y: bestset.solve(X, y, lambda0=1.0, method="exact", on_interrupt="return"),
    "size": lambda X, y: bestset.solve(X, y, k=2, prove=None, on_interrupt="return"),
    "criterion": lambda X, y: bestset.solve(X, y, prove=None, on_interrupt="return"),
    "huber": lambda X, y: bestset.solve(X, y, loss="huber", prove=None, on_interrupt="return"),
    "path": lambda X, y: bestset.path(X, y, on_interrupt="return"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what, step", [("price", 1), ("exact", 1), *((what, 7) for what in CUT if what not in ("price", "exact"))])
def test_ctrl_c_at_some_calls_returns_an_answer_with_a_bound(what, step, signals):
    cut_at(what, step)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", [what for what in CUT if what not in ("price", "exact")])
@pytest.mark.long
def test_ctrl_c_at_any_call_returns_an_answer_with_a_bound(what, signals):
    cut_at(what, 1)


def cut_at(what, step):
    """Calls that are so many apart, until there are no more."""
    X, y = regression(n=40, p=12, noise=2.0)
    for calls in range(0, 10_000, step):
        there = Interrupted(X, calls + calls // 4)
        found = CUT[what](there, y)
        one = found[0] if what == "path" else found
        if there.left >= 0:
            assert calls > 2
            return
        # Or the answer was proved before.
        assert found.status == "interrupted" or (found.status == "optimal" and calls > 0)
        assert 0.0 <= one.lower_bound <= one.objective * (1 + 1e-12)
        if calls == 0:
            # Nothing is known of X: what y alone says.
            assert len(one.support) == 0
            if what != "huber":
                assert np.isclose(one.objective, 0.5 * np.sum((y - y.mean()) ** 2)) and np.isclose(one.intercept, y.mean())
        # It serves the next call.
        assert not there.stopped() and there.columns(np.array([3])).shape == (40, 1)
    raise AssertionError("it reads without end")


def test_a_time_limit_ends_the_first_look():
    X, y = regression(n=40, p=12, noise=2.0)
    found = bestset.solve(Interrupted(X, 0, is_signal=False), y, lambda0=1.0, method="exact", time_limit=0.01)
    assert found.status == "time_limit" and len(found.support) == 0 and found.lower_bound == 0.0
    given = {"lambda0": 1.0, "standardize": False, "time_limit": 0.01}
    with pytest.warns(ConvergenceWarning):
        model = BestSubsetRegressorCV(cv=3, prove=None, time_limit=0.01).fit(Interrupted(X, 0, is_signal=False), y)
    assert model.status_ == "time_limit" and not model.coef_.any() and np.isclose(model.intercept_, y.mean())
    with pytest.raises(ValueError, match="before there was an answer to return: give it more time"):
        bestset.solve(Interrupted(X, 0, is_signal=False), y, **given)


def test_bad_objects_are_named():
    X, y = regression(n=30, p=8)

    class NoRounding(Plain):
        def __init__(self, x):
            self.x, self.shape = x, x.shape

    with pytest.raises(TypeError, match="NoRounding has no attribute `rounding`"):
        bestset.solve(NoRounding(X), y)
    with pytest.raises(ValueError, match="rounding of Plain is"):
        bestset.solve(Plain(X, (0.1, 30.0)), y)
    with pytest.raises(ValueError, match="y has length 30, but X has 29 rows"):
        bestset.solve(Plain(X[1:]), y)
    bad = X.copy()
    bad[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"X\[3, 5\] is NaN|every entry"):
        bestset.solve(Plain(bad), y)

    class Transposed(Plain):
        def columns(self, features):
            return super().columns(features).T

    with pytest.raises(ValueError, match=r"columns of .* shape \[8, 30\], expected \[30, 8\]"):
        bestset.solve(Transposed(X), y)
