"""A dense array on a device."""

from __future__ import annotations

import contextlib
from ctypes import c_double, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from . import _pairs
from ._arrays import Floats, Places, library, taken

#: Entries that are widened at once where there are no kernels: a gigabyte.
WIDENED = 1 << 27

#: Entries that one call multiplies at most where there are no kernels; Ctrl-C is looked at between two calls.
TRIP = 1 << 33

#: Numbers that one launch of kernels gives at most: two gigabytes.
GIVEN = 1 << 28

#: Vectors that kernels multiply at once; columns that a warp has, and threads of a block.
TOGETHER, COLUMNS, THREADS = (1, 2, 4, 8), 4, 128

#: Warps, or threads where rows are contiguous, that a device should have to do; rows are divided where there are fewer columns.
WARPS, ALONE = 1 << 13, 1 << 18

#: Rows of a part at least.
SHORTEST = 1 << 10


class DeviceDesign:
    """A dense array on a device; `bestset.elsewhere` says what the engine asks of it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Of PyTorch, CuPy, JAX or another library of the array API, in float64, float32 or int8. Arrays of PyTorch and CuPy on a device of
        CUDA are read where they are, by columns (``X.T`` contiguous) or by rows; others are widened block by block.
    """

    def __init__(self, X: Any) -> None:
        X = taken(X)
        self.array, self.library = X, library(X)
        if len(X.shape) != 2:
            raise ValueError(f"X must have two dimensions, samples and features; its shape is {tuple(X.shape)}")
        kind = self.library.kind(X)
        if kind not in ("float64", "float32", "int8", "uint8"):
            raise ValueError(f"X is of type {kind} on its device; float64, float32 and int8 are multiplied there")
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.rounding = (2.0**-53, float(self.shape[0]))
        self.kernels, self.by, self.step = self._laid(kind)
        self._view: Any = None
        self.trip = None if self.kernels is not None else max(1, TRIP // self.shape[0])

    def _laid(self, kind: str) -> tuple[Any, str, int]:
        """Kernels, whether columns or rows are contiguous, and how far apart they are."""
        n, p = self.shape
        found = self.library.kernels("dense", kind) if 0 < n < 1 << 31 and p > 0 else None
        if found is None:
            return None, "", 0
        down, across = self.library.steps(self.array)
        if (down == 1 or n == 1) and across >= 0:
            return found, "columns", across
        if (across == 1 or p == 1) and down >= 0:
            return found, "rows", down
        return None, "", 0

    def correlate(self, features: Places | None, vectors: Floats) -> Floats:
        """``X[:, features].T @ vectors``."""
        if self.kernels is not None:
            with self.library.current():
                return self._launched(features, vectors).T
        there = self.library.put(vectors.T)
        out = np.empty((vectors.shape[1], self.shape[1] if features is None else len(features)))
        for places, block in self._blocks(features):
            out[:, places] = self.library.host(self.library.matmul(there, block))
        return out.T

    def reaching(
        self, features: Places | None, vectors: Floats, limits: Floats, centre: Floats | None, scale: Floats | None
    ) -> list[tuple[Places, Floats]]:
        """For each vector the features whose products with it are not below its limit in size, and these products."""
        m, found = vectors.shape[1], [[] for _ in range(vectors.shape[1])]  # type: ignore[var-annotated]
        with self.library.current() if self.kernels is not None else contextlib.nullcontext():
            for first, places, rows in self._swept(features, vectors):
                seen = self._seen(features, places, centre, scale)
                for v in range(first, min(m, first + int(rows.shape[0]))):
                    row = rows[v - first, :]
                    if seen is not None:
                        row = (row - seen[0] * float(vectors[:, v].sum())) / seen[1]
                    at, values = self.library.reaching(row, float(limits[v]))
                    at = at + places.start
                    found[v].append((at if features is None else features[at], values))
        return [_joined(parts) for parts in found]

    def _swept(self, features: Places | None, vectors: Floats) -> Any:
        """The first of some vectors, places, and on the device a row of products for each of these vectors."""
        if self.kernels is None:
            there = self.library.put(vectors.T)
            for places, block in self._blocks(features):
                yield 0, places, self.library.matmul(there, block)
            return
        count = self.shape[1] if features is None else len(features)
        for first in range(0, vectors.shape[1], self._most(count)):
            rows, _ = self._some_rows(features, count, vectors[:, first : first + self._most(count)], whole=True)
            yield first, slice(0, count), rows

    def _seen(self, features: Places | None, places: slice, centre: Floats | None, scale: Floats | None) -> Any:
        """Centres and scales of some places, on the device, where those that were given last are kept."""
        if centre is None or scale is None:
            return None
        if self._view is None or self._view[0] is not centre or self._view[1] is not scale:
            self._view = (centre, scale, self.library.put(centre), self.library.put(scale))
        own = self._view[2:]
        if features is not None:
            return [self.library.take(values, features[places], 0) for values in own]
        return [values[places] for values in own]

    def _most(self, count: int) -> int:
        """Vectors of one launch."""
        return max(TOGETHER[-1], GIVEN // max(count, 1) // TOGETHER[-1] * TOGETHER[-1])

    def _launched(self, features: Places | None, vectors: Floats) -> Floats:
        """One row for each vector."""
        count, m = self.shape[1] if features is None else len(features), vectors.shape[1]
        most = self._most(count)
        found = [self._some_vectors(features, count, vectors[:, first : first + most]) for first in range(0, m, most)]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _some_rows(self, features: Places | None, count: int, vectors: Floats, whole: bool = False) -> tuple[Any, int]:
        """On the device one row for each vector, or for each part of the rows of X and each vector of a launch; how many parts."""
        (n, m), library = vectors.shape, self.library
        groups = _groups(m)
        # Those that fill up the last group are zero.
        there = library.put(np.concatenate([vectors.T, np.zeros((sum(groups) - m, n))]))
        listed = None if features is None else library.put(np.asarray(features, dtype=np.int64))
        grid, parts, length = self._divided(count, n)
        parts, length = (1, n) if whole else (parts, length)
        out, first = library.zeros((sum(groups) * parts, count)), 0
        for group in groups:
            self.kernels.launch(
                f"by_{self.by}_{group}", (grid, parts), THREADS, library.stream(), c_void_p(library.address(self.array)),
                c_int64(self.step), c_void_p(None if listed is None else library.address(listed)), c_int64(count), c_int(n), c_int(length),
                c_void_p(library.address(there) + 8 * first * n), c_void_p(library.address(out) + 8 * first * parts * count),
            )  # fmt: skip
            first += group
        return out, parts

    def _some_vectors(self, features: Places | None, count: int, vectors: Floats) -> Floats:
        m, library = vectors.shape[1], self.library
        out, parts = self._some_rows(features, count, vectors)
        if parts == 1:
            return library.host(out[:m])  # type: ignore[no-any-return]
        groups = _groups(m)
        sums, first = np.empty((sum(groups), count)), 0
        given = library.host(out)
        for group in groups:
            own = given[first * parts : (first + group) * parts].reshape(parts, group, count)
            sums[first : first + group] = own.sum(axis=0)
            first += group
        return sums[:m]

    def _divided(self, count: int, n: int) -> tuple[int, int, int]:
        """Blocks of threads, parts of the rows where few columns would leave a device idle, and rows of a part."""
        if self.by == "columns":
            blocks, wanted = -(-count // (COLUMNS * THREADS // 32)), WARPS // -(-count // COLUMNS)
        else:
            blocks, wanted = -(-count // THREADS), ALONE // count
        parts = max(1, min(wanted, n // SHORTEST))
        length = -(-n // parts)
        return blocks, -(-n // length), length

    def _blocks(self, features: Places | None) -> Any:
        """Places, and the columns there in double precision."""
        n, p = self.shape
        count, width = p if features is None else len(features), max(1, WIDENED // n)
        for first in range(0, count, width):
            places = slice(first, min(first + width, count))
            if features is None:
                part = self.array[:, places]
            else:
                part = self._some(features[places])
            yield places, self.library.wide(part)

    def _some(self, features: Places) -> Any:
        """Columns of a list; neighbours need no copy."""
        if len(features) == features[-1] - features[0] + 1 and bool(np.all(np.diff(features) == 1)):
            return self.array[:, int(features[0]) : int(features[-1]) + 1]
        return self.library.take(self.array, features, 1)

    def columns(self, features: Places) -> Floats:
        """``X[:, features]``."""
        out = np.empty((self.shape[0], len(features)), order="F")
        for places, block in self._blocks(np.asarray(features)):
            out[:, places] = self.library.host(block)
        return out

    def moments(self, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> Floats:
        """Mean, sum of squares and centred sum of squares of the columns, or of (x - centre) / scale."""
        if self.kernels is not None:
            with self.library.current():
                return self._launched_moments(weights, centre, scale)
        n, p = self.shape
        own = np.ones(n) if weights is None else weights
        total, library = float(own.sum()), self.library
        row = library.put(own[None, :])
        out = np.empty((p, 3))
        for places, block in self._blocks(None):
            if centre is not None and scale is not None:
                block = (block - library.put(centre[None, places])) / library.put(scale[None, places])
            mean = library.matmul(row, block) / total
            squares = library.matmul(row, block * block)
            block = block - mean
            # What rounding left in the mean is taken out again, or a constant column would seem to vary.
            left = library.host(library.matmul(row, block))[0]
            centred = library.host(library.matmul(row, block * block))[0] - left * left / total
            squares = library.host(squares)[0]
            out[places, 0] = library.host(mean)[0] + left / total
            out[places, 1] = squares
            out[places, 2] = np.minimum(np.maximum(centred, 0.0), squares)
        return out

    def _launched_moments(self, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> Floats:
        (n, p), library = self.shape, self.library
        given = [None if values is None else library.put(values) for values in (weights, centre, scale)]
        out = library.zeros((3, p))
        across = THREADS // 32 if self.by == "columns" else THREADS
        self.kernels.launch(
            f"moments_by_{self.by}", (-(-p // across), 1), THREADS, library.stream(), c_void_p(library.address(self.array)),
            c_int64(self.step), c_int64(p), c_int(n), *(c_void_p(None if x is None else library.address(x)) for x in given),
            c_double(n if weights is None else float(weights.sum())), c_void_p(library.address(out)),
        )  # fmt: skip
        found: Floats = library.host(out).T
        return found

    def largest(self, left: Any, right: Any, count: int) -> Any:
        """For each column of `left` the places of the `count` largest products with those of `right`, but for its own place, and these."""
        with self.library.current() if self.kernels is not None else contextlib.nullcontext():
            return _pairs.largest(self.library, left, right, count)

    @property
    def largest_pairs(self) -> Any:
        """`_largest_pairs`, where that is faster than copies of columns are; else there is no such attribute."""
        if not self.library.lists_pairs:
            raise AttributeError("pairs of columns are not multiplied faster there than columns are copied")
        return self._largest_pairs

    def _largest_pairs(
        self, features: Places, scales: Floats, centred: bool, basis: Floats, inverse: Floats, count: int, costs: Floats | None, room: float
    ) -> Any:
        """For each of the features the places of the `count` others whose scaled columns have the largest products with what the basis leaves of
        its own, these products, and what they may be off by; among pairs whose costs are together not above `room`."""
        with self.library.current() if self.kernels is not None else contextlib.nullcontext():
            blocks, order = self._blocks(np.asarray(features)), _pairs.Order(len(features), costs, room)
            return _pairs.largest_pairs(self.library, self.shape[0], blocks, basis, inverse, count, order, scales, centred)

    def __repr__(self) -> str:
        return f"DeviceDesign(shape={self.shape}, device={self.library.device})"


def _joined(parts: list[tuple[Places, Floats]]) -> tuple[Places, Floats]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([at for at, _ in parts]), np.concatenate([values for _, values in parts])


def _groups(m: int) -> list[int]:
    """How many vectors launches have, so that all of m are done."""
    most = TOGETHER[-1]
    left = m % most
    return [most] * (m // most) + ([next(size for size in TOGETHER if size >= left)] if left else [])
