"""Arrays of the libraries that have some on devices: what is asked of all of them, in one way."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _launch

#: Rows of rough products are a whole number of groups of so many: a row's largest entries are looked for in the groups with the largest.
GROUP = 64

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class ArrayApi:
    """Any library of the array API: JAX, array-api-strict, numpy."""

    #: Entries of packed genotypes that are looked at together.
    together = 1 << 27

    def __init__(self, x: Any) -> None:
        self.xp = x.__array_namespace__() if hasattr(x, "__array_namespace__") else _namespace(x)
        self.device = getattr(x, "device", None)

    def kind(self, x: Any) -> str:
        return str(x.dtype).rpartition(".")[2]

    def put(self, values: NDArray[Any]) -> Any:
        return self.xp.asarray(np.ascontiguousarray(values))

    def host(self, x: Any) -> NDArray[Any]:
        return np.asarray(x)

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

    def reaching(self, x: Any, limit: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the numbers of a row are not below a limit in size, and what they are there."""
        (at,) = self.xp.nonzero(~(self.xp.abs(x) < limit))
        return self.host(at), self.host(self.xp.take(x, at, axis=0))

    def plain(self) -> bool:
        """Whether products of single precision are that of the library, with no factor rounded to fewer digits."""
        return False

    def top(self, x: Any, count: int, own: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places and numbers of the largest entries of each row in size, but for the one at row + own."""
        here = np.array(self.host(x))
        sizes = np.abs(here)
        rows = np.arange(min(len(here), max(here.shape[1] - own, 0)))
        sizes[rows, own + rows] = -1.0
        at = np.argpartition(-sizes, count - 1, axis=1)[:, :count]
        return at, np.take_along_axis(here, at, axis=1)

    #: Whether pairs of columns are multiplied so fast that copies of them are what takes long. Where not, as here, what is rough below is so by
    #: name alone, for tests of what is common to all libraries.
    lists_pairs = False

    #: Products of one block.
    rough_block = 1 << 26

    #: What an entry of `rough_products` is off by at the most besides `rough_rounding`, as a share of itself: it is kept in single precision.
    rough_output = 2.0**-23

    def rough_zeros(self, rows: int, columns: int) -> Any:
        """Room for rows as they are multiplied fastest."""
        return np.zeros((rows, columns))

    def rough(self, x: Any) -> Any:
        """Rows as they are multiplied fastest."""
        return self.host(x)

    def rough_lists(self, rows: int, count: int) -> tuple[Any, Any]:
        """Room for places and numbers of some entries of each row."""
        return np.empty((rows, count), dtype=np.int64), np.empty((rows, count), dtype=np.float32)

    def listed(self, places: Places) -> Any:
        """Places by which rows of `rough_zeros` and `rough_lists` are chosen."""
        return places

    def lengths(self, x: Any, rough: Any) -> tuple[float, float]:
        """The longest row, and the most that is lost of one."""
        here = self.host(x)
        return float(np.linalg.norm(here, axis=1).max()), float(np.linalg.norm(here - rough, axis=1).max())

    def rough_rounding(self, n: int) -> float:
        """By what share of the product of their lengths a product of two rows may be off."""
        return 1.01 * n * 2.0**-53

    def rough_products(self, left: Any, right: Any) -> Any:
        return left @ right.T

    def rough_top(self, x: Any, count: int, own: int, p: int) -> tuple[Any, Any]:
        """As `top` of the first p entries of each row; those after them are zeros."""
        return ArrayApi.top(self, x[:, :p], count, own)

    def mean(self, x: Any) -> Any:
        """Of each column."""
        return self.xp.mean(x, axis=0, keepdims=True)

    def padded(self, x: Any, width: int) -> Any:
        beside = getattr(self.xp, "concat", None) or self.xp.concatenate
        return beside([x, self.xp.zeros((x.shape[0], width - x.shape[1]), dtype=x.dtype)], axis=1)

    def kernels(self, source: str, kind: str = "") -> Any:
        """Kernels of our own, if there can be any for its device; those below are asked only then."""
        return None

    def current(self) -> Any:
        """A context in which the device is the current one."""
        return contextlib.nullcontext()

    def stream(self) -> int:
        return 0

    def zeros(self, shape: tuple[int, ...], kind: str = "float64") -> Any:
        return self.xp.zeros(shape, dtype=getattr(self.xp, kind))

    def address(self, x: Any) -> int:
        return int(np.asarray(x).ctypes.data)

    def steps(self, x: Any) -> tuple[int, int]:
        """Entries from one row to the next, and from one column to the next."""
        down, across = np.asarray(x).strides
        size = np.asarray(x).itemsize
        return down // size, across // size


class Cupy(ArrayApi):
    """CuPy."""

    def host(self, x: Any) -> NDArray[Any]:
        # The memory is locked, and kept by CuPy for the next time: the device writes it at its full speed.
        found: NDArray[Any] = import_module("cupyx").empty_pinned(x.shape, x.dtype)
        return x.get(out=found) if x.flags.c_contiguous else x.get()  # type: ignore[no-any-return]

    def kernels(self, source: str, kind: str = "") -> Any:
        if self.xp.cuda.runtime.is_hip:
            return None
        with self.current():
            return _launch.kernels(source, self.device.id, kind)  # type: ignore[union-attr]

    def current(self) -> Any:
        return self.xp.cuda.Device(self.device.id)  # type: ignore[union-attr]

    def stream(self) -> int:
        return int(self.xp.cuda.get_current_stream().ptr)

    def address(self, x: Any) -> int:
        return int(x.data.ptr)

    def steps(self, x: Any) -> tuple[int, int]:
        down, across = x.strides
        return down // x.itemsize, across // x.itemsize


class Torch:
    """PyTorch."""

    together = 1 << 29

    def __init__(self, x: Any) -> None:
        import torch

        self.torch, self.device = torch, x.device

    def kind(self, x: Any) -> str:
        return str(x.dtype).rpartition(".")[2]

    def put(self, values: NDArray[Any]) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def host(self, x: Any) -> NDArray[Any]:
        found: NDArray[Any]
        if self.device.type != "cuda":
            found = x.cpu().numpy()
            return found
        # The memory is locked, and kept by PyTorch for the next time: the device writes it at its full speed.
        there = self.torch.empty(x.shape, dtype=x.dtype, pin_memory=True)
        there.copy_(x, non_blocking=True)
        self.torch.cuda.current_stream(self.device).synchronize()
        found = there.numpy()
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

    def reaching(self, x: Any, limit: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the numbers of a row are not below a limit in size, and what they are there."""
        at = self.torch.nonzero((x.abs() < limit).logical_not_())[:, 0]
        return self.host(at), self.host(x[at])

    def plain(self) -> bool:
        """Whether products of single precision are that of the library, with no factor rounded to fewer digits (TF32)."""
        try:
            return bool(self.torch.get_float32_matmul_precision() == "highest")
        except RuntimeError:
            # It was set in another way.
            return False

    def top(self, x: Any, count: int, own: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places and numbers of the largest entries of each row in size, but for the one at row + own."""
        sizes = x.abs()
        sizes.diagonal(own).fill_(-1.0)
        at = self.torch.topk(sizes, count, dim=1, sorted=False).indices
        return self.host(at), self.host(self.torch.gather(x, 1, at))

    @property
    def _is_half(self) -> bool:
        """Whether rows are multiplied in half precision, by units of the device for that; else in single precision."""
        return self.device.type == "cuda" and self.torch.version.hip is None and self.torch.cuda.is_bf16_supported()

    @property
    def lists_pairs(self) -> bool:
        return self._is_half

    #: Products of one block: four gigabytes in half precision.
    rough_block = 1 << 31

    @property
    def rough_output(self) -> float:
        """Outputs have eight bits; entries are rounded to the nearest."""
        return 2.0**-8 if self._is_half else 2.0**-23

    def rough_zeros(self, rows: int, columns: int) -> Any:
        kind = self.torch.bfloat16 if self._is_half else self.torch.float32
        return self.torch.zeros((rows, columns), dtype=kind, device=self.device)

    def rough(self, x: Any) -> Any:
        return x.to(self.torch.bfloat16 if self._is_half else self.torch.float32)

    def rough_lists(self, rows: int, count: int) -> tuple[Any, Any]:
        kinds = (self.torch.int64, self.torch.float32)
        places, values = (self.torch.empty((rows, count), dtype=kind, device=self.device) for kind in kinds)
        return places, values

    def listed(self, places: Places) -> Any:
        return self.put(places)

    def lengths(self, x: Any, rough: Any) -> tuple[float, float]:
        """The longest row, and the most that is lost of one."""
        return float(x.norm(dim=1).max()), float((x - rough.to(x.dtype)).norm(dim=1).max())

    def rough_rounding(self, n: int) -> float:
        """By what share of the product of their lengths a product of two rows may be off: products are exact, and each sum of single
        precision, of at most 1024 of them, is taken to lose eight times what rounding to the nearest does. Units that multiply in
        half precision cut off what they add, and keep a few bits more than that.

        Where there are several sums, each is an output of half precision, rounded relative to itself; together they may be next to nothing.
        By Cauchy and Schwarz the sizes of all of them add up to no more than the product of the lengths."""
        of_parts = 1.01 * 2.0**-9 if self._is_half and n > 1024 else 0.0
        return 8.0 * 1.01 * (min(n, 1024) + n / 1024) * 2.0**-24 + of_parts

    def rough_products(self, left: Any, right: Any) -> Any:
        """Sums of at most 1024 products, and sums of these in single precision."""
        backend, n = self.torch.backends.cuda.matmul, left.shape[1]
        before = backend.allow_bf16_reduced_precision_reduction
        backend.allow_bf16_reduced_precision_reduction = False
        try:
            if n <= 1024:
                return self.torch.matmul(left, right.T)
            rows = None
            for sample in range(0, n, 1024):
                part = slice(sample, min(sample + 1024, n))
                found = self.torch.matmul(left[:, part], right[:, part].T).to(self.torch.float32)
                rows = found if rows is None else rows + found
            return rows
        finally:
            backend.allow_bf16_reduced_precision_reduction = before

    def rough_top(self, x: Any, count: int, own: int, p: int) -> tuple[Any, Any]:
        """As `top` of the first p entries of each row, left there, which is a whole number of groups (`GROUP`): the largest are in the groups that have the
        largest, as many of them as entries are wanted. Entries after the first p must be zeros."""
        torch, (rows, width) = self.torch, x.shape
        x.diagonal(own).fill_(0.0)
        mine = own + torch.arange(rows, device=self.device)[:, None]
        low, high = torch.aminmax(x.view(rows, width // GROUP, GROUP), dim=2)
        best = torch.topk(torch.maximum(high, -low), min(count, width // GROUP), dim=1, sorted=False).indices
        at = (best[:, :, None] * GROUP + torch.arange(GROUP, device=self.device)).view(rows, -1)
        some = torch.gather(x, 1, at)
        sizes = some.abs()
        sizes[(at == mine) | (at >= p)] = -1.0
        found = torch.topk(sizes, count, dim=1, sorted=False).indices
        return torch.gather(at, 1, found), torch.gather(some, 1, found).to(torch.float32)

    def mean(self, x: Any) -> Any:
        return x.mean(dim=0, keepdim=True)

    def padded(self, x: Any, width: int) -> Any:
        return self.torch.nn.functional.pad(x, (0, width - x.shape[1]))

    def kernels(self, source: str, kind: str = "") -> Any:
        """Kernels of our own, if there can be any for its device; those below are asked only then."""
        if self.device.type != "cuda" or self.torch.version.hip is not None:
            return None
        with self.current():
            self.torch.cuda.current_stream(self.device).synchronize()
            return _launch.kernels(source, self.torch.cuda.current_device(), kind)

    def current(self) -> Any:
        """A context in which the device is the current one."""
        return self.torch.cuda.device(self.device)

    def stream(self) -> int:
        return int(self.torch.cuda.current_stream(self.device).cuda_stream)

    def zeros(self, shape: tuple[int, ...], kind: str = "float64") -> Any:
        return self.torch.zeros(shape, dtype=getattr(self.torch, kind), device=self.device)

    def address(self, x: Any) -> int:
        return int(x.data_ptr())

    def steps(self, x: Any) -> tuple[int, int]:
        """Entries from one row to the next, and from one column to the next."""
        down, across = x.stride()
        return int(down), int(across)


def _root(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def _namespace(x: Any) -> Any:
    """The module of an array that does not say it."""
    return import_module(_root(x))


def library(x: Any) -> Any:
    """What the array is of."""
    return {"torch": Torch, "cupy": Cupy}.get(_root(x), ArrayApi)(x)


def taken(x: Any) -> Any:
    """An array of a library that can multiply, which those that only hand over memory are made into."""
    if hasattr(x, "__array_namespace__") or _root(x) in ("torch", "cupy", "numpy"):
        return x
    for name in ("cupy", "torch"):
        try:
            made = __import__(name)
        except ImportError:
            continue
        if hasattr(x, "__dlpack__"):
            return made.from_dlpack(x)
        return made.asarray(x)
    raise ValueError(f"X is a {type(x).__name__} on a device; PyTorch or CuPy must be installed to multiply it there")
