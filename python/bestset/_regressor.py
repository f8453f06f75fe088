"""Regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from ._base import BestSubsetBase, CvMixin
from ._input import FLOATS, Floats, check

LOSSES = ("squared", "huber")


class _Regression(RegressorMixin, BestSubsetBase):
    loss: str

    def _check_loss(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss is {self.loss!r}; a regressor takes one of {', '.join(LOSSES)}")

    def _attributes(self) -> None:
        (result,) = self.results_
        self.coef_ = result.coef
        self.intercept_ = result.intercept
        self.support_ = result.support

    def predict(self, X: Any) -> Floats:
        """X @ coef_ + intercept_.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        check(X, "X")
        X = validate_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=FLOATS)
        found = safe_sparse_dot(X[:, self.support_], self.coef_[self.support_], dense_output=True)
        return np.asarray(found + self.intercept_)


class BestSubsetRegressor(_Regression):
    r"""Linear regression on the best subset of the features, with a bound on what any other subset could reach.

    .. math::

        \min_{\beta, b}\; \sum_i w_i\,\ell(x_i^\top\beta + b, y_i) + \lambda_0\|\beta\|_0
            + \lambda_1\sum_j s_j|\beta_j| + \lambda_2\sum_j s_j^2\beta_j^2

    with a sum of losses (squared: :math:`\tfrac12(y-u)^2`) and :math:`s_j` the standard deviation of column j, or 1
    with ``standardize=False``.

    Parameters
    ----------
    lambda0 : float, optional
        The price of a feature. If neither it nor `k` is given, a path over `lambda0` is computed and its best point by
        `criterion` is taken.
    k : int, optional
        The largest number of features, in place of a price.
    lambda1 : float, default 0
        Price of absolute size.
    lambda2 : float, default 0.5
        Price of squared size. The default is the ridge of ``Ridge(alpha=1)`` on standardised columns: it shrinks
        coefficients by the factor n/(n + 1), keeps fits on dependent columns unique, and makes a lower bound possible.
        Zero gives least squares on the subset, and a bound only from ``method="exact"`` with more samples than features.
    loss : {"squared", "huber"}
    delta : float
        Where the Huber loss turns from quadratic to linear, in units of y.
    method : {"incremental", "exact", ...}
        See `bestset.solve`; ``"exact"`` proves the answer at the price chosen.
    criterion : {"ebic", "bic", "aic", "gic", "cp", "adjusted_r2"}
        What chooses a point of the path. EBIC, :math:`n\log(RSS/n) + K\log n + 2\log\binom{p}{k}`, pays for the number of
        subsets there were to choose from: right for many features as for few.
    max_size : int, optional
        Where the path ends; None for :math:`n/(\log p\,\log\log n)`, at most p and n/2.
    n_lambdas : int
        The largest number of points of the path.
    fit_intercept : bool
    standardize : bool
        Whether `lambda1` and `lambda2` are prices on the scale of standardised columns, as in the formula. The
        coefficients are always those of the columns given, and `lambda0` does not depend on their scale.
    positive : bool
        Whether coefficients must not be negative.
    bounds : (lower, upper), optional
        Bounds on the coefficients, numbers or arrays, on the scale of the columns given.
    tol : float
        Relative gap that counts as proved.
    time_limit : float, optional
        Seconds for the whole fit. When it strikes, the best answer so far is kept, with a ConvergenceWarning.
    n_jobs : int, optional
        Threads. None: ``OMP_NUM_THREADS``, which joblib sets in its workers, or else one per processor; -1: all.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    support_ : ndarray of int
        Indices of the selected features.
    lambda0_ : float
        The price at which the answer was found (zero if only `k` was given).
    objective_, lower_bound_, dual_gap_ : float
        The objective of the answer, a value that no other coefficients can go below, and the difference.
    status_ : str
        ``"optimal"`` if the gap is within `tol`; else how the solve ended.
    n_iter_ : int
        Iterations of the solver; nodes for ``"exact"``.
    path_ : Path or None
        The path, where one was computed.
    results_ : list of Result
        The answer in full.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset import BestSubsetRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(100)
    >>> model = BestSubsetRegressor().fit(X, y)
    >>> model.support_
    array([3, 7])
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        lambda0: float | None = None,
        *,
        k: int | None = None,
        lambda1: float = 0.0,
        lambda2: float = 0.5,
        loss: str = "squared",
        delta: float = 1.345,
        method: str = "incremental",
        criterion: str = "ebic",
        max_size: int | None = None,
        n_lambdas: int = 100,
        fit_intercept: bool = True,
        standardize: bool = True,
        positive: bool = False,
        bounds: tuple[Any, Any] | None = None,
        tol: float = 1e-6,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lambda0 = lambda0
        self.k = k
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.loss = loss
        self.delta = delta
        self.method = method
        self.criterion = criterion
        self.max_size = max_size
        self.n_lambdas = n_lambdas
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.positive = positive
        self.bounds = bounds
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BestSubsetRegressor:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Fortran-ordered float64 and float32 arrays and CSC matrices are not copied.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            A weight w counts like w copies of the sample.

        Returns
        -------
        self
        """
        self._check_loss()
        X, y = self._samples(X, y, y_numeric=True)
        fits = self._fit_problems(X, [np.ascontiguousarray(y, dtype=np.float64)], self.loss, self._weights(sample_weight, X))
        self._keep(fits, single=True)
        self._attributes()
        return self


class BestSubsetRegressorCV(CvMixin, _Regression):
    r"""`BestSubsetRegressor` with the price chosen by cross-validation.

    The path of all samples gives the prices: the middle (of the logarithms) of the interval in which each of its answers is
    the best. Every fold is fitted at the same prices per sample: sums of losses are
    smaller with fewer samples, so each :math:`\lambda` is multiplied by the share of the weight that is left. The answer is
    then solved for on all samples. Columns are standardised once, with all samples.

    Parameters
    ----------
    lambda0s : array, optional
        The prices, strictly descending; None for those of a path of at most `n_lambdas` points.
    cv : int, splitter or iterable of (train, test), optional
        As everywhere in scikit-learn; None for 5 folds.
    scoring : {"neg_mean_squared_error", "neg_mean_absolute_error", "neg_deviance"}, optional
        None for the squared error, or twice the mean loss for Huber's.
    select : {"min", "1se"}
        The price with the best mean score, or the sparsest answer whose mean is within one standard error of it.
    lambda1, lambda2, loss, delta, method, max_size, n_lambdas, fit_intercept, standardize, positive, bounds, tol, time_limit, n_jobs
        As in `BestSubsetRegressor`.

    Attributes
    ----------
    lambda0s_ : ndarray of shape (n_lambdas,)
        The prices, descending.
    cv_scores_ : ndarray of shape (n_lambdas, n_folds)
        The scores; larger is better. `cv_mean_` and `cv_standard_error_` summarise them, folds counting by the weight of
        their samples.
    lambda0_min_, lambda0_1se_ : float
        The two choices; `lambda0_` is the one taken.
    coef_, intercept_, support_, objective_, lower_bound_, dual_gap_, status_, n_iter_, path_, results_
        As in `BestSubsetRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset import BestSubsetRegressorCV
    >>> rng = np.random.default_rng(2)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(100)
    >>> model = BestSubsetRegressorCV(select="1se").fit(X, y)
    >>> model.support_
    array([3, 7])
    >>> bool(model.lambda0_1se_ >= model.lambda0_min_)
    True
    """

    def __init__(
        self,
        lambda0s: ArrayLike | None = None,
        *,
        cv: Any = None,
        scoring: str | None = None,
        select: str = "min",
        lambda1: float = 0.0,
        lambda2: float = 0.5,
        loss: str = "squared",
        delta: float = 1.345,
        method: str = "incremental",
        max_size: int | None = None,
        n_lambdas: int = 100,
        fit_intercept: bool = True,
        standardize: bool = True,
        positive: bool = False,
        bounds: tuple[Any, Any] | None = None,
        tol: float = 1e-6,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lambda0s = lambda0s
        self.cv = cv
        self.scoring = scoring
        self.select = select
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.loss = loss
        self.delta = delta
        self.method = method
        self.max_size = max_size
        self.n_lambdas = n_lambdas
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.positive = positive
        self.bounds = bounds
        self.tol = tol
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BestSubsetRegressorCV:
        """Choose the price and fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Weights count in the fits and in the scores.

        Returns
        -------
        self
        """
        self._check_loss()
        X, y = self._samples(X, y, y_numeric=True)
        splits = self._splits(X, y, classifier=False)
        target = np.ascontiguousarray(y, dtype=np.float64)
        self._keep(self._fit_problems(X, [target], self.loss, self._weights(sample_weight, X), splits), single=True)
        self._attributes()
        return self
