"""Products of pairs of columns on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import GROUP

#: Products that one block gives: a gigabyte.
PRODUCTS = 1 << 28

#: Columns for which a block of rows has room at least: of each row some thousand entries are sorted.
NARROW = 1 << 14

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


class Order:
    """The order of their costs, in which the features that one may be beside are the first so many.

    With c_j the cost of feature j, ascending, those k with c_j + c_k <= room are fewer for every next j.
    """

    def __init__(self, p: int, costs: Any, room: float) -> None:
        self.count = p
        self.places = np.arange(p) if costs is None else np.argsort(costs, kind="stable")
        self.ranks = np.empty(p, dtype=np.int64)
        self.ranks[self.places] = np.arange(p)
        # As the engine compares them: c_j + c_k, rounded, is not above the room.
        self.sorted: Any = None if costs is None else np.asarray(costs)[self.places]
        self.room = room

    def beside(self, rank: int) -> int:
        """How many features, the first in order, the one of this rank may be beside, and all that come after it."""
        if self.sorted is None:
            return self.count
        # Sums grow with what is added to, so that the first that is too large is found by halving.
        low, high, own = 0, self.count, self.sorted[rank]
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if own + self.sorted[middle] <= self.room else (low, middle)
        return low


def largest_pairs(
    library: Any, n: int, blocks: Any, basis: Any, inverse: Any, count: int, order: Order, scales: Any, centred: bool
) -> Any:
    """As `largest` of the columns c, scaled and centred, and of c - basis @ inverse @ basis.T @ c, which are made there block by block; and what an
    entry may be off by.

    The factors are rounded as the library multiplies fastest. What is lost of each is measured, so that by Cauchy and Schwarz no product is off
    by more than the lengths of what is lost say. Rows and columns are in the order of the costs, so that each row is multiplied with the first
    so many columns alone.
    """
    there, shrunk, p = library.put(basis), library.put(inverse), order.count
    width = -(-p // GROUP) * GROUP
    columns, rests = (library.rough_zeros(width, n) for _ in range(2))
    # The longest column and the longest rest, and the most that is lost of each.
    longest, lost = [0.0, 0.0], [0.0, 0.0]
    for places, block in blocks:
        block = block * library.put(scales[None, places])
        if centred:
            block = block - library.mean(block)
        rest = block
        if basis.shape[1] > 0:
            rest = block - library.matmul(there, library.matmul(shrunk, library.matmul(there.T, block)))
        at = library.listed(order.ranks[places])
        for k, (kept, made) in enumerate(((columns, block), (rests, rest))):
            rough = library.rough(made.T)
            kept[at, :] = rough
            size, gone = library.lengths(made.T, rough)
            longest[k], lost[k] = max(longest[k], size), max(lost[k], gone)
    # Made in double precision, of which a thousandth of what single precision loses is more than enough.
    error = longest[0] * lost[1] + longest[1] * lost[0] + lost[0] * lost[1] + 2.0**-30 * longest[0] * longest[1]
    error += library.rough_rounding(n) * (longest[0] + lost[0]) * (longest[1] + lost[1])
    (places, values), sorted_places = library.rough_lists(p, count), library.listed(order.places)
    first = 0
    while first < p:
        # As many as are listed there are at least: of those that are too many whatever is said serves. All of the last group count, as
        # `rough_top` finds entries by the largest of their group: one that did not count would stand in the place of a group whose entries do.
        own = -(-min(p, max(order.beside(first), count + 1)) // GROUP) * GROUP
        most = min(p, own)
        some = slice(first, min(first + max(1, library.rough_block // max(own, NARROW)), p))
        products = library.rough_products(rests[some, :], columns[:own, :])
        found, sizes = library.rough_top(products, count, first, most)
        places[sorted_places[some], :], values[sorted_places[some], :] = sorted_places[found], sizes
        first = some.stop
    # Larger by what an output may have been rounded by.
    values *= 1.0 + library.rough_output
    return library.host(places), library.host(values), float(error) * (1.0 + 1e-6)
