"""Products of pairs of columns on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Products that one block gives: a gigabyte.
PRODUCTS = 1 << 28

#: Samples summed before the next are added: sums of sums round less.
SAMPLES = 1024

Singles = NDArray[np.float32]


def largest(library: Any, left: Singles, right: Singles, count: int) -> tuple[NDArray[np.int64], Singles]:
    """For each column of `left` the places of the `count` columns of `right` with the largest products in size, but for that of its own place,
    and these products: sums of at most 1024 products of single precision, and sums of these.

    Where the library may round the factors to fewer digits (TF32), sums are in double precision.
    """
    (n, p), narrow = left.shape, library.plain()
    there = [library.put(np.ascontiguousarray(x.T)) for x in (left, right)]
    kept = there if narrow else [library.wide(x) for x in there]
    places, values = np.empty((p, count), dtype=np.int64), np.empty((p, count), dtype=np.float32)
    width = max(1, PRODUCTS // p)
    for first in range(0, p, width):
        some, rows = slice(first, min(first + width, p)), None
        for sample in range(0, n, SAMPLES if narrow else n):
            part = slice(sample, min(sample + SAMPLES, n) if narrow else n)
            found = library.matmul(kept[0][some, part], kept[1][:, part].T)
            rows = found if rows is None else rows + found
        places[some], values[some] = library.top(rows, count, first)
    return places, values
