"""What all estimators share: from parameters to one or several problems, from answers to attributes."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    check_X_y,
    column_or_1d,
    validate_data,
)

from . import _core, _input, _problem, _report, _result, elsewhere
from ._input import Floats
from ._problem import Choice, Control, Data, Folding, Setup
from ._result import Result
from ._times import Times

#: Scores by scikit-learn's name: the engine's name, and the factor that makes larger better.
SCORES = {
    "neg_mean_squared_error": ("squared_error", -1.0),
    "neg_mean_absolute_error": ("absolute_error", -1.0),
    "neg_log_loss": ("deviance", -0.5),
    "neg_deviance": ("deviance", -1.0),
    "accuracy": ("accuracy", 1.0),
    "roc_auc": ("auc", 1.0),
    "concordance": ("concordance", 1.0),
}

#: Attributes with one number per problem: their name and that of the field of `Result`.
REPORTED = (
    ("n_iter_", "n_iter"),
    ("objective_", "objective"),
    ("lower_bound_", "lower_bound"),
    ("dual_gap_", "gap"),
    ("status_", "status"),
    ("standing_", "standing"),
    ("r2_", "r2"),
    ("r2_limit_", "r2_limit"),
    ("lambda0_", "lambda0"),
    ("lambda2_", "lambda2"),
)


@dataclass
class Scores:
    """What cross-validation found for one problem; larger scores are better."""

    scores: Floats
    mean: Floats
    standard_error: Floats
    frequencies: Floats
    best: int
    one_se: int


@dataclass
class Fitted:
    """The answer to one problem, and what the engine has to say about it."""

    result: Result
    remarks: list[tuple[str, str]]
    scores: Scores | None = None


def _is_plain(X: Any, y: Any) -> bool:
    """Whether scikit-learn would return X, but for its order, and y as they are."""
    if type(y) is not np.ndarray or X.ndim != 2 or y.ndim != 1 or X.dtype not in _input.FLOATS or y.dtype.kind not in "biuf":
        return False
    return len(X) == len(y) >= 2 and X.shape[1] >= 1 and bool(np.isfinite(y).all())


class BestSubsetBase(BaseEstimator):
    """Parameters into problems."""

    # Parameters that only some estimators have.
    lambda0: float | None = None
    k: int | None = None
    criterion: str = "ebic"
    gamma: float = 1.0
    delta: float | None = None
    theta: float | None = None
    _times: Times | None = None

    def _samples(self, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
        """X and y checked. That X is finite is checked by the engine, which reads it anyway."""
        self._target = _input.target_name(y)
        far = elsewhere.design(X)
        if far is not None:
            return far, self._target_elsewhere(far, y, **checks)
        _input.check(X, "X")
        _input.check(y, "y")
        wanted: dict[str, Any] = dict(
            accept_sparse="csc", dtype=_input.FLOATS, order="F", ensure_all_finite=False, ensure_min_samples=2, **checks
        )
        if type(X) is not np.ndarray:
            with _input.placed(y):
                X, y = validate_data(self, X, y, **wanted)
            return X, y
        # An array has no names; to look for them scikit-learn asks every installed package, which takes as long as a small fit. So it
        # does to check them: arrays with nothing to say against are not shown to it.
        if _is_plain(X, y):
            X = np.asarray(X, order="F")
        else:
            with _input.placed(y):
                X, y = check_X_y(X, y, estimator=self, **wanted)
        self.n_features_in_ = X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        return X, y

    def _target_elsewhere(self, X: Any, y: Any, y_numeric: bool = False) -> Any:
        """y checked against X that lives elsewhere."""
        _input.check(y, "y")
        n, p = X.shape
        kind = np.float64 if y_numeric else None
        with _input.placed(y):
            y = column_or_1d(check_array(y, ensure_2d=False, dtype=kind, ensure_min_samples=2, input_name="y"), warn=True)
        if len(y) != n:
            raise ValueError(f"y has length {len(y)}, but X has {n} rows")
        self.n_features_in_ = int(p)
        self.__dict__.pop("feature_names_in_", None)
        names = _input.feature_names(X)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return y

    def _chosen(self, X: Any) -> Any:
        """The selected columns of new samples."""
        check_is_fitted(self)
        far = elsewhere.design(X)
        if far is not None:
            if far.shape[1] != self.n_features_in_:
                raise ValueError(f"X has {far.shape[1]} features; the model was fitted to {self.n_features_in_}")
            return np.asarray(far.columns(np.asarray(self.support_, dtype=np.int64)))
        _input.check(X, "X")
        X = validate_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=_input.FLOATS)
        return X[:, self.support_]

    def _weights(self, sample_weight: Any, X: Any) -> Floats | None:
        if sample_weight is None:
            return None
        _input.check(sample_weight, "sample_weight")
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return weights

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def _setup(self, p: int, loss: str) -> Setup:
        alike = (
            "lambda1", "fit_intercept", "standardize", "bounds", "positive", "price", "shrinkage", "always", "never",
            "groups", "group_prices",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in alike}
        ridge, _ = _problem.ridges(getattr(self, "lambda2"))
        return _problem.setup(p, self._names(), loss=loss, delta=self.delta, theta=self.theta, lambda2=ridge, **given)

    def _choice(self, loss: str, splits: Any) -> Choice:
        _, ridges = _problem.ridges(getattr(self, "lambda2"))
        return _problem.choice(
            lambda0=self.lambda0, k=self.k, criterion=self.criterion, gamma=self.gamma, lambda2s=ridges,
            points=getattr(self, "n_lambdas"), max_size=getattr(self, "max_size"),
        )  # fmt: skip

    def _control(self, time_limit: float | None, file: str | None) -> Control:
        return _problem.control(
            getattr(self, "method"), getattr(self, "n_jobs"), gap=getattr(self, "tol"), time_limit=time_limit,
            prove=getattr(self, "prove"), checkpoint=file,
        )  # fmt: skip

    def _fit_problems(
        self,
        X: Any,
        seen: Any,
        targets: Sequence[Floats],
        loss: str,
        weights: Floats | None,
        offset: Any,
        splits: Any = None,
    ) -> list[Fitted]:
        """One fit per target; a time limit is for all of them together."""
        matrix, _, p = _input.matrix(X)
        _problem.known_loss(loss)
        if offset is not None and len(targets) > 1:
            raise ValueError(
                f"offset is for two classes; y has {len(targets)}, each with a predictor of its own against the rest"
            )
        together = loss == "multinomial"
        fixed = _input.class_offset(offset, len(targets[0])) if together else _input.optional(offset, "offset")
        setup, choice, start = self._setup(p, loss), self._choice(loss, splits), time.monotonic()
        limit, file, fits = getattr(self, "time_limit"), getattr(self, "checkpoint"), []
        for number, y in enumerate(targets):
            left = limit
            if limit is not None and limit > 0:
                left = max(0.0, limit - (time.monotonic() - start)) / (len(targets) - number)
            own = file if file is None or len(targets) == 1 else f"{os.fspath(file)}.{number}"
            control = self._control(left, own)
            data = Data(matrix, y, weights, fixed, self._times)
            with _input.named(self._names()):
                found = _core.select(data, setup, choice, _problem.spread(data, setup, choice, control))
            result = _result.selected(found, p, self._names(), setup, target=self._target)
            result.ties = "efron" if self._times is None else self._times.ties
            result.strata = () if self._times is None else self._times.labels
            result.offset = _input.offset_name(offset, loss)
            result._seen = _report.seen(seen, data, found["kept"], self)
            fits.append(Fitted(result, found["remarks"], self._scores(found["validation"], loss)))
        self._warn(fits)
        return fits

    def _scores(self, validation: Any, loss: str) -> Scores | None:
        return None

    def _warn(self, fits: Sequence[Fitted]) -> None:
        struck = [f.result.status for f in fits if f.result.status in _problem.LIMITS]
        remarks = [remark for f in fits for remark in f.remarks]
        if struck:
            text = " ".join(text for kind, text in remarks if kind == "limit")
            warnings.warn(
                f"{type(self).__name__} stopped at its {struck[0].replace('_', ' ')}; the answer is the best so far, "
                f"and lower_bound_ and dual_gap_ hold for it. {text} Raise time_limit, or loosen tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        _result.warn([remark for remark in remarks if not (struck and remark[0] == "limit")], stacklevel=4)

    def _keep(self, fits: Sequence[Fitted], single: bool) -> None:
        """Sets the attributes; `single` for numbers, else arrays with one entry per class."""
        results = [f.result for f in fits]
        self.results_ = results
        self.support_ = np.unique(np.concatenate([r.support for r in results]))
        for attribute, field in REPORTED:
            values = [getattr(r, field) for r in results]
            setattr(self, attribute, values[0] if single else np.array(values))
        self.path_ = results[0].path if single else [r.path for r in results]

    def _several(self, call: str) -> str:
        """What to do with one model for each class."""
        return (
            f"there are {len(self.results_)} models, each of one class against the rest, and a file holds one of them: "
            f"for number, result in enumerate(model.results_): result.{call}"
        )

    def summary(self) -> str:
        """The coefficients as a table, and what is proved of them in plain words; one table for each problem.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return "\n\n".join(result.summary() for result in self.results_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `bestset.load` and the command ``bestset predict`` read.

        Parameters
        ----------
        path : path
            The file. A classifier of several classes each against the rest has a model for each in `results_`, in the order of `classes_`:
            save them one by one; the class with the largest `Model.decision_function` is the prediction.
        """
        check_is_fitted(self)
        if len(self.results_) > 1:
            raise ValueError(self._several("save(f'model-{number}.json')"))
        self.results_[0].save(path)

    def report(self, path: str | os.PathLike[str], X: Any = None, *, source: str = "data") -> None:
        """Write one HTML page about the model: the answer, its proof, the path and the folds, how well it fits.

        Parameters
        ----------
        path : path
            The file.
        X : array, sparse matrix or data frame, optional
            What was fitted; None while that is still in memory.
        source : str
            What the samples are called.
        """
        check_is_fitted(self)
        if len(self.results_) > 1:
            raise ValueError(self._several("report(f'report-{number}.html', X)"))
        self.results_[0].report(path, X, source=source)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CvMixin:
    """Chooses the number of features, and lambda2, by cross-validation."""

    def _splits(self, X: Any, y: Any, classifier: bool) -> Any:
        """How many parts, or the splits of a splitter."""
        given = getattr(self, "cv")
        if given is None or (isinstance(given, (int, np.integer)) and not isinstance(given, bool)):
            return None if given is None else int(given)
        cv = check_cv(given, y, classifier=classifier)
        rows = np.zeros((X.shape[0], 1)) if elsewhere.design(X) is not None else X
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(rows, y)]
        every = np.arange(X.shape[0])
        # Masks are turned into indices.
        return [(every[train].tolist(), every[test].tolist()) for train, test in splits]

    def _choice(self, loss: str, splits: Any) -> Choice:
        select, score = getattr(self, "select"), self._score(loss)
        if select not in ("min", "1se"):
            raise ValueError(f"select is {select!r}; it must be 'min' or '1se'")
        if isinstance(splits, int) and splits < 2:
            raise ValueError(f"cv is {splits}; it must be at least 2 folds")
        folds, given = (None, splits) if isinstance(splits, list) else (splits, [])
        seed = _input.seed(getattr(self, "random_state"))
        folding = Folding(folds, given, score, select == "1se", seed)
        _, ridges = _problem.ridges(getattr(self, "lambda2"))
        return _problem.choice(
            folding=folding, lambda0s=getattr(self, "lambda0s"), lambda2s=ridges, points=getattr(self, "n_lambdas"),
            max_size=getattr(self, "max_size"),
        )  # fmt: skip

    def _score(self, loss: str) -> str | None:
        """The engine's name of the score; None for the usual one of the loss, which the engine knows."""
        scoring = getattr(self, "scoring")
        if scoring is None:
            return None
        if scoring not in SCORES:
            raise ValueError(f"there is no scoring named {scoring!r}; known are {', '.join(SCORES)}")
        if scoring == "neg_log_loss" and loss not in ("logistic", "multinomial"):
            raise ValueError(f"scoring 'neg_log_loss' needs the logistic loss, not {loss!r}")
        return SCORES[scoring][0]

    def _factor(self, score: str, loss: str) -> float:
        """What makes a score of the engine one of scikit-learn's, of which larger ones are better."""
        names = [name for name, (own, _) in SCORES.items() if own == score]
        # Twice the mean loss is a logarithmic loss for one loss only.
        usual = [name for name in names if loss in ("logistic", "multinomial") or name != "neg_log_loss"]
        return SCORES[getattr(self, "scoring") or usual[0]][1]

    def _scores(self, found: Any, loss: str) -> Scores:
        if found is None:
            # A limit struck before the first fold was done.
            none = np.empty(0)
            return Scores(np.empty((0, 0)), none, none, none, 0, 0)
        sign = self._factor(found["score"], loss)
        return Scores(
            sign * np.array(found["folds"]), sign * found["mean"], abs(sign) * found["standard_error"],
            found["frequencies"], found["best"], found["one_se"],
        )  # fmt: skip

    def _keep(self, fits: Sequence[Fitted], single: bool) -> None:
        super()._keep(fits, single)  # type: ignore[misc]
        pairs = [(f.result.path, f.scores) for f in fits if f.scores is not None]

        def at(path: Any, scores: Scores, k: int, prices: str) -> float:
            return float(getattr(path, prices)[k]) if len(scores.mean) else math.nan

        for attribute, values in (
            ("lambda0s_", [np.empty(0) if path is None else path.lambda0s for path, _ in pairs]),
            ("lambda2s_", [np.empty(0) if path is None else path.lambda2s for path, _ in pairs]),
            ("cv_scores_", [s.scores for _, s in pairs]),
            ("cv_mean_", [s.mean for _, s in pairs]),
            ("cv_standard_error_", [s.standard_error for _, s in pairs]),
            ("cv_frequencies_", [s.frequencies for _, s in pairs]),
        ):
            setattr(self, attribute, values[0] if single else values)
        for attribute, places in (
            ("lambda0_min_", [at(p, s, s.best, "lambda0s") for p, s in pairs]),
            ("lambda0_1se_", [at(p, s, s.one_se, "lambda0s") for p, s in pairs]),
            ("lambda2_min_", [at(p, s, s.best, "lambda2s") for p, s in pairs]),
            ("lambda2_1se_", [at(p, s, s.one_se, "lambda2s") for p, s in pairs]),
        ):
            setattr(self, attribute, places[0] if single else np.array(places))
