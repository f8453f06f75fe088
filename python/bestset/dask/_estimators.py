"""Estimators with scikit-learn's habits for X on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._classifier import BestSubsetClassifier, BestSubsetClassifierCV
from .._regressor import BestSubsetRegressor, BestSubsetRegressorCV
from ._design import design, given
from ._functions import here


class _OnCluster:
    """X and the client; everything else is that of the estimator on one machine."""

    client: Any

    def __init__(self, *places: Any, client: Any = None, **named: Any) -> None:
        super().__init__(*places, **named)
        self.client = client

    @classmethod
    def _local(cls) -> type:
        """The estimator on one machine."""
        return next(base for base in cls.__mro__ if base.__module__ in ("bestset._regressor", "bestset._classifier"))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # A client is no setting of the model, and cannot be copied: clones use the one that is open.
        return cls._local()._get_param_names()  # type: ignore[attr-defined,no-any-return]

    def __sklearn_clone__(self) -> Any:
        copied = type(self)(**self.get_params(deep=False))  # type: ignore[attr-defined]
        copied.client = self.client
        return copied

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {**state, "client": None}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Any:
        """Fit.

        Parameters
        ----------
        X : dask array with chunks (-1, width), or what `bestset.dask.open`, `from_array` and `from_delayed` give
        y : array of shape (n_samples,)
            Computed here, if it is a dask array; so are weights and offsets.
        sample_weight, offset : array of shape (n_samples,), optional
            As in the estimator on one machine.

        Returns
        -------
        self
        """
        with given(X, self.client) as x:
            return super().fit(x, np.asarray(here(y)), here(sample_weight), here(offset))  # type: ignore[misc]

    def set_params(self, **params: Any) -> Any:
        """As in the estimator on one machine, and `client`."""
        if "client" in params:
            self.client = params.pop("client")
        return super().set_params(**params)  # type: ignore[misc]

    def _columns(self, X: Any) -> Any:
        """X as predictions take it: of a dask array or data frame the columns that were selected."""
        check_is_fitted(self)
        if hasattr(X, "dask") and hasattr(X, "to_dask_array"):
            names = getattr(self, "feature_names_in_", None)
            if names is not None and list(X.columns) != list(names):
                raise ValueError("the columns of X are not those that the model was fitted to, in the same order")
            return _Selected(X.to_dask_array())
        if hasattr(X, "dask") and hasattr(X, "chunks"):
            return _Selected(X)
        return design(X, self.client)

    def to_local(self) -> Any:
        """The same model as an estimator on one machine, without Dask.

        Returns
        -------
        BestSubsetRegressor, BestSubsetClassifier or their CV versions
        """
        local = self._local()(**self.get_params(deep=False))  # type: ignore[attr-defined]
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_") or name == "_target"}
        vars(local).update(fitted)
        return local


class _Selected:
    """A dask array of new samples, in whatever chunks: only the columns that a model has are computed."""

    def __init__(self, X: Any) -> None:
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, samples and features; its shape is {X.shape}")
        self.array = X
        # How many samples there are may not be known before they are computed.
        self.shape = (X.shape[0], int(X.shape[1]))
        self.rounding = (2.0**-53, self.shape[0])

    def columns(self, features: Any) -> Any:
        """``X[:, features]``."""
        # By columns, as those of an array of this process: products of matrices in another order have other last bits.
        try:
            chosen = self.array[:, np.asarray(features)].compute()
        except Exception as error:
            gone = _closed_client(self.array)
            if gone is None:
                raise
            raise RuntimeError(
                f"X was kept on a cluster (persist) whose client is {gone}, and is no longer there: make X anew, or keep the client open "
                "until the predictions are made (with Client(...) as client: model.predict(X))"
            ) from error
        return np.asfortranarray(chosen, dtype=np.float64)

    def correlate(self, features: Any, vectors: Any) -> Any:
        """``X[:, features].T @ vectors``."""
        return self.columns(np.arange(self.shape[1]) if features is None else features).T @ vectors


def _closed_client(X: Any) -> str | None:
    """The status of a client that is no longer open and had parts of X."""
    clients = (getattr(part, "client", None) for part in dict(X.dask).values())
    states = (getattr(client, "status", "running") for client in clients)
    return next((str(state) for state in states if state not in ("running", "connecting")), None)


def _predicting(name: str) -> Any:
    def method(self: Any, X: Any, offset: Any = None) -> Any:
        return getattr(super(_OnCluster, self), name)(self._columns(X), here(offset))

    method.__name__ = name
    method.__doc__ = f"As `{name}` of the estimator on one machine; of a dask array only the columns of the model are computed."
    return method


class DaskBestSubsetRegressor(_OnCluster, BestSubsetRegressor):
    """`bestset.BestSubsetRegressor` for X on a cluster.

    Parameters
    ----------
    client : distributed.Client, optional
        The one that is open, unless given; without any, Dask's own scheduler does the work.
    **parameters
        Those of `bestset.BestSubsetRegressor`.

    Examples
    --------
    >>> import dask.array as da, numpy as np
    >>> import bestset.dask as bd
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 40))
    >>> y = 2 * X[:, 3] - X[:, 17] + 0.1 * rng.standard_normal(100)
    >>> model = bd.DaskBestSubsetRegressor().fit(da.from_array(X, chunks=(-1, 16)), y)
    >>> model.support_
    array([ 3, 17])
    >>> bool(model.lower_bound_ <= model.objective_)
    True
    >>> bool((model.to_local().predict(X) == model.predict(X)).all())
    True
    """

    predict = _predicting("predict")


class DaskBestSubsetRegressorCV(_OnCluster, BestSubsetRegressorCV):
    """`bestset.BestSubsetRegressorCV` for X on a cluster; `client` as in `DaskBestSubsetRegressor`."""

    predict = _predicting("predict")


class DaskBestSubsetClassifier(_OnCluster, BestSubsetClassifier):
    """`bestset.BestSubsetClassifier` for X on a cluster; `client` as in `DaskBestSubsetRegressor`."""

    decision_function = _predicting("decision_function")


class DaskBestSubsetClassifierCV(_OnCluster, BestSubsetClassifierCV):
    """`bestset.BestSubsetClassifierCV` for X on a cluster; `client` as in `DaskBestSubsetRegressor`."""

    decision_function = _predicting("decision_function")
