"""How long tasks wait for workers that are late, lost, paused or die again and again; clocks and workers are made up."""

import concurrent.futures
import subprocess
import sys
import threading
import warnings

import pytest

distributed = pytest.importorskip("distributed", reason="Dask's distributed scheduler is not installed")

import bestset  # noqa: E402
from bestset.dask import _cluster, _workers  # noqa: E402
from bestset.dask._workers import LOSSES, PATIENCE, VERSION, NoWorkers, Waiting, check_package  # noqa: E402


class Client:
    """A client without a cluster of its own, or with one that starts workers by itself."""

    def __init__(self, adapts=False):
        self.cluster = type("Cluster", (), {"_adaptive": object()})() if adapts else None


def workers(*names, status="running", executing=0):
    return {name: {"status": status, "metrics": {"executing": executing}} for name in names}


def test_workers_that_were_lost_are_waited_for_for_some_minutes():
    waiting = Waiting(Client())
    waiting.look(workers("a"), 0, 0.0)
    waiting.look({}, 0, 10.0)
    waiting.look({}, 0, 10.0 + PATIENCE)
    # One that comes back in time begins it anew.
    waiting.look(workers("b"), 0, 20.0 + PATIENCE)
    waiting.look({}, 0, 30.0 + PATIENCE)
    waiting.look({}, 0, 30.0 + 2 * PATIENCE)
    with pytest.raises(NoWorkers, match="lost all workers, and there was no worker for 300 s"):
        waiting.look({}, 0, 31.0 + 2 * PATIENCE)


def test_what_was_lost_before_the_tasks_were_submitted_is_known():
    client = Client()
    Waiting(client).look(workers("a"), 0, 0.0)
    # The next pass, or the next solve: it may come back, but it is not waited for for ever.
    later = Waiting(client)
    later.look({}, 0, 1e6)
    later.look({}, 0, 1e6 + PATIENCE)
    with pytest.raises(NoWorkers, match="lost all workers"):
        later.look({}, 0, 1e6 + PATIENCE + 1.0)


@pytest.mark.parametrize("served", [False, True])
def test_workers_that_are_late_or_started_by_the_cluster_are_waited_for(served):
    waiting = Waiting(Client(adapts=served))
    if served:
        waiting.look(workers("a"), 0, 0.0)
    waiting.look({}, 0, 1.0)
    with pytest.warns(UserWarning, match="no worker for 300 s: still waiting"):
        waiting.look({}, 0, 2.0 + PATIENCE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Said once.
        waiting.look({}, 0, 100 * PATIENCE)


def test_workers_that_are_paused_do_nothing():
    # Nor do those of a cluster that adapts: it has as many as it wants.
    waiting = Waiting(Client(adapts=True))
    waiting.look(workers("a", "b", status="paused"), 0, 0.0)
    # Unless one has a task in hand, which it ends.
    waiting.look(workers("a", "b", status="paused", executing=1), 0, 2 * PATIENCE)
    waiting.look(workers("a", "b", status="paused"), 0, 3 * PATIENCE)
    with pytest.raises(NoWorkers, match="all 2 workers are paused"):
        waiting.look(workers("a", "b", status="paused"), 0, 5 * PATIENCE)


@pytest.mark.parametrize("adapts", [False, True])
def test_workers_that_die_again_and_again_are_not_waited_for_for_ever(adapts):
    waiting = Waiting(Client(adapts))
    with pytest.raises(NoWorkers, match=f"lost {2 * LOSSES + 1} workers, one after the other"):
        # There is always one of them, so that it is not for want of workers.
        for turn in range(3 * LOSSES):
            waiting.look(workers(f"a{turn}", f"b{turn // 100}"), 0, 5.0 * turn)
    # Where tasks are done meanwhile they are worth it.
    waiting = Waiting(Client(adapts))
    for turn in range(10 * LOSSES):
        waiting.look(workers(f"a{turn}", f"b{turn // 100}"), turn // LOSSES, 5.0 * turn)


class Answering:
    """A client whose workers answer as they are told to."""

    def __init__(self, *answers):
        self.answers, self.calls = answers, 0

    def run(self, function, on_error):
        assert function() == bestset.__version__ and on_error == "return"
        self.calls += 1
        return {f"tcp://{k}": answer for k, answer in enumerate(self.answers)}


class Silent(Answering):
    """One whose workers answer once they are let."""

    def __init__(self, *answers):
        super().__init__(*answers)
        self.let, self.has_answered = threading.Event(), threading.Event()

    def run(self, function, on_error):
        assert self.let.wait(300)
        try:
            return super().run(function, on_error)
        finally:
            self.has_answered.set()


def test_a_worker_that_does_not_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(_workers, "ANSWER", 0.0)
    client = Silent("0.0.0")
    # Once it is late; the tasks go to those that work.
    check_package(client)
    check_package(client)
    client.let.set()
    assert client.has_answered.wait(300)
    concurrent.futures.wait([_workers._answers[client]], timeout=300)
    # What it says at last counts for the tasks that come then.
    with pytest.raises(RuntimeError, match=r"has bestset 0\.0\.0"):
        check_package(client)
    assert client.calls == 1


def test_nobody_waits_for_an_answer_after_the_end(monkeypatch):
    monkeypatch.setattr(_workers, "ANSWER", 1e9)
    client, looks = Silent(bestset.__version__), []

    def check():
        looks.append(None)
        if len(looks) == 3:
            raise _cluster.Ended("the solve has ended")

    with pytest.raises(_cluster.Ended):
        check_package(client, check)
    client.let.set()


@pytest.mark.parametrize("end", ["cancelled", "failed", "late", "done"])
def test_results_that_are_lost_on_their_way_leave_nothing(monkeypatch, end):
    monkeypatch.setattr(_cluster, "ON_THEIR_WAY", 0.05)
    coming = concurrent.futures.Future()
    if end == "cancelled":
        # As asyncio tells of a task that was cancelled.
        assert coming.cancel() and not coming.set_running_or_notify_cancel()
    elif end == "failed":
        coming.set_exception(OSError("closed"))
    elif end == "done":
        coming.set_result(["a"])
    cluster = object.__new__(_cluster.Cluster)
    cluster.client = type("Running", (), {"status": "running"})()
    monkeypatch.setattr(cluster, "_coming", lambda futures: coming, raising=False)
    future = type("Future", (), {"status": "finished"})()
    results = [None, None]
    cluster._take_ready([future], [1], results)
    assert results == ([None, "a"] if end == "done" else [None, None])


def test_workers_without_the_package_or_with_another_version_are_named():
    with pytest.raises(RuntimeError, match=r"tcp://1 cannot import bestset \(No module named 'bestset'\): install bestset\[dask\] "):
        check_package(Answering(bestset.__version__, ModuleNotFoundError("No module named 'bestset'")))
    with pytest.raises(RuntimeError, match=r"tcp://0 has bestset 0\.0\.0, and here it is "):
        check_package(Answering("0.0.0"))
    # Once for each client that has workers; one that is lost meanwhile is no matter.
    client, empty = Answering(bestset.__version__, OSError("closed")), Answering()
    for _ in range(2):
        check_package(client)
        check_package(empty)
    assert (client.calls, empty.calls) == (1, 2)


def test_the_question_needs_nothing_of_the_package():
    # As in a worker that has none.
    code = """
import pickle, sys
sys.modules["bestset"] = None
question = pickle.loads(sys.stdin.buffer.read())
try:
    question()
except ImportError:
    print("none")
"""
    asked = subprocess.run([sys.executable, "-c", code], input=distributed.protocol.pickle.dumps(VERSION), stdout=subprocess.PIPE, check=True)
    assert asked.stdout.split() == [b"none"]
