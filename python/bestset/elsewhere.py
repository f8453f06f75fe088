"""Matrices that live elsewhere: on a cluster, on a device, behind anything that can multiply its own columns.

The engine touches all of X only to multiply it with a few vectors, 5 to 30 times in a solve. So X may stay where it is: any object with
the attributes of `Elsewhere` is taken for X by `bestset.solve`, `bestset.path`, `bestset.subsets`, `bestset.certify`,
`bestset.stability` and the estimators. `bestset.testing.check_design` tries an object out.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _mapped

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

#: Kinds of devices, as DLPack counts them, whose memory is that of the processor.
HOST = (1, 3, 11)


class Elsewhere(Protocol):
    """What an object must have to be taken for X.

    An exception that a method raises ends a solve with the status ``"read_failed"``, the best answer so far and the last bound that
    was proved; before there is an answer it is an error. Methods are called from threads of the engine, several at a time in a
    cross-validation, and the interpreter is held during the call only.

    Optional, besides what is listed here:

    ``moments(weights, centre, scale)``
        An array of shape (n_features, 3): mean, sum of squares and sum of squares about the mean of every column x, or of
        (x - centre) / scale where these arrays are not None, all weighted by `weights` unless that is None. Without it every column is
        fetched once for them.
    ``reaching(features, vectors, limits, centre, scale)``
        A sweep that tells of few features in place of all: for each of the m vectors, and its limit, a pair of arrays, the features (of
        those listed, or of all for None; ascending) whose ``X[:, j] @ vector`` is not below the limit in size, and these numbers, within
        `rounding` of the true ones; of the columns (x - centre) / scale where these arrays are not None. They are the same objects from
        one call to the next as long as they hold the same numbers, so that they may be kept where X is. Branch and bound asks for
        that; without it it takes all numbers from `correlate` and picks them itself.
    ``largest(left, right, count)``
        For two arrays of single precision, of shape (n_samples, m), made of columns of X: an array of shape (m, count) with, for each
        column of `left`, the places of the columns of `right` with the largest products in size, the one of its own place aside, in
        any order, and an array with these products. They must be sums of at most 1024 products of single precision and sums of these, or
        more accurate: no factor may be rounded to fewer digits, as TF32 does. The bound of coherence asks for it where X is multiplied
        faster there than here.
    ``largest_pairs(features, scales, centred, basis, inverse, count, costs, room)``
        The same without a copy of any column, the features ascending. With c_j the column of a listed feature times its scale, less its mean if `centred`, and
        r_j = c_j - basis @ inverse @ basis.T @ c_j: an array of shape (len(features), count) with, for each feature j, the places in the list of
        the others k with the largest products of r_j and c_k in size, in any order, an array with these products, and a number. No product
        listed may be larger in size than what is given for it and that number together, none that is not listed larger than the least
        given for j and that number: factors may be rounded to fewer digits, if the number leaves room for it. Two features at least are listed, ascending. Where `costs` is
        not None, a number for each feature, nothing need hold for pairs with ``costs[j] + costs[k] > room``, which no better subset has together:
        they may be left out, if as many others are listed in their place.
    ``trip``
        The most features in one call of `correlate`; between two calls limits and Ctrl-C are looked at. None for all of them.
    ``watch(stopped)``
        Called once before all other methods with a function that says whether the solve is to end, by Ctrl-C or by its time limit, of which
        a pass may take a tenth beyond it; a long pass may ask it and raise. When the call is over it says no.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""

    @property
    def rounding(self) -> tuple[float, float]:
        """Unit roundoff v and longest sum N of `correlate`: its numbers are off by at most Nv/(1 - Nv) times the sum of the sizes of
        the products. ``(2**-53, n_samples)`` for sums in double precision in any order. The certificate leaves room for it."""

    def correlate(self, features: Places | None, vectors: Floats) -> Any:
        """``X[:, features].T @ vectors`` for vectors of shape (n_samples, m): an array of shape (len(features), m). None for all
        features. An entry must not depend on which other features are asked for by more than `rounding` allows."""

    def columns(self, features: Places) -> Any:
        """``X[:, features]`` as float64, exactly: an array of shape (n_samples, len(features)). This is what X is."""


def design(X: Any) -> Any:
    """X as the engine calls it, if it lives elsewhere; None where it is an array of this process."""
    if isinstance(X, np.ndarray):
        return _mapped.rows_of(X)
    if X is None:
        return None
    if all(callable(getattr(X, name, None)) for name in ("correlate", "columns")):
        return X
    if is_on_device(X):
        from .device import DeviceDesign

        return DeviceDesign(X)
    return None


def is_on_device(X: Any) -> bool:
    """Whether it is an array in the memory of a device."""
    if hasattr(type(X), "__dlpack_device__"):
        kind, _ = X.__dlpack_device__()
        return int(kind) not in HOST
    # Libraries that know no memory but that of CUDA have this alone.
    return hasattr(X, "__cuda_array_interface__")
