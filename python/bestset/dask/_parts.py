"""Folds and slices of a branch-and-bound tree as tasks, where X is small enough for every worker to have all of it."""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core, _problem
from ._cluster import Cluster
from ._shards import block, ready

#: Bytes of X up to which every worker is given all of it.
WHOLE = 1 << 28


def whole(*sources: Any) -> Any:
    """All of X in the memory of a worker, by columns."""
    blocks = [block(source) for source in sources]
    return blocks[0] if len(blocks) == 1 else np.asfortranarray(np.concatenate(blocks, axis=1))


class Unwanted(RuntimeError):
    """Nobody waits any longer for a part."""


def part(x: Any, packed: bytes, asked: str) -> str:
    """One part of a selection."""
    y, weights, offset, setup, choice, control = pickle.loads(packed)
    return _core.part(_problem.Data(ready(x), y, weights, offset), setup, choice, control, asked, still_wanted())


def still_wanted() -> Callable[[], None] | None:
    """What raises `Unwanted` once nobody waits for the task that this is called in: Dask tells a worker so, but does not end what has begun,
    and a slice of a tree would keep it from other work for many seconds. None outside of a worker."""
    try:
        from distributed import get_worker

        worker = get_worker()
        key = worker.get_current_task()
        tasks = worker.state.tasks
    except (ImportError, ValueError, KeyError, AttributeError):
        return None

    def check() -> None:
        task = tasks.get(key)
        # One that is wanted again, elsewhere, goes on.
        if task is None or task.state == "cancelled":
            raise Unwanted(f"nobody waits any longer for {key}")

    return check


@contextlib.contextmanager
def spread(cluster: Cluster, sources: list[Any]) -> Iterator[None]:
    """Selections that begin within it have their folds and slices done by the cluster."""

    def make(data: Any, setup: Any, choice: Any, control: Any) -> _problem.Workers:
        alone = replace(control, threads=1, checkpoint=None, trace=False, keep_answer=False)
        packed = pickle.dumps((data.y, data.sample_weight, data.offset, setup, choice, alone))
        x, rest = cluster.task(whole, *sources), cluster.shared(packed)

        def run(asked: list[str], stopped: Callable[[], bool]) -> list[str | None]:
            try:
                return cluster.run_while([cluster.task(part, x, rest, text) for text in asked], stopped)
            except Exception as error:
                if asked[0].startswith('{"fold"') and not stopped():
                    lost.append(str(error))
                raise

        return run

    lost: list[str] = []
    token = _problem.SPREAD.set(make)
    try:
        yield
    finally:
        _problem.SPREAD.reset(token)
        if lost:
            # Slices of a tree that are lost end a proof, which says so itself; folds are done by this process.
            warnings.warn(f"folds could not be done by the workers ({lost[0]}); they were done here, with the same bits", stacklevel=4)
