"""Regression."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.extmath import safe_sparse_dot

from . import _core, _input
from ._base import BestSubsetBase, CvMixin
from ._input import Floats, with_offset
from ._problem import LOG_LINK

LOSSES = ("squared", "huber", *LOG_LINK)


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

    def predict(self, X: Any, offset: ArrayLike | None = None) -> Floats:
        """The mean of y: ``u = X @ coef_ + intercept_ + offset``, or ``exp(u)`` for counts and amounts.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset : array of shape (n_samples,), optional
            The fixed part of the linear predictor; of an exposure its logarithm.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        found = self._margins(X, offset)
        return np.asarray(np.exp(found)) if self.loss in LOG_LINK else found

    def _margins(self, X: Any, offset: Any) -> Floats:
        found = safe_sparse_dot(self._chosen(X), self.coef_[self.support_], dense_output=True)
        return with_offset(np.asarray(found + self.intercept_), offset)

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: ArrayLike | None = None) -> float:
        """R² of the predictions; for counts and amounts D², the share of the deviance that they explain.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        offset : array of shape (n_samples,), optional
            The fixed part of the linear predictor; the null model has it as well.

        Returns
        -------
        float
        """
        if self.loss not in LOG_LINK:
            return float(r2_score(y, self.predict(X, offset), sample_weight=sample_weight))
        fixed, weights = _input.optional(offset, "offset"), _input.optional(sample_weight, "sample_weight")
        theta = getattr(self, "theta")
        return float(_core.explained(self.loss, theta, _input.vector(y, "y"), self._margins(X, offset), fixed, weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in LOG_LINK
        return tags


class BestSubsetRegressor(_Regression):
    r"""Linear regression on the best subset of the features, with a bound on what any other subset could reach.

    .. math::

        \min_{\beta, b}\; \sum_i w_i\,\ell(x_i^\top\beta + b, y_i) + \lambda_0\|\beta\|_0
            + \lambda_1\sum_j s_j|\beta_j| + \lambda_2\sum_j s_j^2\beta_j^2

    with a sum of losses (squared: :math:`\tfrac{1}{2}(y-u)^2`) and :math:`s_j` the norm of the centred column j, or 1 with
    ``standardize=False``.

    Parameters
    ----------
    lambda0 : float, optional
        The price of a feature. If neither it nor `k` is given, a path over `lambda0` is computed and its best point by
        `criterion` is taken.
    k : int, optional
        The largest number of features, in place of a price.
    lambda1 : float, default 0
        Price of absolute size.
    lambda2 : float, optional
        Price of squared size; None for 0.01 of the sum of squares of a column: it shrinks coefficients of least squares by
        two percent, keeps fits on dependent columns unique, and makes a lower bound possible. Zero gives least squares on the subset;
        when that can be proved is listed in the guide under "What can be proved".
    loss : {"squared", "huber", "poisson", "gamma", "negative_binomial"}
        The last three, for counts and positive amounts, have the logarithm of the mean as linear predictor; each is half the
        deviance of its family.
    delta : float, optional
        Where the Huber loss turns from quadratic to linear, in units of y; None for 1.345 times the spread of the residuals of
        a first fit, estimated by their median absolute deviation. `results_[0].delta` has what was taken.
    theta : float, optional
        Of the negative binomial, which needs it: the variance of a count of mean m is ``m + m**2 / theta``.
    method : {"incremental", "exact", ...}
        See `bestset.solve`; ``"exact"`` proves the answer at the price chosen.
    criterion : {"ebic", "bic", "aic", "gic", "cp", "adjusted_r2"}
        What chooses a point of the path. EBIC, :math:`n\log(RSS/n) + K\log n + 2\log\binom{p}{k}`, pays for the number of
        subsets there were to choose from: right for many features as for few.
    gamma : float
        Of EBIC: how much that number counts, from 0, which is BIC, up; 1 in the formula.
    max_size : int, optional
        The largest size compared; None for :math:`n/(\log p\,\log\log n)`, at most p and n/2. A warning says when the
        answer has it.
    n_lambdas : int, optional
        The largest number of points of the path; None for twice `max_size`, a hundred at least.
    prove : "auto", float or None
        What is spent on closing the gap after the fit: as long again as the fit, two seconds at least, and 150
        nodes at the most; or so many seconds; or nothing.
    fit_intercept : bool
    standardize : bool, "norm" or "variance"
        Whether `lambda1` and `lambda2` are prices on columns of norm one, as in the formula, or of variance one. The
        coefficients are always those of the columns given, and `lambda0` does not depend on their scale.
    positive : bool
        Whether coefficients must not be negative.
    bounds : (lower, upper), optional
        Bounds on the coefficients, numbers or arrays, on the scale of the columns given.
    price : array of shape (n_features,), optional
        Factors of `lambda0`.
    shrinkage : array of shape (n_features,), optional
        Factors of `lambda1` and `lambda2`; a feature of factor 0 is not shrunk, and ``method="exact"`` refuses it.
    always : sequence of int or str, optional
        Features free of `lambda0`, by index or by column name of a data frame. They are shrunk as others are, and in every model
        unless their best coefficient is exactly zero.
    never : sequence of int or str, optional
        Features kept out, by index or by column name.
    groups : array of shape (n_features,), optional
        Labels of features that are in or out together, as in `bestset.solve`.
    group_prices : array, optional
        What each group costs, as in `bestset.solve`.
    tol : float
        Relative gap that counts as proved.
    time_limit : float, optional
        Seconds for the whole fit. When it strikes, the best answer so far is kept, with a ConvergenceWarning.
    checkpoint : path, optional
        A file that keeps what is done, and from which an interrupted fit goes on.
    n_jobs : int, optional
        Threads. None: ``OMP_NUM_THREADS``, which joblib sets in its workers, or else one per processor; -1: all.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    support_ : ndarray of int
        Indices of the selected features.
    lambda0_ : float
        The price at which the answer was found (zero if only `k` was given, or if what was chosen is the best of its size:
        `results_[0].k`).
    lambda2_ : float
        The ridge term, on the scale inside.
    objective_ : float
        The objective of the answer.
    lower_bound_ : float
        A value that no other coefficients can go below.
    dual_gap_ : float
        The difference of the two.
    standing_ : str
        What that proves, in one line.
    r2_ : float
        R² of the answer; for the other losses D², the share of the deviance explained.
    r2_limit_ : float
        What it is at most for any subset whose penalty is not above that of the answer.
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None) -> BestSubsetRegressor:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Fortran-ordered float64 and float32 arrays and CSC matrices are not copied.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Whole numbers count like so many copies of the sample; others weigh samples against each other, and criteria
            count the rows.
        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor; that of new samples is given to the predictions.

        Returns
        -------
        self
        """
        self._check_loss()
        checked, y = self._samples(X, y, y_numeric=True)
        target = np.ascontiguousarray(y, dtype=np.float64)
        weights = self._weights(sample_weight, checked)
        self._keep(self._fit_problems(checked, X, [target], self.loss, weights, offset), single=True)
        self._attributes()
        return self


class BestSubsetRegressorCV(CvMixin, _Regression):
    r"""`BestSubsetRegressor` with the price chosen by cross-validation.

    A path for each `lambda2` gives the models of each size. Every fold has paths of its own at the same penalty per
    sample, and the score of a size is the mean of the folds' answers of that size: it does not depend on where the paths
    end. The model returned is the point of the path that the scores choose, with a proof where it is cheap.

    Parameters
    ----------
    lambda0s : array, optional
        The prices, strictly descending; None for those of a path of at most `n_lambdas` points.
    cv : int, splitter or iterable of (train, test), optional
        None for ten folds, drawn from `random_state`, a number for so many; others as everywhere in scikit-learn.
    scoring : {"neg_mean_squared_error", "neg_mean_absolute_error", "neg_deviance"}, optional
        None for the squared error, or the mean deviance for the other losses.
    select : {"min", "1se"}
        The best mean score, or the sparsest answer whose mean is within one standard error of it.
    random_state : int
        Seed of the folds.
    lambda2 : float or array, optional
        One ridge term, or those to compare; None for 0.001, 0.01, 0.1, 0.3 and 1 of the sum of squares of a column.
    max_size : int, optional
        As in `BestSubsetRegressor`; None for the size there, and 20 at least where the samples allow.
    lambda1, loss, delta, theta, method, n_lambdas, prove, fit_intercept, standardize, positive, bounds, price, shrinkage, always, never, groups, group_prices, tol, time_limit, checkpoint, n_jobs
        As in `BestSubsetRegressor`.

    Attributes
    ----------
    path_ : Path
        The points compared, one path after the other for each `lambda2`.
    lambda0s_ : ndarray of shape (n_points,)
        Their prices of a feature.
    lambda2s_ : ndarray of shape (n_points,)
        Their ridge terms.
    cv_scores_ : ndarray of shape (n_points, n_folds)
        The scores of their sizes; larger is better.
    cv_mean_ : ndarray of shape (n_points,)
        Their means, folds counting by the weight of their samples.
    cv_standard_error_ : ndarray of shape (n_points,)
        The standard errors of these.
    cv_frequencies_ : ndarray
        In which share of the folds' answers of the size chosen each feature of `support_` is.
    lambda0_min_, lambda2_min_, lambda0_1se_, lambda2_1se_ : float
        The prices of the points that the two rules choose. `lambda0_` is a price at which the answer taken is best, and
        its certificate is for that price; zero where it is the best of its size, which `results_[0].k` has then.
    coef_, intercept_, support_, objective_, lower_bound_, dual_gap_, standing_, r2_, r2_limit_, status_, n_iter_, results_
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
        random_state: Any = 0,
        lambda1: float = 0.0,
        lambda2: float | ArrayLike | None = None,
        loss: str = "squared",
        delta: float | None = None,
        theta: float | None = None,
        method: str = "incremental",
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
        self.lambda0s = lambda0s
        self.cv = cv
        self.scoring = scoring
        self.select = select
        self.random_state = random_state
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.loss = loss
        self.delta = delta
        self.theta = theta
        self.method = method
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

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None) -> BestSubsetRegressorCV:
        """Choose the price and fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Weights count in the fits and in the scores.
        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor; that of new samples is given to the predictions.

        Returns
        -------
        self
        """
        self._check_loss()
        checked, y = self._samples(X, y, y_numeric=True)
        splits = self._splits(checked, y, classifier=False)
        target = np.ascontiguousarray(y, dtype=np.float64)
        weights = self._weights(sample_weight, checked)
        self._keep(self._fit_problems(checked, X, [target], self.loss, weights, offset, splits), single=True)
        self._attributes()
        return self
