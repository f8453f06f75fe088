"""Arrays as users have them, turned into what the engine reads; without a copy where that is possible."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from . import elsewhere

Floats: TypeAlias = NDArray[np.float64]
#: (number of rows, column starts, row indices, values)
SparseColumns: TypeAlias = tuple[int, NDArray[np.uintp], NDArray[np.uint32], NDArray[Any]]
Matrix: TypeAlias = Union[NDArray[Any], SparseColumns, elsewhere.Elsewhere]

#: Types of entries that are used as they are; everything else becomes float64.
FLOATS = (np.float64, np.float32)


def matrix(X: Any) -> tuple[Matrix, int, int]:
    """X for the engine, and its shape; what lives elsewhere (`bestset.elsewhere`) stays there.

    Not copied: Fortran-ordered arrays of float64 or float32 (read-only and memory-mapped ones too), and CSC matrices
    of these types with sorted 32-bit row indices. Everything else is copied once.
    """
    far = elsewhere.design(X)
    if far is not None:
        n, p = far.shape
        return far, int(n), int(p)
    check(X, "X")
    if is_sparse(X):
        return _sparse(X)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; its shape is {array.shape}")
    if np.iscomplexobj(array):
        raise ValueError("Complex data not supported: X must be real")
    dtype = array.dtype if array.dtype in FLOATS else np.dtype(np.float64)
    array = np.require(array, dtype=dtype, requirements=["F", "A"])
    return array, array.shape[0], array.shape[1]


def is_sparse(values: Any) -> bool:
    """Whether it is a sparse matrix. scipy takes its time to import, and before somebody did, there are none."""
    known = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return known is not None and bool(known(values))


def is_masked(values: Any) -> bool:
    """Whether entries are masked; numpy imports what knows it when it is first asked for, too."""
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def check(values: Any, name: str) -> None:
    """Refuses what numpy and scipy would take without a word: masked entries, and sparse matrices that are none."""
    if is_masked(values):
        masked = np.argwhere(np.ma.getmaskarray(values))
        place = ", ".join(str(k) for k in masked[0])
        raise ValueError(
            f"{name}[{place}] is masked, the first of {len(masked)} such entries: fill them or leave out their rows or columns"
        )
    if is_sparse(values):
        _check_places(values, name)
    if name == "X" and hasattr(values, "iloc") and hasattr(values, "dtypes"):
        _check_columns(values)


def _check_columns(X: Any) -> None:
    """Refuses columns of a data frame that are no numbers, by name: numpy would say of a value that it is none, not where."""
    for name, dtype in getattr(X.dtypes, "items", dict)():
        kind = getattr(dtype, "kind", "")
        if kind in "mM":
            raise ValueError(f"column {name!r} of X holds dates: take the days between two of them, or leave it out")
        if kind != "O":
            continue
        column = X[name]
        for value in column if getattr(column, "ndim", 1) == 1 else ():
            if isinstance(value, str) and not _is_number(value):
                raise ValueError(
                    f"column {name!r} of X holds texts such as {value!r}: make columns of 0 and 1 of them, as pandas.get_dummies does "
                    "(with groups= they are in or out as a whole), or leave it out"
                )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_places(X: Any, name: str) -> None:
    """Refuses places outside the matrix: scipy's own code reads and writes there."""
    if X.format in ("csc", "csr", "bsr"):
        height, width = getattr(X, "blocksize", (1, 1))
        rows, columns = X.shape[0] // height, X.shape[1] // width
        lines, length = (columns, rows) if X.format == "csc" else (rows, columns)
        starts, indices = np.asarray(X.indptr), np.asarray(X.indices)
        _check_whole(starts, f"{name}.indptr")
        if starts.shape != (lines + 1,):
            raise ValueError(f"{name}.indptr must have {lines + 1} entries for the shape {X.shape}; it has {starts.size}")
        if starts[0] != 0:
            raise ValueError(f"{name}.indptr[0] is {starts[0]}; it must be 0")
        down = np.flatnonzero(starts[1:] < starts[:-1])
        if down.size:
            k = int(down[0])
            raise ValueError(f"{name}.indptr[{k + 1}] is {starts[k + 1]}, less than the {starts[k]} before it")
        room = min(len(indices), len(X.data))
        if starts[-1] > room:
            raise ValueError(f"{name}.indptr ends with {starts[-1]}, but there are {room} entries")
        _check_range(indices[: int(starts[-1])], length, f"{name}.indices")
    elif X.format == "coo":
        places = getattr(X, "coords", None) or (X.row, X.col)
        for axis, (along, length) in enumerate(zip(places, X.shape)):
            if len(along) != len(X.data):
                raise ValueError(f"{name} has {len(along)} places along axis {axis} for {len(X.data)} entries")
            _check_range(np.asarray(along), length, f"{name}.coords[{axis}]")


def _check_whole(places: NDArray[Any], name: str) -> None:
    if not np.issubdtype(places.dtype, np.integer):
        raise ValueError(f"{name} must have whole numbers; its type is {places.dtype}")


def _check_range(places: NDArray[Any], length: int, name: str) -> None:
    _check_whole(places, name)
    bad = np.flatnonzero((places < 0) | (places >= length))
    if bad.size:
        k = int(bad[0])
        raise ValueError(f"{name}[{k}] is {places[k]}; it must be at least 0 and below {length}")


def _sparse(X: Any) -> tuple[SparseColumns, int, int]:
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported: X must be real")
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; its shape is {X.shape}")
    X = X.tocsc()
    if not X.has_canonical_format:
        # Sorting in place would change the caller's matrix.
        X = X.copy()
        X.sum_duplicates()
    n, p = X.shape
    if n > np.iinfo(np.uint32).max:
        raise ValueError(f"X has {n} rows; sparse matrices may have up to {np.iinfo(np.uint32).max}")
    values = X.data if X.data.dtype in FLOATS else X.data.astype(np.float64)
    rows = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
    starts = X.indptr.astype(np.uintp)
    # scipy may keep more room than it uses.
    used = int(starts[-1])
    return (n, starts, np.ascontiguousarray(rows[:used]), np.ascontiguousarray(values[:used])), n, p


@contextmanager
def placed(y: Any) -> Iterator[None]:
    """Says of an error of scikit-learn where y is not finite, if that is what it is about."""
    try:
        yield
    except ValueError as error:
        where = _first_bad(y)
        if where is None:
            raise
        k, value, count = where
        others = "" if count == 1 else f", the first of {count} such entries"
        raise ValueError(f"{error} y[{k}] is {value}{others}: leave these samples out, as X[numpy.isfinite(y)] does.") from None


@contextmanager
def named(names: Sequence[str] | None) -> Iterator[None]:
    """Says the names of the columns that an error of the engine speaks of by number."""
    try:
        yield
    except ValueError as error:
        columns = [j for j in getattr(error, "columns", ()) if names is not None and j < len(names)]
        if names is None or not columns:
            raise
        said = ", ".join(f"column {j} is {str(names[j])!r}" for j in columns)
        raise ValueError(f"{error} ({said})") from None


def _first_bad(y: Any) -> tuple[int, float, int] | None:
    """The first entry of a target of numbers that is not finite, and how many there are."""
    array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if array.dtype.kind not in "fO":
        return None
    try:
        array = array.astype(np.float64).ravel()
    except (TypeError, ValueError):
        return None
    bad = np.flatnonzero(~np.isfinite(array))
    return (int(bad[0]), float(array[bad[0]]), bad.size) if bad.size else None


def feature_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns, if X has any."""
    columns = getattr(X, "columns", None)
    if callable(columns):
        columns = getattr(X, "names", None)
    return None if columns is None else tuple(str(name) for name in columns)


def vector(values: Any, name: str) -> Floats:
    """A contiguous vector of float64."""
    check(values, name)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; its shape is {array.shape}")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: {name} must be real")
    return np.ascontiguousarray(array, dtype=np.float64)


def optional(values: Any, name: str) -> Floats | None:
    """As `vector`, for what may be missing."""
    return None if values is None else vector(values, name)


def with_offset(margins: Floats, offset: Any) -> Floats:
    """A linear predictor with its fixed part."""
    fixed = optional(offset, "offset")
    if fixed is None:
        return margins
    if margins.ndim > 1:
        raise ValueError(f"offset is for two classes; there are {margins.shape[1]}, each against the rest")
    if fixed.shape != margins.shape:
        raise ValueError(f"offset has length {len(fixed)}, but X has {len(margins)} rows")
    return margins + fixed


def _labels(y: Any) -> NDArray[Any]:
    """Labels as an array of one dimension."""
    check(y, "y")
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension; its shape is {labels.shape}")
    return labels


def class_numbers(y: Any) -> tuple[Floats, NDArray[Any]]:
    """Labels of two classes or more as numbers from 0, and the labels in that order."""
    labels = _labels(y)
    known, codes = np.unique(labels, return_inverse=True)
    if known.size < 2:
        raise ValueError(f"the multinomial loss needs two classes or more; y has {known.size}")
    return codes.astype(np.float64), known


def class_offset(offset: Any, n: int) -> Floats | None:
    """A fixed part of the linear predictors of n samples, of shape (n, n_classes), class after class."""
    if offset is None:
        return None
    check(offset, "offset")
    fixed = np.asarray(offset, dtype=np.float64)
    if fixed.ndim != 2 or fixed.shape[0] != n:
        raise ValueError(f"offset must have a row for each of {n} samples and a column for each class; its shape is {fixed.shape}")
    return fixed.ravel(order="F")


def numbers(y: Any, loss: str) -> Floats:
    """Targets that are numbers; texts are told of the losses of classes."""
    array = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    text = next((value for value in array.ravel()[:1] if isinstance(value, str)), None) if array.dtype.kind in "OUT" else None
    if text is not None:
        raise ValueError(
            f"y holds texts such as {str(text)!r}, and loss={loss!r} wants numbers: classes have loss='logistic' (two of them) "
            "or loss='multinomial' (more)"
        )
    return vector(y, "y")


def signs(y: Any) -> Floats:
    """Labels of two classes as -1 and +1; the larger label is +1."""
    labels = _labels(y)
    known = np.unique(labels)
    if known.size != 2:
        more = "; loss='multinomial' is for more than two" if known.size > 2 else ""
        raise ValueError(f"a classification loss needs two classes; y has {known.size} different value{'s' if known.size > 1 else ''}{more}")
    return np.where(labels == known[1], 1.0, -1.0)


def class_labels(y: Any, loss: str) -> tuple[Any, ...] | None:
    """The labels that -1 and +1, or the numbers of classes, stand for; none for numbers that are regressed."""
    if loss not in ("logistic", "squared_hinge", "multinomial"):
        return None
    return tuple(np.unique(y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)))


def target_name(y: Any) -> str:
    """The name of the target, if it has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def offset_name(offset: Any, loss: str) -> str | None:
    """The name of the column that has the offset in other data; of many classes it is a column for each, which files do not name."""
    if offset is None or loss == "multinomial":
        return None
    name = getattr(offset, "name", None)
    return name if isinstance(name, str) and name else "offset"


def bounds(
    given: Any, p: int, positive: bool = False
) -> tuple[float, float] | tuple[Floats, Floats] | None:
    """Bounds as two numbers, or as two vectors with one entry per feature."""
    if given is None:
        return (0.0, np.inf) if positive else None
    try:
        lower, upper = given
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be a pair (lower, upper); they are {given!r}") from None
    lower = -np.inf if lower is None else lower
    upper = np.inf if upper is None else upper
    if np.ndim(lower) == 0 and np.ndim(upper) == 0:
        return (max(float(lower), 0.0) if positive else float(lower), float(upper))
    each = [vector(np.full(p, b, dtype=np.float64) if np.ndim(b) == 0 else b, "bounds") for b in (lower, upper)]
    if positive:
        each[0] = np.maximum(each[0], 0.0)
    return (each[0], each[1])


def places(features: Any, name: str, names: Sequence[str] | None, p: int) -> list[int]:
    """Indices of features given by index, by a mask, or, where the columns have names, by name."""
    if features is None:
        return []
    features = list(features)
    flags = [isinstance(feature, (bool, np.bool_)) for feature in features]
    if features and all(flags):
        if len(features) != p:
            raise ValueError(f"{name} is a mask of length {len(features)}; X has {p} features")
        return [j for j, flag in enumerate(features) if flag]
    if any(flags):
        raise ValueError(f"{name} mixes True and False with indices; give one of the two")
    return [_place(feature, name, names, p) for feature in features]


def _place(feature: Any, name: str, names: Sequence[str] | None, p: int) -> int:
    if isinstance(feature, str):
        if names is None or feature not in names:
            raise ValueError(f"{name} lists {feature!r}, which is no column of X")
        return names.index(feature)
    index = whole(feature)
    if index is None:
        raise ValueError(f"{name} lists {feature!r}, which is no index")
    if index < 0:
        raise ValueError(f"{name} lists {feature}; features count from 0")
    if index >= p:
        raise ValueError(f"{name} lists {feature}, which is beyond the last feature, {p - 1}")
    return index


#: The largest whole number that the engine takes.
LARGEST = 2**63 - 1


def whole(value: Any) -> int | None:
    """A whole number, if it is one."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == value else None


def seed(random_state: Any) -> int:
    """The seed of divisions and draws: a number as it is, None for 0, one drawn from a generator."""
    if random_state is None:
        return 0
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31 - 1))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, bool) or random_state != int(random_state) or not 0 <= int(random_state) < 2**64:
        raise ValueError(f"random_state is {random_state!r}; it must be a whole number, at least 0")
    return int(random_state)


def threads(given: int | None) -> int | None:
    """How many threads to use; None for one per processor.

    OMP_NUM_THREADS counts where nothing is given: joblib sets it in its workers so that they do not get in each
    other's way.
    """
    if given is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return int(limit) if limit.isdigit() and int(limit) > 0 else None
    if given < 0:
        # scikit-learn's habit: -1 is all processors, -2 all but one.
        return max(1, (os.cpu_count() or 1) + 1 + given)
    return int(given)
