"""Classification: two classes, or several together, or each of them against the rest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ._base import BestSubsetBase, CvMixin
from ._input import Floats, class_offset, with_offset
from ._problem import CLASSIFICATION
from ._result import shares_of


def _is_logistic(estimator: Any) -> bool:
    if estimator.loss != "logistic":
        raise AttributeError(f"there are no probabilities for the loss {estimator.loss!r}; use loss='logistic'")
    return True


class _Classification(ClassifierMixin, BestSubsetBase):
    loss: str
    class_weight: Any
    multi_class: str

    @property
    def _fitted_loss(self) -> str:
        """The loss of the engine: one for all classes together, or one for two of them."""
        known = ("auto", "multinomial", "ovr")
        if self.multi_class not in known:
            raise ValueError(f"multi_class is {self.multi_class!r}; it must be one of {', '.join(known)}")
        if self.multi_class == "multinomial" and self.loss != "logistic":
            raise ValueError(f"multi_class is 'multinomial', which goes with the logistic loss; loss is {self.loss!r}")
        together = self.multi_class != "ovr" and self.loss == "logistic" and len(self.classes_) > 2
        return "multinomial" if together else self.loss

    def _classes(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, list[Floats], Floats | None]:
        """X and y checked, one vector of signs per problem, and the weights."""
        if self.loss not in CLASSIFICATION:
            raise ValueError(f"loss is {self.loss!r}; a classifier takes one of {', '.join(CLASSIFICATION)}")
        X, y = self._samples(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes; y has one class, {self.classes_[:1].tolist()[0]!r}"
            )
        weights = self._weights(sample_weight, X)
        if self.class_weight is not None:
            of_class = compute_sample_weight(self.class_weight, y)
            weights = of_class if weights is None else weights * of_class
        if self._fitted_loss == "multinomial":
            self._check_weights(codes, weights)
            return X, y, [codes.astype(np.float64)], weights
        positive = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        return X, y, [np.where(codes == c, 1.0, -1.0) for c in positive], weights

    def _check_weights(self, codes: NDArray[np.intp], weights: Floats | None) -> None:
        """Refuses a class without weight by its name."""
        shares = np.bincount(codes, weights)
        if np.any(shares <= 0.0):
            label = self.classes_[int(np.flatnonzero(shares <= 0.0)[0])]
            raise ValueError(f"no sample of class {str(label)!r} has a weight above 0; leave the class out of y")

    def _attributes(self) -> None:
        first = self.results_[0]
        if first.class_rows is not None:
            self.coef_, self.intercept_ = np.asarray(first.class_coef), np.asarray(first.class_intercept)
            first.classes = tuple(self.classes_)
            return
        self.coef_ = np.array([result.coef for result in self.results_])
        self.intercept_ = np.array([result.intercept for result in self.results_])
        for label, result in zip(self.classes_[-len(self.results_) :], self.results_):
            result.classes = (self.classes_[0] if len(self.results_) == 1 else f"not {label}", label)

    def decision_function(self, X: Any, offset: ArrayLike | None = None) -> Floats:
        """The linear predictor: positive for the second of two classes, else one column per class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            The fixed part of the linear predictor, for two classes, or of those of all classes together.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        margins = safe_sparse_dot(self._chosen(X), self.coef_[:, self.support_].T, dense_output=True)
        margins = np.asarray(margins + self.intercept_)
        if self.results_[0].class_rows is not None and offset is not None:
            fixed = class_offset(offset, len(margins))
            if fixed is None or fixed.size != margins.size:
                raise ValueError(f"offset must have the shape {margins.shape}; it has {np.shape(offset)}")
            return margins + fixed.reshape(margins.shape, order="F")
        return with_offset(margins.ravel() if margins.shape[1] == 1 else margins, offset)

    def predict(self, X: Any, offset: ArrayLike | None = None) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            The fixed part of the linear predictor, for two classes, or of those of all classes together.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels as they were given to `fit`.
        """
        margins = self.decision_function(X, offset)
        places = (margins > 0).astype(np.intp) if margins.ndim == 1 else margins.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[places]
        return labels

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, offset: ArrayLike | None = None) -> Floats:
        """Probabilities of the classes; for the logistic loss.

        With more than two classes each against the rest, the probabilities against the rest, divided by their sum.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            The fixed part of the linear predictor, for two classes, or of those of all classes together.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        margins = self.decision_function(X, offset)
        if self.results_[0].class_rows is not None:
            return shares_of(margins)
        shares: Floats = expit(margins)
        if shares.ndim == 1:
            return np.column_stack([1.0 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        # All shares may underflow: then nothing is known.
        even = np.full_like(shares, 1.0 / shares.shape[1])
        divided: Floats = np.divide(shares, total, out=even, where=total > 0)
        return divided

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, offset: ArrayLike | None = None) -> Floats:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        offset : array of shape (n_samples,) or (n_samples, n_classes), optional
            The fixed part of the linear predictor, for two classes, or of those of all classes together.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X, offset))
        return logarithms


class BestSubsetClassifier(_Classification):
    r"""Linear classification on the best subset of the features, with a bound on what any other could reach.

    .. math::

        \min_{\beta, b}\; \sum_i w_i\,\ell(x_i^\top\beta + b, y_i) + \lambda_0\|\beta\|_0
            + \lambda_1\sum_j s_j|\beta_j| + \lambda_2\sum_j s_j^2\beta_j^2

    with :math:`y_i = \pm1`, a sum of losses, :math:`\ell = \log(1 + e^{-yu})` (logistic) or :math:`\max(0, 1-yu)^2`
    (squared hinge), and :math:`s_j` the norm of the centred column j, or 1 with ``standardize=False``.

    With more than two classes and the logistic loss, the multinomial loss of all classes together,
    :math:`\log\sum_k e^{u_{ik}} - u_{iy_i}` with :math:`u_{ik} = x_i^\top\beta_k + b_k`: a feature is in for all classes or for
    none, at the price of one, and its coefficients sum to zero over the classes. With ``multi_class="ovr"``, and with the squared
    hinge, one problem for each class against the rest, each with its own subset and its own price.

    Parameters
    ----------
    lambda0 : float, optional
        The price of a feature. If neither it nor `k` is given, a path over `lambda0` is computed and its best point by
        `criterion` is taken.
    k : int, optional
        The largest number of features (of each class with ``multi_class="ovr"``), in place of a price.
    lambda1 : float, default 0
        Price of absolute size.
    lambda2 : float, optional
        Price of squared size; None for 0.01 of the sum of squares of a column: it keeps coefficients finite where the
        classes can be separated, and makes a lower bound possible. It shrinks a coefficient alone by 7 % where classes are a half each,
        and by two thirds where one has 1 % of the samples.
    loss : {"logistic", "squared_hinge"}
    method : {"incremental", "exact", ...}
        See `bestset.solve`; ``"exact"`` proves the answer at the price chosen.
    criterion : {"ebic", "bic", "aic", "gic", "adjusted_r2"}
        What chooses a point of the path. EBIC is :math:`2\sum\ell + K\log n + 2\log\binom{p}{k}`, K the number of
        coefficients fitted: of m classes together m − 1 for each feature.
    gamma : float
        Of EBIC: how much the number of subsets counts, from 0, which is BIC, up; 1 in the formula.
    max_size, n_lambdas, prove, fit_intercept, standardize, positive, bounds, price, shrinkage, always, never, groups, group_prices, tol, time_limit, checkpoint, n_jobs
        As in `BestSubsetRegressor`; of classes each against the rest there is a checkpoint for each, with its number at the end.
    class_weight : dict, "balanced" or None
        Factors of the weights of each class, as everywhere in scikit-learn.
    multi_class : {"auto", "multinomial", "ovr"}
        More than two classes together (``"multinomial"``), or each against the rest (``"ovr"``); ``"auto"`` takes them together
        with the logistic loss.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_ : ndarray of int
        Indices of the features selected; of classes each against the rest those of any of the problems.
    lambda0_, lambda2_, objective_, lower_bound_, dual_gap_, standing_, r2_, r2_limit_, status_, n_iter_
        As in `BestSubsetRegressor`, R² being the share of the deviance explained; of classes each against the rest, arrays with one entry per class.
    path_ : Path or None
        The path, where one was computed; of classes each against the rest, a list. Its coefficients are the lengths of those of
        all classes together.
    results_ : list of Result
        The answers in full, one per problem.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset import BestSubsetClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = np.where(X[:, 2] + X[:, 5] + 0.5 * rng.standard_normal(200) > 0, "yes", "no")
    >>> model = BestSubsetClassifier().fit(X, y)
    >>> model.support_
    array([2, 5])
    >>> sorted(set(model.predict(X).tolist()))
    ['no', 'yes']

    Three classes, whose features are in for all of them:

    >>> three = np.array(["a", "b", "c"])[np.argmax(X[:, [1, 4, 7]] + 0.3 * rng.standard_normal((200, 3)), axis=1)]
    >>> model = BestSubsetClassifier().fit(X, three)
    >>> model.support_, model.coef_.shape
    (array([1, 4, 7]), (3, 30))
    """

    def __init__(
        self,
        lambda0: float | None = None,
        *,
        k: int | None = None,
        lambda1: float = 0.0,
        lambda2: float | None = None,
        loss: str = "logistic",
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
        class_weight: Any = None,
        multi_class: str = "auto",
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
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.tol = tol
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None) -> BestSubsetClassifier:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Fortran-ordered float64 and float32 arrays and CSC matrices are not copied.
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            Whole numbers count like so many copies of the sample; others weigh samples against each other, and criteria
            count the rows.
        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor; for two classes, or with a column for each of several together. That of new
            samples is given to the predictions.

        Returns
        -------
        self
        """
        checked, y, targets, weights = self._classes(X, y, sample_weight)
        self._keep(self._fit_problems(checked, X, targets, self._fitted_loss, weights, offset), single=len(targets) == 1)
        self._attributes()
        return self


class BestSubsetClassifierCV(CvMixin, _Classification):
    r"""`BestSubsetClassifier` with the price chosen by cross-validation; see `BestSubsetRegressorCV` for how.

    More than two classes are scored together; with ``multi_class="ovr"`` the price of each class is chosen by how well it is told
    from the rest.

    Parameters
    ----------
    lambda0s : array, optional
        The prices, strictly descending; None for those of a path of at most `n_lambdas` points.
    cv : int, splitter or iterable of (train, test), optional
        None for ten folds by class, drawn from `random_state`, a number for so many; others as everywhere in scikit-learn.
    scoring : {"neg_log_loss", "neg_deviance", "accuracy", "roc_auc"}, optional
        None for the mean logarithmic loss, or twice the mean loss for the squared hinge.
    select : {"min", "1se"}
        The best mean score, or the sparsest answer whose mean is within one standard error of it.
    random_state : int
        Seed of the folds.
    lambda2 : float or array, optional
        One ridge term, or those to compare; None for 0.01, 0.1, 0.3 and 1 of the sum of squares of a column.
    max_size : int, optional
        As in `BestSubsetRegressorCV`.
    lambda1, loss, method, n_lambdas, prove, fit_intercept, standardize, positive, bounds, price, shrinkage, always, never, groups, group_prices, class_weight, multi_class, tol, time_limit, checkpoint, n_jobs
        As in `BestSubsetClassifier`.

    Attributes
    ----------
    path_, lambda0s_, lambda2s_, cv_scores_, cv_mean_, cv_standard_error_, cv_frequencies_, lambda0_min_, lambda2_min_, lambda0_1se_, lambda2_1se_
        As in `BestSubsetRegressorCV`; of classes each against the rest, lists (or an array) with one entry per class.
    classes_, coef_, intercept_, support_, lambda0_, lambda2_, objective_, lower_bound_, dual_gap_, standing_, r2_, r2_limit_, status_, n_iter_, results_
        As in `BestSubsetClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from bestset import BestSubsetClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> y = X[:, 2] + X[:, 5] + 0.5 * rng.standard_normal(200) > 0
    >>> model = BestSubsetClassifierCV(select="1se").fit(X, y)
    >>> model.support_
    array([2, 5])
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
        loss: str = "logistic",
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
        class_weight: Any = None,
        multi_class: str = "auto",
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
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.tol = tol
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, offset: ArrayLike | None = None) -> BestSubsetClassifierCV:
        """Choose the price and fit.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            Weights count in the fits and in the scores.
        offset : array of shape (n_samples,), optional
            A fixed part of the linear predictor; for two classes, or with a column for each of several together. That of new
            samples is given to the predictions.

        Returns
        -------
        self
        """
        checked, y, targets, weights = self._classes(X, y, sample_weight)
        splits = self._splits(checked, y, classifier=True)
        self._keep(self._fit_problems(checked, X, targets, self._fitted_loss, weights, offset, splits), single=len(targets) == 1)
        self._attributes()
        return self
