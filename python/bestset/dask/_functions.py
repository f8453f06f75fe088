"""The functions of `bestset` for X on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

import bestset

from .._result import Certificate, Result
from .._sequences import Path, Subsets
from .._stability import Stability
from ._design import given
from ._shards import ready


def here(values: Any) -> Any:
    """One number per sample, in this process."""
    return ready(np.asarray(values.compute())) if hasattr(values, "dask") and hasattr(values, "compute") else values


def _local(more: dict[str, Any]) -> dict[str, Any]:
    return {name: here(value) for name, value in more.items()}


def solve(X: Any, y: Any, lambda0: float | None = None, *, client: Any = None, **more: Any) -> Result:
    """As `bestset.solve`, for X on a cluster.

    Parameters
    ----------
    X : dask array with chunks (-1, width), or what `open`, `from_array` and `from_delayed` give
    y : array of shape (n_samples,)
        Computed here, if it is a dask array.
    client : distributed.Client, optional
        The one that is open, unless given; without any, Dask's own scheduler does the work.
    lambda0, **more
        As in `bestset.solve`.
    """
    with given(X, client) as x:
        return bestset.solve(x, here(y), lambda0, **_local(more))


def path(X: Any, y: Any, lambda0s: Any = None, *, client: Any = None, **more: Any) -> Path:
    """As `bestset.path`, for X on a cluster."""
    with given(X, client) as x:
        return bestset.path(x, here(y), lambda0s, **_local(more))


def subsets(X: Any, y: Any, max_size: int | None = None, *, client: Any = None, **more: Any) -> Subsets:
    """As `bestset.subsets`, for X on a cluster."""
    with given(X, client) as x:
        return bestset.subsets(x, here(y), max_size, **_local(more))


def certify(X: Any, y: Any, coef: Any, intercept: float = 0.0, *, client: Any = None, **more: Any) -> Certificate:
    """As `bestset.certify`, for X on a cluster."""
    with given(X, client) as x:
        return bestset.certify(x, here(y), here(coef), intercept, **_local(more))


def stability(X: Any, y: Any, max_size: int | None = None, *, client: Any = None, **more: Any) -> Stability:
    """As `bestset.stability`, for X on a cluster."""
    with given(X, client) as x:
        return bestset.stability(x, here(y), max_size, **_local(more))


def cv(X: Any, y: Any, *, client: Any = None, sample_weight: Any = None, offset: Any = None, **more: Any) -> Any:
    """Cross-validation: a fitted `DaskBestSubsetRegressorCV`, or a classifier where the loss is one of classes.

    Parameters
    ----------
    X, y, client
        As in `solve`.
    **more
        The parameters of `bestset.BestSubsetRegressorCV` or `bestset.BestSubsetClassifierCV`.
    """
    from ._estimators import DaskBestSubsetClassifierCV, DaskBestSubsetRegressorCV

    is_classes = more.get("loss", "squared") in ("logistic", "squared_hinge")
    kind = DaskBestSubsetClassifierCV if is_classes else DaskBestSubsetRegressorCV
    return kind(client=client, **_local(more)).fit(X, np.asarray(here(y)), here(sample_weight), here(offset))
