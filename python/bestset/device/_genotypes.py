"""Packed genotypes on a device."""

from __future__ import annotations

import contextlib
from ctypes import c_int, c_int64, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from . import _pairs
from ._arrays import Floats, Places, library, taken
from ._dense import TRIP, WIDENED

#: People of packed genotypes: sums of their digits fit into 32 bits.
MOST_PEOPLE = 1 << 20

#: Digits of eight bits of a whole number of 63.
DIGITS = 8

#: Rows of packed genotypes that a block of threads has at least, and that a warp has: these begin at the same place of sixteen bytes.
BLOCK, WARP, ALIKE = 128, 32, 16

#: Sixty-four bytes of a row that are added up in 32 bits: 4 * 16 * 2000 people of each place in a byte, 2^14 each at the most.
LONGEST = 2000

#: Whole numbers whose digits are laid out on the device at the same time.
LAID = 16


class DeviceGenotypes:
    """Packed genotypes on a device, two bits a person as in a ``.bed`` file, multiplied by exact sums of whole numbers.

    Entries are copies of the first allele: 2 for code 00, 1 for 10, 0 for 11; code 01, not known, is the mean of the variant's others.

    Parameters
    ----------
    packed : uint8 array of shape (n_variants, ceil(people / 4))
        A ``.bed`` file without its first three bytes, on the device.
    people : int
        How many people there are.
    """

    def __init__(self, packed: Any, people: int) -> None:
        self.packed = packed = taken(packed)
        self.library = library(packed)
        stride = -(-people // 4)
        if len(packed.shape) != 2 or int(packed.shape[1]) != stride or self.library.kind(packed) != "uint8":
            raise ValueError(
                f"packed genotypes of {people} people are an array of uint8 of shape (n_variants, {stride}); this one is of "
                f"{self.library.kind(packed)} and has shape {tuple(packed.shape)}"
            )
        if people > MOST_PEOPLE:
            raise ValueError(f"there are {people} people; sums are exact for up to {MOST_PEOPLE}")
        self.shape = (int(people), int(packed.shape[0]))
        self.rounding = (2.0**-53, float(people) + 16.0)
        self.kernels = self._known_kernels()
        self.trip = None if self.kernels is not None else max(1, TRIP // people)
        self._all: Any = None
        counts = self._sums(None, [Whole(np.ones(people))])
        self.missing = counts["missing"][0]
        known = people - self.missing
        self.mean = np.divide(counts["copies"][0], known, out=np.zeros(len(known)), where=known > 0)

    def _known_kernels(self) -> Any:
        found = self.library.kernels("genotypes") if 0 < self.shape[1] < 1 << 31 else None
        if found is None or self.library.steps(self.packed) != (int(self.packed.shape[1]), 1) and self.shape[1] > 1:
            return None
        return found

    def _part(self, places: Any) -> Any:
        return self.packed[places, :] if isinstance(places, slice) else self.library.take(self.packed, places, 0)

    def _sums(self, features: Places | None, numbers: list[Whole], ones: bool = False) -> dict[str, Floats]:
        """Sums over the people of whole numbers times copies, over those with one copy if `ones`, and over those with none known."""
        if self.kernels is None:
            return self._library_sums(features, numbers)
        with self.library.current():
            found = {"copies": self._launched(features, numbers, False)}
            out = {"copies": found["copies"][:, 0], "missing": found["copies"][:, 1]}
            if ones:
                out["one"] = self._launched(features, numbers, True)[:, 0]
        return out

    def _launched(self, features: Places | None, numbers: list[Whole], ones: bool) -> Floats:
        """For each number its sums over copies, or over those with one, and over those not known."""
        levels = [(k, level) for k, number in enumerate(numbers) for level in number.levels]
        rows, places, laid = self._listed(features)
        count = self.shape[1] if features is None else len(features)
        out = np.zeros((len(numbers), 2, count))
        # The smallest first: what is added to is no larger than what it has.
        levels.sort(key=lambda level: level[1][1])
        for first in range(0, len(levels), LAID):
            some = levels[first : first + LAID]
            found = self._multiplied([level[0] for _, level in some], (rows, places, laid), count, ones)
            for (k, (_, exponent)), sums in zip(some, found):
                out[k] += np.ldexp(sums, exponent)
        return out

    def _listed(self, features: Places | None) -> tuple[Any, Any, int]:
        """Rows on the device in groups that begin alike, the place of each in the answer (none for those that fill up), and how many."""
        if features is None:
            if self._all is None:
                self._all = self._listed(np.arange(self.shape[1]))
            return self._all  # type: ignore[no-any-return]
        rows, places = grouped(np.asarray(features))
        return self.library.put(rows), self.library.put(places), len(rows)

    def _multiplied(self, numbers: list[NDArray[np.int64]], listed: tuple[Any, Any, int], count: int, ones: bool) -> Floats:
        """Sums of each list of whole numbers, in units of one."""
        rows, places, listed_rows = listed
        (people, _), library, stride = self.shape, self.library, int(self.packed.shape[1])
        words = stride // 4 + 32
        size = 4 * words * 4 * 4 * DIGITS
        laid = library.zeros((len(numbers), size), "int8")
        for k, whole in enumerate(numbers):
            there = library.put(whole)
            self.kernels.launch(
                "lay_digits", (-(-people // 128), 1), 128, library.stream(), c_void_p(library.address(there)), c_int(people),
                c_int64(words), c_void_p(library.address(laid) + k * size),
            )  # fmt: skip
        parts = -(-(stride + 78) // 64 // LONGEST) or 1
        out, first = library.zeros((len(numbers) * parts * 2, count)), 0
        while first < len(numbers):
            together = 1 if ones or len(numbers) - first == 1 else 2
            name = "genotypes_ones" if ones else f"genotypes_{together}"
            self.kernels.launch(
                name, (listed_rows // (BLOCK // together), parts), BLOCK, library.stream(), c_void_p(library.address(self.packed)),
                c_int64(stride), c_void_p(library.address(rows)), c_void_p(library.address(places)), c_int64(count),
                c_void_p(library.address(laid) + first * size), c_int64(words), c_int64(LONGEST),
                c_void_p(library.address(out) + 8 * first * parts * 2 * count),
            )  # fmt: skip
            first += together
        given = library.host(out)
        if parts == 1:
            return given.reshape(len(numbers), 2, count)  # type: ignore[no-any-return]
        found, first = np.empty((len(numbers), 2, count)), 0
        while first < len(numbers):
            together = 1 if ones or len(numbers) - first == 1 else 2
            own = given[first * parts * 2 : (first + together) * parts * 2].reshape(parts, together, 2, count)
            found[first : first + together] = own.sum(axis=0)
            first += together
        return found

    def _library_sums(self, features: Places | None, numbers: list[Whole]) -> dict[str, Floats]:
        """By products of the library.

        With the bits (high, low) of a code, copies = 2 - high - 2 low + both, one = high - both, missing = low - both: sums of digits over
        the bits that are set in 'low', in 'high' and in both, for one person of each byte after the other.
        """
        n, p = self.shape
        library, count = self.library, p if features is None else len(features)
        digits = np.concatenate([number.digits() for number in numbers], axis=1)
        totals = digits.sum(axis=0, dtype=np.float64)
        # Sizes that are multiples of sixteen are what units for whole numbers want.
        stride = -(-int(self.packed.shape[1]) // 16) * 16
        laid = np.zeros((4 * stride, -(-digits.shape[1] // 16) * 16), dtype=np.int8)
        laid[:n, : digits.shape[1]] = digits
        planes = [library.put(laid[k::4]) for k in range(4)]
        out = {name: np.empty((len(numbers), count)) for name in ("copies", "one", "missing")}
        width = max(1, library.together // n)
        for first in range(0, count, width):
            at = slice(first, min(first + width, count))
            low = library.padded(self._part(at if features is None else features[at]), stride)
            high = low >> 1
            found = [_set_bits(library, bits, planes)[:, : digits.shape[1]] for bits in (low, high, low & high)]
            lower, upper, both = (library.host(sums) for sums in found)
            out["copies"][:, at] = _together(2.0 * totals - upper - 2.0 * lower + both, numbers)
            out["one"][:, at] = _together(upper - both, numbers)
            out["missing"][:, at] = _together(lower - both, numbers)
        return out

    def correlate(self, features: Places | None, vectors: Floats) -> Floats:
        """``X[:, features].T @ vectors``."""
        numbers = [Whole(vector) for vector in vectors.T]
        chosen = slice(None) if features is None else features
        sums = self._sums(features, numbers)
        found: Floats = (sums["copies"] + self.mean[chosen] * sums["missing"]).T
        return found

    def columns(self, features: Places) -> Floats:
        """``X[:, features]``."""
        n, out = self.shape[0], np.empty((self.shape[0], len(features)), order="F")
        width = max(1, WIDENED // n)
        for first in range(0, len(features), width):
            packed = self.library.host(self._part(np.asarray(features[first : first + width])))
            out[:, first : first + width] = _core.block_columns((n, np.ascontiguousarray(packed).reshape(-1)), None)
        return out

    def moments(self, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> Floats:
        """Mean, sum of squares and centred sum of squares of the variants, or of (x - centre) / scale."""
        own = np.ones(self.shape[0]) if weights is None else weights
        total = float(own.sum())
        sums = self._sums(None, [Whole(own)], ones=True)
        copies, one, missing = (sums[name][0] for name in ("copies", "one", "missing"))
        two = np.maximum(0.5 * (copies - one), 0.0)
        none = np.maximum(total - two - one - missing, 0.0)
        mean = (copies + self.mean * missing) / total
        squares = 4.0 * two + one + self.mean**2 * missing
        parts = zip((two, one, none, missing), (2.0, 1.0, 0.0, self.mean))
        centred = np.minimum(sum(weight * (value - mean) ** 2 for weight, value in parts), squares)
        if centre is not None and scale is not None:
            mean, centred = (mean - centre) / scale, centred / scale**2
            squares = centred + total * mean**2
        return np.column_stack([mean, squares, centred])

    def largest(self, left: Any, right: Any, count: int) -> Any:
        """For each column of `left` the places of the `count` largest products with those of `right`, but for its own place, and these."""
        with self.library.current() if self.kernels is not None else contextlib.nullcontext():
            return _pairs.largest(self.library, left, right, count)

    def __repr__(self) -> str:
        return f"DeviceGenotypes(shape={self.shape}, device={self.library.device})"


def grouped(features: Places) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows in groups of 32 whose numbers are equal modulo 16, so that all of a group begin at the same place of sixteen bytes; where each
    of them is in the list, -1 for those that fill up."""
    kind = features % ALIKE
    order = np.argsort(kind, kind="stable")
    counts = np.bincount(kind, minlength=ALIKE)
    sizes = -(-counts // WARP) * WARP
    first = np.zeros(ALIKE, dtype=np.int64)
    first[kind[order[::-1]]] = features[order[::-1]]
    rows = np.repeat(first, sizes).astype(np.int32)
    places = np.full(len(rows), -1, dtype=np.int32)
    at = np.repeat(np.cumsum(sizes) - sizes - (np.cumsum(counts) - counts), counts) + np.arange(len(features))
    rows[at], places[at] = features[order], order
    missing = -len(rows) % BLOCK
    return np.concatenate([rows, np.repeat(rows[-1:], missing)]), np.concatenate([places, np.full(missing, -1, dtype=np.int32)])


def _set_bits(library: Any, bytes_: Any, planes: list[Any]) -> Any:
    """Sums of the digits of the people whose lower bit is set."""
    total: Any = None
    for k, digits in enumerate(planes):
        sums = library.digit_products(bytes_ & (1 << (2 * k)), digits) / 4.0**k
        total = sums if total is None else total + sums
    return total


class Whole:
    """v = sum of 2^exponent * whole numbers of 63 bits, each entry to n/4 of its last digit (MATH 3.10).

    With max |v| < 2^e and s = floor(log2 n) + 9, the entries of at least 2^(e - s) are rounded to multiples of 2^(e - 62); what is smaller
    is rounded in the same way once more, until nothing is left.
    """

    def __init__(self, v: Floats) -> None:
        self.levels: list[tuple[NDArray[np.int64], int]] = []
        self.people = len(v)
        left = np.array(v, dtype=np.float64)
        if not np.isfinite(left).all():
            raise ValueError("a vector to multiply with is not finite")
        small = int(np.log2(max(len(left), 1))) + 9
        while left.any():
            sizes = np.abs(left)
            e = int(np.frexp(sizes.max())[1])
            taken = sizes >= np.ldexp(1.0, e - small)
            whole = left if taken.all() else np.where(taken, left, 0.0)
            self.levels.append((np.rint(np.ldexp(whole, 62 - e)).astype(np.int64), e - 62))
            left = np.where(taken, 0.0, left)

    def digits(self) -> NDArray[np.int8]:
        """Eight columns for each level."""
        columns: list[NDArray[np.int8]] = []
        for whole, _ in self.levels:
            for _ in range(DIGITS):
                digit = whole.astype(np.int8)
                whole = (whole - digit) >> 8
                columns.append(digit)
        return np.column_stack(columns) if columns else np.zeros((self.people, 0), dtype=np.int8)


def _together(sums: NDArray[Any], numbers: list[Whole]) -> Floats:
    """Sums of digits as sums of numbers, one row for each; what cancels is no larger than the sum of the sizes of the numbers."""
    out, first = np.zeros((len(numbers), sums.shape[0])), 0
    for row, number in zip(out, numbers):
        exponents = [exponent + 8 * d for _, exponent in number.levels for d in range(DIGITS)]
        for k in np.argsort(exponents):
            row += np.ldexp(sums[:, first + k], exponents[k])
        first += len(exponents)
    return out
