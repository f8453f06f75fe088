"""What the engine is asked: samples, problem, way of solving, grid. Read attribute by attribute on the other side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _input
from ._input import Floats, Matrix

#: Ways to solve.
METHODS = ("incremental", "exact", "primal_dual", "primal_dual_plain", "dual_ascent", "dual_iht", "cdss")
#: When the published ascents take their gap for no longer decreasing.
STOPS = ("literal", "patient")
LOSSES = ("squared", "huber", "logistic", "squared_hinge")
CLASSIFICATION = ("logistic", "squared_hinge")
#: How a solve can be cut short.
LIMITS = ("time_limit", "iteration_limit", "node_limit", "memory_limit", "interrupted")


@dataclass(frozen=True)
class Data:
    """The samples."""

    x: Matrix
    y: Floats
    sample_weight: Floats | None = None
    offset: Floats | None = None


@dataclass(frozen=True)
class Spec:
    """The problem."""

    loss: str = "squared"
    delta: float = 1.345
    lambda0: float = 0.0
    lambda1: float = 0.0
    lambda2: float = 0.0
    k: int | None = None
    fit_intercept: bool = False
    standardize: bool = False
    bounds: tuple[float, float] | tuple[Floats, Floats] | None = None
    price: Floats | None = None
    shrinkage: Floats | None = None
    always: list[int] = field(default_factory=list)
    never: list[int] = field(default_factory=list)


@dataclass(frozen=True)
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
    keep_answer: bool = False


@dataclass(frozen=True)
class Grid:
    """The prices a path visits."""

    lambda0s: list[float] | None = None
    lambda2s: list[float] = field(default_factory=list)
    points: int = 100
    ratio: float | None = None
    max_size: int | None = None


def data(X: Any, y: Any, loss: str, sample_weight: Any = None, offset: Any = None) -> tuple[Data, int]:
    """The samples, and the number of features."""
    if loss not in LOSSES:
        raise ValueError(f"there is no loss named {loss!r}; known are {', '.join(LOSSES)}")
    x, n, p = _input.matrix(X)
    target = _input.signs(y) if loss in CLASSIFICATION else _input.vector(y, "y")
    if len(target) != n:
        raise ValueError(f"y has length {len(target)}, but X has {n} rows")
    weights = _input.optional(sample_weight, "sample_weight")
    return Data(x, target, weights, _input.optional(offset, "offset")), p


def size(k: Any) -> int | None:
    """A number of features, checked before it reaches the engine, which knows no negative ones."""
    if k is None:
        return None
    number = _input.whole(k)
    if number is None or number < 1:
        raise ValueError(f"k is {k}; it must be a whole number, at least 1")
    if number > _input.LARGEST:
        raise ValueError(f"k is {k}; it must be between 1 and the number of features")
    return number


def spec(p: int, names: tuple[str, ...] | None, **given: Any) -> Spec:
    """The problem, from arguments as users give them."""
    given["bounds"] = _input.bounds(given.get("bounds"), p, given.pop("positive", False))
    for name in ("price", "shrinkage"):
        given[name] = _input.optional(given.get(name), name)
    for name in ("always", "never"):
        given[name] = _input.places(given.get(name), name, names, p)
    for name in ("lambda0", "lambda1", "lambda2", "delta"):
        if given.get(name) is not None:
            given[name] = float(given[name])
    given["lambda0"] = given.get("lambda0") or 0.0
    given["k"] = size(given.get("k"))
    return Spec(**given)


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
        if given.get(name) is not None and not 1 <= given[name] <= _input.LARGEST:
            raise ValueError(f"{name} is {given[name]}; it must be at least 1 and at most {_input.LARGEST}")
    if threads == 0:
        raise ValueError("threads is 0; it must be at least 1, or negative to count from the number of processors")
    return Control(method=method, threads=_input.threads(threads), keep_answer=keep, **given)
