"""Answers: coefficients with their certificate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, elsewhere
from ._input import Floats

if TYPE_CHECKING:
    from ._core import PointDict, SelectedDict
    from ._problem import Setup
    from ._report import Seen
    from ._sequences import Path

#: Coefficients shown in full.
SHOWN = 8


class Coefficients:
    """What every answer with coefficients can do."""

    support: NDArray[np.int64]
    values: Floats
    intercept: float
    n_features: int
    feature_names: tuple[str, ...] | None
    class_rows: tuple[list[list[float]], list[float]] | None = None

    @property
    def class_coef(self) -> Floats | None:
        """The coefficients of every class, zeros included; None where there is one predictor."""
        if self.class_rows is None:
            return None
        dense = np.zeros((len(self.class_rows[1]), self.n_features))
        dense[:, self.support] = np.asarray(self.class_rows[0]).reshape(len(dense), len(self.support))
        return dense

    @property
    def class_intercept(self) -> Floats | None:
        """The intercept of every class; None where there is one predictor."""
        return None if self.class_rows is None else np.asarray(self.class_rows[1])

    @property
    def coef(self) -> Floats:
        """All coefficients, zeros included."""
        dense = np.zeros(self.n_features)
        dense[self.support] = self.values
        return dense

    @property
    def selected(self) -> list[str]:
        """The names of the selected features, or ``x`` and their number."""
        return [self._name(int(j)) for j in self.support]

    def _name(self, j: int) -> str:
        return f"x{j}" if self.feature_names is None else self.feature_names[j]

    def predict(self, X: Any) -> Floats:
        """The linear predictor X @ coef + intercept, or X @ class_coef.T + class_intercept; only the selected columns are touched."""
        chosen = self._chosen_columns(X)
        if self.class_coef is not None:
            return np.asarray(chosen @ self.class_coef[:, self.support].T + self.class_intercept, dtype=np.float64)
        return np.asarray(chosen @ self.values + self.intercept, dtype=np.float64)

    def _chosen_columns(self, X: Any) -> Any:
        """The selected columns of new samples."""
        far = elsewhere.design(X)
        if far is not None and far.shape[1] == self.n_features:
            return np.asarray(far.columns(self.support))
        if hasattr(X, "to_numpy"):
            X = X.to_numpy()
        if not hasattr(X, "shape"):
            X = np.asarray(X)
        if len(X.shape) != 2 or X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns; its shape is {X.shape}")
        X = X.tocsc() if hasattr(X, "tocsc") else X
        return X[:, self.support]

    def _terms(self) -> str:
        shown = [f"{self._name(int(j))} {b:+.4g}" for j, b in zip(self.support[:SHOWN], self.values)]
        if len(self.support) > SHOWN:
            shown.append(f"… {len(self.support) - SHOWN} more")
        return ", ".join(shown) if shown else "none"


@dataclass(eq=False)
class Ranked(Coefficients):
    """One of the best subsets, in their order.

    Attributes
    ----------
    support, values, intercept, coef
        The best fit on this subset.
    objective : float
        Its objective.
    proved : bool
        Whether no subset that is not listed is better, within the tolerance.
    """

    support: NDArray[np.int64]
    values: Floats
    intercept: float
    n_features: int
    objective: float
    proved: bool
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)


@dataclass(eq=False, repr=False)
class Result(Coefficients):
    """An answer and how good it is known to be.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        The coefficients, on the scale of the columns given.
    intercept : float
        The intercept; zero without one.
    support : ndarray of int
        Indices of the non-zero coefficients, ascending.
    values : ndarray
        These coefficients.
    objective : float
        P of the answer.
    relaxation : float or None
        R, the value of the convex relaxation; None where the size is limited.
    lower_bound : float
        No coefficients have an objective below this; ``-inf`` where nothing is proved.
    gap : float
        ``objective - lower_bound``.
    relative_gap : float
        The gap divided by ``abs(objective)``.
    status : str
        ``"optimal"``: the gap is within the tolerance. ``"converged"``: the method met its own stopping rule and the
        gap says how good the answer is. ``"stalled"``: rounding kept it from that. Otherwise the limit that struck:
        ``"time_limit"``, ``"iteration_limit"``, ``"node_limit"``, ``"memory_limit"`` or ``"interrupted"``; or
        ``"read_failed"``: columns could not be read any more.
    seconds : float
        Wall-clock time of the engine.
    n_iter : int
        Iterations, in the unit of the method; nodes for ``"exact"``.
    trace : dict of ndarray
        ``seconds``, ``objective``, ``lower_bound``, ``gap``, ``relaxation``, ``n_iter``, ``active``, ``support``: how
        the solve went.
    dual : ndarray of shape (n_samples,)
        The dual point that proves the lower bound (before branching, for ``"exact"``).
    ranked : list of Ranked
        The best subsets, best first, from ``method="exact"`` with ``top``.
    excluded : int
        How many features are proved to be in no best subset.
    included : int
        How many features are proved to be in every best subset.
    standing : str
        What is proved, in one line: R² of the answer and what no subset of this penalty exceeds.
    r2 : float
        R² of the answer; for other losses than the squared one the share of the deviance explained.
    r2_limit : float
        What no subset whose penalty is not above that of the answer exceeds.
    remarks : list of str
        What there is to know about the choice: limits that struck, an answer at the edge of what was compared.
    provable : dict
        Where the answer is not proved best: ``within``, the size up to which no subset is better, and ``added``, how many
        features can be added without a better one, both proved; ``lambda2`` and ``bound`` (on every coefficient), with which
        a proof was soon made; ``lambda2_expected``, with which one may be expected; ``most``, the size up to which all subsets
        can be looked at. Empty where nothing is known.
    path : Path or None
        The path that the answer was chosen from, where neither `lambda0` nor `k` was given.
    dependent : list of list of int
        Features of which each is a combination of the others of its list but for rounding, as far as an exact search with
        ``lambda2 = 0`` met them; alone, with an intercept: a column that is constant but for its last digits. They were
        taken for exact combinations and constants: the bound is not one for fits made of their last digits.
    constant : list of int
        Features that are constant, and were left out: with an intercept they say nothing.
    """

    support: NDArray[np.int64]
    values: Floats
    intercept: float
    n_features: int
    objective: float
    relaxation: float | None
    lower_bound: float
    gap: float
    relative_gap: float
    status: str
    seconds: float
    n_iter: int
    lambda0: float
    lambda1: float
    lambda2: float
    k: int | None
    loss: str
    method: str
    dual: Floats
    standing: str
    r2: float
    r2_limit: float
    trace: dict[str, NDArray[Any]] = field(default_factory=dict)
    ranked: list[Ranked] = field(default_factory=list)
    excluded: int = 0
    included: int = 0
    dependent: list[list[int]] = field(default_factory=list)
    constant: list[int] = field(default_factory=list)
    groups: NDArray[Any] | None = None
    baseline: Any = field(default=None, repr=False)
    ties: str = field(default="efron", repr=False)
    strata: tuple[Any, ...] = field(default=(), repr=False)
    offset: str | None = field(default=None, repr=False)
    feature_names: tuple[str, ...] | None = None
    remarks: list[str] = field(default_factory=list)
    provable: dict[str, float] = field(default_factory=dict)
    path: Path | None = None
    chosen_by: str = ""
    frequencies: Floats | None = None
    setup: Setup | None = None
    target: str = "y"
    classes: tuple[Any, ...] | None = None
    class_rows: tuple[list[list[float]], list[float]] | None = None
    _seen: Seen | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # What a report needs stays in the process that made it.
        return {**self.__dict__, "_seen": None}

    @property
    def proved(self) -> bool:
        """Whether the answer is proved best within the tolerance."""
        return self.status == "optimal"

    @property
    def delta(self) -> float | None:
        """Where the Huber loss turned linear, in units of y; None for other losses."""
        return None if self.setup is None else self.setup.delta

    def _statement(self) -> str:
        """What the certificate says, in words."""
        if not np.isfinite(self.lower_bound):
            return "no bound: it takes lambda2 > 0, or bounds on every coefficient"
        if self.proved:
            return "best possible: proved best within the tolerance"
        hint = "; lambda2 > 0 would give a better bound" if self.lambda2 == 0.0 else ""
        size = "" if self.k is None else f" of at most {self.k} feature{'s' if self.k != 1 else ''}"
        return (
            f"best possible within {percent(self.relative_gap)}: no subset{size} lowers the objective by more than "
            f"{most(self.gap)}{hint}"
        )

    def _price(self) -> str:
        # A size that nobody gave is one that was chosen: the best at no price that was compared.
        price = f"lambda0 = {self.lambda0:.6g}" if self.k is None else f"none: at most k = {self.k}"
        return price + (f", {self.chosen_by}" if self.chosen_by else "")

    def _rows(self) -> list[tuple[str, str]]:
        return [
            ("features", f"{len(self.support)} of {self.n_features}: {self._terms()}"),
            ("intercept", f"{self.intercept:.6g}" if self.class_intercept is None else f"{np.round(self.class_intercept, 6)}"),
            ("penalty per feature", self._price()),
            ("problem", f"{self.loss} loss, lambda1 = {self.lambda1:.6g}, lambda2 = {self.lambda2:.6g}"),
            ("objective", f"{self.objective:.7g}, and for every subset at least {lower(self)}"),
            ("certificate", self._statement()),
            ("standing", self.standing),
            ("status", self.status.replace("_", " ")),
            ("effort", f"{self.n_iter} iterations of {self.method}, {seconds_text(self.seconds)}"),
            *(("dependent", dependence([self._name(j) for j in group])) for group in self.dependent),
            *([("left out", left_out([self._name(j) for j in self.constant[: SHOWN + 1]], len(self.constant)))] if self.constant else []),
            *(("remark", remark) for remark in self.remarks),
        ]

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        return "\n".join(f"{name:>{width}}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        title = f"{len(self.support)} of {self.n_features} features · {escape(self.status.replace('_', ' '))}"
        return table(title, self._rows())

    def summary(self) -> str:
        """The coefficients as a table, a column for each of many classes, and what is proved of them in plain words."""
        head = f"{self.target}: {len(self.support)} of {self.n_features} features, {self.loss} loss"
        shares = self.frequencies
        columns: Any = ([self.values], [self.intercept]) if self.class_rows is None else self.class_rows
        values, intercepts = columns
        labels = ["coefficient"] if self.class_rows is None else self.classes or range(len(intercepts))
        titles = [str(label) for label in labels]
        rows = [("", *titles, "in folds" if shares is not None else "")]
        rows.append(("(intercept)", *(f"{value:.6g}" for value in intercepts), ""))
        for place, name in enumerate(self.selected):
            share = "" if shares is None else f"{100 * shares[place]:.0f} %"
            rows.append((name, *(f"{row[place]:.6g}" for row in values), share))
        left, *widths = (max(len(row[c]) for row in rows) for c in range(len(rows[0])))
        lines = ["  ".join([f"{row[0]:<{left}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths))]).rstrip() for row in rows]
        shown = ("penalty per feature", "problem", "certificate", "standing", "dependent", "left out", "remark")
        said = [f"{name:<19}  {value}" for name, value in self._rows() if name in shown]
        return "\n".join([head, "", *lines, "", *said])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that `bestset.load` and the command ``bestset predict`` read."""
        from ._model import save

        save(self, path)

    def report(self, path: str | os.PathLike[str], X: Any = None, *, source: str = "data") -> None:
        """Writes one HTML page about the model: the answer, its proof, the path and the folds, how well it fits.

        Parameters
        ----------
        path : path
            The file.
        X : array, sparse matrix or data frame, optional
            What was fitted; None while that is still in memory.
        source : str
            What the samples are called.
        """
        from ._report import write

        write(self, path, X, source)


@dataclass(eq=False, repr=False)
class Certificate:
    """How good given coefficients are.

    Attributes
    ----------
    objective : float
        P of the coefficients given.
    relaxation : float or None
        R of the coefficients given.
    lower_bound : float
        No coefficients have an objective below this.
    gap : float
        ``objective - lower_bound``.
    relative_gap : float
        The gap divided by ``abs(objective)``.
    standing : str
        What is proved, in one line; `r2` and `r2_limit` are its numbers.
    solution : Result
        The answer that was found on the way to the bound; ``solution.objective`` may be lower.
    """

    objective: float
    relaxation: float | None
    lower_bound: float
    gap: float
    relative_gap: float
    status: str
    standing: str
    r2: float
    r2_limit: float
    solution: Result

    @property
    def proved(self) -> bool:
        """Whether the coefficients are proved best within the tolerance."""
        return self.status == "optimal"

    @property
    def improvement(self) -> float:
        """How much lower the objective of `solution` is; zero if it is not."""
        return max(0.0, self.objective - self.solution.objective)

    def _rows(self) -> list[tuple[str, str]]:
        if not np.isfinite(self.objective):
            verdict = "not allowed: more features than k, or outside the bounds"
        elif not np.isfinite(self.gap):
            verdict = "no bound: it takes lambda2 > 0, or bounds on every coefficient"
        elif self.proved:
            verdict = "proved best within the tolerance"
        else:
            verdict = f"best possible within {percent(self.relative_gap)}: at most {most(self.gap)} above it"
        return [
            ("objective", f"{self.objective:.7g}"),
            ("lower bound", lower(self)),
            ("gap", f"{most(self.gap)} ({percent(self.relative_gap)})"),
            ("verdict", verdict),
            ("standing", self.standing),
            ("best known", f"{self.solution.objective:.7g} with {len(self.solution.support)} features"),
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{name:>11}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return table("certificate", self._rows())


def result(found: PointDict, p: int, names: tuple[str, ...] | None, setup: Setup, **more: Any) -> Result:
    """A `Result` from what the engine returned."""
    ranked = [Ranked(**r, n_features=p, feature_names=names) for r in found["ranked"]]
    plain: dict[str, Any] = {k: v for k, v in found.items() if k not in ("ranked", "passes")}
    plain.update(more)
    return Result(**plain, ranked=ranked, n_features=p, feature_names=names, loss=setup.loss, setup=setup)


def selected(found: SelectedDict, p: int, names: tuple[str, ...] | None, setup: Setup, **more: Any) -> Result:
    """A `Result` with the path it was chosen from."""
    from ._sequences import path

    setup = replace(setup, delta=found["delta"])
    solution, made, said = found["solution"], None, ""
    if found["path"] is not None:
        made = path(found["path"], p, names, setup)
        said = f"chosen by {found['criterion'] or 'cross-validation'} along a path of {len(made)} points"
    validation = found["validation"]
    shares = None if validation is None else validation["frequencies"]
    remarks = [text for _, text in found["remarks"]]
    return result(
        solution, p, names, setup, path=made, chosen_by=said, frequencies=shares, remarks=remarks,
        provable=found["provable"], constant=found["constant"], baseline=found["baseline"], class_rows=found["classes"], **more,
    )  # fmt: skip


def warn(remarks: Sequence[tuple[str, str]], stacklevel: int) -> None:
    """A warning for each remark of the engine: of convergence where a limit struck."""
    for kind, text in remarks:
        if kind == "provable":
            continue  # No trouble: the summary has it.
        category: type[Warning] = UserWarning
        if kind == "limit":
            from sklearn.exceptions import ConvergenceWarning

            category = ConvergenceWarning
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def dependence(names: list[str]) -> str:
    """Which columns were taken for combinations of each other, in words."""
    if len(names) == 1:
        return f"{names[0]} is constant but for rounding"
    return f"{', '.join(names[:-1])} and {names[-1]} are combinations of each other but for rounding"


def left_out(names: list[str], count: int) -> str:
    """Which features were left out because they are constant, in words: the first of so many."""
    shown = names[:SHOWN] + ([f"{count - SHOWN} more"] if count > SHOWN else [])
    if len(shown) == 1:
        return f"{shown[0]} is constant"
    return f"{', '.join(shown[:-1])} and {shown[-1]} are constant"


def shares_of(margins: Floats) -> Floats:
    """Probabilities of classes, one column each, from their linear predictors."""
    from scipy.special import softmax

    shares: Floats = softmax(margins, axis=1)
    return shares


def least(bound: float, digits: int = 7) -> str:
    """A lower bound in few digits: rounded down, so that it still is one."""
    return _core.shown(bound, digits, False)


def most(gap: float, digits: int = 4) -> str:
    """A gap in few digits: rounded up, so that it still holds."""
    return _core.shown(gap, digits, True)


def lower(answer: Result | Certificate) -> str:
    """The lower bound, or how far below the objective it is: the digits left out of both could be more than there is between them."""
    bound = least(answer.lower_bound)
    if not _core.misleads(f"{answer.objective:.7g}", bound, answer.gap):
        return bound
    return f"the objective less {most(answer.gap)}" if answer.gap > 0 else "the objective itself"


def percent(share: float) -> str:
    """A gap as a share, rounded up."""
    return _core.percent(share) if np.isfinite(share) else "unknown"


def seconds_text(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def table(title: str, rows: list[tuple[str, str]]) -> str:
    style = "text-align:left"
    body = "".join(
        f'<tr><th style="{style}">{escape(name)}</th><td style="{style}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{title}</caption><tbody>{body}</tbody></table>"


def grid(title: str, rows: list[tuple[str, ...]]) -> str:
    def cells(row: tuple[str, ...], tag: str) -> str:
        return "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows[1:])
    return f"<table><caption>{title}</caption><thead><tr>{cells(rows[0], 'th')}</tr></thead><tbody>{body}</tbody></table>"
