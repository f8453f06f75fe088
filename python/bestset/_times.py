"""Survival times as y."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _input
from ._input import Floats

TIES = ("efron", "breslow")


@dataclass(frozen=True, eq=False, init=False)
class Times:
    """Survival times, for ``loss="cox"`` and `BestSubsetSurvival`.

    Parameters
    ----------
    time : array of shape (n_samples,)
        When the event was, or when the sample was last seen without one; at least 0.
    event : array of shape (n_samples,)
        Whether it was an event: booleans, or 0 and 1.
    entry : array of shape (n_samples,), optional
        When the sample came under observation, before its time: at risk at t are those with ``entry < t <= time``.
    strata : array of shape (n_samples,), optional
        Labels; samples of different labels are never in the same risk set.
    ties : {"efron", "breslow"}
        How events at the same time are counted.

    Examples
    --------
    >>> import bestset
    >>> bestset.Times([5.0, 3.0, 8.0], [1, 1, 0])
    Times(3 samples, 2 events)

    Some of the samples are taken by slices, places or a mask:

    >>> bestset.Times([5.0, 3.0, 8.0], [1, 1, 0])[:2]
    Times(2 samples, 2 events)
    """

    time: Floats
    event: NDArray[np.bool_]
    entry: Floats | None
    strata: list[int] | None
    ties: str
    labels: tuple[Any, ...]

    def __init__(self, time: Any, event: Any, entry: Any = None, strata: Any = None, ties: str = "efron") -> None:
        if ties not in TIES:
            raise ValueError(f"ties is {ties!r}; it must be one of {', '.join(TIES)}")
        times, events = _input.vector(time, "time"), _events(event)
        late = _input.optional(entry, "entry")
        known, places = (None, None) if strata is None else np.unique(np.asarray(strata), return_inverse=True)
        numbers: list[int] | None = None if places is None else places.ravel().tolist()
        for name, values in (("event", events), ("entry", late), ("strata", numbers)):
            if values is not None and len(values) != len(times):
                raise ValueError(f"{name} has length {len(values)}, but there are {len(times)} times")
        labels = () if known is None else tuple(known.tolist())
        fields = {"time": times, "event": events, "entry": late, "strata": numbers, "ties": ties, "labels": labels}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, rows: Any) -> Times:
        """Some of the samples."""
        places = np.atleast_1d(np.arange(len(self.time))[rows])
        entry = None if self.entry is None else self.entry[places]
        strata = None if self.strata is None else [self.labels[self.strata[i]] for i in places]
        return Times(self.time[places], self.event[places], entry, strata, self.ties)

    def __repr__(self) -> str:
        return f"Times({len(self.time)} samples, {int(self.event.sum())} events)"


def _events(given: Any) -> NDArray[np.bool_]:
    array = np.asarray(given)
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array)
    values = _input.vector(array, "event")
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(f"event[{at}] is {values[at]}; it must be 0 for censored or 1 for an event")
    return np.ascontiguousarray(values == 1)


def read(y: Any) -> Times:
    """Survival times, as `Times`, a structured array (event, time), or columns (time, event) or (entry, time, event)."""
    if isinstance(y, Times):
        return y
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        # As in scikit-survival: the first field is the event, the second the time.
        if len(names) != 2:
            raise ValueError(f"a structured y has the fields event and time; this one has {', '.join(names)}")
        event, time = (np.asarray(y[name]) for name in names)
        return Times(np.asarray(time, dtype=np.float64), event)
    table = np.asarray(y, dtype=np.float64)
    if table.ndim == 2 and table.shape[1] == 2:
        return Times(table[:, 0], table[:, 1])
    if table.ndim == 2 and table.shape[1] == 3:
        return Times(table[:, 1], table[:, 2], table[:, 0])
    raise ValueError(
        "y must be survival times: bestset.Times(time, event), a structured array (event, time), or two columns (time, event) "
        f"or three (entry, time, event); its shape is {table.shape}"
    )


def stratum_numbers(given: Any, known: Any) -> list[int]:
    """The places of labels among those of the fit: as they are, as texts, or as numbers where no two of the fit are the same number."""
    known = list(known)
    numbers = [_number(label) for label in known]
    ways: list[tuple[Callable[[Any], Any], list[Any]]] = [(lambda label: label, known), (str, [str(label) for label in known])]
    if None not in numbers and len(set(numbers)) == len(known):
        # Files have texts: there 1, 1.0 and "1" are one label.
        ways.append((_number, numbers))
    places = [(way, {label: place for place, label in enumerate(labels)}) for way, labels in ways]

    def place(label: Any) -> int:
        for way, found in places:
            if way(label) in found:
                return found[way(label)]
        raise ValueError(f"the stratum {label!r} was not among those of the fit: {', '.join(map(str, known))}")

    return [place(label) for label in np.asarray(given).ravel().tolist()]


def _number(given: Any) -> float | None:
    try:
        return float(given)
    except (TypeError, ValueError):
        return None


def curves(baseline: Any, u: Floats, what: str, times: Any, strata: Any = None) -> Floats:
    """Survival or cumulative hazards at times, one row for each predictor; or medians."""
    from . import _core

    if baseline is None:
        raise AttributeError("there are survival curves for survival times only: loss='cox'")
    wanted = [] if what == "median" else np.atleast_1d(_input.vector(np.atleast_1d(times), "times")).tolist()
    numbers = None if strata is None else [int(s) for s in np.asarray(strata).ravel()]
    if numbers is not None and len(numbers) != len(u):
        raise ValueError(f"strata has length {len(numbers)}, but there are {len(u)} rows")
    found = _core.curves(baseline, np.ascontiguousarray(u, dtype=np.float64), what, wanted, numbers)
    return found if what == "median" else found.reshape(len(u), len(wanted))
