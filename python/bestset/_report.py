"""Reports: one HTML page about a model."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core, _input
from ._input import Floats
from ._problem import Data

if TYPE_CHECKING:
    from ._result import Result
    from ._times import Times


@dataclass(frozen=True, eq=False)
class About:
    """What the samples are called; the engine reads it attribute by attribute."""

    source: str
    target: str
    labels: tuple[str, ...]
    names: tuple[str, ...] | None
    command: str
    seconds: float


@dataclass(frozen=True, eq=False)
class Seen:
    """What a report needs again. X is not kept alive."""

    x: Any
    y: Floats
    sample_weight: Floats | None
    offset: Floats | None
    survival: Times | None
    kept: _core.Kept
    estimator: Any


def seen(X: Any, data: Data, kept: _core.Kept, estimator: Any = None) -> Seen:
    """What is kept of a call; of an estimator its parameters, which a report puts into words: that takes longer than a small fit."""
    asked = None
    if estimator is not None:
        # The parameters are the attributes that a fit has not made. get_params() reads the signature, which takes longer than all else here.
        asked = object.__new__(type(estimator))
        asked.__dict__.update((name, value) for name, value in vars(estimator).items() if name[0] != "_" and name[-1] != "_")
    try:
        x: Any = weakref.ref(X)
    except TypeError:
        x = None
    return Seen(x, data.y, data.sample_weight, data.offset, data.survival, kept, asked)


def write(result: Result, path: str | os.PathLike[str], X: Any, source: str) -> None:
    """Writes the page of a result."""
    known = result._seen
    if known is None or result.setup is None:
        raise ValueError("the fit was not made in this process (results are stored without it): fit again for a report")
    if X is None and known.x is not None:
        X = known.x()
    if X is None:
        raise ValueError("X is no longer in memory; pass it: report(path, X)")
    matrix, n, p = _input.matrix(X)
    if (n, p) != (len(known.y), result.n_features):
        raise ValueError(f"X has shape {(n, p)}; the model was fitted to {(len(known.y), result.n_features)}")
    labels = () if result.classes is None else tuple(str(label) for label in result.classes)
    command = "" if known.estimator is None else f"{known.estimator!r}.fit(X, {result.target})"
    about = About(source, result.target, labels, result.feature_names, command, result.seconds)
    data = Data(matrix, known.y, known.sample_weight, known.offset, known.survival)
    page = _core.report(data, result.setup, known.kept, about)
    with open(os.fspath(path), "w", encoding="utf-8") as file:
        file.write(page)
