"""X on a device: arrays of PyTorch, CuPy, JAX or any library of the array API stay where they are.

Arrays in the memory of a device are taken for X as they are (`bestset.solve(X, y)`); `DeviceDesign` does the same for an array in the
memory of the processor, and `DeviceGenotypes` for packed genotypes. Storage may be single precision; products are summed in double
precision, so that TF32 and its like, which round the factors to ten bits, play no part. The active set stays with the processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: Entries that are widened at once: a gigabyte.
WIDENED = 1 << 27

#: Entries that one call multiplies at most; Ctrl-C is looked at between two calls.
TRIP = 1 << 33

#: People of packed genotypes: sums of their digits fit into 32 bits.
MOST_PEOPLE = 1 << 20

#: Digits of eight bits of a whole number of 55.
DIGITS = 7


class _Torch:
    """PyTorch."""

    def __init__(self, x: Any) -> None:
        import torch

        self.torch, self.device = torch, x.device

    def kind(self, x: Any) -> str:
        return str(x.dtype).rpartition(".")[2]

    def put(self, values: NDArray[Any]) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def host(self, x: Any) -> NDArray[Any]:
        found: NDArray[Any] = x.cpu().numpy()
        return found

    def wide(self, x: Any) -> Any:
        return x.to(self.torch.float64)

    def take(self, x: Any, places: Places, axis: int) -> Any:
        return x.index_select(axis, self.put(places))

    def matmul(self, a: Any, b: Any) -> Any:
        return self.torch.matmul(a, b)

    def digit_products(self, bits: Any, digits: Any) -> Any:
        """Exact products of masked bytes with digits; on a device by its units for whole numbers of eight bits."""
        torch = self.torch
        if self.device.type == "cuda" and bits.shape[0] > 16:
            try:
                return torch._int_mm(bits.view(torch.int8), digits.to(torch.int8)).to(torch.float64)
            except RuntimeError:
                # Of shapes or versions that it does not know.
                pass
        return torch.matmul(bits.to(torch.float64), digits.to(torch.float64))

    def padded(self, x: Any, width: int) -> Any:
        return self.torch.nn.functional.pad(x, (0, width - x.shape[1]))

    #: Entries of packed genotypes that are looked at together.
    together = 1 << 29


class _ArrayApi:
    """Any library of the array API: CuPy, JAX, array-api-strict."""

    def __init__(self, x: Any) -> None:
        self.xp = x.__array_namespace__() if hasattr(x, "__array_namespace__") else _namespace(x)
        self.device = getattr(x, "device", None)

    def kind(self, x: Any) -> str:
        return str(x.dtype).rpartition(".")[2]

    def put(self, values: NDArray[Any]) -> Any:
        return self.xp.asarray(np.ascontiguousarray(values))

    def host(self, x: Any) -> NDArray[Any]:
        return np.asarray(x.get() if hasattr(x, "get") else x)

    def wide(self, x: Any) -> Any:
        made = self.xp.asarray(x, dtype=self.xp.float64)
        if self.kind(made) != "float64":
            raise ValueError(
                f"the library of X sums in {made.dtype}; double precision is needed: jax.config.update('jax_enable_x64', True)"
            )
        return made

    def take(self, x: Any, places: Places, axis: int) -> Any:
        return self.xp.take(x, self.put(places), axis=axis)

    def matmul(self, a: Any, b: Any) -> Any:
        return self.xp.matmul(a, b)

    def digit_products(self, bits: Any, digits: Any) -> Any:
        """Exact products of masked bytes with digits: whole numbers that double precision holds."""
        return self.xp.matmul(self.wide(bits), self.wide(digits))

    def padded(self, x: Any, width: int) -> Any:
        beside = getattr(self.xp, "concat", None) or self.xp.concatenate
        return beside([x, self.xp.zeros((x.shape[0], width - x.shape[1]), dtype=x.dtype)], axis=1)

    #: Entries of packed genotypes that are looked at together.
    together = WIDENED


def _namespace(x: Any) -> Any:
    """The module of an array that does not say it."""
    from importlib import import_module

    return import_module(type(x).__module__.partition(".")[0])


def _library(x: Any) -> Any:
    return _Torch(x) if type(x).__module__.partition(".")[0] == "torch" else _ArrayApi(x)


def _taken(x: Any) -> Any:
    """An array of a library that can multiply, which those that only hand over memory are made into."""
    if hasattr(x, "__array_namespace__") or type(x).__module__.partition(".")[0] in ("torch", "cupy", "numpy"):
        return x
    for name in ("cupy", "torch"):
        try:
            library = __import__(name)
        except ImportError:
            continue
        if hasattr(x, "__dlpack__"):
            return library.from_dlpack(x)
        return library.asarray(x)
    raise ValueError(f"X is a {type(x).__name__} on a device; PyTorch or CuPy must be installed to multiply it there")


class DeviceDesign:
    """A dense array on a device; `bestset.elsewhere` says what the engine asks of it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Of PyTorch, CuPy, JAX or another library of the array API, in float64, float32 or int8. By columns (``X.T`` contiguous) a
        sweep reads it at the speed of the memory.
    """

    def __init__(self, X: Any) -> None:
        X = _taken(X)
        self.array, self.library = X, _library(X)
        if len(X.shape) != 2:
            raise ValueError(f"X must have two dimensions, samples and features; its shape is {tuple(X.shape)}")
        kind = self.library.kind(X)
        if kind not in ("float64", "float32", "int8", "uint8"):
            raise ValueError(f"X is of type {kind} on its device; float64, float32 and int8 are multiplied there")
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.rounding = (2.0**-53, float(self.shape[0]))
        self.trip = max(1, TRIP // self.shape[0])

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

    def correlate(self, features: Places | None, vectors: Floats) -> Floats:
        """``X[:, features].T @ vectors``."""
        there = self.library.put(vectors.T)
        out = np.empty((vectors.shape[1], self.shape[1] if features is None else len(features)))
        for places, block in self._blocks(features):
            out[:, places] = self.library.host(self.library.matmul(there, block))
        return out.T

    def columns(self, features: Places) -> Floats:
        """``X[:, features]``."""
        out = np.empty((self.shape[0], len(features)), order="F")
        for places, block in self._blocks(np.asarray(features)):
            out[:, places] = self.library.host(block)
        return out

    def moments(self, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> Floats:
        """Mean, sum of squares and centred sum of squares of the columns, or of (x - centre) / scale."""
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

    def __repr__(self) -> str:
        return f"DeviceDesign(shape={self.shape}, device={self.library.device})"


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
        self.packed = packed = _taken(packed)
        self.library = _library(packed)
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
        self.trip = max(1, TRIP // people)
        counts = self._sums(None, [_Digits(np.ones(people))])
        self.missing = counts["missing"][0]
        known = people - self.missing
        self.mean = np.divide(counts["copies"][0], known, out=np.zeros(len(known)), where=known > 0)

    def _part(self, places: Any) -> Any:
        return self.packed[places, :] if isinstance(places, slice) else self.library.take(self.packed, places, 0)

    def _sums(self, features: Places | None, numbers: list[_Digits]) -> dict[str, Floats]:
        """Sums over the people of whole numbers times copies, and over those with one copy and with none known.

        With the bits (high, low) of a code, copies = 2 - high - 2 low + both, one = high - both, missing = low - both: sums of digits over
        the bits that are set in 'low', in 'high' and in both, for one person of each byte after the other.
        """
        n, p = self.shape
        library, count = self.library, p if features is None else len(features)
        digits = np.concatenate([number.digits for number in numbers], axis=1)
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
        numbers = [_Digits(vector) for vector in vectors.T]
        chosen = slice(None) if features is None else features
        sums = self._sums(features, numbers)
        found: Floats = (sums["copies"] + self.mean[chosen] * sums["missing"]).T
        return found

    def columns(self, features: Places) -> Floats:
        """``X[:, features]``."""
        n, out = self.shape[0], np.empty((self.shape[0], len(features)), order="F")
        width = max(1, WIDENED // n)
        for first in range(0, len(features), width):
            places = np.asarray(features[first : first + width])
            block = np.empty((len(places), 4 * int(self.packed.shape[1])))
            packed = self.library.host(self._part(places))
            for k in range(4):
                lower, upper = (packed >> (2 * k)) & 1, (packed >> (2 * k + 1)) & 1
                copies = (1 - lower) * (2.0 - upper)
                block[:, k::4] = np.where((lower == 1) & (upper == 0), self.mean[places][:, None], copies)
            out[:, first : first + width] = block[:, :n].T
        return out

    def moments(self, weights: Floats | None, centre: Floats | None, scale: Floats | None) -> Floats:
        """Mean, sum of squares and centred sum of squares of the variants, or of (x - centre) / scale."""
        own = np.ones(self.shape[0]) if weights is None else weights
        total = float(own.sum())
        sums = self._sums(None, [_Digits(own)])
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

    def __repr__(self) -> str:
        return f"DeviceGenotypes(shape={self.shape}, device={self.library.device})"


def _set_bits(library: Any, bytes_: Any, planes: list[Any]) -> Any:
    """Sums of the digits of the people whose lower bit is set."""
    total: Any = None
    for k, digits in enumerate(planes):
        sums = library.digit_products(bytes_ & (1 << (2 * k)), digits) / 4.0**k
        total = sums if total is None else total + sums
    return total


class _Digits:
    """v = sum of unit * whole numbers, each entry to n/4 of its last digit, the whole numbers in digits of eight bits.

    As the engine has it for packed genotypes: with max |v| < 2^e and s = floor(log2 n) + 1, the entries of at least 2^(e - s) are rounded
    to multiples of 2^(e - 54); what is smaller is rounded in the same way once more, until nothing is left.
    """

    def __init__(self, v: Floats) -> None:
        self.units: list[float] = []
        columns: list[NDArray[np.int8]] = []
        left = np.array(v, dtype=np.float64)
        if not np.isfinite(left).all():
            raise ValueError("a vector to multiply with is not finite")
        small = int(np.log2(max(len(left), 1))) + 1
        while left.any():
            e = int(np.frexp(np.abs(left).max())[1])
            taken = np.abs(left) >= np.ldexp(1.0, e - small)
            whole = np.rint(np.ldexp(np.where(taken, left, 0.0), 54 - e)).astype(np.int64)
            for d in range(DIGITS):
                digit = whole.astype(np.int8)
                whole = (whole - digit) >> 8
                columns.append(digit)
                self.units.append(float(np.ldexp(1.0, e - 54 + 8 * d)))
            left = np.where(taken, 0.0, left)
        self.digits = np.column_stack(columns) if columns else np.zeros((len(left), 0), dtype=np.int8)


def _together(sums: NDArray[Any], numbers: list[_Digits]) -> Floats:
    """Sums of digits as sums of numbers, one row for each; what cancels is no larger than the sum of the sizes of the numbers."""
    out, first = np.zeros((len(numbers), sums.shape[0])), 0
    for row, number in zip(out, numbers):
        for k in np.argsort(number.units):
            row += number.units[k] * sums[:, first + k]
        first += len(number.units)
    return out
