"""Model files: those of the command line."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._input import Floats
from ._problem import CLASSIFICATION, LOG_LINK
from ._result import Coefficients, Result, percent, shares_of
from ._times import stratum_numbers


@dataclass(frozen=True)
class Stored:
    """A model as the file has it; the engine reads it attribute by attribute."""

    loss: str
    delta: float
    theta: float | None
    lambda0: float
    lambda1: float
    lambda2: float
    n_features: int
    feature_names: tuple[str, ...] | None
    support: list[int]
    values: list[float]
    intercept: float
    objective: float
    relaxation: float | None
    lower_bound: float
    status: str
    ties: str = "efron"
    baseline: Any = None
    classes: tuple[list[list[float]], list[float]] | None = None


@dataclass(eq=False, repr=False)
class Model(Coefficients):
    """A model from a file: predictions, and how good it is known to be.

    Attributes
    ----------
    coef, intercept, support, values
        The coefficients, on the scale of the columns that were given; of many classes their lengths over all classes.
    class_coef, class_intercept : ndarray of shape (n_classes, n_features) and (n_classes,), or None
        The coefficients of every class, of many classes.
    feature_names : tuple of str or None
        The names of the features.
    target : str
        What is predicted.
    classes : tuple or None
        The labels: those that the two signs of the linear predictor stand for, or one for each of many classes.
    loss, lambda0, lambda1, lambda2
        What was minimised.
    objective, lower_bound, gap, relative_gap, status
        The certificate, as in `Result`.
    """

    support: NDArray[np.int64]
    values: Floats
    intercept: float
    n_features: int
    loss: str
    delta: float | None
    theta: float | None
    lambda0: float
    lambda1: float
    lambda2: float
    objective: float
    relaxation: float | None
    lower_bound: float
    gap: float
    relative_gap: float
    status: str
    ties: str = "efron"
    baseline: Any = None
    class_rows: tuple[list[list[float]], list[float]] | None = None
    feature_names: tuple[str, ...] | None = None
    encoding: dict[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> str:
        return str(self.encoding.get("target", "y"))

    @property
    def classes(self) -> tuple[Any, ...] | None:
        if self.class_rows is not None:
            labels = self.encoding.get("labels") or self.encoding.get("class_names")
            return tuple(range(len(self.class_rows[1]))) if labels is None else _numbers(*labels)
        if self.loss not in CLASSIFICATION:
            return None
        if self.encoding.get("labels"):
            lower, upper = self.encoding["labels"]
            return lower, upper
        known = self.encoding.get("classes")
        return (-1, 1) if known is None else _numbers(known["negative"], known["positive"])

    def decision_function(self, X: Any) -> Floats:
        """The linear predictor, a column for each of many classes. Columns of a data frame are found by their names, others by their place."""
        if self.class_rows is not None:
            return self._class_margins(X)
        if getattr(X, "columns", None) is None or self.feature_names is None:
            return super().predict(X)
        found = np.full(len(X), self.intercept)
        columns = {str(column): column for column in X.columns}
        for role in ("offset", "exposure"):
            fixed = self.encoding.get(role)
            if fixed is None:
                continue
            if fixed not in columns:
                raise ValueError(f"X has no column {fixed!r}, the {role} of the model")
            values = np.asarray(X[columns[fixed]], dtype=np.float64)
            if role == "exposure" and not np.all(values > 0.0):
                raise ValueError(f"the exposure {fixed!r} is {values[~(values > 0.0)][0]}; it must be above 0")
            found += values if role == "offset" else np.log(values)
        for name, value in zip(self.selected, self.values):
            found += value * self._column(X, name)
        return found

    def _class_margins(self, X: Any) -> Floats:
        assert self.class_coef is not None and self.class_intercept is not None
        if getattr(X, "columns", None) is None or self.feature_names is None:
            return np.asarray(self._chosen_columns(X) @ self.class_coef[:, self.support].T + self.class_intercept, dtype=np.float64)
        found = np.tile(self.class_intercept, (len(X), 1))
        for place, name in zip(self.support, self.selected):
            found += np.outer(self._column(X, name), self.class_coef[:, place])
        return found

    def _column(self, X: Any, name: str) -> Floats:
        columns = {str(column): column for column in X.columns}
        # Files of older versions have means where values were filled, and do not say whether any were.
        filled = self.encoding.get("imputed", True)
        if name in columns:
            values = np.asarray(X[columns[name]], dtype=np.float64)
            if not np.any(np.isnan(values)):
                return values
            # As on the command line: filled where the fit filled, an error where it did not.
            mean = self.encoding.get("means", {}).get(name) if filled else None
            if mean is None:
                row = int(np.flatnonzero(np.isnan(values))[0])
                raise ValueError(f"row {row} of column {name!r} has no value, and the model uses it; fill it in first")
            return np.where(np.isnan(values), mean, values)
        for category in self.encoding.get("categories", []):
            for level in category["levels"]:
                if name == f"{category['column']}={level}" and category["column"] in columns:
                    return _indicator(X[columns[category["column"]]], category, level, filled)
        raise ValueError(f"X has no column {name!r}, which the model uses")

    def predict(self, X: Any) -> NDArray[Any]:
        """The predictions for the rows of X: means of the target, or labels for classification."""
        margins, classes = self.decision_function(X), self.classes
        if self.class_rows is not None:
            labels: NDArray[Any] = np.asarray(classes)[margins.argmax(axis=1)]
            return labels
        if classes is not None:
            return np.asarray(classes)[(margins > 0).astype(np.intp)]
        if self.loss in LOG_LINK:
            return np.asarray(np.exp(margins))
        scaling = self.encoding.get("scaling")
        if scaling is None:
            return margins
        return np.asarray(scaling["from"] + (margins - scaling["low"]) / scaling["factor"])

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of the classes; for the logistic and the multinomial loss."""
        if self.class_rows is not None:
            return shares_of(self.decision_function(X))
        if self.loss != "logistic":
            raise AttributeError(f"there are no probabilities for the loss {self.loss!r}")
        from scipy.special import expit

        share = expit(self.decision_function(X))
        return np.column_stack([1.0 - share, share])

    def curves(self, X: Any, times: Any, what: str = "survival", strata: Any = None) -> Floats:
        """Survival or, with ``what="hazard"``, cumulative hazards at `times`, one row for each row of X; of survival times.

        `strata` are the labels of the rows, where the model was fitted with strata; their numbers where its file does not know labels.
        """
        from ._times import curves

        return curves(self.baseline, self.decision_function(X), what, times, self._strata(strata))

    def _strata(self, given: Any) -> Any:
        known = self.encoding.get("strata")
        return given if given is None or not known else stratum_numbers(given, known)

    def median(self, X: Any, strata: Any = None) -> Floats:
        """The median survival time of each row, infinite where survival stays above one half; of survival times."""
        from ._times import curves

        return curves(self.baseline, self.decision_function(X), "median", (), self._strata(strata))

    def summary(self) -> str:
        """The coefficients as a table, and what is proved of them."""
        head = f"{self.target}: {len(self.support)} of {self.n_features} features, {self.loss} loss"
        if self.class_rows is not None:
            head += "; lengths of coefficients over all classes"
        rows = [("(intercept)", self.intercept), *zip(self.selected, self.values)]
        width = max(len(name) for name, _ in rows)
        proof = "no bound"
        if self.status == "optimal":
            proof = "best possible: proved best within the tolerance"
        elif np.isfinite(self.lower_bound):
            proof = f"best possible within {percent(self.relative_gap)}"
        price = f"penalty per feature  lambda0 = {self.lambda0:.6g}"
        return "\n".join(
            [head, "", *(f"{name:<{width}}  {value:>12.6g}" for name, value in rows), "", price, f"certificate  {proof}"]
        )

    def __repr__(self) -> str:
        return self.summary()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file."""
        _core.save_model(os.fspath(path), _stored(self, self.delta, self.theta, self.ties), json.dumps(self.encoding))


def _indicator(values: Any, category: dict[str, Any], level: str, filled: bool) -> Floats:
    """One where a row has the level; a row without one has the usual one, if values were filled in the fit."""
    column, wanted = category["column"], _level(level)
    known = {_level(text) for text in (category["reference"], *category["levels"])}
    usual = _level(category.get("usual")) if filled else None
    found = np.zeros(len(values))
    for row, value in enumerate(values):
        given = _level(value)
        given = usual if given is None else given
        if given is None:
            raise ValueError(f"row {row} of column {column!r} has no value")
        if given not in known:
            raise ValueError(f"row {row} of column {column!r} is {value!r}, a level that the model does not know")
        found[row] = given == wanted
    return found


def _level(value: Any) -> float | str | None:
    """A level as it is compared: spellings of one number are one level, and None is what is missing."""
    try:
        if value is None or value == "" or value != value:
            return None
    except TypeError:
        # pandas.NA is neither equal nor different.
        return None
    try:
        number = float(str(value))
    except ValueError:
        return str(value)
    return number if np.isfinite(number) else str(value)


def _numbers(*labels: Any) -> tuple[Any, ...]:
    """Labels that are numbers as numbers."""
    if not all(isinstance(label, str) for label in labels):
        return labels
    for kind in (int, float):
        try:
            return tuple(kind(label) for label in labels)
        except ValueError:
            continue
    return labels


def _stored(found: Result | Model, delta: float | None, theta: float | None, ties: str) -> Stored:
    return Stored(
        found.loss, 1.0 if delta is None else delta, theta, found.lambda0, found.lambda1, found.lambda2, found.n_features,
        found.feature_names, found.support.tolist(), found.values.tolist(), float(found.intercept), found.objective,
        found.relaxation, found.lower_bound, found.status, ties, found.baseline, found.class_rows,
    )  # fmt: skip


def save(result: Result, path: str | os.PathLike[str]) -> None:
    """Writes the model of a result, with what the command line knows beside it."""
    setup, classes = result.setup, None
    assert setup is not None, "every result of the engine has its problem"
    labels = None
    if result.classes is not None:
        labels = [label.item() if isinstance(label, np.generic) else label for label in result.classes]
        labels = [label if isinstance(label, (str, int, float)) else str(label) for label in labels]
        if result.class_rows is None:
            classes = {"negative": str(labels[0]), "positive": str(labels[1])}
    encoding = {
        "target": result.target, "classes": classes, "scaling": None, "categories": [], "means": {},
        "standardize": setup.scale, "intercept": setup.fit_intercept, "k": result.k, "offset": result.offset, "labels": labels,
        "class_names": None if result.class_rows is None or labels is None else [str(label) for label in labels],
        "strata": [str(label) for label in result.strata] or None,
    }  # fmt: skip
    _core.save_model(os.fspath(path), _stored(result, setup.delta, setup.theta, result.ties), json.dumps(encoding))


def load(path: str | os.PathLike[str]) -> Model:
    """A model that was saved by `Result.save`, by an estimator or by the command line.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Model

    Examples
    --------
    >>> import numpy as np, bestset, os, tempfile
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.standard_normal(100)
    >>> file = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> found = bestset.solve(X, y)
    >>> found.save(file)
    >>> bool(np.all(bestset.load(file).predict(X) == found.predict(X)))
    True
    """
    with open(os.fspath(path), encoding="utf-8") as file:
        text = file.read()
    try:
        found: dict[str, Any] = dict(_core.read_model(text))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    names = found.pop("feature_names")
    encoding = json.loads(text).get("encoding") or {}
    return Model(**found, feature_names=None if names is None else tuple(names), encoding=encoding)
