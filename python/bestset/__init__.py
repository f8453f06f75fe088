"""Best subset selection with a proof.

The few features that matter, and how good the answer is: every answer comes with a lower bound on what any other subset
could reach.

`solve`, `path`, `subsets` and `certify` work on one problem; `BestSubsetRegressor`, `BestSubsetClassifier`, their ``CV``
versions and `BestSubsetSelector` are scikit-learn estimators on the same engine; `bestset.plots` draws.
"""

from ._classifier import BestSubsetClassifier, BestSubsetClassifierCV
from ._core import __version__
from ._path import path, subsets
from ._regressor import BestSubsetRegressor, BestSubsetRegressorCV
from ._result import Certificate, Path, Ranked, Result, Subset, Subsets
from ._selector import BestSubsetSelector
from ._solve import certify, solve

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
