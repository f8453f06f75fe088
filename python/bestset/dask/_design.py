"""X on a cluster: parts of neighbouring columns, each of which a worker reads or holds."""

from __future__ import annotations

import contextlib
import copy
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import elsewhere
from . import _parts, _shards
from ._cluster import Cluster

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: Bytes of a part of a file, unless the number of its columns is given.
PART = 128 << 20


class DaskDesign:
    """X in parts of neighbouring columns; `bestset.elsewhere` says what the engine asks of it.

    Made by `open`, `from_array` and `from_delayed`. The sums are those of the engine's own kernels, each entry with the bits that it has
    in one process, whatever the parts and however many workers there are.

    Parameters
    ----------
    sources : sequence
        The parts, in order: delayed blocks, futures, or descriptions of files.
    widths : sequence of int
        How many columns each of them has.
    rows : int
        The number of samples.
    client : distributed.Client, optional
        The one that is open, unless given; without any, Dask's own scheduler does the work.
    itemsize : int, optional
        Bytes of an entry of blocks that are arrays.
    """

    def __init__(
        self, sources: Sequence[Any], widths: Sequence[int], rows: int, client: Any = None, itemsize: int | None = None
    ) -> None:
        self.sources = list(sources)
        self.starts = np.concatenate([[0], np.cumsum(np.asarray(widths, dtype=np.int64))])
        self.shape = (int(rows), int(self.starts[-1]))
        self.rounding = (2.0**-53, float(rows))
        #: How many there are, if it is known and a worker could have all of them as an array.
        self.bytes = None if itemsize is None else itemsize * self.shape[0] * self.shape[1]
        self.cluster = Cluster(client)
        self._client = client
        self.array: Any = None
        self._prints: list[str | None] = [None] * len(self.sources)

    def on(self, client: Any = None) -> DaskDesign:
        """The same X, its tasks done by `client`; without one by that it was made with, or by the one that is open now."""
        cluster = Cluster(self._client if client is None else client)
        if cluster.client is self.cluster.client:
            return self
        other = copy.copy(self)
        other.cluster = cluster
        return other

    def watch(self, stopped: Any) -> None:
        """Gives up a sweep where the solve is to end."""
        self.cluster.stopped = stopped

    def correlate(self, features: Places | None, vectors: Floats) -> Floats:
        """``X[:, features].T @ vectors``."""
        shared = self.cluster.shared(np.asfortranarray(vectors))
        out = np.empty((self.shape[1] if features is None else len(features), vectors.shape[1]))
        self._sweep(features, out, lambda k, places: (_shards.correlate, self.sources[k], places, shared))
        return out

    def reaching(
        self, features: Places | None, vectors: Floats, limits: Floats, centre: Floats | None, scale: Floats | None
    ) -> list[tuple[Places, Floats]]:
        """For each vector the features whose products with it are not below its limit in size, picked out by the workers."""
        shared = self.cluster.shared(np.asfortranarray(vectors))
        parts = self._parts(features)

        def own(of: Floats | None, k: int, local: Places | None) -> Floats | None:
            part = None if of is None else of[self.starts[k] : self.starts[k + 1]]
            return part if part is None or local is None else part[local]

        tasks = [
            self.cluster.task(_shards.reaching, self.sources[k], local, shared, limits, own(centre, k, local), own(scale, k, local))
            for k, _, local in parts
        ]
        lists: list[list[tuple[Places, Floats]]] = [[] for _ in range(vectors.shape[1])]
        for (k, _, _), (seen, found) in zip(parts, self.cluster.run(tasks)):
            self._same(k, seen)
            for all_parts, (at, values) in zip(lists, found):
                all_parts.append((at + self.starts[k], values))
        return [(np.concatenate([at for at, _ in one]), np.concatenate([values for _, values in one])) for one in lists]

    def columns(self, features: Places) -> Floats:
        """``X[:, features]``."""
        out = np.empty((self.shape[0], len(features)), order="F")
        self._sweep(features, out.T, lambda k, places: (_shards.columns, self.sources[k], places), transposed=True)
        return out

    def moments(self, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> Floats:
        """Mean, sum of squares and centred sum of squares of the columns, or of (x - centre) / scale."""
        shared = None if weights is None else self.cluster.shared(weights)

        def own(of: Floats | None, k: int) -> Floats | None:
            return None if of is None else of[self.starts[k] : self.starts[k + 1]]

        out = np.empty((self.shape[1], 3))
        self._sweep(None, out, lambda k, _: (_shards.moments, self.sources[k], shared, own(centre, k), own(scale, k)))
        return out

    def _sweep(self, features: Places | None, out: Floats, task: Any, transposed: bool = False) -> None:
        """One task for each part that has some of the features; their results in the places of `out`."""
        parts = self._parts(features)
        found = self.cluster.run([self.cluster.task(*task(k, local)) for k, _, local in parts])
        for (k, places, _), (seen, values) in zip(parts, found):
            self._same(k, seen)
            own = values.T if transposed else values
            wanted = out[places].shape
            if own.shape != wanted:
                raise RuntimeError(f"part {k} of X gave an array of shape {own.shape}, expected {wanted}: it has changed")
            out[places] = own

    def _parts(self, features: Places | None) -> list[tuple[int, Any, Any]]:
        """The parts that have some of the features: their numbers, the places of their features in the list, and which of their columns
        these are."""
        if features is None:
            return [(k, slice(*self.starts[k : k + 2]), None) for k in range(len(self.sources))]
        owners = np.searchsorted(self.starts, features, side="right") - 1
        parts: list[tuple[int, Any, Any]] = []
        for k in np.unique(owners):
            places = np.flatnonzero(owners == k)
            parts.append((int(k), places, np.asarray(features[places] - self.starts[k], dtype=np.int64)))
        return parts

    def _same(self, k: int, seen: str) -> None:
        if self._prints[k] is None:
            self._prints[k] = seen
        elif self._prints[k] != seen:
            raise RuntimeError(
                f"part {k} of X (columns {self.starts[k]} to {self.starts[k + 1] - 1}) is not what it was when it was read before: "
                "its file was changed, or what makes it gives other numbers each time (persist it, or fix its seed)"
            )

    def __repr__(self) -> str:
        return f"DaskDesign(shape={self.shape}, parts={len(self.sources)})"


def open(path: str | os.PathLike[str], *, columns: int | None = None, impute: str = "mean", client: Any = None) -> DaskDesign:
    """X in a file that every worker can read: a NumPy array in Fortran order, or PLINK's genotypes.

    Workers read their parts by position, in every sweep; what a worker has read is not kept.

    Parameters
    ----------
    path : path
        ``.npy`` (float64, float32 or int8, by columns) or ``.bed`` with its ``.fam`` and ``.bim``, under the same name on all
        workers.
    columns : int, optional
        Columns of a part; None for some 128 MB.
    impute : {"mean"}
        What a genotype that is not known is taken for: the mean of the others of its variant, which is zero once centred.
    client : distributed.Client, optional
        The one that is open, unless given.
    """
    if "://" in os.fspath(path):
        raise ValueError(f"{path} is an address; workers read files of a folder that all of them have. Blocks from elsewhere: from_delayed")
    path = os.path.abspath(os.fspath(path))
    if impute != "mean":
        raise ValueError(f"impute is {impute!r}; it must be 'mean'")
    if path.endswith(".bed"):
        rows, p = _shards.bed_shape(path)
        width = _width(columns, p, -(-rows // 4))
        starts = range(0, p, width)
        packed = [_shards.PackedColumns(path, rows, first, min(width, p - first)) for first in starts]
        return DaskDesign(packed, [part.count for part in packed], rows, client)
    start, rows, p, kind = _shards.npy_columns(path)
    width = _width(columns, p, rows * np.dtype(kind).itemsize)
    plain = [_shards.NumpyColumns(path, start, kind, rows, first, min(width, p - first)) for first in range(0, p, width)]
    return DaskDesign(plain, [part.count for part in plain], rows, client, np.dtype(kind).itemsize)


def _width(given: int | None, p: int, size: int) -> int:
    if given is not None:
        if given != int(given) or given < 1:
            raise ValueError(f"columns is {given!r}; it must be a whole number, at least 1")
        return int(given)
    return max(1, min(p, PART // max(1, size)))


def from_array(X: Any, client: Any = None) -> DaskDesign:
    """A dask array with chunks by columns: ``chunks=(-1, width)``.

    What is not persisted is computed anew in every sweep: ``X = X.persist()`` where the memory of the workers holds it.
    """
    if not hasattr(X, "chunks") or not hasattr(X, "to_delayed"):
        raise TypeError(f"X is {type(X).__name__}, not a dask array: dask.array.from_array(X, chunks=(-1, width))")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, samples and features; its shape is {X.shape}")
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        raise ValueError(
            "the sizes of the chunks of X are not known; X.compute_chunk_sizes() finds them out (one look at all of X)"
        )
    if len(X.chunks[0]) > 1:
        raise ValueError(
            f"X has {len(X.chunks[0])} chunks of rows; a part of X must have all samples of its columns: "
            "X = X.rechunk({0: -1, 1: 'auto'}), and persist it, since rechunking moves all of X"
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X is of type {X.dtype}; it must be real numbers")
    made = DaskDesign(list(X.to_delayed().ravel()), X.chunks[1], X.shape[0], client, X.dtype.itemsize)
    # What was persisted is given up with the last reference to it.
    made.array = X
    return made


def from_delayed(blocks: Sequence[Any], widths: Sequence[int] | None = None, rows: int | None = None, client: Any = None) -> DaskDesign:
    """Delayed blocks or futures, each an array with all samples of some neighbouring columns.

    Parameters
    ----------
    blocks : sequence
        In the order of their columns.
    widths : sequence of int, optional
        How many columns each has, and `rows` how many samples all have; None to find it out, which makes each of them once.
    """
    blocks = list(blocks)
    if not blocks:
        raise ValueError("there are no blocks")
    if widths is None or rows is None:
        cluster = Cluster(client)
        shapes = cluster.run([cluster.task(_shards.shape, block) for block in blocks])
        heights = sorted({height for height, _ in shapes})
        if len(heights) > 1:
            raise ValueError(f"blocks have {heights} rows; each must have all samples")
        rows, widths = heights[0], [width for _, width in shapes]
    if len(widths) != len(blocks):
        raise ValueError(f"there are {len(blocks)} blocks and {len(widths)} widths")
    return DaskDesign(blocks, widths, rows, client)


@contextlib.contextmanager
def given(X: Any, client: Any = None) -> Iterator[Any]:
    """X as the engine takes it while a call lasts.

    A small one comes here, and its folds and slices of trees are tasks; a large one stays in its parts, and its sweeps are tasks.
    """
    far = design(X, client)
    # An array in a file of its own is read from there, not sent about.
    here = isinstance(far, np.ndarray) and elsewhere.design(far) is None
    size = far.nbytes if here else far.bytes if isinstance(far, DaskDesign) else None
    if size is None or size > _parts.WHOLE:
        yield far
        return
    if here:
        # In a task of its own, so that it is sent once.
        cluster, x = Cluster(client), np.asfortranarray(far)
        sources = [cluster.shared(x)]
    else:
        cluster, sources = far.cluster, far.sources
        (x,) = cluster.run([cluster.task(_parts.whole, *sources)])
    # Dask's own schedulers work in this process: a part of a selection would wait there for the selection it is a part of.
    is_spread = cluster.client is not None
    with _parts.spread(cluster, sources) if is_spread else contextlib.nullcontext():
        yield x


def design(X: Any, client: Any = None) -> Any:
    """X as it is, if it lives elsewhere or in this process; a dask array as a design."""
    if isinstance(X, DaskDesign):
        return X.on(client)
    if elsewhere.design(X) is not None:
        return X
    if hasattr(X, "dask") and hasattr(X, "chunks"):
        return from_array(X, client)
    if hasattr(X, "dask") and hasattr(X, "to_dask_array"):
        raise ValueError(
            "X is a dask data frame, in parts of rows; as an array by columns: "
            "X.to_dask_array(lengths=True).rechunk({0: -1, 1: 'auto'}).persist()"
        )
    return X
