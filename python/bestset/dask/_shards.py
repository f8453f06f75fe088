"""What workers do: read a part of X, or be handed it, and multiply it by the engine's own kernels.

A shard is some neighbouring columns. Everything here is a pure function of its arguments, so that a task that was lost is done again
elsewhere with the same bits.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: Types of entries that are multiplied as they are.
PLAIN = (np.float64, np.float32, np.int8)

#: Bytes of a block that its fingerprint looks at: some here and there.
SAMPLED = 1 << 16

#: The first bytes of a .bed file whose genotypes are ordered by variants.
MAGIC = b"\x6c\x1b\x01"


class NumpyColumns:
    """Columns of a file of NumPy's in Fortran order."""

    def __init__(self, path: str, start: int, kind: str, rows: int, first: int, count: int) -> None:
        self.path, self.start, self.kind, self.rows, self.first, self.count = path, start, kind, rows, first, count

    def read(self) -> Any:
        kind = np.dtype(self.kind)
        entries = _bytes(self.path, self.start + self.first * self.rows * kind.itemsize, self.count * self.rows * kind.itemsize)
        return np.frombuffer(entries, kind).reshape((self.rows, self.count), order="F")


class PackedColumns:
    """Variants of a .bed file, two bits a person."""

    def __init__(self, path: str, people: int, first: int, count: int) -> None:
        self.path, self.people, self.first, self.count = path, people, first, count

    def read(self) -> Any:
        stride = -(-self.people // 4)
        packed = _bytes(self.path, len(MAGIC) + self.first * stride, self.count * stride)
        return self.people, np.frombuffer(packed, np.uint8)


def _bytes(path: str, start: int, count: int) -> bytes:
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        parts, left = [], count
        while left > 0:
            part = file.read(min(left, 1 << 30))
            if not part:
                raise OSError(f"{path} ends {left} bytes before the columns do: it has shrunk")
            parts.append(part)
            left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def npy_columns(path: str | os.PathLike[str]) -> tuple[int, int, int, str]:
    """Where the entries of a file begin, how many rows and columns it has, and of which type."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
        except ValueError as error:
            raise ValueError(f"{path} is neither an array of NumPy's (.npy) nor genotypes of PLINK (.bed): {error}") from error
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, kind = read(file)
        start = file.tell()
    if len(shape) != 2:
        raise ValueError(f"{path} has an array of shape {shape}; it must have two dimensions, samples and features")
    if not by_columns and min(shape) > 1:
        raise ValueError(
            f"{path} is in C order, row after row; save it by columns: bestset convert, or numpy.save(file, numpy.asfortranarray(X))"
        )
    if kind not in [np.dtype(known) for known in PLAIN]:
        raise ValueError(f"{path} has numbers of type {kind}; float64, float32 and int8 are read by workers")
    if os.path.getsize(path) < start + shape[0] * shape[1] * kind.itemsize:
        raise ValueError(f"{path} has {os.path.getsize(path)} bytes, too few for an array of shape {shape}: it is cut off")
    return start, int(shape[0]), int(shape[1]), kind.str


def bed_shape(path: str | os.PathLike[str]) -> tuple[int, int]:
    """People and variants of a .bed file, from the .fam and .bim files beside it."""
    path = os.fspath(path)
    counts = []
    for ending in (".fam", ".bim"):
        beside = os.path.splitext(path)[0] + ending
        if not os.path.exists(beside):
            raise FileNotFoundError(f"{beside} is missing: the number of rows and columns of {path} is that of its lines")
        with open(beside, "rb") as lines:
            counts.append(sum(1 for line in lines if line.strip()))
    people, variants = counts
    with open(path, "rb") as file:
        magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise ValueError(f"{path} is no .bed file ordered by variants: it begins with {magic.hex(' ')}, not with 6c 1b 01")
    size, expected = os.path.getsize(path), len(MAGIC) + -(-people // 4) * variants
    if size != expected:
        raise ValueError(f"{path} has {size} bytes; {variants} variants of {people} people take {expected}")
    return people, variants


def block(source: Any) -> Any:
    """A shard in memory as the engine's kernels take it: read here if it is a description of a file."""
    if hasattr(source, "read"):
        return source.read()
    if isinstance(source, tuple):
        return int(source[0]), ready(source[1])
    if hasattr(source, "toarray"):
        raise ValueError(
            f"a block of X is a sparse matrix ({type(source).__name__}); blocks must be arrays: X.map_blocks(lambda block: block.toarray())"
        )
    array = np.asarray(source)
    if array.ndim != 2:
        raise ValueError(f"a block of X must have two dimensions; its shape is {array.shape}")
    kind = array.dtype if array.dtype in PLAIN else np.dtype(np.float64)
    return np.require(array, dtype=kind, requirements=["F", "A"])


def fingerprint(loaded: Any) -> str:
    """Of shape, type and some bytes of a block: read again, it must be the same."""
    facts, entries = (loaded[0], loaded[1]) if isinstance(loaded, tuple) else ((loaded.shape, loaded.dtype.str), loaded)
    flat = entries.reshape(-1, order="F").view(np.uint8)
    some = flat if flat.size <= SAMPLED else flat[np.linspace(0, flat.size - 1, SAMPLED).astype(np.int64)]
    return hashlib.blake2b(repr(facts).encode() + np.ascontiguousarray(some).tobytes(), digest_size=16).hexdigest()


def ready(values: Any) -> Any:
    """By columns, and where the processor wants it: what came over the wire may lie anywhere."""
    return None if values is None else np.require(values, requirements=["F", "A"])


def correlate(source: Any, features: Places | None, vectors: Floats) -> tuple[str, Floats]:
    """The fingerprint of the shard and its products with the vectors."""
    loaded = block(source)
    return fingerprint(loaded), _core.block_correlate(loaded, ready(features), ready(vectors))


def reaching(
    source: Any, features: Places | None, vectors: Floats, limits: Floats, centre: Floats | None, scale: Floats | None
) -> tuple[str, list[tuple[Places, Floats]]]:
    """The fingerprint of the shard and, for each vector, the columns whose products with it are not below its limit in size."""
    seen, products = correlate(source, features, vectors)
    if centre is not None and scale is not None:
        products = (products - centre[:, None] * vectors.sum(axis=0)) / scale[:, None]
    found = []
    for row, limit in zip(products.T, limits):
        at = np.flatnonzero(~(np.abs(row) < limit))
        found.append((at if features is None else features[at], row[at]))
    return seen, found


def columns(source: Any, features: Places) -> tuple[str, Floats]:
    """The fingerprint of the shard and some of its columns."""
    loaded = block(source)
    return fingerprint(loaded), _core.block_columns(loaded, ready(features))


def moments(source: Any, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> tuple[str, Floats]:
    """The fingerprint of the shard and the moments of its columns."""
    loaded = block(source)
    return fingerprint(loaded), _core.block_moments(loaded, ready(weights), ready(centre), ready(scale))


def shape(source: Any) -> tuple[int, int]:
    """Samples and features of a shard."""
    loaded = block(source)
    if isinstance(loaded, tuple):
        return loaded[0], loaded[1].size // -(-loaded[0] // 4)
    return int(loaded.shape[0]), int(loaded.shape[1])


def as_it_is(values: Any) -> Any:
    """What all shards of a sweep are multiplied with, sent once; a task, so that it is made again where the worker that has it is lost."""
    return values
