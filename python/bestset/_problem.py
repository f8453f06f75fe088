"""What the engine is asked: samples, problem, number of features, way of solving. Read attribute by attribute there."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from . import _input, _times
from ._input import Floats, Matrix
from ._times import Times

#: Does parts of a selection: texts, and whether nobody waits any longer, to texts, None for those that are missing then.
Workers: TypeAlias = Callable[[list[str], Callable[[], bool]], "list[str | None]"]

#: Ways to solve.
METHODS = ("incremental", "exact", "primal_dual", "primal_dual_plain", "dual_ascent", "dual_iht", "cdss")
#: When the published ascents take their gap for no longer decreasing.
STOPS = ("literal", "patient")
LOSSES = ("squared", "huber", "logistic", "squared_hinge", "poisson", "gamma", "negative_binomial", "cox", "multinomial")
#: Losses whose linear predictor is the logarithm of the mean.
LOG_LINK = ("poisson", "gamma", "negative_binomial")
CLASSIFICATION = ("logistic", "squared_hinge")
#: How a solve can be cut short.
LIMITS = ("time_limit", "iteration_limit", "node_limit", "memory_limit", "interrupted", "read_failed")
#: What chooses a point of a path.
CRITERIA = ("aic", "bic", "ebic", "gic", "cp", "adjusted_r2")


@dataclass(frozen=True, eq=False)
class Data:
    """The samples."""

    x: Matrix
    y: Floats
    sample_weight: Floats | None = None
    offset: Floats | None = None
    survival: Times | None = None


@dataclass(frozen=True, eq=False)
class Setup:
    """The problem, but for the number of features."""

    loss: str = "squared"
    delta: float | None = None
    theta: float | None = None
    lambda1: float = 0.0
    lambda2: float | None = None
    fit_intercept: bool = True
    scale: str = "norm"
    bounds: tuple[float, float] | tuple[Floats, Floats] | None = None
    price: Floats | None = None
    shrinkage: Floats | None = None
    always: list[int] = field(default_factory=list)
    never: list[int] = field(default_factory=list)
    groups: list[int] | None = None
    group_prices: list[float] | None = None


@dataclass(frozen=True, eq=False)
class Folding:
    """How cross-validation is done."""

    folds: int | None = None
    splits: list[tuple[list[int], list[int]]] = field(default_factory=list)
    score: str | None = None
    one_se: bool = False
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Draws:
    """The subsamples of stability selection."""

    subsamples: int
    share: float
    seed: int


@dataclass(frozen=True, eq=False)
class Choice:
    """What decides the number of features: a price, a size, or else `folding` or the criterion along a path."""

    lambda0: float | None = None
    k: int | None = None
    criterion: str = "ebic"
    gamma: float = 1.0
    folding: Folding | None = None
    lambda0s: list[float] | None = None
    lambda2s: list[float] = field(default_factory=list)
    points: int | None = None
    ratio: float | None = None
    max_size: int | None = None
    full: bool = False


@dataclass(frozen=True, eq=False)
class Control:
    """How it is solved."""

    method: str = "incremental"
    gap: float = 1e-6
    time_limit: float | None = None
    threads: int | None = None
    trace: bool = False
    max_iter: int | None = None
    max_nodes: int | None = None
    max_memory: int | None = None
    top: int = 1
    stop: str = "literal"
    warm_start: tuple[list[int], list[float], float] | None = None
    prove: float | str = "auto"
    checkpoint: str | None = None
    proof: tuple[str, str | None, list[str], str] | None = None
    keep_answer: bool = False
    workers: Workers | None = None


#: Makes the function that does parts of a selection elsewhere, of the samples and settings; none where all is done here.
SPREAD: ContextVar[Callable[[Data, Setup, Choice, Control], Workers] | None] = ContextVar("SPREAD", default=None)


def spread(data: Data, setup: Setup, choice: Choice, control: Control) -> Control:
    """The way of solving, with those who do parts of it."""
    make = SPREAD.get()
    return control if make is None else replace(control, workers=make(data, setup, choice, control))


def data(X: Any, y: Any, loss: str, sample_weight: Any = None, offset: Any = None) -> tuple[Data, int]:
    """The samples, and the number of features."""
    known_loss(loss)
    x, n, p = _input.matrix(X)
    times = _times.read(y) if loss == "cox" else None
    if times is not None:
        target = times.time
    elif loss == "multinomial":
        target = _input.class_numbers(y)[0]
    else:
        target = _input.signs(y) if loss in CLASSIFICATION else _input.numbers(y, loss)
    if len(target) != n:
        raise ValueError(f"y has length {len(target)}, but X has {n} rows")
    weights = _input.optional(sample_weight, "sample_weight")
    fixed = _input.class_offset(offset, n) if loss == "multinomial" else _input.optional(offset, "offset")
    return Data(x, target, weights, fixed, times), p


def known_loss(loss: str) -> None:
    """Refuses a loss that there is not."""
    if loss not in LOSSES:
        raise ValueError(f"there is no loss named {loss!r}; known are {', '.join(LOSSES)}")


def size(k: Any, name: str = "k") -> int | None:
    """A whole number, checked before it reaches the engine, which knows no negative ones."""
    if k is None:
        return None
    number = None if isinstance(k, bool) else _input.whole(k)
    if number is None or not 1 <= number <= _input.LARGEST:
        text = f"; it is a text: give int({k!r})" if isinstance(k, str) and k.strip().isdigit() else ""
        raise ValueError(f"{name} is {k!r}; it must be a whole number, at least 1 and at most {_input.LARGEST}{text}")
    return number


def scale(standardize: bool | str) -> str:
    """The scale of the columns inside."""
    words = {"norm": "norm", "variance": "variance", "none": "none"}
    found = {True: "norm", False: "none"}.get(standardize) if isinstance(standardize, (bool, np.bool_)) else None
    found = words.get(standardize) if isinstance(standardize, str) else found
    if found is None:
        raise ValueError(f"standardize is {standardize!r}; it must be True, False, 'norm' or 'variance'")
    return found


def setup(p: int, names: tuple[str, ...] | None, **given: Any) -> Setup:
    """The problem, from arguments as users give them."""
    given["bounds"] = _input.bounds(given.get("bounds"), p, given.pop("positive", False))
    given["scale"] = scale(given.pop("standardize"))
    for name in ("price", "shrinkage"):
        given[name] = _input.optional(given.get(name), name)
    for name in ("always", "never"):
        given[name] = _input.places(given.get(name), name, names, p)
    for name in ("lambda1", "lambda2", "delta", "theta"):
        if given.get(name) is not None:
            given[name] = float(given[name])
    given["groups"], _ = groups(given.get("groups"), p)
    prices = given.get("group_prices")
    given["group_prices"] = None if prices is None else _input.vector(prices, "group_prices").tolist()
    return Setup(**given)


def groups(given: Any, p: int) -> tuple[list[int] | None, Any]:
    """Numbers of the groups of the features, and the labels that they stand for."""
    if given is None:
        return None, None
    labels = np.asarray(given)
    if labels.shape != (p,):
        raise ValueError(f"groups must have one label for each of the {p} features; its shape is {labels.shape}")
    known, numbers = np.unique(labels, return_inverse=True)
    return numbers.ravel().tolist(), known


def ridges(lambda2: Any) -> tuple[float | None, list[float]]:
    """One λ2, or several to compare."""
    if lambda2 is None or np.ndim(lambda2) == 0:
        return None if lambda2 is None else float(lambda2), []
    several = _input.vector(lambda2, "lambda2").tolist()
    if not several:
        raise ValueError("lambda2 is empty; give one value at least, or None")
    return several[0], several


def choice(**given: Any) -> Choice:
    """What decides the number of features, from arguments as users give them."""
    if given.get("lambda0") is not None and given.get("k") is not None:
        raise ValueError(
            f"lambda0 is {given['lambda0']} and k is {given['k']}; give a price of a feature or a number of them, not both"
        )
    criterion = given.get("criterion", "ebic")
    if criterion not in CRITERIA:
        raise ValueError(f"criterion is {criterion!r}; it must be one of {', '.join(CRITERIA)}")
    given["gamma"] = float(given.get("gamma", 1.0))
    given["points"] = size(given.get("points"), "n_lambdas")
    if given.get("lambda0") is not None:
        given["lambda0"] = float(given["lambda0"])
    for name in ("k", "max_size"):
        given[name] = size(given.get(name), name)
    prices = given.get("lambda0s")
    given["lambda0s"] = None if prices is None else _input.vector(prices, "lambda0s").tolist()
    return Choice(**given)


def control(method: str, threads: int | None, on_interrupt: str = "raise", **given: Any) -> Control:
    """The way of solving, from arguments as users give them."""
    if method not in METHODS:
        raise ValueError(f"there is no method named {method!r}; known are {', '.join(METHODS)}")
    if given.get("stop", STOPS[0]) not in STOPS:
        raise ValueError(f"stop is {given['stop']!r}; it must be 'literal' or 'patient'")
    if on_interrupt not in ("raise", "return"):
        raise ValueError(f"on_interrupt is {on_interrupt!r}; it must be 'raise' or 'return'")
    keep = on_interrupt == "return"
    for name in ("max_iter", "max_nodes", "max_memory", "top"):
        if given.get(name) is not None:
            given[name] = size(given[name], name)
    if threads == 0:
        raise ValueError("threads is 0; it must be at least 1, or negative to count from the number of processors")
    given["prove"] = proof(given.get("prove", "auto"))
    if given.get("checkpoint") is not None:
        given["checkpoint"] = os.fspath(given["checkpoint"])
    return Control(method=method, threads=_input.threads(threads), keep_answer=keep, **given)


def proof_file(
    path: Any, data: Any, p: int, names: Any, target: str | None, method: str, beside: list[str]
) -> tuple[str, str | None, list[str], str] | None:
    """Where a proof goes, the data as they are used, and what columns are called there; what is given beside X and y."""
    if path is None:
        if data is not None:
            raise ValueError(f"proof_data is {data!r}, but there is no proof: give it as well")
        return None
    if method != "exact":
        raise ValueError(f'proof needs method="exact"; the method is {method!r}')
    if beside and data is None:
        raise ValueError(f"a proof with {' and '.join(beside)} is checked against a file that has them: give proof_data as well")
    called = [f"x{j + 1}" for j in range(p)] if names is None else [str(name) for name in names]
    return os.fspath(path), None if data is None else os.fspath(data), called, target or "y"


def proof(prove: Any) -> float | str:
    """How much is spent on a proof: "auto", or seconds, of which there may be none."""
    if prove is None or prove is False:
        return 0.0
    if isinstance(prove, str) and prove == "auto":
        return prove
    if isinstance(prove, (bool, str)) or np.ndim(prove) > 0 or not prove >= 0.0:
        raise ValueError(f"prove is {prove!r}; it must be 'auto', a number of seconds, or None")
    return float(prove)
