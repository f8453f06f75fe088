"""Memory maps that lie row after row and would not fit into memory a second time: multiplied some rows at a time, where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes of the rows that are in memory at once.
BLOCK = 64 << 20


def spare() -> int:
    """Bytes that the machine has to spare, where it says so."""
    try:
        with open("/proc/meminfo", encoding="ascii") as facts:
            return next(1024 * int(line.split()[1]) for line in facts if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return 1 << 62


def rows_of(X: NDArray[Any]) -> MappedRows | None:
    """X that stays in its file: a map in C order, by whose copy by columns more than half of what there is would be taken."""
    is_by_rows = X.ndim == 2 and X.flags.c_contiguous and not X.flags.f_contiguous
    is_mapped = isinstance(X, np.memmap) and X.dtype in (np.float64, np.float32)
    return MappedRows(X) if is_mapped and is_by_rows and X.nbytes > spare() // 2 else None


class MappedRows:
    """What `bestset.elsewhere.Elsewhere` asks for. Columns are far from each other there: each reading is one of all rows."""

    def __init__(self, X: NDArray[Any]) -> None:
        self._rows = X
        self._step = max(1, BLOCK // (8 * X.shape[1]))
        self.shape: tuple[int, int] = X.shape
        self.rounding = (2.0**-53, float(X.shape[0]))

    def __repr__(self) -> str:
        return f"MappedRows({self.shape[0]} x {self.shape[1]} {self._rows.dtype})"

    def _blocks(self) -> Any:
        for start in range(0, self.shape[0], self._step):
            part = slice(start, start + self._step)
            yield part, np.asarray(self._rows[part], dtype=np.float64)

    def correlate(self, features: Any, vectors: Any) -> NDArray[np.float64]:
        count = self.shape[1] if features is None else len(features)
        found = np.zeros((count, vectors.shape[1]))
        for part, block in self._blocks():
            found += (block if features is None else block[:, features]).T @ vectors[part]
        return found

    def columns(self, features: Any) -> NDArray[np.float64]:
        found = np.empty((self.shape[0], len(features)), order="F")
        for part, block in self._blocks():
            found[part] = block[:, features]
        return found

    def moments(self, weights: Any, centre: Any, scale: Any) -> NDArray[np.float64]:
        total = self.shape[0] if weights is None else float(np.sum(weights))

        def blocks() -> Any:
            for part, block in self._blocks():
                x = block if centre is None else (block - centre) / scale
                yield x, np.ones(len(x)) if weights is None else weights[part]

        mean = sum(w @ x for x, w in blocks()) / total
        squares, left, centred = (np.zeros(self.shape[1]) for _ in range(3))
        for x, w in blocks():
            off = x - mean
            squares += w @ (x * x)
            left += w @ off
            centred += w @ (off * off)
        # What rounding left in the mean of a long column is taken out again.
        centred = np.minimum(np.maximum(centred - left * left / total, 0.0), squares)
        return np.column_stack([mean + left / total, squares, centred])
