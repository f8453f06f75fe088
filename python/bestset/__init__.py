"""Best subset selection with a proof.

The few features that matter, and how good the answer is: every answer comes with a lower bound on what any other subset
could reach.

`solve`, `path`, `subsets`, `certify` and `stability` work on one problem; `load` reads a saved model; `open` opens a matrix that
stays on disk; `BestSubsetRegressor`, `BestSubsetClassifier`, `BestSubsetSurvival`, their ``CV``
versions and `BestSubsetSelector` are scikit-learn estimators on the same engine; `bestset.plots` draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import __version__
from ._model import Model, load
from ._path import path, subsets
from ._result import Certificate, Ranked, Result
from ._sequences import Path, Subset, Subsets
from ._solve import certify, solve
from ._stability import Stability, stability
from ._times import Times
from .disk import OnDisk, open

if TYPE_CHECKING:
    from ._classifier import BestSubsetClassifier, BestSubsetClassifierCV
    from ._regressor import BestSubsetRegressor, BestSubsetRegressorCV
    from ._selector import BestSubsetSelector
    from ._survival import BestSubsetSurvival, BestSubsetSurvivalCV

__all__ = [
    "BestSubsetClassifier",
    "BestSubsetClassifierCV",
    "BestSubsetRegressor",
    "BestSubsetRegressorCV",
    "BestSubsetSelector",
    "BestSubsetSurvival",
    "BestSubsetSurvivalCV",
    "Certificate",
    "Model",
    "OnDisk",
    "Path",
    "Ranked",
    "Result",
    "Stability",
    "Subset",
    "Subsets",
    "Times",
    "__version__",
    "certify",
    "load",
    "open",
    "path",
    "solve",
    "stability",
    "subsets",
]

#: Estimators are imported when they are first asked for: scikit-learn takes its time.
_ESTIMATORS = {
    "BestSubsetClassifier": "_classifier",
    "BestSubsetClassifierCV": "_classifier",
    "BestSubsetRegressor": "_regressor",
    "BestSubsetRegressorCV": "_regressor",
    "BestSubsetSelector": "_selector",
    "BestSubsetSurvival": "_survival",
    "BestSubsetSurvivalCV": "_survival",
}


def __getattr__(name: str) -> Any:
    if name == "plots":
        from importlib import import_module

        return import_module("bestset.plots")
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'bestset' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"bestset.{_ESTIMATORS[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ESTIMATORS})
