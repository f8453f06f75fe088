"""Plots. They need matplotlib: ``pip install bestset[plot]``.

Each function draws on the axes given, or on new ones, and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._result import Result, most
from ._sequences import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Features that get a colour and a name of their own.
NAMED = 10
QUIET = "0.75"
MARK = "#c44e52"
LINE = "#33597f"


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("bestset.plots needs matplotlib: pip install bestset[plot]") from None
    return plt.subplots(figsize=(7.0, 4.2), layout="constrained")[1]


def _finish(ax: Axes) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _path(found: Any) -> Path:
    """A path, or that of a fitted estimator with the lambda2 of its model."""
    path = getattr(found, "path_", found)
    if isinstance(path, Path) and hasattr(found, "lambda2_"):
        path = _strand(path, found.lambda2_)
    if isinstance(path, list):
        raise ValueError("with more than two classes there is one path per class: pass one of path_")
    if not isinstance(path, Path):
        raise TypeError(f"expected a Path or an estimator that computed one, not {type(found).__name__}")
    if len(path) < 2:
        raise ValueError(f"the path has {len(path)} points; two are needed to draw it")
    if len(np.unique(path.lambda2s)) > 1:
        raise ValueError("the path has several lambda2; draw a path with one")
    return path


def _strand(path: Path, lambda2: float) -> Path:
    """The points with one lambda2."""
    places = np.flatnonzero(path.lambda2s == lambda2)
    criteria = {name: values[places] for name, values in path.criteria.items()}
    return Path([path[int(i)] for i in places], criteria, path.status)


def _first_seen(path: Path) -> list[int]:
    """The features of a path in the order in which they enter it."""
    seen: dict[int, None] = {}
    for point in path:
        # Of those that enter together the largest comes first.
        for place in np.argsort(-np.abs(point.values), kind="stable"):
            seen.setdefault(int(point.support[place]))
    return list(seen)


def coefficient_path(path: Any, ax: Axes | None = None, named: int = NAMED) -> Axes:
    """The coefficients against the price lambda0, which falls from left to right.

    Parameters
    ----------
    path : Path or fitted estimator
    ax : matplotlib Axes, optional
    named : int
        How many features get a colour and a name: those that enter first. The others are grey.

    Returns
    -------
    matplotlib Axes
    """
    path, ax = _path(path), _axes(ax)
    prices, order = _near(path.lambda0s), _first_seen(path)
    place = {j: row for row, j in enumerate(order)}
    values = np.zeros((len(order), len(path)))
    for i, point in enumerate(path):
        values[[place[int(j)] for j in point.support], i] = point.values
    colours = [ax._get_lines.get_next_color() for _ in range(min(named, len(order)))]  # type: ignore[attr-defined]
    for row, j in reversed(list(enumerate(order))):
        shown = row < named
        style = {"color": colours[row], "lw": 1.8, "label": path[0]._name(j)} if shown else {"color": QUIET, "lw": 0.8}
        ax.plot(*_steps(prices, values[row]), zorder=2 if shown else 1, **style)
    ax.axhline(0.0, color="black", lw=0.6, zorder=0)
    _price_axis(ax, prices)
    ax.set_ylabel("coefficient")
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        ax.legend(handles[::-1], labels[::-1], frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return _finish(ax)


def _steps(prices: Any, values: Any) -> tuple[list[float], list[float]]:
    """A line of steps that is there only while the coefficient is not zero."""
    x: list[float] = []
    y: list[float] = []
    before = 0.0
    for price, value in zip(prices, values):
        if before or value:
            x += [price, price]
            y += [before, value]
        if before and not value:
            x.append(price)
            y.append(np.nan)
        before = value
    if before:
        x.append(0.95 * prices[-1])
        y.append(before)
    return x, y


def _near(prices: Any) -> Any:
    """The prices, the first drawn near the second: it is where nothing can pay for itself, often far above."""
    return np.minimum(prices, 1.6 * prices[1])


def _price_axis(ax: Axes, prices: Any) -> None:
    positive = prices[prices > 0]
    ax.set_xscale("log")
    ax.set_xlim(1.05 * positive.max(), 0.95 * positive.min())
    ax.set_xlabel(r"price of a feature, $\lambda_0$")


def _short(price: float) -> str:
    return f"{price:.0f}" if 100 <= price < 1e5 else f"{price:.2g}"


def cv_curve(model: Any, ax: Axes | None = None) -> Axes:
    """Mean cross-validated error against the number of features, a line for each lambda2; the two choices are marked.

    The line of the lambda2 chosen comes with its standard error.

    Parameters
    ----------
    model : BestSubsetRegressorCV or BestSubsetClassifierCV
        Fitted; with two classes if it is a classifier.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    if not hasattr(model, "cv_mean_"):
        raise TypeError(f"expected a fitted estimator with cross-validation, not {type(model).__name__}")
    if isinstance(model.cv_mean_, list):
        raise ValueError("with more than two classes there is one curve per class")
    if not len(model.cv_mean_):
        raise ValueError("a limit struck before the first fold was done: there is nothing to draw")
    path, ax = model.path_, _axes(ax)
    maximised = bool(np.nanmax(model.cv_mean_) > 0)
    sign = 1.0 if maximised else -1.0
    from matplotlib import colormaps

    ridges = np.unique(model.lambda2s_)
    shades = dict(zip(ridges, colormaps["Greens"](np.linspace(0.35, 0.85, len(ridges)))))  # the darker the larger
    for ridge in sorted(set(model.lambda2s_), key=lambda value: (value == model.lambda2_, value)):
        # Points of the same size have the same score.
        places = np.flatnonzero(model.lambda2s_ == ridge)
        sizes, first = np.unique(path.sizes[places], return_index=True)
        mean, error = sign * model.cv_mean_[places[first]], model.cv_standard_error_[places[first]]
        chosen = ridge == model.lambda2_
        if chosen:
            ax.fill_between(sizes, mean - error, mean + error, color=LINE, alpha=0.18, lw=0)
        style: dict[str, Any] = {"color": LINE, "marker": "o", "ms": 3.5, "lw": 1.4}
        style = style if chosen else {"color": shades[ridge], "lw": 1.0}
        ax.plot(sizes, mean, label=f"$\\lambda_2$ = {ridge:.3g}{', chosen' if chosen else ''}", **style)
    choices = (("min", model.lambda0_min_, model.lambda2_min_, "-"), ("1se", model.lambda0_1se_, model.lambda2_1se_, "--"))
    for name, price, ridge, dashes in choices:
        place = int(np.argmax((model.lambda0s_ == price) & (model.lambda2s_ == ridge)))
        size = int(path.sizes[place])
        label = f"{name}: {size} feature{'s' if size != 1 else ''}, $\\lambda_2$ = {ridge:.3g}"
        ax.axvline(size, color=MARK, ls=dashes, lw=1.2, label=label)
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("features")
    ax.set_ylabel("score" if maximised else "error on samples left out")
    ax.legend(frameon=False, fontsize="small")
    return _finish(ax)


def gap(result: Result, ax: Axes | None = None) -> Axes:
    """Objective and lower bound over the time of a solve; the gap is the area between them.

    Parameters
    ----------
    result : Result
        Solved with ``trace=True``.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    trace = result.trace
    if not trace or not len(trace["seconds"]):
        raise ValueError("the result has no trace: solve with trace=True and a method that records one")
    ax = _axes(ax)
    known = np.isfinite(trace["lower_bound"]) & np.isfinite(trace["objective"])
    seconds, objective, bound = (trace[name][known] for name in ("seconds", "objective", "lower_bound"))
    if not len(seconds):
        raise ValueError("nothing was proved on the way: there is no gap to draw")
    # The last bound, and some room to the right of it: where the lines meet is what the plot is for.
    end = max(result.seconds, seconds[-1])
    seconds = np.append(seconds, [end, 1.04 * end])
    objective = np.append(objective, [result.objective] * 2)
    bound = np.append(bound, [max(result.lower_bound, bound[-1])] * 2)
    ax.fill_between(seconds, bound, objective, step="post", color=MARK, alpha=0.15, lw=0, label="gap")
    ax.step(seconds, objective, where="post", color=LINE, lw=1.8, label="objective of the best answer")
    ax.step(seconds, bound, where="post", color=MARK, lw=1.8, label="lower bound on every answer")
    ax.set_xlabel("seconds")
    ax.set_ylabel("objective")
    ax.set_title(f"{result.status.replace('_', ' ')}, gap {most(result.gap, 3)}", fontsize="medium", loc="left")
    ax.legend(frameon=False, fontsize="small")
    # The first answers and bounds may be far off: what matters is near the last.
    final, last = float(objective[-1]), float(bound[-1])
    room = max(1.5 * (final - last), 0.15 * abs(final))
    ax.set_ylim(max(bound.min(), final - room) - 0.05 * room, min(objective.max(), final + room) + 0.05 * room)
    ax.set_xlim(0.0, seconds[-1])
    return _finish(ax)


def support(path: Any, ax: Axes | None = None, most: int = 40) -> Axes:
    """Which features are in the model at each point of a path, coloured by sign and size of the coefficient.

    Parameters
    ----------
    path : Path or fitted estimator
    ax : matplotlib Axes, optional
    most : int
        The largest number of features shown: those that enter first.

    Returns
    -------
    matplotlib Axes
    """
    path, ax = _path(path), _axes(ax)
    order = _first_seen(path)[:most]
    place = {j: row for row, j in enumerate(order)}
    values = np.full((max(len(order), 1), len(path)), np.nan)
    for i, point in enumerate(path):
        for j, b in zip(point.support, point.values):
            if int(j) in place:
                values[place[int(j)], i] = b
    largest = float(np.nanmax(np.abs(values))) if np.any(~np.isnan(values)) else 1.0
    # Square roots keep small coefficients visible beside large ones.
    shown = np.sign(values) * np.sqrt(np.abs(values) / largest)
    edges = np.arange(len(path) + 1)
    mesh = ax.pcolormesh(edges, np.arange(len(order) + 1), shown[: len(order)], cmap="RdBu_r", vmin=-1, vmax=1)
    ax.set_yticks(np.arange(len(order)) + 0.5, [path[0]._name(j) for j in order], fontsize="small")
    ax.invert_yaxis()
    places = np.unique(np.linspace(0, len(path) - 1, 7).astype(int))
    ax.set_xticks(places + 0.5, [_short(path[int(i)].lambda0) for i in places], fontsize="small")
    ax.set_xlabel(r"price of a feature, $\lambda_0$")
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    ticks = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    bar.set_ticks(list(ticks), labels=[f"{np.sign(t) * t * t * largest:.2g}" for t in ticks])
    bar.set_label("coefficient")
    return _finish(ax)
