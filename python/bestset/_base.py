"""What all estimators share: from parameters to one or several problems, from answers to attributes."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _check_sample_weight, validate_data

from . import _core, _input, _path, _problem, _result, _sequences
from ._input import Floats
from ._problem import Control, Data, Grid, Spec
from ._result import Result
from ._sequences import Path

CRITERIA = ("aic", "bic", "ebic", "gic", "cp", "adjusted_r2")

#: Scores by scikit-learn's name: the engine's name, and the factor that makes larger better.
SCORES = {
    "neg_mean_squared_error": ("squared_error", -1.0),
    "neg_mean_absolute_error": ("absolute_error", -1.0),
    "neg_log_loss": ("deviance", -0.5),
    "neg_deviance": ("deviance", -1.0),
    "accuracy": ("accuracy", 1.0),
    "roc_auc": ("auc", 1.0),
}


@dataclass
class Scores:
    """What cross-validation found for one problem; larger scores are better."""

    lambda0s: Floats
    scores: Floats
    mean: Floats
    standard_error: Floats
    best: int
    one_se: int


@dataclass
class Fitted:
    """The answer to one problem."""

    result: Result
    path: Path | None = None
    scores: Scores | None = None


def largest_size(samples: float, p: int) -> int:
    """The largest model that `samples` can support: n / (log p · log log n), at least 1, at most p and n / 2.

    Beyond it a criterion judges how well noise was fitted: the best of many subsets nearly interpolates.
    """
    slack = max(1.0, math.log(max(p, 2))) * max(1.0, math.log(math.log(max(samples, 3.0))))
    return max(1, min(p, int(samples / 2), int(samples / slack)))


class BestSubsetBase(BaseEstimator):
    """Parameters into problems."""

    # Parameters that only some estimators have.
    lambda0: float | None = None
    k: int | None = None
    criterion: str = "ebic"
    delta: float = 1.345

    def _samples(self, X: Any, y: Any, **checks: Any) -> tuple[Any, Any]:
        """X and y checked. That X is finite is checked by the engine, which reads it anyway."""
        _input.check(X, "X")
        _input.check(y, "y")
        X, y = validate_data(
            self, X, y, accept_sparse="csc", dtype=_input.FLOATS, order="F", ensure_all_finite=False,
            ensure_min_samples=2, **checks,
        )  # fmt: skip
        return X, y

    def _weights(self, sample_weight: Any, X: Any) -> Floats | None:
        if sample_weight is None:
            return None
        _input.check(sample_weight, "sample_weight")
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return weights

    def _names(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def _spec(self, p: int, loss: str) -> Spec:
        given = {name: getattr(self, name) for name in ("lambda1", "lambda2", "fit_intercept", "standardize")}
        k = _problem.size(self.k)
        return _problem.spec(
            p, self._names(), loss=loss, delta=self.delta, lambda0=self.lambda0, k=k if k is None else min(k, p),
            bounds=getattr(self, "bounds", None), positive=getattr(self, "positive", False), **given,
        )  # fmt: skip

    def _control(self, time_limit: float | None) -> Control:
        return _problem.control(
            getattr(self, "method"), getattr(self, "n_jobs"), gap=getattr(self, "tol"), time_limit=time_limit
        )

    def _grid(self, samples: float, p: int) -> Grid:
        most = getattr(self, "max_size", None)
        most = largest_size(samples, p) if most is None else min(p, _problem.size(most) or p)
        prices = getattr(self, "lambda0s", None)
        prices = None if prices is None else _input.vector(prices, "lambda0s").tolist()
        return Grid(lambda0s=prices, points=_path.points(getattr(self, "n_lambdas")), max_size=most)

    def _fit_problems(
        self, X: Any, targets: Sequence[Floats], loss: str, weights: Floats | None, splits: Any = None
    ) -> list[Fitted]:
        """One fit per target; a time limit is for all of them together."""
        matrix, n, p = _input.matrix(X)
        samples = float(n if weights is None else np.sum(weights))
        if loss not in _problem.LOSSES:
            raise ValueError(f"there is no loss named {loss!r}; known are {', '.join(_problem.LOSSES)}")
        spec, start, limit, fits = self._spec(p, loss), time.monotonic(), getattr(self, "time_limit"), []
        for number, y in enumerate(targets):
            left = limit
            if limit is not None and number > 0:
                left = max(0.0, limit - (time.monotonic() - start)) / (len(targets) - number)
            elif limit is not None:
                left = limit / len(targets)
            data, control = Data(matrix, y, weights), self._control(left)
            fits.append(self._fit_one(data, spec, control, samples, p, splits))
        self._warn([s for f in fits for s in (f.result.status, "" if f.path is None else f.path.status)])
        return fits

    def _fit_one(self, data: Data, spec: Spec, control: Control, samples: float, p: int, splits: Any) -> Fitted:
        prices = {"lambda1": spec.lambda1, "lambda2": spec.lambda2, "k": spec.k}
        names, method = self._names(), control.method
        if self.lambda0 is not None or self.k is not None:
            found = _core.solve(data, spec, control)
            return Fitted(_result.result(found, p, names, spec.loss, method, lambda0=spec.lambda0, **prices))
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion is {self.criterion!r}; it must be one of {', '.join(CRITERIA)}")
        choice = _core.choose(data, spec, control, self._grid(samples, p), self.criterion)
        chosen = _result.result(
            choice["solution"], p, names, spec.loss, method, lambda0=choice["lambda0"], **prices
        )
        return Fitted(chosen, _sequences.path(choice["path"], p, names, spec.loss))

    def _warn(self, statuses: Sequence[str]) -> None:
        struck = [status for status in statuses if status in _problem.LIMITS]
        if struck:
            warnings.warn(
                f"{type(self).__name__} stopped at its {struck[0].replace('_', ' ')}; the answer is the best so far, "
                "and lower_bound_ and dual_gap_ hold for it. Raise time_limit, or loosen tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _keep(self, fits: Sequence[Fitted], single: bool) -> None:
        """Sets the attributes; `single` for numbers, else arrays with one entry per class."""
        results = [f.result for f in fits]
        self.results_ = results
        self.support_ = np.unique(np.concatenate([r.support for r in results]))
        for attribute, field in (
            ("n_iter_", "n_iter"),
            ("objective_", "objective"),
            ("lower_bound_", "lower_bound"),
            ("dual_gap_", "gap"),
            ("status_", "status"),
            ("lambda0_", "lambda0"),
        ):
            values = [getattr(r, field) for r in results]
            setattr(self, attribute, values[0] if single else np.array(values))
        paths = [f.path for f in fits]
        self.path_ = paths[0] if single else paths

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CvMixin:
    """Chooses the price by cross-validation."""

    def _splits(self, X: Any, y: Any, classifier: bool) -> list[tuple[list[int], list[int]]]:
        cv = check_cv(getattr(self, "cv"), y, classifier=classifier)
        splits = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(X, y)]
        every = np.arange(X.shape[0])
        # Masks are turned into indices.
        return [(every[train].tolist(), every[test].tolist()) for train, test in splits]

    def _fit_one(self, data: Data, spec: Spec, control: Control, samples: float, p: int, splits: Any) -> Fitted:
        select, names = getattr(self, "select"), self._names()  # type: ignore[attr-defined]
        if select not in ("min", "1se"):
            raise ValueError(f"select is {select!r}; it must be 'min' or '1se'")
        score, sign = self._score(spec.loss)
        grid = self._grid(samples, p)  # type: ignore[attr-defined]
        found = _core.cross_validate(data, spec, control, grid, splits, score, select == "1se")
        prices = {"lambda1": spec.lambda1, "lambda2": spec.lambda2, "k": spec.k, "lambda0": found["lambda0"]}
        chosen = _result.result(found["solution"], p, names, spec.loss, control.method, **prices)
        path = _sequences.path(found["path"], p, names, spec.loss)
        # A limit may have struck before the first point, or before the first fold was done.
        each = np.array(found["folds"]) if len(path) else np.empty((0, 0))
        scores = Scores(
            path.lambda0s, sign * each, sign * found["mean"], abs(sign) * found["standard_error"],
            found["best"], found["one_se"],
        )  # fmt: skip
        return Fitted(chosen, path, scores)

    def _score(self, loss: str) -> tuple[str, float]:
        usual = {"squared": "neg_mean_squared_error", "logistic": "neg_log_loss"}
        scoring = getattr(self, "scoring") or usual.get(loss, "neg_deviance")
        if scoring not in SCORES:
            raise ValueError(f"there is no scoring named {scoring!r}; known are {', '.join(SCORES)}")
        if scoring == "neg_log_loss" and loss != "logistic":
            raise ValueError(f"scoring 'neg_log_loss' needs the logistic loss, not {loss!r}")
        return SCORES[scoring]

    def _keep(self, fits: Sequence[Fitted], single: bool) -> None:
        super()._keep(fits, single)  # type: ignore[misc]
        scores = [f.scores for f in fits if f.scores is not None]

        def price(s: Scores, k: int) -> float:
            return float(s.lambda0s[k]) if len(s.lambda0s) else math.nan

        for attribute, values in (
            ("lambda0s_", [s.lambda0s for s in scores]),
            ("cv_scores_", [s.scores for s in scores]),
            ("cv_mean_", [s.mean for s in scores]),
            ("cv_standard_error_", [s.standard_error for s in scores]),
        ):
            setattr(self, attribute, values[0] if single else values)
        for attribute, places in (
            ("lambda0_min_", [price(s, s.best) for s in scores]),
            ("lambda0_1se_", [price(s, s.one_se) for s in scores]),
        ):
            setattr(self, attribute, places[0] if single else np.array(places))
