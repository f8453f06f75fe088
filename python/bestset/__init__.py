"""Best subset selection with a proof.

The few features that matter, and how good the answer is: every answer comes with a lower bound on what any other subset
could reach.

`solve`, `path`, `subsets` and `certify` work on one problem; `BestSubsetRegressor`, `BestSubsetClassifier`, their ``CV``
versions and `BestSubsetSelector` are scikit-learn estimators on the same engine; `bestset.plots` draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import __version__
from ._path import path, subsets
from ._result import Certificate, Ranked, Result
from ._sequences import Path, Subset, Subsets
from ._solve import certify, solve

if TYPE_CHECKING:
    from ._classifier import BestSubsetClassifier, BestSubsetClassifierCV
    from ._regressor import BestSubsetRegressor, BestSubsetRegressorCV
    from ._selector import BestSubsetSelector

__all__ = [
    "BestSubsetClassifier",
    "BestSubsetClassifierCV",
    "BestSubsetRegressor",
    "BestSubsetRegressorCV",
    "BestSubsetSelector",
    "Certificate",
    "Path",
    "Ranked",
    "Result",
    "Subset",
    "Subsets",
    "__version__",
    "certify",
    "path",
    "solve",
    "subsets",
]

#: Estimators are imported when they are first asked for: scikit-learn takes its time.
_ESTIMATORS = {
    "BestSubsetClassifier": "_classifier",
    "BestSubsetClassifierCV": "_classifier",
    "BestSubsetRegressor": "_regressor",
    "BestSubsetRegressorCV": "_regressor",
    "BestSubsetSelector": "_selector",
}


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'bestset' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"bestset.{_ESTIMATORS[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ESTIMATORS})
