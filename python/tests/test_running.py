"""Threads, signals, callbacks and memory: what happens around a solve."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from common import hard, regression
from scipy import sparse

import bestset
from bestset import _input

HERE = Path(__file__).parent


def test_callback_sees_the_trace_on_the_calling_thread_and_may_stop():
    X, y = hard()
    rows, threads = [], set()

    def note(row):
        rows.append(row)
        threads.add(threading.get_ident())
        return len(rows) >= 3

    found = bestset.solve(X, y, lambda0=2.0, lambda2=1.0, standardize=False, method="exact", callback=note)
    assert found.status == "interrupted" and found.lower_bound <= found.objective
    assert threads == {threading.get_ident()}
    assert set(rows[0]) == {"seconds", "n_iter", "objective", "relaxation", "lower_bound", "gap", "active", "support"}


def test_exceptions_of_a_callback_end_the_solve():
    X, y = hard()

    def fail(row):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        bestset.solve(X, y, lambda0=2.0, lambda2=1.0, standardize=False, method="exact", callback=fail)


# What a shell has started in the background ignores the signal, and Python leaves it so.
CHILD = """
import signal, sys
from common import hard
import bestset
signal.signal(signal.SIGINT, signal.default_int_handler)
X, y = hard()
said = []
def ready(row):
    if row["n_iter"] > 0 and not said:
        said.append(print("running", flush=True))
try:
    found = bestset.solve(X, y, lambda0=2.0, lambda2=1.0, standardize=False, method="exact", on_interrupt=sys.argv[1], callback=ready)
    print("returned", found.status, found.lower_bound <= found.objective, flush=True)
except KeyboardInterrupt:
    print("raised", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent differently on Windows")
@pytest.mark.parametrize("way, said", [("raise", "raised"), ("return", "returned interrupted True")])
def test_ctrl_c(way, said):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, way], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert out.splitlines()[-1] == said, err


def test_the_interpreter_is_free_during_a_solve():
    X, y = hard()
    turns = 0
    # The solve goes on until this thread has had its turns; the limit on nodes ends it if it never has.
    worker = threading.Thread(
        target=bestset.solve,
        args=(X, y, 2.0, 0.0, 1.0),
        kwargs={"method": "exact", "standardize": False, "max_nodes": 100_000, "callback": lambda row: turns > 1000},
    )
    worker.start()
    while worker.is_alive():
        turns += 1
    assert turns > 1000


def test_solves_at_once_and_in_forked_children():
    X, y = regression()
    expected = bestset.solve(X, y, lambda0=1.0).objective
    found = []
    many = [threading.Thread(target=lambda: found.append(bestset.solve(X, y, 1.0))) for _ in range(8)]
    for one in many:
        one.start()
    for one in many:
        one.join()
    assert [r.objective for r in found] == [expected] * 8
    if "fork" in multiprocessing.get_all_start_methods():
        # The threads of the parent are not in the child: it must start its own.
        with multiprocessing.get_context("fork").Pool(2) as pool:
            children = [pool.apply_async(bestset.solve, (X, y, 1.0)) for _ in range(4)]
            assert [c.get(timeout=120).objective for c in children] == [expected] * 4


def test_number_of_threads_does_not_change_the_answer(monkeypatch):
    X, y = hard(n=200, p=1500)
    # A proof that time ends may find better answers on more threads.
    answers = [bestset.solve(X, y, lambda0=5.0, prove=None, threads=t) for t in (1, 2, -1)]
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _input.threads(None) == 1
    answers.append(bestset.solve(X, y, lambda0=5.0, prove=None))
    for other in answers[1:]:
        np.testing.assert_array_equal(other.coef, answers[0].coef)


def test_what_is_not_copied(tmp_path):
    X, _ = regression()
    mapped = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float64, shape=X.shape, fortran_order=True)
    mapped[:] = X
    mapped.flush()
    read_only = X.copy(order="F")
    read_only.flags.writeable = False
    for one in (X, X.astype(np.float32), read_only, np.load(tmp_path / "x.npy", mmap_mode="r"), X[:, 2:9]):
        assert np.shares_memory(_input.matrix(one)[0], one)
    csc = sparse.csc_array(X)
    _, _, rows, values = _input.matrix(csc)[0]
    assert np.shares_memory(values, csc.data) and np.shares_memory(rows, csc.indices)
    assert not np.shares_memory(_input.matrix(X.copy(order="C"))[0], X)


MEMORY = """
import sys, numpy as np, bestset
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
X = np.zeros((400, 15_000), dtype=sys.argv[1], order="F")
rng = np.random.default_rng(0)
for j in range(X.shape[1]):
    X[:, j] = rng.standard_normal(400)
y = X[:, 5] + 0.1 * rng.standard_normal(400)
bestset.solve(X[:, :50], y, lambda0=5.0)
bestset.BestSubsetRegressor(lambda0=5.0).fit(X[:, :50], y)
before = peak()
if sys.argv[2] == "solve":
    bestset.solve(X, y, lambda0=5.0)
else:
    bestset.BestSubsetRegressor(lambda0=5.0).fit(X, y)
print((peak() - before) * 1024 / X.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("dtype, what", [("float64", "solve"), ("float32", "solve"), ("float64", "fit")])
@pytest.mark.long
def test_no_copy_is_made_anywhere(dtype, what):
    done = subprocess.run([sys.executable, "-c", MEMORY, dtype, what], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.5, "peak memory over that of X"


def test_the_command_of_the_interpreter(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,1\n2,1,2\n3,5,3.1\n4,3,3.9\n5,2,5\n")
    command = [sys.executable, "-m", "bestset", "fit", str(tmp_path / "t.csv"), "--target", "y"]
    assert subprocess.run([*command, "-k", "1", "--json"], capture_output=True, text=True, check=True).stdout.startswith("{")
    assert subprocess.run([*command, "-k", "many"], capture_output=True).returncode == 2
