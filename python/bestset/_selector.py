"""Feature selection as a step of a pipeline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ._base import BestSubsetBase
from ._problem import CLASSIFICATION


class BestSubsetSelector(SelectorMixin, BestSubsetBase):
    r"""Keeps the best subset of the features; a transformer.

    The objective and the way to choose a subset are those of `BestSubsetRegressor` and `BestSubsetClassifier`. With a
    classification loss and more than two classes, the features that any class needs are kept.

    Parameters
    ----------
    lambda0 : float, optional
        The price of a feature. If neither it nor `k` is given, a path over `lambda0` is computed and its best point by
        `criterion` is taken.
    k : int, optional
        The largest number of features, in place of a price.
    loss : {"squared", "huber", "logistic", "squared_hinge", "multinomial", "poisson", "gamma", "negative_binomial"}
        ``"logistic"``, ``"squared_hinge"`` and ``"multinomial"`` take labels of any type.
    lambda1, lambda2, delta, theta, method, criterion, gamma, max_size, n_lambdas, prove, fit_intercept, standardize, positive, bounds, price, shrinkage, always, never, groups, group_prices, tol, time_limit, checkpoint, n_jobs
        As in `BestSubsetRegressor`.

    Attributes
    ----------
    support_ : ndarray of int
        Indices of the features kept; `get_support` gives a mask.
    coef_ : ndarray of shape (n_features,) or (n_problems, n_features)
        The coefficients of the fit that selected them.
    lambda0_, lambda2_, objective_, lower_bound_, dual_gap_, standing_, r2_, r2_limit_, status_, n_iter_, path_, results_
        As in `BestSubsetRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset import BestSubsetSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(100)
    >>> selector = BestSubsetSelector().fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['x3', 'x7']
    >>> selector.transform(X).shape
    (100, 2)
    """

    def __init__(
        self,
        lambda0: float | None = None,
        *,
        k: int | None = None,
        lambda1: float = 0.0,
        lambda2: float | None = None,
        loss: str = "squared",
        delta: float | None = None,
        theta: float | None = None,
        method: str = "incremental",
        criterion: str = "ebic",
        gamma: float = 1.0,
        max_size: int | None = None,
        n_lambdas: int | None = None,
        prove: float | str | None = "auto",
        fit_intercept: bool = True,
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
        self.loss = loss
        self.delta = delta
        self.theta = theta
        self.method = method
        self.criterion = criterion
        self.gamma = gamma
        self.max_size = max_size
        self.n_lambdas = n_lambdas
        self.prove = prove
        self.fit_intercept = fit_intercept
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None) -> BestSubsetSelector:
        """Select.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor.

        Returns
        -------
        self
        """
        classification = self.loss in (*CLASSIFICATION, "multinomial")
        checked, y = self._samples(X, y, y_numeric=not classification)
        loss, targets = self._classes(y) if classification else (self.loss, [np.ascontiguousarray(y, dtype=np.float64)])
        fits = self._fit_problems(checked, X, targets, loss, self._weights(sample_weight, checked), offset)
        self._keep(fits, single=len(fits) == 1)
        together = self.results_[0].class_coef
        coef = np.array([result.coef for result in self.results_]) if together is None else together
        self.coef_ = coef[0] if len(coef) == 1 else coef
        return self

    def _classes(self, y: Any) -> tuple[str, list[NDArray[np.float64]]]:
        """The loss and its targets: more than two classes together with the logistic loss, each against the rest with the hinge."""
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"BestSubsetSelector needs samples of at least 2 classes; y has one class, {classes[0]!r}")
        if self.loss == "multinomial" or (self.loss == "logistic" and len(classes) > 2):
            return "multinomial", [codes.astype(np.float64)]
        positive = [1] if len(classes) == 2 else list(range(len(classes)))
        return self.loss, [np.where(codes == c, 1.0, -1.0) for c in positive]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
