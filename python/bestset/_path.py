"""`path` and `subsets`: many prices, many sizes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from . import _core, _input, _problem, _sequences
from ._result import warn
from ._sequences import Path, Subsets


def path(
    X: Any,
    y: ArrayLike,
    lambda0s: ArrayLike | None = None,
    *,
    lambda1: float = 0.0,
    lambda2: float | ArrayLike | None = None,
    n_lambdas: int | None = None,
    ratio: float | None = None,
    max_size: int | None = None,
    full: bool = False,
    loss: str = "squared",
    fit_intercept: bool = True,
    bounds: tuple[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
    gap: float = 1e-6,
    threads: int | None = None,
    delta: float | None = None,
    theta: float | None = None,
    standardize: bool | str = True,
    offset: ArrayLike | None = None,
    price: ArrayLike | None = None,
    shrinkage: ArrayLike | None = None,
    always: Sequence[int | str] | None = None,
    never: Sequence[int | str] | None = None,
    groups: ArrayLike | None = None,
    group_prices: ArrayLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_interrupt: str = "raise",
) -> Path:
    r"""Answers along a descending sequence of prices, each with its lower bound.

    The objective at each price is that of `solve`; so are the parameters that are not listed here.

    Parameters
    ----------
    X, y
        The samples.
    lambda0s : array, optional
        The prices, strictly descending. None: each price is one percent below the one at which another feature would
        pay for itself, so that the answers change by little from point to point.
    lambda2 : float or array, optional
        The ridge term, or several: one path for each. None as in `solve`.
    n_lambdas : int, optional
        The largest number of points; None for twice `max_size`, a hundred at least.
    ratio : float, optional
        Makes the prices evenly spaced in their logarithm, down to `ratio` times the largest.
    max_size : int, optional
        The largest size; None for :math:`n/(\log p\,\log\log n)`, at most p and n/2.
    full : bool
        A solve of its own for every point: slower, and no point is worse than a fit at its price.
    time_limit : float, optional
        For the whole path: the points done by then are returned.

    Returns
    -------
    Path
        A sequence of `Result`, with the usual criteria along it.

    Examples
    --------
    >>> import numpy as np, bestset
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(100)
    >>> found = bestset.path(X, y, max_size=10)
    >>> found.best("ebic").support
    array([3, 7])
    >>> int(found.sizes[0])
    0
    """
    data, p = _problem.data(X, y, loss, sample_weight, offset)
    names = _input.feature_names(X)
    ridge, several = _problem.ridges(lambda2)
    setup = _problem.setup(
        p, names, lambda1=lambda1, lambda2=ridge, loss=loss, delta=delta, theta=theta, bounds=bounds, fit_intercept=fit_intercept,
        standardize=standardize, price=price, shrinkage=shrinkage, always=always, never=never, groups=groups,
        group_prices=group_prices,
    )  # fmt: skip
    choice = _problem.choice(
        lambda0s=lambda0s, lambda2s=several, points=n_lambdas, ratio=ratio, max_size=max_size, full=full
    )
    control = _problem.control(
        "incremental", threads, on_interrupt, gap=gap, time_limit=time_limit, checkpoint=checkpoint
    )
    with _input.named(names):
        found = _core.path(data, setup, choice, control)
    warn(found["remarks"], 2)
    return _sequences.path(found, p, names, setup)


def subsets(
    X: Any,
    y: ArrayLike,
    max_size: int | None = None,
    *,
    lambda1: float = 0.0,
    lambda2: float | None = None,
    loss: str = "squared",
    fit_intercept: bool = True,
    bounds: tuple[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
    gap: float = 1e-6,
    threads: int | None = None,
    delta: float | None = None,
    theta: float | None = None,
    standardize: bool | str = True,
    offset: ArrayLike | None = None,
    price: ArrayLike | None = None,
    shrinkage: ArrayLike | None = None,
    always: Sequence[int | str] | None = None,
    never: Sequence[int | str] | None = None,
    groups: ArrayLike | None = None,
    max_nodes: int | None = None,
    max_memory: int | None = None,
    on_interrupt: str = "raise",
) -> Subsets:
    r"""The best subset of every size 1, …, `max_size`, each proved, with the measures that compare sizes.

    The objective of each size is that of `solve` without :math:`\lambda_0`, subject to at most this many features; the
    parameters that are not listed here are those of `solve`. `lambda2` is zero unless given for least squares with
    more samples than features, or a few more features; else 0.01 as everywhere. What can be proved with ``lambda2=0``, small
    sizes among many features for instance, is listed in the guide under "What can be proved"; an error names the sizes that
    can be searched. With `groups` a size
    counts the features of the groups that are in; a size that no choice of groups has repeats the answer of the size before.

    Parameters
    ----------
    X, y
        The samples.
    max_size : int, optional
        The largest size; None for all features, at most eight, of which the answer says so when it is printed.
    time_limit, max_nodes
        For all sizes together. Sizes that are not proved by then say so in their status.

    Returns
    -------
    Subsets
        A sequence of `Subset`.

    Examples
    --------
    >>> import numpy as np, bestset
    >>> rng = np.random.default_rng(1)
    >>> X = rng.standard_normal((100, 12))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(100)
    >>> found = bestset.subsets(X, y, 5)
    >>> [s.size for s in found if s.proved]
    [1, 2, 3, 4, 5]
    >>> found.best("bic").support
    array([3, 7])
    """
    data, p = _problem.data(X, y, loss, sample_weight, offset)
    names = _input.feature_names(X)
    setup = _problem.setup(
        p, names, lambda1=lambda1, lambda2=lambda2, loss=loss, delta=delta, theta=theta, bounds=bounds, fit_intercept=fit_intercept,
        standardize=standardize, price=price, shrinkage=shrinkage, always=always, never=never, groups=groups,
    )  # fmt: skip
    control = _problem.control(
        "exact", threads, on_interrupt, gap=gap, time_limit=time_limit, max_nodes=max_nodes, max_memory=max_memory
    )
    with _input.named(names):
        found = _core.subsets(data, setup, control, _problem.size(max_size, "max_size"))
    warn(found["remarks"], 2)
    sizes = [_sequences.subset(s, p, names) for s in found["sizes"]]
    return Subsets(sizes, found["dependent"], found["constant"], stops=max_size is None and len(sizes) < p)
