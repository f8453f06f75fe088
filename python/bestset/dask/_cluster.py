"""Where tasks run: on the workers of a client by futures, or by one of Dask's own schedulers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
from dask.base import compute
from dask.delayed import delayed

from ._workers import NoWorkers, Waiting, check_package

#: How often a task is done again by the scheduler, and by us where its worker was lost too often.
RETRIES = 5

#: Seconds between two looks at whether the work is still wanted.
LOOK = 0.1

#: Seconds that results which are ready have to come here when the work is no longer wanted: their workers may be lost.
ON_THEIR_WAY = 1.0


class Ended(RuntimeError):
    """Nobody waits for results any longer."""


class Cluster:
    """Runs tasks and gives their results in order.

    No sockets, no pinning, no actors and no scattered X: a task that was lost with its worker is done again by the scheduler, with the
    same bits.
    """

    def __init__(self, client: Any = None, retries: int = RETRIES) -> None:
        self.client = _client(client)
        self.retries = retries
        self.stopped: Callable[[], bool] = lambda: False
        #: Seconds that sweeps took, and how many there were.
        self.seconds = 0.0
        self.sweeps = 0

    def shared(self, values: Any) -> Any:
        """One argument of many tasks, sent once."""
        from . import _shards

        return delayed(_shards.as_it_is, pure=False)(values)

    def task(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return delayed(function, pure=False)(*arguments)

    def run(self, tasks: Sequence[Any]) -> list[Any]:
        """The results of tasks that do not depend on each other."""
        begun = time.perf_counter()
        try:
            if self.client is None:
                return list(compute(*tasks))
            results: list[Any] = [None] * len(tasks)
            self._futures(list(tasks), results, takes_ready=False)
            return results
        finally:
            self.seconds += time.perf_counter() - begun
            self.sweeps += 1

    def run_while(self, tasks: Sequence[Any], stopped: Callable[[], bool]) -> list[Any]:
        """As `run`, by the workers of a client; once `stopped` says so those that are there, and None in the place of the others."""
        results: list[Any] = [None] * len(tasks)
        before, self.stopped = self.stopped, stopped
        try:
            self._futures(list(tasks), results, takes_ready=True)
        except Ended:
            pass
        finally:
            # It says so for this call alone.
            self.stopped = before
        return results

    def _futures(self, tasks: list[Any], results: list[Any], takes_ready: bool) -> None:
        """The results into their places; where nobody waits any longer, those that are ready if asked for."""
        self._check()
        check_package(self.client, self._check)
        waiting = Waiting(self.client)
        left, lost = list(range(len(tasks))), 0
        while left:
            futures = self.client.compute([tasks[k] for k in left], retries=self.retries)
            try:
                self._wait(futures, waiting, len(tasks) - len(left))
                left, lost = self._collect(futures, left, results, lost, waiting)
            except Ended:
                if takes_ready:
                    self._take_ready(futures, left, results)
                raise
            finally:
                # Nobody waits for what is not done by now.
                for future in futures:
                    future.release()

    def _wait(self, futures: list[Any], waiting: Waiting, done: int) -> None:
        """Until all have ended, or one has failed by itself."""
        from distributed import CancelledError, KilledWorker, TimeoutError, wait

        pending, checked = futures, 0
        while pending:
            self._check()
            waiting.check(done + checked)
            try:
                pending = list(wait(pending, timeout=LOOK).not_done)
            except (TimeoutError, CancelledError):
                pending = [future for future in pending if not future.done()]
            if any(future.status == "error" and not isinstance(future.exception(), KilledWorker) for future in futures):
                return
            checked = sum(future.status == "finished" for future in futures)

    def _coming(self, futures: list[Any]) -> concurrent.futures.Future[Any]:
        """The results of futures that are done, on their way here."""
        return asyncio.run_coroutine_threadsafe(self.client.gather(futures, asynchronous=True), self.client.loop.asyncio_loop)

    def _take_ready(self, futures: list[Any], places: list[int], results: list[Any]) -> None:
        """Takes what is done, if it comes soon."""
        if self.client.status != "running":
            return
        ready = [(k, future) for k, future in zip(places, futures) if future.status == "finished"]
        values = self._coming([future for _, future in ready])
        is_done = bool(concurrent.futures.wait([values], timeout=ON_THEIR_WAY).done)
        # Dask cancels what was lost on its way.
        if is_done and not values.cancelled() and values.exception() is None:
            for (k, _), value in zip(ready, values.result()):
                results[k] = value
        else:
            values.cancel()

    def _gather(self, futures: list[Any], waiting: Waiting) -> list[Any]:
        """The results of futures that are done. Those that are lost with their workers meanwhile are computed again, for which
        Dask's `gather` would wait for ever."""
        values = self._coming(futures)
        try:
            while not concurrent.futures.wait([values], timeout=LOOK).done:
                self._check()
                waiting.check()
            return list(values.result())
        finally:
            values.cancel()

    def _collect(
        self, futures: list[Any], places: list[int], results: list[Any], lost: int, waiting: Waiting
    ) -> tuple[list[int], int]:
        """Takes what is done; the places of tasks that were lost with their workers, and how often that was so."""
        from distributed import KilledWorker

        done = [(k, future) for k, future in zip(places, futures) if future.status == "finished"]
        cause: Exception | None = None
        try:
            values = self._gather([future for _, future in done], waiting)
        except (Ended, NoWorkers):
            raise
        except Exception as lost_on_its_way:
            # Or the client is gone.
            self._check()
            values, done, cause = [], [], lost_on_its_way
        for (k, _), value in zip(done, values):
            results[k] = value
        taken = {k for k, _ in done}
        again = []
        for k, future in zip(places, futures):
            if k in taken:
                continue
            if future.status == "error":
                error = future.exception()
                if not isinstance(error, KilledWorker):
                    raise error
                if lost >= self.retries:
                    raise RuntimeError(
                        f"the workers that had a part of X were lost {lost + 1} times ({error}); is there memory for a part of X "
                        "and what it is multiplied with? Make chunks of fewer columns"
                    ) from error
            again.append(k)
        if again and lost >= 2 * self.retries:
            states = sorted({future.status for future in futures})
            raise RuntimeError(
                f"{len(again)} results were lost {lost + 1} times (tasks are {', '.join(states)}); are the workers of the cluster still there?"
            ) from cause
        return again, lost + bool(again)

    def _check(self) -> None:
        if self.stopped():
            raise Ended("the solve has ended")
        if self.client is not None and self.client.status not in ("running", "connecting"):
            raise RuntimeError(
                f"the client is {self.client.status}: keep it open until the fit has ended "
                "(with Client(...) as client: model.fit(X, y))"
            )


def _client(given: Any) -> Any:
    """The client given, or the one that is open; none where there is none and Dask's own scheduler does the work."""
    if given is not None:
        if not hasattr(given, "status") or not hasattr(given, "scheduler_info"):
            raise TypeError(f"client is {given!r}; it must be a distributed.Client: Client({given!r})")
        if getattr(given, "asynchronous", False):
            raise ValueError("the client is asynchronous; open one with Client(..., asynchronous=False)")
        if given.status not in ("running", "connecting"):
            raise RuntimeError(
                f"the client is {given.status}: open another one and give it by client=, of a model by set_params(client=Client(...)); "
                "client=None takes the one that is open, or this process where there is none"
            )
        return given
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        # `with dask.config.set(scheduler="threads")` counts more than a client that is open.
        return None
    try:
        from distributed import default_client
    except ImportError:
        return None
    try:
        return default_client()
    except ValueError:
        return None
