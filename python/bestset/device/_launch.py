"""Kernels of our own, compiled at run time by the libraries that PyTorch and CuPy bring along: NVRTC and the driver of CUDA.

Nothing of CUDA is needed at build time, and nothing is looked for before an array on a device of CUDA is given. Where one of the
libraries is missing or the device is too old, there are no kernels, and the products of the array's own library are used instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: The oldest devices that have the products of bytes that `genotypes.cu` is made of, and of any kernel here.
OLDEST = {"genotypes": 80, "dense": 60}

#: Types of entries as CUDA names them.
NAMES = {"float64": "double", "float32": "float", "int8": "signed char", "uint8": "unsigned char"}

_MAJOR, _MINOR = 75, 76


class Kernels:
    """The kernels of a source for the current device."""

    def __init__(self, driver: Any, module: ctypes.c_void_p) -> None:
        self._driver, self._module = driver, module
        self._functions: dict[str, ctypes.c_void_p] = {}

    def launch(self, name: str, grid: tuple[int, int], threads: int, stream: int, *arguments: Any) -> None:
        """Starts a kernel; arguments are numbers of `ctypes`."""
        if name not in self._functions:
            function = ctypes.c_void_p()
            _said(self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode()), "cuModuleGetFunction")
            self._functions[name] = function
        places = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
        size = (*grid, 1, threads, 1, 1)
        _said(
            self._driver.cuLaunchKernel(self._functions[name], *size, 0, ctypes.c_void_p(stream), places, None), f"cuLaunchKernel of {name}"
        )


_compiled: dict[tuple[str, str, int], Kernels | None] = {}
_lock = threading.Lock()


def kernels(source: str, device: int, kind: str = "") -> Kernels | None:
    """The kernels of a source for entries of a type on the current device, which has this number; None where there can be none."""
    with _lock:
        key = (source, kind, device)
        if key not in _compiled:
            try:
                _compiled[key] = _made(source, device, kind)
            except OSError:
                # No library, one that is too old, or a device that is.
                _compiled[key] = None
        return _compiled[key]


def _made(source: str, device: int, kind: str) -> Kernels:
    driver = ctypes.CDLL("libcuda.so.1")
    number = ctypes.c_int()
    place = ctypes.c_int()
    _said(driver.cuDeviceGet(ctypes.byref(place), device), "cuDeviceGet")
    capability = 0
    for attribute in (_MAJOR, _MINOR):
        _said(driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, place), "cuDeviceGetAttribute")
        capability = 10 * capability + number.value
    if capability < OLDEST[source]:
        raise OSError(f"devices of compute capability {capability / 10} have no {source} kernels")
    _said(driver.cuDriverGetVersion(ctypes.byref(number)), "cuDriverGetVersion")
    image, module = _compile(source, capability, kind, number.value // 1000), ctypes.c_void_p()
    _said(driver.cuModuleLoadData(ctypes.byref(module), image), "cuModuleLoadData")
    return Kernels(driver, module)


def _said(code: int, what: str) -> None:
    if code != 0:
        raise OSError(f"{what} failed with {code}")


@contextlib.contextmanager
def _program(nvrtc: Any, text: bytes) -> Iterator[ctypes.c_void_p]:
    program = ctypes.c_void_p()
    _said(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"bestset.cu", 0, None, None), "nvrtcCreateProgram")
    try:
        yield program
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _compile(source: str, capability: int, kind: str, newest: int) -> bytes:
    """Machine code; for a device that NVRTC does not know yet, code that the driver translates."""
    nvrtc = _nvrtc(newest)
    count = ctypes.c_int()
    _said(nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)), "nvrtcGetNumSupportedArchs")
    known = (ctypes.c_int * count.value)()
    _said(nvrtc.nvrtcGetSupportedArchs(known), "nvrtcGetSupportedArchs")
    if capability in known:
        target, what = f"sm_{capability}", "CUBIN"
    else:
        target, what = f"compute_{max((arch for arch in known if arch < capability), default=OLDEST[source])}", "PTX"
    options = [f"--gpu-architecture={target}", "--std=c++17", *([f"-DELEMENT={NAMES[kind]}"] if kind else [])]
    text = (Path(__file__).parent / f"{source}.cu").read_bytes()
    with _program(nvrtc, text) as program:
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        _said(nvrtc.nvrtcCompileProgram(program, len(options), given), f"compiling {source}.cu")
        size = ctypes.c_size_t()
        _said(getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)), "the size of the code")
        image = ctypes.create_string_buffer(size.value)
        _said(getattr(nvrtc, f"nvrtcGet{what}")(program, image), "the code")
        return image.raw


def _nvrtc(newest: int) -> Any:
    """NVRTC of a version that the driver knows, as the loader finds it or in the packages that PyTorch and CuPy take it from."""
    names = [f"libnvrtc.so.{version}" for version in ("13", "12", "11.2") if float(version) < newest + 1]
    beside = [
        found
        for folder in sys.path
        for name in names
        for found in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", name)))
    ]
    for name in [*names, *beside]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError("NVRTC was not found")
