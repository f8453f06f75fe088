"""Whether the workers of a cluster are worth waiting for, while tasks wait for them."""

from __future__ import annotations

import concurrent.futures
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any

#: Seconds without any worker that works after which those that were lost are not waited for any longer, unless the cluster starts others
#: by itself.
PATIENCE = 300.0

#: Seconds between two looks at which workers there are; each is a message to the scheduler and back.
LOOK_FOR_WORKERS = 5.0

#: Workers that may be lost while no task is done, for each of the most that there were at a time. The scheduler gives up a task that was
#: lost with four of them, and it is given to it six times: workers that are lost more often than that do not die of a task.
LOSSES = 25

#: Clients that have had a worker: where there is none now, they were lost.
_served: weakref.WeakSet[Any] = weakref.WeakSet()

#: Seconds in which workers answer that are there. One that does not, as a machine that hangs, is not waited for: the scheduler gives its
#: tasks to others once it has given it up.
ANSWER = 5.0

#: Seconds between two looks at whether the answer is still wanted.
LOOK_FOR_ANSWER = 0.1

#: Clients whose workers have said which package they have.
_asked: weakref.WeakSet[Any] = weakref.WeakSet()

#: What they say, of clients whose workers were asked.
_answers: weakref.WeakKeyDictionary[Any, concurrent.futures.Future[Any]] = weakref.WeakKeyDictionary()

#: The version that a worker has. A lambda goes to workers as what it is, anything with a name as that name, in a package that a worker may
#: not have.
VERSION = lambda: __import__("bestset").__version__  # noqa: E731


class NoWorkers(RuntimeError):
    """There are none that tasks could wait for."""


def check_package(client: Any, check: Callable[[], None] = lambda: None) -> None:
    """Asks the workers that a client begins with for their version of the package. One without it dies of the first task and says why only
    in its own log. Where one of them does not answer for some seconds, what they say is looked at before the next tasks; `check` raises
    where nobody waits any longer.

    Raises
    ------
    RuntimeError
        Where one has none, or another.
    """
    if client in _asked:
        return
    if client not in _answers:
        _answers[client] = _ask(client)
        until = time.monotonic() + ANSWER
        while not _answers[client].done() and time.monotonic() < until:
            check()
            concurrent.futures.wait([_answers[client]], timeout=LOOK_FOR_ANSWER)
    if not _answers[client].done():
        return
    own, found = VERSION(), _answers.pop(client).result()
    for worker, version in sorted(found.items()):
        if isinstance(version, ImportError):
            raise RuntimeError(f"the worker {worker} cannot import bestset ({version}): install bestset[dask] {own} on every machine of the cluster")
        # One that is lost while it is asked is no matter here.
        if isinstance(version, str) and version != own:
            raise RuntimeError(f"the worker {worker} has bestset {version}, and here it is {own}: install the same version everywhere")
    if found:
        _asked.add(client)


def _ask(client: Any) -> concurrent.futures.Future[Any]:
    """The versions of all workers, which come once the last of them has answered."""
    answer: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def ask() -> None:
        try:
            answer.set_result(client.run(VERSION, on_error="return"))
        except BaseException as error:
            answer.set_exception(error)

    # Ends with the program, whether they answer or not.
    threading.Thread(target=ask, name="bestset-versions", daemon=True).start()
    return answer


class Waiting:
    """What is known of the workers since some tasks were submitted.

    Workers that are late are waited for, as those of a queue may be for hours; a cluster that has lost all of them, whose workers are all
    paused, or whose workers die again and again before they have done anything, would be waited for for ever.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        #: Since when none works.
        self._since: float | None = None
        self._known: set[str] = set()
        self._most, self._lost, self._done = 0, 0, 0
        self._warned = False
        # Most passes end before the second look.
        self._next = time.monotonic() + (LOOK_FOR_WORKERS if self.had_workers() else 0.0)

    def check(self, done: int | None = None) -> None:
        """Looks, if it is time to; `done` as in `look`, None where it is as it was."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LOOK_FOR_WORKERS
            self.look(self.client.scheduler_info()["workers"], self._done if done is None else done, now)

    def look(self, workers: Mapping[str, Mapping[str, Any]], done: int, now: float) -> None:
        """Takes note of the workers that the scheduler has and of how many tasks are done, `now` seconds after some moment.

        Raises
        ------
        NoWorkers
            Where it is of no use to go on.
        """
        self._count(workers, done)
        if workers:
            _served.add(self.client)
        if any(_works(worker) for worker in workers.values()):
            self._since = None
            return
        if self._since is None:
            self._since = now
        if now - self._since > PATIENCE:
            self._none_works(paused=len(workers))

    def _count(self, workers: Mapping[str, Any], done: int) -> None:
        """Workers that are lost while nothing is done."""
        if done != self._done:
            self._done, self._lost = done, 0
        self._lost += len(self._known - workers.keys())
        self._known = set(workers)
        self._most = max(self._most, len(workers))
        if self._lost > LOSSES * self._most:
            raise NoWorkers(
                f"the cluster has lost {self._lost} workers, one after the other, and none of them has done anything; what do their logs "
                "say? Are their limits of memory large enough for Python and bestset?"
            )

    def had_workers(self) -> bool:
        """Whether the client had some, which are lost where there is none now; a cluster of this machine begins with all of its own."""
        from distributed import LocalCluster

        return self.client in _served or isinstance(getattr(self.client, "cluster", None), LocalCluster)

    def _none_works(self, paused: int) -> None:
        lacking = f"all {paused} workers are paused" if paused else "there was no worker"
        if paused == 0 and (_starts_others(self.client) or not self.had_workers()):
            if not self._warned:
                self._warned = True
                warnings.warn(f"{lacking} for {PATIENCE:.0f} s: still waiting for one (a limit of time, or Ctrl-C, ends this)", stacklevel=2)
            return
        if paused:
            raise NoWorkers(
                f"{lacking}, for {PATIENCE:.0f} s: their memory is nearly used up, and Dask gives them nothing to do; release what was "
                "persisted, make chunks of fewer columns, or restart them (client.restart())"
            )
        raise NoWorkers(
            f"the cluster has lost all workers, and {lacking} for {PATIENCE:.0f} s; did they hit their limits of memory? Make chunks of "
            "fewer columns, or let the cluster start others (cluster.adapt)"
        )


def _works(worker: Mapping[str, Any]) -> bool:
    """Whether it takes tasks, or is busy with one: a worker that was paused ends what it has begun."""
    return bool(worker.get("status", "running") == "running" or worker.get("metrics", {}).get("executing", 0) > 0)


def _starts_others(client: Any) -> bool:
    return getattr(getattr(client, "cluster", None), "_adaptive", None) is not None
