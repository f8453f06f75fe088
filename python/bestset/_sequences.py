"""Many answers: along a path, and one for every size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ._input import Floats
from ._result import SHOWN, Coefficients, Result, dependence, grid, left_out, most, percent, result, warn

if TYPE_CHECKING:
    from ._core import PathDict, SubsetDict
    from ._problem import Setup

#: Criteria whose largest value is best.
MAXIMISED = ("r2", "adjusted_r2")


class Path(Sequence[Result]):
    """Answers for a descending sequence of prices; item i is the `Result` at ``lambda0s[i]``.

    Attributes
    ----------
    lambda0s, lambda2s, objectives, lower_bounds, gaps : ndarray
        One number per point.
    sizes : ndarray of int
        Features selected at each point.
    criteria : dict of ndarray
        ``aic``, ``bic``, ``ebic``, ``gic``, ``cp``, ``r2`` and ``adjusted_r2`` at each point.
    status : str
        ``"converged"``, or the limit that ended the path early.
    """

    def __init__(self, points: list[Result], criteria: dict[str, Floats], status: str) -> None:
        self.points = points
        self.criteria = criteria
        self.status = status

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> list[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | list[Result]:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.points)

    def _each(self, name: str) -> Floats:
        return np.array([getattr(point, name) for point in self.points], dtype=np.float64)

    @property
    def lambda0s(self) -> Floats:
        return self._each("lambda0")

    @property
    def lambda2s(self) -> Floats:
        return self._each("lambda2")

    @property
    def objectives(self) -> Floats:
        return self._each("objective")

    @property
    def lower_bounds(self) -> Floats:
        return self._each("lower_bound")

    @property
    def gaps(self) -> Floats:
        return self._each("gap")

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array([len(point.support) for point in self.points], dtype=np.int64)

    @property
    def coefs(self) -> Floats:
        """All coefficients, one row per point."""
        return np.array([point.coef for point in self.points])

    def best(self, criterion: str = "ebic") -> Result:
        """The best point by a criterion: the least value, or the largest of ``r2`` and ``adjusted_r2``."""
        if criterion not in self.criteria:
            raise ValueError(f"there is no criterion named {criterion!r}; known are {', '.join(self.criteria)}")
        values = self.criteria[criterion]
        if not np.any(~np.isnan(values)):
            raise ValueError(f"the criterion {criterion!r} is not defined for this loss, or the path has no points")
        return self.points[int(np.nanargmax(values) if criterion in MAXIMISED else np.nanargmin(values))]

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("lambda0", "lambda2", "features", "objective", "r2", "gap", "ebic")]
        for i in np.unique(np.linspace(0, len(self) - 1, min(len(self), 12)).astype(int)):
            point, ebic = self.points[i], self.criteria["ebic"][i]
            prices, gap = (f"{point.lambda0:.4g}", f"{point.lambda2:.4g}"), percent(point.relative_gap)
            fit = (f"{point.objective:.6g}", f"{point.r2:.4f}", gap, f"{ebic:.6g}")
            rows.append((*prices, str(len(point.support)), *fit))
        return rows

    def __repr__(self) -> str:
        head = f"path of {len(self)} points, {self.status.replace('_', ' ')}"
        return "\n".join([head, *("  ".join(f"{cell:>10}" for cell in row) for row in self._rows())])

    def _repr_html_(self) -> str:
        return grid(f"path of {len(self)} points", self._rows())


@dataclass(eq=False)
class Subset(Coefficients):
    """The best subset of at most `size` features.

    Attributes
    ----------
    size : int
        The size asked for.
    reached : bool
        Whether this is an answer for it: a limit that struck before leaves that of a smaller size.
    support, values, intercept, coef
        The fit.
    objective, lower_bound, gap, status
        The certificate of this size; the objective has no lambda0 in it.
    loss : float
        The sum of losses; for the squared loss, half the residual sum of squares.
    r2, adjusted_r2, cp, aic, bic : float or None
        Measures that compare sizes; None where they are not defined.
    """

    size: int
    reached: bool
    support: NDArray[np.int64]
    values: Floats
    intercept: float
    n_features: int
    objective: float
    lower_bound: float
    gap: float
    status: str
    loss: float
    r2: float
    adjusted_r2: float | None
    cp: float | None
    aic: float | None
    bic: float | None
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def proved(self) -> bool:
        """Whether the subset is proved best of its size."""
        return self.status == "optimal"


class Subsets(Sequence[Subset]):
    """The best subset of every size; item ``i`` is the one of size ``i + 1``.

    Attributes
    ----------
    dependent : list of list of int
        As in `Result`.
    constant : list of int
        As in `Result`.
    """

    def __init__(
        self, subsets: list[Subset], dependent: list[list[int]] | None = None, constant: list[int] | None = None, stops: bool = False
    ) -> None:
        self.subsets = subsets
        self.dependent = dependent or []
        self.constant = constant or []
        self._stops = stops

    @overload
    def __getitem__(self, index: int) -> Subset: ...
    @overload
    def __getitem__(self, index: slice) -> list[Subset]: ...
    def __getitem__(self, index: int | slice) -> Subset | list[Subset]:
        return self.subsets[index]

    def __len__(self) -> int:
        return len(self.subsets)

    def best(self, criterion: str = "bic") -> Subset:
        """The best size by ``"aic"``, ``"bic"``, ``"cp"`` or ``"adjusted_r2"``, of those that were reached.

        Warns of sizes that a limit kept from being compared.
        """
        if criterion not in ("aic", "bic", "cp", "adjusted_r2"):
            raise ValueError(f"there is no criterion named {criterion!r}; known are aic, bic, cp, adjusted_r2")
        known = [s for s in self.subsets if getattr(s, criterion) is not None and s.reached]
        if not known:
            raise ValueError(f"the criterion {criterion!r} is not defined for these fits, or no size was reached")
        missed = [str(s.size) for s in self.subsets if not s.reached]
        if missed:
            warn([("limit", f"A limit struck: size {', '.join(missed)} was not reached and is not compared.")], 2)
        sign = -1.0 if criterion in MAXIMISED else 1.0
        return min(known, key=lambda s: sign * getattr(s, criterion))

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("size", "objective", "gap", "r2", "bic", "status", "features")]
        for s in self.subsets:
            bic = "–" if s.bic is None else f"{s.bic:.6g}"
            row = (str(s.size), f"{s.objective:.6g}", most(s.gap, 3), f"{s.r2:.4f}", bic, s.status)
            features = ", ".join(s.selected[:SHOWN]) + (" …" if len(s.support) > SHOWN else "")
            rows.append((*row, features if s.reached else f"not reached (so far {features})"))
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
        lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths)).rstrip() for row in rows]
        return "\n".join(lines + self._remarks())

    def _remarks(self) -> list[str]:
        if not self.subsets:
            return []
        name = self.subsets[0]._name
        said = [f"dependent: {dependence([name(j) for j in group])}" for group in self.dependent]
        if self.constant:
            said.append(f"left out: {left_out([name(j) for j in self.constant[: SHOWN + 1]], len(self.constant))}")
        if self._stops:
            said.append(f"sizes up to {len(self)} of {self.subsets[0].n_features}, as without max_size: a larger one asks for more")
        return said

    def _repr_html_(self) -> str:
        return grid("best subset of every size", self._rows()) + "".join(f"<p>{escape(text)}</p>" for text in self._remarks())


def path(found: PathDict, p: int, names: tuple[str, ...] | None, setup: Setup) -> Path:
    """A `Path` from what the engine returned."""
    setup = replace(setup, delta=found["delta"])
    points = [result(point, p, names, setup, k=None, method="incremental") for point in found["points"]]
    return Path(points, found["criteria"], found["status"])


def subset(found: SubsetDict, p: int, names: tuple[str, ...] | None) -> Subset:
    """A `Subset` from what the engine returned."""
    plain: dict[str, Any] = {k: v for k, v in found.items() if k not in ("relaxation", "relative_gap")}
    return Subset(**plain, n_features=p, feature_names=names)
