"""`stability`: how often each feature is selected on random subsamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, _input, _problem, _result
from ._input import Floats
from ._problem import Draws


@dataclass(eq=False, repr=False)
class Stability:
    """How often features are selected.

    Attributes
    ----------
    frequencies : ndarray of shape (max_size + 1, n_features)
        The share of the subsamples whose answer of each size, from 0 up, has the feature.
    largest : ndarray of shape (n_features,)
        The largest share of each feature over the sizes.
    subsamples : int
        Subsamples fitted.
    status : str
        ``"converged"``, or the limit that struck.
    """

    frequencies: Floats
    subsamples: int
    status: str
    feature_names: tuple[str, ...] | None = field(default=None)

    @property
    def largest(self) -> Floats:
        shares: Floats = self.frequencies.max(axis=0)
        return shares

    def selected(self, threshold: float = 0.6) -> NDArray[np.int64]:
        """The features in at least this share of the subsamples at some size."""
        return np.flatnonzero(self.largest >= threshold).astype(np.int64)

    def __repr__(self) -> str:
        order = np.argsort(-self.largest, kind="stable")
        order = order[self.largest[order] > 0][:20]
        names = [f"x{j}" if self.feature_names is None else self.feature_names[j] for j in order]
        width = max([len(name) for name in names], default=0)
        head = f"selected in {self.subsamples} subsamples, at some size up to {len(self.frequencies) - 1}:"
        lines = [f"  {name:<{width}}  {100 * self.largest[j]:3.0f} %" for name, j in zip(names, order)]
        return "\n".join([head, *lines])


def stability(
    X: Any,
    y: ArrayLike,
    max_size: int | None = None,
    *,
    subsamples: int = 100,
    share: float = 0.5,
    random_state: int = 0,
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
    group_prices: ArrayLike | None = None,
    on_interrupt: str = "raise",
) -> Stability:
    """Stability selection: paths on random subsamples, and how often each feature is selected.

    For classification every subsample holds its share of each class. The parameters that are not listed here are those
    of `solve`.

    Parameters
    ----------
    X, y
        The samples.
    max_size : int, optional
        The largest size counted; None as in `path`.
    subsamples : int
        Subsamples drawn.
    share : float
        Share of the samples in each.
    random_state : int
        Seed of the draws.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import numpy as np, bestset
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] + rng.standard_normal(100)
    >>> found = bestset.stability(X, y, 3, subsamples=20)
    >>> found.frequencies[2, [3, 7]]
    array([1., 1.])
    """
    data, p = _problem.data(X, y, loss, sample_weight, offset)
    names = _input.feature_names(X)
    setup = _problem.setup(
        p, names, lambda1=lambda1, lambda2=lambda2, loss=loss, delta=delta, theta=theta, bounds=bounds, fit_intercept=fit_intercept,
        standardize=standardize, price=price, shrinkage=shrinkage, always=always, never=never, groups=groups,
        group_prices=group_prices,
    )  # fmt: skip
    control = _problem.control("incremental", threads, on_interrupt, gap=gap, time_limit=time_limit)
    draws = Draws(_problem.size(subsamples, "subsamples") or 1, float(share), _input.seed(random_state))
    with _input.named(names):
        found = _core.stability(data, setup, _problem.choice(max_size=max_size), control, draws)
    if found["status"] in _problem.LIMITS:
        text = f"A limit struck: only {found['subsamples']} of {subsamples} subsamples were fitted."
        _result.warn([("limit", text)], stacklevel=2)
    shares = np.zeros((len(found["frequencies"]), p))
    for size, counted in enumerate(found["frequencies"]):
        for feature, value in counted:
            shares[size, feature] = value
    return Stability(shares, found["subsamples"], found["status"], names)
