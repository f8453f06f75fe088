"""Best subset selection on a cluster, by Dask.

X stays in parts of neighbouring columns with the workers; y and the few columns that matter stay here. Every pass over X is a task for
each part, and so are the folds of a cross-validation and slices of a branch-and-bound tree where X is small enough for a worker.
The answers have the same bits as those of one process, however many workers there are and whichever of them are lost on the way.

Needs Dask: ``pip install 'bestset[dask]'``. Nothing of it is imported by ``import bestset``.
"""

from __future__ import annotations

try:
    import dask as _dask
except ImportError as error:  # pragma: no cover
    raise ImportError("bestset.dask needs Dask: pip install 'bestset[dask]'") from error

from ._design import DaskDesign, design, from_array, from_delayed, open
from ._estimators import (
    DaskBestSubsetClassifier,
    DaskBestSubsetClassifierCV,
    DaskBestSubsetRegressor,
    DaskBestSubsetRegressorCV,
)
from ._functions import certify, cv, path, solve, stability, subsets

__all__ = [
    "DaskBestSubsetClassifier",
    "DaskBestSubsetClassifierCV",
    "DaskBestSubsetRegressor",
    "DaskBestSubsetRegressorCV",
    "DaskDesign",
    "certify",
    "cv",
    "design",
    "from_array",
    "from_delayed",
    "open",
    "path",
    "solve",
    "stability",
    "subsets",
]
