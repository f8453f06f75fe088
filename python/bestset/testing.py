"""Tests for what others write: `check_design` tries out a matrix that lives elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import elsewhere

Floats = NDArray[np.float64]

#: Features that are looked at where there are more.
MOST = 64

#: The same where pairs of them are listed: a place may look for the largest in groups of columns.
MOST_PAIRED = 256


def check_design(design: Any, *, seed: int = 0, deterministic: bool = True) -> None:
    """Try out an object that is to be taken for X (`bestset.elsewhere.Elsewhere`); raises AssertionError where it fails.

    Its columns are the truth: correlations must lie within the stated rounding of the sums with them, for vectors that cancel, of many
    sizes and of one entry, for any features in any order; moments, where it has them, must be theirs, and sweeps that pick out features, where it has them, must miss none. Where X is not large, it is solved
    as well and must give the answer that the columns give.

    Parameters
    ----------
    design : object
        What is to be tried.
    seed : int
        Of the features and the vectors.
    deterministic : bool
        Whether the same question must have the same answer to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset.testing import check_design
    >>> class Mine:
    ...     def __init__(self, x):
    ...         self.x, self.shape, self.rounding = x, x.shape, (2**-53, x.shape[0])
    ...     def correlate(self, features, vectors):
    ...         return (self.x if features is None else self.x[:, features]).T @ vectors
    ...     def columns(self, features):
    ...         return self.x[:, features]
    >>> check_design(Mine(np.random.default_rng(0).standard_normal((50, 30))))
    """
    design = elsewhere.design(design)
    assert design is not None, "it has no methods `correlate` and `columns`"
    rng = np.random.default_rng(seed)
    n, p = _shape(design)
    share = _rounding(design)
    some = np.sort(rng.permutation(p)[:MOST]).astype(np.int64)
    x = _columns(design, some, (n, p))
    _check_columns(design, some, x, rng)
    _check_correlations(design, some, x, share, rng, deterministic)
    if callable(getattr(design, "moments", None)):
        _check_moments(design, some, x, rng)
    if callable(getattr(design, "reaching", None)):
        _check_reaching(design, some, x, share, rng)
    if callable(getattr(design, "largest", None)):
        _check_largest(design, x, rng)
    if callable(getattr(design, "largest_pairs", None)):
        _check_pairs(design, np.sort(rng.permutation(p)[:MOST_PAIRED]).astype(np.int64), rng)
    if n * p <= 200_000:
        _check_solve(design, rng)


def _shape(design: Any) -> tuple[int, int]:
    shape = tuple(design.shape)
    assert len(shape) == 2 and all(int(size) == size and size > 0 for size in shape), f"shape is {shape}"
    return int(shape[0]), int(shape[1])


def _rounding(design: Any) -> float:
    unit, terms = design.rounding
    share = float(unit) * float(terms)
    assert unit > 0 and terms >= 0 and share < 0.5, f"rounding is {(unit, terms)}"
    return share / (1.0 - share)


def _columns(design: Any, features: NDArray[np.int64], shape: tuple[int, int]) -> Floats:
    found = np.asarray(design.columns(features))
    expected = (shape[0], len(features))
    assert found.shape == expected, f"columns of {len(features)} features have shape {found.shape}, not {expected}"
    assert found.dtype == np.float64, f"columns are of type {found.dtype}, not float64"
    assert np.isfinite(found).all(), "an entry is not finite"
    return found.copy(order="F")


def _check_columns(design: Any, some: NDArray[np.int64], x: Floats, rng: np.random.Generator) -> None:
    shape = (x.shape[0], x.shape[1])
    order = rng.integers(0, len(some), 2 * len(some))
    again = _columns(design, some[order], shape)
    assert np.array_equal(again, x[:, order]), "columns asked for in another order are others"
    one = _columns(design, some[-1:], shape)
    assert np.array_equal(one[:, 0], x[:, -1]), "a column asked for alone is another"


def _vectors(n: int, rng: np.random.Generator) -> Floats:
    """Random, of many sizes, cancelling, of one entry, zero."""
    plain = rng.standard_normal(n)
    sizes = plain * 10.0 ** rng.uniform(-12, 12, n)
    centred = np.ones(n) + 1e-9 * plain
    centred[n // 2 :] *= -1.0
    one = np.zeros(n)
    one[rng.integers(n)] = 1.0
    return np.asfortranarray(np.column_stack([plain, sizes, centred, one, np.zeros(n)]))


def _check_correlations(
    design: Any, some: NDArray[np.int64], x: Floats, share: float, rng: np.random.Generator, deterministic: bool
) -> None:
    n = x.shape[0]
    vectors = _vectors(n, rng)
    wide = x.astype(np.longdouble)
    exact = wide.T @ vectors.astype(np.longdouble)
    sizes = np.abs(x).T @ np.abs(vectors)
    # The sums here are rounded as well.
    room = (share + n * 2.0**-60) * sizes * (1 + n * 2.0**-52) + 1e-300
    if np.finfo(np.longdouble).eps > 1e-17:
        room += n * 2.0**-52 * sizes

    def check(given: Any, places: Any, which: Any, what: str) -> Floats:
        found: Floats = np.asarray(given, dtype=np.float64)
        expected = (len(places), len(which))
        assert found.shape == expected, f"correlate of {what} has shape {found.shape}, not {expected}"
        off = np.abs(found - exact[np.ix_(places, which)])
        worst = np.unravel_index(np.argmax(off - room[np.ix_(places, which)]), off.shape)
        allowed = room[np.ix_(places, which)][worst]
        assert off[worst] <= allowed, (
            f"correlate of {what}: feature {some[places][worst[0]]} is off by {float(off[worst]):.3g}, "
            f"its rounding allows {float(allowed):.3g}"
        )
        return found

    every, all_vectors = np.arange(len(some)), np.arange(vectors.shape[1])
    first = check(design.correlate(some, vectors), every, all_vectors, "some features")
    for v in all_vectors:
        check(design.correlate(some, np.asfortranarray(vectors[:, [v]])), every, [v], "some features with one vector")
    order = rng.permutation(np.repeat(every, 2))
    check(design.correlate(some[order], vectors), order, all_vectors, "features in another order")
    check(design.correlate(some[:1], vectors), every[:1], all_vectors, "one feature")
    full = np.asarray(design.correlate(None, vectors), dtype=np.float64)
    assert full.shape == (design.shape[1], vectors.shape[1]), f"correlate of all features has shape {full.shape}"
    check(full[some], every, all_vectors, "all features")
    if deterministic:
        assert np.array_equal(np.asarray(design.correlate(some, vectors)), first), "the same question has another answer"


def _check_moments(design: Any, some: NDArray[np.int64], x: Floats, rng: np.random.Generator) -> None:
    n, p = x.shape[0], design.shape[1]
    weights: Floats = np.asarray(rng.uniform(0.0, 2.0, size=n))
    weights[rng.integers(n)] = 0.0 if n > 1 else 1.0
    centre, scale = rng.standard_normal(p), rng.uniform(0.5, 2.0, p)
    for w in (None, weights):
        for view in (None, (centre, scale)):
            found = np.asarray(design.moments(w, *(view or (None, None))), dtype=np.float64)
            assert found.shape == (p, 3), f"moments have shape {found.shape}, not {(p, 3)}"
            z = x if view is None else (x - view[0][some]) / view[1][some]
            own = np.ones(n) if w is None else w
            mean = own @ z / own.sum()
            expected = np.column_stack([mean, own @ z**2, own @ (z - mean) ** 2])
            size = np.column_stack([np.sqrt(expected[:, 1]), expected[:, 1], expected[:, 1]])
            far = np.abs(found[some] - expected) > 1e-9 * size + 1e-300
            assert not far.any(), f"moments of feature {some[np.argwhere(far)[0][0]]} are not those of its column"


def _check_reaching(design: Any, some: NDArray[np.int64], x: Floats, share: float, rng: np.random.Generator) -> None:
    """Whether what reaches a limit beyond rounding is listed, what is far below it is not, and the numbers are right."""
    (n, p), vectors = _shape(design), _vectors(x.shape[0], rng)
    centre, scale = rng.standard_normal(p), rng.uniform(0.5, 2.0, p)
    for view in (None, (centre, scale)):
        own = (0.0, 1.0) if view is None else (view[0][some], view[1][some])
        z = (x - own[0]) / own[1]
        exact = z.T @ vectors
        sizes = ((np.abs(x) + np.abs(own[0])) / own[1]).T @ np.abs(vectors)
        room = (share + (2 * n + 16) * 2.0**-52) * sizes + 1e-300
        limits = np.median(np.abs(exact), axis=0)
        limits[-1] = -np.inf
        for features in (some, None):
            found = design.reaching(features, vectors, limits, *(view or (None, None)))
            assert len(found) == vectors.shape[1], f"reaching gave {len(found)} lists for {vectors.shape[1]} vectors"
            for v, (at, values) in enumerate(found):
                at, values = np.asarray(at), np.asarray(values)
                assert at.shape == values.shape and (np.diff(at) > 0).all(), "features of reaching are not ascending"
                assert features is None or np.isin(at, some).all(), "reaching lists features that were not asked for"
                listed = np.isin(some, at)
                here = values[np.searchsorted(at, some[listed])]
                off = np.abs(here - exact[listed, v]) > room[listed, v]
                assert not off.any(), f"reaching of feature {some[listed][np.argmax(off)]} is off by more than its rounding allows"
                missing = ~listed & (np.abs(exact[:, v]) - room[:, v] >= limits[v])
                assert not missing.any(), f"reaching does not list feature {some[np.argmax(missing)]}, which reaches the limit"


def _check_largest(design: Any, x: Floats, rng: np.random.Generator) -> None:
    """Whether the largest products are such, off by no more than sums of single precision are."""
    n = x.shape[0]
    sizes = np.linalg.norm(x, axis=0)
    right: Any = np.asfortranarray((x / np.where(sizes > 0.0, sizes, 1.0)).astype(np.float32))
    if right.shape[1] < 2:
        return
    left = np.asfortranarray((right + 0.1 * rng.standard_normal(right.shape)).astype(np.float32))
    exact = left.astype(np.float64).T @ right.astype(np.float64)
    parts = np.abs(left).astype(np.float64).T @ np.abs(right)
    room = 1.01 * (min(n, 1024) + n // 1024 + 2) * 2.0**-24 * parts + 1e-300
    for count in {1, min(5, right.shape[1] - 1), right.shape[1] - 1}:
        places, values = (np.asarray(found) for found in design.largest(left, right, count))
        assert places.shape == values.shape == (right.shape[1], count), f"largest gave shapes {places.shape} and {values.shape}"
        for j, (at, own) in enumerate(zip(places, values)):
            assert j not in at and len(set(at.tolist())) == count, f"largest of column {j} lists itself, or another twice"
            off = np.abs(own - exact[j, at]) > room[j, at]
            assert not off.any(), f"largest of column {j}: a product is off by more than single precision allows"
            others = np.setdiff1d(np.arange(right.shape[1]), [*at.tolist(), j])
            least = (np.abs(exact[j, at]) + room[j, at]).min()
            assert (np.abs(exact[j, others]) - room[j, others] <= least).all(), f"largest of column {j} misses a larger one"


def _check_pairs(design: Any, features: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Whether what is listed and what is not is as large as is said at the most, and nothing is listed twice."""
    x = _columns(design, features, (int(design.shape[0]), len(features)))
    for centred in (False, True):
        c = x - x.mean(axis=0) if centred else x
        sizes = np.linalg.norm(c, axis=0)
        varying = sizes > 1e-3 * np.linalg.norm(x, axis=0)
        if varying.sum() < 3:
            continue
        c, listed, scales = c[:, varying] / sizes[varying], features[varying], 1.0 / sizes[varying]
        basis = np.asfortranarray(c[:, rng.permutation(c.shape[1])[:2]])
        inverse = np.asfortranarray(np.linalg.inv(basis.T @ basis + 0.1 * np.eye(2)))
        exact = np.abs((c - basis @ (inverse @ (basis.T @ c))).T @ c)
        costs = rng.random(c.shape[1])
        for count, given, room in ((count, given, room) for count in {1, min(31, c.shape[1] - 1)} for given, room in ((None, np.inf), (costs, 1.0))):
            places, values, error = design.largest_pairs(listed, scales, centred, basis, inverse, count, given, room)
            places, values = np.asarray(places), np.abs(np.asarray(values)).astype(np.float64)
            assert places.shape == values.shape == (c.shape[1], count), f"largest_pairs gave shapes {places.shape} and {values.shape}"
            assert np.isfinite(error) and error >= 0.0, f"largest_pairs says that it is off by {error}"
            for j, (at, own) in enumerate(zip(places, values)):
                assert j not in at and len(set(at.tolist())) == count, f"largest_pairs of place {j} lists itself, or another twice"
                # Of pairs that cost too much nothing is asked.
                size = exact[j] if given is None else np.where(given[j] + given <= room, exact[j], 0.0)
                assert (size[at] <= own + error + 1e-12).all(), f"largest_pairs of place {j}: a product is larger than it says"
                others = np.setdiff1d(np.arange(c.shape[1]), [*at.tolist(), j])
                assert (size[others] <= own.min() + error + 1e-12).all(), f"largest_pairs of place {j} misses a larger one"


def _check_solve(design: Any, rng: np.random.Generator) -> None:
    """Whether the answer is that of the columns, each within the other's certificate."""
    import bestset

    n, p = _shape(design)
    x = _columns(design, np.arange(p, dtype=np.int64), (n, p))
    spread = x.std(axis=0)
    chosen = rng.permutation(np.flatnonzero(spread > 1e-8 * np.abs(x).max()))[:3]
    if len(chosen) == 0 or n < 8:
        return
    y = (x[:, chosen] / spread[chosen]) @ np.array([3.0, -2.0, 1.5])[: len(chosen)] + 0.3 * rng.standard_normal(n)
    given: dict[str, Any] = {"lambda0": 0.05 * float(y @ y) / n, "lambda2": 0.1, "max_nodes": 200}
    there, here = bestset.solve(design, y, **given), bestset.solve(x, y, **given)
    assert there.status != "read_failed", "the solve could not read X"
    room = 1e-7 * abs(here.objective) + 1e-12
    assert there.lower_bound <= here.objective + room, f"the bound {there.lower_bound} is above {here.objective}"
    assert abs(there.objective - here.objective) <= max(here.gap, there.gap) + room, (
        f"the answer has P = {there.objective}, that of the columns {here.objective}"
    )
