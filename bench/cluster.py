"""X on a cluster of worker processes on this machine: what is lost, and what it costs.

    python bench/cluster.py kills     [--times 10] [--only exact]     a worker killed at random moments of each kind of call: are the bits the same?
    python bench/cluster.py memory                     a worker that hits its limit of memory
    python bench/cluster.py trees     [--seconds 30]   nodes a second of a hard proof with 1 and 2 workers, and with workers that die
    python bench/cluster.py interrupt                  Ctrl-C in the client: the best answer, with a bound?
    python bench/cluster.py sweeps                     what a pass costs besides its arithmetic

Needs the package with Dask (`pip install 'bestset[dask]'`). Wall-clock times are those of a machine that has nothing else to do, or mean
little; what `kills` and `memory` say does not depend on it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np

import bestset
import bestset.dask as bd
from bestset.dask import _parts


def cluster(workers: int, **more: Any) -> Any:
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, processes=True, **more)


@contextlib.contextmanager
def fresh() -> Iterator[Any]:
    """A client of two workers."""
    with dask.config.set({"distributed.scheduler.allowed-failures": 30}), cluster(2) as made, distributed.Client(made) as client:
        yield client


def linear(n: int, p: int, snr: float, seed: int = 0) -> tuple[Any, Any]:
    """Unit columns, ten coefficients of one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X /= np.linalg.norm(X, axis=0)
    signal = X[:, rng.choice(p, 10, replace=False)] @ rng.choice([-1.0, 1.0], 10)
    return np.asfortranarray(X), signal + np.sqrt(signal @ signal / n / snr) * rng.standard_normal(n)


def facts(found: Any) -> list[Any]:
    """What must be the same to the last bit."""
    if hasattr(found, "coef_"):
        return [found.coef_.tolist(), found.cv_mean_.tolist()]
    if hasattr(found, "objective"):
        return [found.support.tolist(), found.values.tolist(), found.objective, found.lower_bound, found.status, found.n_iter]
    return [facts(point) for point in found]


def alive(client: Any) -> list[int]:
    """The processes of the workers that the scheduler has; one that is only about to start would not be started again."""
    known = client.cluster.scheduler.workers
    return sorted(nanny.pid for nanny in client.cluster.workers.values() if nanny.pid and nanny.worker_address in known)


class Kill:
    """Kills one of the workers, some seconds from now, if the call lasts until then; says what it was about to do."""

    def __init__(self, client: Any, seconds: float, which: int) -> None:
        self.client, self.which, self.busy = client, which, ""
        self.timer = threading.Timer(seconds, self._kill)

    def _kill(self) -> None:
        found = alive(self.client)
        if len(found) == 2:
            known = self.client.cluster.scheduler.workers
            nanny = next(nanny for nanny in self.client.cluster.workers.values() if nanny.pid == found[self.which])
            # Their names end in something random.
            tasks = sorted({str(task.key).partition("-")[0] for task in list(known[nanny.worker_address].processing)})
            os.kill(found[self.which], signal.SIGKILL)
            self.busy = "+".join(tasks) or "nothing"

    def __enter__(self) -> Kill:
        self.timer.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.timer.cancel()
        self.timer.join()


def kills(times: int, only: str) -> None:
    X, y = linear(300, 400, 3.0)
    there = da.from_array(X, chunks=(-1, 50))
    # A pass of tiny parts takes as long as the scheduler does, and these two make hundreds of them.
    narrow, small = linear(120, 100, 3.0)
    few = da.from_array(narrow, chunks=(-1, 25))
    tree, target = linear(200, 150, 5.0, seed=1)
    hard = {"lambda0": 0.02, "lambda2": 0.002, "standardize": False, "fit_intercept": False, "method": "exact", "max_nodes": 4000}
    price = {"lambda0": 0.1, "lambda2": 0.05, "standardize": False, "method": "exact"}
    calls: dict[str, tuple[int, Callable[..., Any], Callable[[], Any]]] = {
        "solve, in parts": (0, lambda c: bd.solve(there, y, max_size=6, prove=None, client=c), lambda: bestset.solve(X, y, max_size=6, prove=None)),
        "path, in parts": (0, lambda c: bd.path(there, y, max_size=6, client=c), lambda: bestset.path(X, y, max_size=6)),
        "exact, in parts": (0, lambda c: bd.solve(few, small, client=c, **price), lambda: bestset.solve(narrow, small, **price)),
        "cv, in parts": (0, lambda c: bd.cv(few, small, cv=3, max_size=4, lambda2=0.1, prove=None, client=c),
                         lambda: bestset.BestSubsetRegressorCV(cv=3, max_size=4, lambda2=0.1, prove=None).fit(narrow, small)),
        "cv, by folds": (1 << 28, lambda c: bd.cv(there, y, cv=5, max_size=6, prove=None, client=c),
                         lambda: bestset.BestSubsetRegressorCV(cv=5, max_size=6, prove=None).fit(X, y)),
        "exact, by slices": (1 << 28, lambda c: bd.solve(tree, target, client=c, **hard), lambda: None),
    }  # fmt: skip
    rng = np.random.default_rng(0)
    for name, (whole, call, alone) in calls.items():
        if only not in name:
            continue
        _parts.WHOLE = whole
        with fresh() as client:
            call(client)
            begun = time.perf_counter()
            undisturbed = facts(call(client))
            seconds, expected = time.perf_counter() - begun, alone()
        # The steps of a divided tree are its own.
        same = "one process has the same bits; " if expected is not None and facts(expected) == undisturbed else ""
        if expected is not None:
            assert same, f"{name}: one process has other bits"
        struck: list[str] = []
        for _ in range(times * 4):
            if len(struck) == times:
                break
            when = rng.uniform(0.02, 0.95)
            # A cluster of its own for each: on a busy machine a worker may take longer to come back than Dask waits for it.
            with fresh() as client, Kill(client, when * seconds, int(rng.integers(2))) as kill:
                found = facts(call(client))
            assert found == undisturbed, f"{name}: other bits after a worker was killed"
            struck += [f"{100 * when:.0f} % {kill.busy}"] if kill.busy else []
        print(f"{name}: {same}{len(struck)} kills, the same bits each time ({seconds:.1f} s undisturbed; when, and what the worker had to do: {', '.join(struck)})", flush=True)


def memory() -> None:
    n, p = 2000, 24_000
    rng = np.random.default_rng(0)
    y = rng.standard_normal(n)
    _parts.WHOLE = 0
    for width in (p // 2, p // 48):
        # A cluster of its own for each: the workers that the large parts killed are still being started again.
        with cluster(2, memory_limit="420MB") as made, distributed.Client(made) as client:
            X = da.random.default_rng(0).standard_normal((n, p), chunks=(-1, width))
            size = 8 * n * width / 1e6
            begun = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = bd.solve(X, y, lambda0=60.0, lambda2=10.0, standardize=False, fit_intercept=False, prove=None, client=client)
                said = f"{found.status}, P {found.objective:.6g}, no subset below {found.lower_bound:.6g}"
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            print(f"parts of {size:.0f} MB, workers of 420 MB: {time.perf_counter() - begun:.0f} s: {said}", flush=True)


def trees(seconds: float) -> None:
    X, y = linear(300, 300, 20.0, seed=3)
    given: dict[str, Any] = {"lambda0": 0.01, "lambda2": 0.002, "standardize": False, "fit_intercept": False, "method": "exact"}
    found = {}
    for name, workers, dies in (("1 worker", 1, False), ("2 workers", 2, False), ("2 workers that die", 2, True)):
        with dask.config.set({"distributed.scheduler.allowed-failures": 100}), cluster(workers) as made, distributed.Client(made) as client:
            killed = []
            ended = threading.Event()

            def kill(client: Any = client, killed: list[int] = killed, ended: threading.Event = ended) -> None:
                rng = np.random.default_rng(1)
                while not ended.wait(rng.uniform(0.1, 0.2) * seconds):
                    found = alive(client)
                    if len(found) == 2:
                        os.kill(found[rng.integers(2)], signal.SIGKILL)
                        killed.append(1)

            killer = threading.Thread(target=kill)
            if dies:
                killer.start()
            begun, cpu = time.perf_counter(), os.times()
            result = bd.solve(X, y, client=client, time_limit=seconds, **given)
            took = time.perf_counter() - begun
            ended.set()
            if dies:
                killer.join()
            found[name] = result
            print(
                f"{name}: {result.status}, {result.n_iter} nodes in {took:.1f} s, {result.n_iter / took:.0f} a second, P {result.objective:.8g}, "
                f"no subset below {result.lower_bound:.8g}, {len(killed)} kills, {os.times().user - cpu.user:.1f} s of the client's processor",
                flush=True,
            )
    best = min(result.objective for result in found.values())
    assert all(result.lower_bound <= best * (1 + 1e-12) for result in found.values()), "a bound is above an answer"
    print(f"no bound is above the best answer, {best:.8g}", flush=True)


def interrupt() -> None:
    X, y = linear(300, 300, 20.0, seed=3)
    given: dict[str, Any] = {"lambda0": 0.01, "lambda2": 0.002, "standardize": False, "fit_intercept": False}
    calls = {
        "exact, by slices": (1 << 28, {"method": "exact"}),
        "exact, in parts": (0, {"method": "exact"}),
    }
    with cluster(2) as made, distributed.Client(made) as client:
        there = da.from_array(X, chunks=(-1, 50)).persist()
        best = np.inf
        for name, (whole, more) in calls.items():
            _parts.WHOLE = whole
            for seconds in (1.0, 4.0):
                timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
                begun = time.perf_counter()
                timer.start()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = bd.solve(X if whole else there, y, client=client, on_interrupt="return", **given, **more)
                timer.cancel()
                best = min(best, found.objective)
                assert found.lower_bound <= best * (1 + 1e-12), f"{name}: a bound is above an answer"
                print(
                    f"{name}: Ctrl-C after {seconds:.0f} s, back after {time.perf_counter() - begun:.2f} s: {found.status}, P {found.objective:.8g}, "
                    f"no subset below {found.lower_bound:.8g}",
                    flush=True,
                )


def sweeps() -> None:
    _parts.WHOLE = 0
    with cluster(2) as made, distributed.Client(made) as client:
        for parts in (2, 8, 32, 128):
            design = bd.from_array(da.from_array(np.asfortranarray(np.random.default_rng(0).standard_normal((100, 4 * parts))), chunks=(-1, 4)).persist(), client)
            vector = np.ones((100, 1))
            took = []
            for _ in range(15):
                begun = time.perf_counter()
                design.correlate(None, vector)
                took.append(time.perf_counter() - begun)
            print(f"{parts} tiny parts: {1e3 * min(took):.0f} ms at the least, {1e3 * float(np.median(took)):.0f} in the median", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("kills", "memory", "trees", "interrupt", "sweeps"))
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--only", default="", help="of the kinds of calls those whose names have this in them")
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    calls = {"memory": memory, "trees": lambda: trees(given.seconds), "interrupt": interrupt, "sweeps": sweeps}
    calls.get(given.what, lambda: kills(given.times, given.only))()


if __name__ == "__main__":
    main()
