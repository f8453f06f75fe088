"""Survival."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import safe_sparse_dot

from . import _core, _times
from ._base import BestSubsetBase, CvMixin
from ._input import Floats, with_offset
from ._times import Times


class StepFunction:
    """A function that is constant between its steps.

    Attributes
    ----------
    x : ndarray
        Where it steps, ascending.
    y : ndarray
        Its value from each step on.
    """

    def __init__(self, x: Floats, y: Floats, before: float) -> None:
        self.x, self.y, self._before = x, y, before

    def __call__(self, at: ArrayLike) -> Any:
        """The value at one time or several."""
        place = np.searchsorted(self.x, np.asarray(at, dtype=np.float64), side="right")
        return np.concatenate([[self._before], self.y])[place]


class _Survival(BestSubsetBase):
    loss = "cox"
    fit_intercept = False
    ties: str

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any, strata: Any, splits: bool) -> None:
        times = _times.read(y)
        given = strata if strata is not None or times.strata is None else [times.labels[s] for s in times.strata]
        times = Times(times.time, times.event, times.entry, given, times.ties if isinstance(y, Times) else self.ties)
        checked, _ = self._samples(X, times.time, y_numeric=True)
        self._times = times
        try:
            parts = self._splits(checked, times.event, classifier=False) if splits else None
            weights = self._weights(sample_weight, checked)
            fits = self._fit_problems(checked, X, [times.time], "cox", weights, offset, parts)
        finally:
            del self._times
        self._keep(fits, single=True)
        (result,) = self.results_
        self.coef_, self.support_, self.strata_ = result.coef, result.support, times.labels
        steps = [np.asarray(curve[1]) for curve in result.baseline[1]]
        self.unique_times_ = np.unique(np.concatenate(steps))

    def predict(self, X: Any, offset: ArrayLike | None = None) -> Floats:
        """The logarithm of the relative risk, ``X @ coef_ + offset``: the larger, the sooner the event.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            The fixed part of the linear predictor.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        found = safe_sparse_dot(self._chosen(X), self.coef_[self.support_], dense_output=True)
        return with_offset(np.asarray(found), offset)

    def _numbers(self, strata: Any) -> list[int] | None:
        if strata is None or not self.strata_:
            return None
        return _times.stratum_numbers(strata, self.strata_)

    def _functions(self, X: Any, what: str, strata: Any, offset: Any, return_array: bool) -> Any:
        u, before = self.predict(X, offset), 1.0 if what == "survival" else 0.0
        table = _times.curves(self.results_[0].baseline, u, what, self.unique_times_, self._numbers(strata))
        if return_array:
            return table
        found: NDArray[Any] = np.empty(len(table), dtype=object)
        found[:] = [StepFunction(self.unique_times_, row, before) for row in table]
        return found

    def predict_survival_function(
        self, X: Any, return_array: bool = False, *, strata: Any = None, offset: ArrayLike | None = None
    ) -> Any:
        """The probability of no event until t, for each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        return_array : bool
            Whether an array with one column for each of `unique_times_` is returned, in place of functions.
        strata : array of shape (n_samples,), optional
            The stratum of each row, where the model has several.
        offset : array of shape (n_samples,), optional

        Returns
        -------
        ndarray of StepFunction, or of shape (n_samples, n_times)
        """
        return self._functions(X, "survival", strata, offset, return_array)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False, *, strata: Any = None, offset: ArrayLike | None = None
    ) -> Any:
        """The cumulative hazard until t, for each row; parameters as of `predict_survival_function`."""
        return self._functions(X, "hazard", strata, offset, return_array)

    def predict_median(self, X: Any, *, strata: Any = None, offset: ArrayLike | None = None) -> Floats:
        """The first time at which survival is one half or less, infinite where it stays above."""
        u = self.predict(X, offset)
        return _times.curves(self.results_[0].baseline, u, "median", (), self._numbers(strata))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Harrell's C: of the pairs that can be compared, the share whose order is predicted rightly.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : survival times, as in `fit`
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        u = np.ascontiguousarray(self.predict(X))
        weights = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
        return float(_core.concordance(_times.read(y), u, weights))


class BestSubsetSurvival(_Survival):
    r"""Proportional hazards (Cox) on the best subset of the features, with a bound on what any other subset could reach.

    .. math::

        \min_\beta\; -\log PL(\beta) + \lambda_0\|\beta\|_0 + \lambda_1\sum_j s_j|\beta_j| + \lambda_2\sum_j s_j^2\beta_j^2

    with the partial likelihood PL, whose ties are Efron's or Breslow's. Criteria count events, not samples.

    Parameters
    ----------
    ties : {"efron", "breslow"}
        How events at the same time are counted.
    lambda0, k, lambda1, lambda2, method, criterion, gamma, max_size, n_lambdas, prove, standardize, positive, bounds, price, shrinkage, always, never, groups, group_prices, tol, time_limit, checkpoint, n_jobs
        As in `BestSubsetRegressor`.

    Attributes
    ----------
    unique_times_ : ndarray
        The event times.
    strata_ : tuple
        The labels of the strata, where there are several.
    coef_, support_, lambda0_, lambda2_, objective_, lower_bound_, dual_gap_, standing_, r2_, r2_limit_, status_, n_iter_, path_, results_
        As in `BestSubsetRegressor`; ``r2_`` is the share of the deviance explained.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset import BestSubsetSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> time = rng.exponential(np.exp(-1.5 * X[:, 3] + X[:, 7]))
    >>> event = time < 2
    >>> y = np.column_stack([np.minimum(time, 2), event])
    >>> model = BestSubsetSurvival().fit(X, y)
    >>> model.support_
    array([3, 7])
    >>> bool(model.score(X, y) > 0.8)
    True
    >>> curve = model.predict_survival_function(X[:1])[0]
    >>> bool(curve(0.0) == 1.0 and curve(2.0) < 1.0)
    True
    """

    def __init__(
        self,
        lambda0: float | None = None,
        *,
        k: int | None = None,
        lambda1: float = 0.0,
        lambda2: float | None = None,
        ties: str = "efron",
        method: str = "incremental",
        criterion: str = "ebic",
        gamma: float = 1.0,
        max_size: int | None = None,
        n_lambdas: int | None = None,
        prove: float | str | None = "auto",
        standardize: bool | str = True,
        positive: bool = False,
        bounds: tuple[Any, Any] | None = None,
        price: ArrayLike | None = None,
        shrinkage: ArrayLike | None = None,
        always: Sequence[int | str] | None = None,
        never: Sequence[int | str] | None = None,
        groups: ArrayLike | None = None,
        group_prices: ArrayLike | None = None,
        tol: float = 1e-6,
        time_limit: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lambda0 = lambda0
        self.k = k
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.ties = ties
        self.method = method
        self.criterion = criterion
        self.gamma = gamma
        self.max_size = max_size
        self.n_lambdas = n_lambdas
        self.prove = prove
        self.standardize = standardize
        self.positive = positive
        self.bounds = bounds
        self.price = price
        self.shrinkage = shrinkage
        self.always = always
        self.never = never
        self.groups = groups
        self.group_prices = group_prices
        self.tol = tol
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None, strata: Any = None
    ) -> BestSubsetSurvival:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : Times, structured array (event, time), or two columns (time, event) or three (entry, time, event)
        sample_weight : array of shape (n_samples,), optional
        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor.
        strata : array of shape (n_samples,), optional
            Labels; risk sets are made within strata.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, offset, strata, splits=False)
        return self


class BestSubsetSurvivalCV(CvMixin, _Survival):
    """`BestSubsetSurvival` with the price chosen by cross-validation, folds drawn by event.

    Parameters
    ----------
    scoring : {"neg_deviance", "concordance"}, optional
        None for the partial-likelihood deviance of all samples less that of the training part, per event left out; or
        Harrell's C.
    ties : {"efron", "breslow"}
        How events at the same time are counted.
    lambda0s, cv, select, random_state, lambda1, lambda2, method, max_size, n_lambdas, prove, standardize, positive, bounds, price, shrinkage, always, never, groups, group_prices, tol, time_limit, checkpoint, n_jobs
        As in `BestSubsetRegressorCV`.

    Attributes
    ----------
    unique_times_, strata_
        As in `BestSubsetSurvival`.
    path_, lambda0s_, lambda2s_, cv_scores_, cv_mean_, cv_standard_error_, cv_frequencies_, lambda0_min_, lambda2_min_, lambda0_1se_, lambda2_1se_, coef_, support_, results_
        As in `BestSubsetRegressorCV`.
    """

    def __init__(
        self,
        lambda0s: ArrayLike | None = None,
        *,
        cv: Any = None,
        scoring: str | None = None,
        select: str = "min",
        random_state: Any = 0,
        lambda1: float = 0.0,
        lambda2: float | ArrayLike | None = None,
        ties: str = "efron",
        method: str = "incremental",
        max_size: int | None = None,
        n_lambdas: int | None = None,
        prove: float | str | None = "auto",
        standardize: bool | str = True,
        positive: bool = False,
        bounds: tuple[Any, Any] | None = None,
        price: ArrayLike | None = None,
        shrinkage: ArrayLike | None = None,
        always: Sequence[int | str] | None = None,
        never: Sequence[int | str] | None = None,
        groups: ArrayLike | None = None,
        group_prices: ArrayLike | None = None,
        tol: float = 1e-6,
        time_limit: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lambda0s = lambda0s
        self.cv = cv
        self.scoring = scoring
        self.select = select
        self.random_state = random_state
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.ties = ties
        self.method = method
        self.max_size = max_size
        self.n_lambdas = n_lambdas
        self.prove = prove
        self.standardize = standardize
        self.positive = positive
        self.bounds = bounds
        self.price = price
        self.shrinkage = shrinkage
        self.always = always
        self.never = never
        self.groups = groups
        self.group_prices = group_prices
        self.tol = tol
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None, strata: Any = None
    ) -> BestSubsetSurvivalCV:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : Times, structured array (event, time), or two columns (time, event) or three (entry, time, event)
        sample_weight : array of shape (n_samples,), optional
        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor.
        strata : array of shape (n_samples,), optional
            Labels; risk sets are made within strata.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, offset, strata, splits=True)
        return self
