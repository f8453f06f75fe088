"""X on a cluster of two processes: the bits of one process, whatever is lost on the way."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from common import hard, regression
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import bestset

dask = pytest.importorskip("dask", reason="Dask is not installed: pip install 'bestset[dask]'")
distributed = pytest.importorskip("distributed", reason="Dask's distributed scheduler is not installed")
da = pytest.importorskip("dask.array")

import bestset.dask as bd  # noqa: E402
from bestset import _core, _problem  # noqa: E402
from bestset.dask import _cluster, _parts, _shards, _workers  # noqa: E402
from bestset.testing import check_design  # noqa: E402

# One cluster for all of them.
pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def client():
    with dask.config.set({"distributed.scheduler.allowed-failures": 30}):
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True)
        with cluster, distributed.Client(cluster) as client:
            yield client


@pytest.fixture
def in_parts(monkeypatch):
    """No X is small: all of them stay in their parts."""
    monkeypatch.setattr(_parts, "WHOLE", 0)


def same(one, other):
    for name in ("support", "values", "intercept", "objective", "lower_bound", "status", "n_iter"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def data(n=90, p=70, kind=np.float64):
    X, y = regression(n=n, p=p)
    return np.asfortranarray(X.astype(kind)), y


def test_sweeps_have_the_bits_of_one_process(client, in_parts):
    X, y = data(kind=np.float32)
    there = da.from_array(X, chunks=(-1, 35)).persist()
    same(bd.solve(there, y, client=client, k=2, prove=None), bestset.solve(X, y, k=2, prove=None))
    one, other = bd.subsets(there, y, 1), bestset.subsets(X, y, 1)
    assert np.array_equal(one[0].support, other[0].support) and one[0].objective == other[0].objective


@pytest.mark.long
def test_all_sweeps_have_the_bits_of_one_process(client, in_parts):
    X, y = data(kind=np.float32)
    there = da.from_array(X, chunks=(-1, 16)).persist()
    # Without proofs that the clock would end.
    for given in ({"prove": None, "max_size": 5}, {"lambda0": 0.6, "method": "exact"}, {"k": 3, "prove": None}):
        same(bd.solve(there, y, client=client, **given), bestset.solve(X, y, **given))
    for one, other in zip(bd.path(there, y, max_size=4), bestset.path(X, y, max_size=4), strict=True):
        same(one, other)
    one, other = bd.subsets(there, y, 2), bestset.subsets(X, y, 2)
    assert all(np.array_equal(a.support, b.support) and a.objective == b.objective for a, b in zip(one, other, strict=True))
    given = {"cv": 2, "max_size": 3, "lambda2": 0.1, "prove": None}
    one, other = bd.cv(there, y, **given), bestset.BestSubsetRegressorCV(**given).fit(X, y)
    assert np.array_equal(one.coef_, other.coef_) and np.array_equal(one.cv_mean_, other.cv_mean_)


def _until_unwanted(begun, ended):
    """A task that goes on until nobody waits for it."""
    begun, ended = distributed.Event(begun), distributed.Event(ended)
    check = _parts.still_wanted()
    check()
    begun.set()
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            check()
        except _parts.Unwanted:
            ended.set()
            raise
        time.sleep(0.01)


def test_a_task_knows_that_nobody_waits_for_it(client):
    assert _parts.still_wanted() is None
    begun, ended = distributed.Event("begun", client=client), distributed.Event("ended", client=client)
    future = client.submit(_until_unwanted, "begun", "ended", pure=False)
    assert begun.wait(timeout=300)
    future.release()
    assert ended.wait(timeout=300)


def test_a_slice_that_nobody_waits_for_ends():
    X, y = hard()
    asked = []

    def make(*problem):
        def run(texts, stopped):
            asked.append((problem, texts))
            raise RuntimeError("that is enough")

        return run

    token = _problem.SPREAD.set(make)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bestset.solve(X, y, lambda0=2.0, lambda2=1.0, standardize=False, method="exact")
    finally:
        _problem.SPREAD.reset(token)
    (call, texts), calls = asked[0], []

    def check():
        calls.append(None)
        if len(calls) == 2:
            raise _parts.Unwanted("nobody waits")

    with pytest.raises(_parts.Unwanted):
        _core.part(*call, texts[0], check)
    assert len(calls) == 2


def test_folds_have_the_bits_of_one_process(client):
    X, y = data()
    given = {"cv": 4, "max_size": 6, "prove": None}
    other = bestset.BestSubsetRegressorCV(**given).fit(X, y)
    for x in (X, da.from_array(X, chunks=(-1, 16))):
        one = bd.cv(x, y, client=client, **given)
        assert np.array_equal(one.coef_, other.coef_) and np.array_equal(one.cv_scores_, other.cv_scores_)
    with dask.config.set(scheduler="synchronous"):
        assert np.array_equal(bd.cv(X, y, **given).coef_, other.coef_)
    labels = bd.cv(X, y > 1, loss="logistic", client=client, **given)
    assert np.array_equal(labels.coef_, bestset.BestSubsetClassifierCV(**given).fit(X, y > 1).coef_)


def test_folds_that_the_workers_cannot_do_are_done_here_and_that_is_said(client, monkeypatch):
    X, y = data()
    given = {"cv": 3, "max_size": 4, "prove": None}

    def fails(x, packed, asked):
        raise OSError("no such disk")

    monkeypatch.setattr(_parts, "part", fails)
    with pytest.warns(UserWarning, match="folds could not be done by the workers .*no such disk.*; they were done here"):
        one = bd.cv(X, y, client=client, **given)
    assert np.array_equal(one.coef_, bestset.BestSubsetRegressorCV(**given).fit(X, y).coef_)


def test_a_tree_in_slices_proves_what_one_process_proves(client):
    X, y = hard(n=60, p=60)
    given = {"lambda0": 10.0, "lambda2": 4.0, "standardize": False, "method": "exact"}
    alone, spread = bestset.solve(X, y, **given), bd.solve(X, y, client=client, **given)
    assert alone.status == spread.status == "optimal"
    assert np.array_equal(alone.support, spread.support)
    assert spread.n_iter > 96, "it was divided"
    assert abs(alone.objective - spread.objective) <= 1e-9 * alone.objective
    assert spread.lower_bound <= alone.objective * (1 + 1e-12)
    # Dask's own schedulers do not divide it.
    with dask.config.set(scheduler="synchronous"):
        same(bd.solve(X, y, **given), alone)


@pytest.mark.long
def test_designs_of_files_and_of_blocks(client, tmp_path, in_parts):
    X, y = data(n=50, p=40)
    for kind in (np.float64, np.float32, np.int8):
        narrow = np.asfortranarray(np.rint(3 * X).astype(kind) if kind == np.int8 else X.astype(kind))
        np.save(tmp_path / "x.npy", narrow)
        opened = bd.open(tmp_path / "x.npy", columns=7)
        check_design(opened)
        same(bd.solve(opened, y, lambda0=0.5, prove=None), bestset.solve(narrow.astype(np.float64), y, lambda0=0.5, prove=None))
    blocks = [dask.delayed(np.array)(X[:, k : k + 9]) for k in range(0, 40, 9)]
    same(bd.solve(bd.from_delayed(blocks), y, lambda0=0.5, prove=None), bestset.solve(X, y, lambda0=0.5, prove=None))
    check_design(bd.from_delayed(blocks, [9, 9, 9, 9, 4], 50))
    with pytest.raises(ValueError, match="in C order"):
        np.save(tmp_path / "c.npy", np.ascontiguousarray(X))
        bd.open(tmp_path / "c.npy")


def bed(folder, people=53, variants=31, seed=0):
    """Genotypes with some that are not known, as PLINK has them."""
    rng = np.random.default_rng(seed)
    copies = rng.binomial(2, rng.uniform(0.2, 0.8, variants), (people, variants))
    unknown = rng.random(copies.shape) < 0.03
    code = np.where(unknown, 1, np.array([3, 2, 0])[copies]).astype(np.uint8).T
    code = np.pad(code, ((0, 0), (0, -people % 4)))
    packed = code[:, 0::4] | code[:, 1::4] << 2 | code[:, 2::4] << 4 | code[:, 3::4] << 6
    (folder / "g.bed").write_bytes(_shards.MAGIC + packed.astype(np.uint8).tobytes())
    (folder / "g.fam").write_text("".join(f"f {i} 0 0 0 -9\n" for i in range(people)))
    (folder / "g.bim").write_text("".join(f"1 v{j} 0 {j} A C\n" for j in range(variants)))
    known = np.where(unknown, np.nan, copies)
    return np.where(unknown, np.nanmean(known, axis=0), known)


def test_genotypes_are_read_by_the_workers(client, tmp_path):
    x = bed(tmp_path)
    y = x[:, 3] - x[:, 20] + 0.3 * np.random.default_rng(1).standard_normal(len(x))
    opened = bd.open(tmp_path / "g.bed", impute="mean", columns=8)
    assert np.array_equal(opened.columns(np.arange(31)), x)
    check_design(opened)
    found = bd.solve(opened, y, lambda0=0.5)
    assert np.array_equal(found.support, [3, 20])
    other = bestset.solve(np.asfortranarray(x), y, lambda0=0.5)
    assert abs(found.objective - other.objective) <= 1e-10 * other.objective


@pytest.mark.parametrize("classifies", [False, pytest.param(True, marks=pytest.mark.long)])
def test_estimators(client, in_parts, classifies):
    X, y = data()
    there = da.from_array(X, chunks=(-1, 20)).persist()
    kinds = (
        (bd.DaskBestSubsetRegressor, bestset.BestSubsetRegressor, y),
        (bd.DaskBestSubsetClassifier, bestset.BestSubsetClassifier, y > 1),
    )
    for kind, plain, target in kinds[classifies : classifies + 1]:
        model, local = kind(client=client, max_size=4, prove=None).fit(there, da.from_array(target)), plain(max_size=4, prove=None).fit(X, target)
        assert np.array_equal(model.coef_, local.coef_) and model.dual_gap_ == local.dual_gap_
        assert np.array_equal(model.predict(there), local.predict(X))
        alone = model.to_local()
        assert type(alone) is plain and np.array_equal(alone.predict(X), local.predict(X))
        assert alone.get_params() == local.get_params() and "Dask" not in repr(alone)
        assert clone(model).client is client and clone(model).get_params() == model.get_params()
        copied = pickle.loads(pickle.dumps(model))
        assert copied.client is None and np.array_equal(copied.predict(there), local.predict(X))
        assert copied.set_params(client=client, max_size=2).client is client and copied.max_size == 2
        weights = np.abs(y)
        assert model.score(there, da.from_array(target), da.from_array(weights)) == local.score(X, target, weights)
        if hasattr(plain, "predict_proba"):
            assert np.array_equal(model.predict_proba(there), local.predict_proba(X))


def test_predictions_for_samples_in_any_chunks(client):
    X, y = data()
    there = da.from_array(X, chunks=(40, 20))
    model = bd.DaskBestSubsetRegressor(client=client, max_size=4, prove=None)
    with pytest.raises(NotFittedError):
        model.predict(there)
    expected = model.fit(X, y).to_local().predict(X)
    assert np.array_equal(model.predict(there), expected)
    # How many samples there are is not known.
    assert np.array_equal(model.predict(there[da.from_array(y > 0)]), expected[y > 0])
    with pytest.raises(ValueError, match="two dimensions"):
        model.predict(there[0])
    with pytest.raises(ValueError, match="X has 5 features; the model was fitted to 70"):
        model.predict(there[:, :5])
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X).add_prefix("x")
    parts = frames.from_pandas(frame, npartitions=3)
    assert np.array_equal(model.predict(parts), expected)
    named = clone(model).fit(frame, y)
    assert np.array_equal(named.predict(parts), expected)
    with pytest.raises(ValueError, match="not those that the model was fitted to"):
        named.predict(parts[list(frame.columns[::-1])])


def test_a_design_that_was_made_before_the_client_uses_it(client, in_parts):
    X, y = data()
    with dask.config.set(scheduler="synchronous"):
        early = bd.from_array(da.from_array(X, chunks=(-1, 20)))
    assert early.cluster.client is None
    assert early.on().cluster.client is client and early.on(client).cluster.client is client
    before = early.cluster.sweeps
    same(bd.solve(early, y, lambda0=0.5, prove=None), bestset.solve(X, y, lambda0=0.5, prove=None))
    assert early.cluster.sweeps == before, "another one did the work"
    mine = bd.from_array(da.from_array(X, chunks=(-1, 20)), client)
    with dask.config.set(scheduler="synchronous"):
        assert mine.on() is mine


def test_large_arrays_of_this_process_are_not_sent_about(client, monkeypatch):
    X, y = data()
    sent = []
    monkeypatch.setattr(_cluster.Cluster, "shared", lambda self, values: sent.append(values))
    monkeypatch.setattr(_parts, "WHOLE", X.nbytes - 1)
    same(bd.solve(X, y, lambda0=0.5, prove=None, client=client), bestset.solve(X, y, lambda0=0.5, prove=None))
    assert not sent


def test_what_cannot_be_is_said_clearly(client, tmp_path):
    X, y = data()
    with pytest.raises(ValueError, match=r"2 chunks of rows.*rechunk\(\{0: -1, 1: 'auto'\}\)"):
        bd.solve(da.from_array(X, chunks=(45, 20)), y)
    unknown = da.from_array(X, chunks=(-1, 20))[:, da.from_array(np.arange(70) % 2 == 0)]
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        bd.solve(unknown, y)
    np.save(tmp_path / "x.npy", X)
    opened = bd.open(tmp_path / "x.npy", columns=30)
    opened.correlate(None, np.ones((90, 1)))
    np.save(tmp_path / "x.npy", np.asfortranarray(X[::-1]))
    with pytest.raises(RuntimeError, match="is not what it was when it was read before"):
        opened.correlate(None, np.ones((90, 1)))
    closed = distributed.Client(client.cluster, set_as_default=False)
    closed.close()
    with pytest.raises(RuntimeError, match="the client is closed"):
        bd.from_array(da.from_array(X, chunks=(-1, 20)), closed)
    with pytest.raises(RuntimeError, match="the client is closed"):
        bd.DaskBestSubsetRegressor(client=closed).fit(da.from_array(X, chunks=(-1, 20)), y)
    # What it kept is gone with it.
    model = bd.DaskBestSubsetRegressor(client=client).fit(da.from_array(X, chunks=(-1, 20)), y)
    keeping = distributed.Client(client.cluster, set_as_default=False)
    kept = keeping.persist(da.from_array(X, chunks=(-1, 20)))
    distributed.wait(kept)
    keeping.close()
    with dask.config.set(scheduler="threads"), pytest.raises(RuntimeError, match="whose client is closed, and is no longer there: make X anew"):
        model.predict(kept)
    assert model.predict(X).shape == y.shape
    with pytest.raises(TypeError, match="must be a distributed.Client"):
        bd.solve(da.from_array(X, chunks=(-1, 20)), y, client="tcp://127.0.0.1:8786")
    with pytest.raises(TypeError, match="not a dask array"):
        bd.from_array(X)
    np.savez(tmp_path / "x.npz", X)
    with pytest.raises(ValueError, match="neither an array of NumPy's"):
        bd.open(tmp_path / "x.npz")
    with pytest.raises(ValueError, match="is an address"):
        bd.open("s3://folder/x.npy")
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="sparse matrix .*toarray"):
        bd.solve(da.from_array(X, chunks=(-1, 20)).map_blocks(sparse.csc_matrix), y)
    for kind in (complex, object, str):
        with pytest.raises(ValueError, match="must be real numbers"):
            bd.solve(da.from_array(X.astype(kind), chunks=(-1, 20)), y)
    with pytest.raises(ValueError, match=r"y\[4\] is NaN"):
        bd.solve(da.from_array(X, chunks=(-1, 20)), da.where(np.arange(90) == 4, np.nan, y))
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"data frame, in parts of rows.*to_dask_array\(lengths=True\)"):
        bd.solve(frames.from_pandas(pandas.DataFrame(X), npartitions=2), y)


def test_a_client_that_is_gone_ends_a_solve_with_what_it_has(client, in_parts):
    X, y = data()
    other = distributed.Client(client.cluster, set_as_default=False)
    there = bd.from_array(da.from_array(X, chunks=(-1, 20)), other)
    sweeps = []
    sweep = there.correlate

    def counted(features, vectors):
        sweeps.append(1)
        if len(sweeps) == 4:
            other.close()
        return sweep(features, vectors)

    there.correlate = counted
    with pytest.warns(match="the client is closed"):
        found = bestset.solve(there, y, lambda0=0.05, method="exact")
    assert found.status == "read_failed" and found.lower_bound <= bestset.solve(X, y, lambda0=0.05, prove=None).objective


def test_a_cluster_without_workers_is_not_waited_for_for_ever(in_parts, monkeypatch):
    monkeypatch.setattr(_workers, "PATIENCE", 1.0)
    monkeypatch.setattr(_workers, "LOOK_FOR_WORKERS", 0.1)
    X, y = data()
    # Its worker in this process: to start another would take longer than the test.
    one = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False)
    with one as cluster, distributed.Client(cluster) as client:
        there = bd.from_array(da.from_array(X, chunks=(-1, 20)), client)
        sweeps, sweep = [], there.correlate

        def counted(features, vectors):
            sweeps.append(1)
            if len(sweeps) == 4:
                cluster.scale(0)
            return sweep(features, vectors)

        there.correlate = counted
        with pytest.warns(match="the cluster has lost all workers"):
            found = bestset.solve(there, y, lambda0=0.05, method="exact")
        assert found.status == "read_failed" and found.lower_bound <= bestset.solve(X, y, lambda0=0.05, prove=None).objective
        # Nor by the next solve, which never saw one; without an answer it is an error.
        with pytest.raises(ValueError, match="the cluster has lost all workers"):
            bd.solve(da.from_array(X, chunks=(-1, 20)), y, lambda0=0.05, client=client)


def test_results_that_are_lost_with_the_last_worker_are_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(_workers, "PATIENCE", 1.0)
    monkeypatch.setattr(_workers, "LOOK_FOR_WORKERS", 0.1)
    one = distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False)
    with one as cluster, distributed.Client(cluster) as client:
        there = _cluster.Cluster(client)
        gather = there._gather

        def lost(futures, waiting):
            assert [future.status for future in futures] == ["finished"]
            cluster.scale(0)
            while client.scheduler_info()["workers"]:
                pass
            return gather(futures, waiting)

        there._gather = lost
        with pytest.raises(_workers.NoWorkers, match="the cluster has lost all workers"):
            there.run([there.task(_shards.as_it_is, 1)])


#: What tasks of a worker in this process wait for, the parts of selections that have begun there, and how many of these may answer.
RELEASED, BEGUN, ANSWERING = threading.Event(), [], []
PART = _parts.part


def answers_late(value):
    """The number, at once if it is even."""
    if value % 2:
        RELEASED.wait()
    return value


def part_that_may_be_late(x, packed, asked):
    """As `bestset.dask._parts.part`; tasks go to their workers by name."""
    BEGUN.append(asked)
    if len(BEGUN) > ANSWERING[0]:
        RELEASED.wait()
    return PART(x, packed, asked)


@pytest.fixture
def near():
    """A client whose workers are threads of this process."""
    RELEASED.clear()
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None, processes=False) as made, distributed.Client(made) as client:
        yield client
        RELEASED.set()


def test_what_nobody_waits_for_is_left_out(near):
    there, seen = _cluster.Cluster(near), []

    def stopped():
        # Once the two that answer have had all the time that they need.
        seen.append(sum(task.state == "memory" for task in near.cluster.scheduler.tasks.values()))
        return seen[-1] >= 2

    assert there.run_while([there.task(answers_late, k) for k in range(4)], stopped) == [0, None, 2, None]
    assert len(seen) > 1 and not there.stopped()
    assert there.run_while([there.task(answers_late, k) for k in range(4)], lambda: True) == [None] * 4
    # The next call is another.
    assert there.run([there.task(answers_late, 6)]) == [6]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("answering", [0, 2])
@pytest.mark.parametrize("what", ["slices", "folds"])
@pytest.mark.long
def test_a_time_limit_does_not_wait_for_workers_that_never_answer(near, monkeypatch, what, answering):
    monkeypatch.setattr(_parts, "part", part_that_may_be_late)
    BEGUN.clear()
    ANSWERING[:] = [answering]
    if what == "folds":
        # Those that are done choose, or, where there is none, a criterion.
        X, y = data()
        model = bd.cv(X, y, client=near, cv=3, max_size=4, prove=None, time_limit=3.0)
        assert model.status_ == "time_limit"
        return
    X, y = hard(n=60, p=60)
    given = {"lambda0": 10.0, "lambda2": 4.0, "standardize": False, "method": "exact"}
    found, whole = bd.solve(X, y, client=near, time_limit=3.0, **given), bestset.solve(X, y, **given)
    assert found.status == "time_limit" and found.lower_bound <= whole.objective * (1 + 1e-12)


class Killer:
    """Kills a worker of the cluster by SIGKILL at random moments, one after the other, `most` of them: each when the last one is back."""

    def __init__(self, client, seed, longest=0.5, most=3):
        self.client, self.rng, self.longest, self.most = client, np.random.default_rng(seed), longest, most
        self.kills, self.killed, self.done = 0, None, threading.Event()
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while self.kills < self.most and not self.done.wait(self.rng.uniform(0.0, self.longest)):
            known = self.client.cluster.scheduler.workers
            alive = {n.worker_address: n.pid for n in self.client.cluster.workers.values() if n.worker_address in known}
            if len(alive) == 2 and self.killed not in alive:
                self.killed = sorted(alive)[self.rng.integers(2)]
                os.kill(alive[self.killed], signal.SIGKILL)
                self.kills += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_killed_workers_change_no_bit(client, in_parts):
    X, y = data()
    there = da.from_array(X, chunks=(-1, 8))
    whole = {"solve": bestset.solve(X, y, max_size=4, prove=None), "exact": bestset.solve(X, y, lambda0=0.05, method="exact")}
    with Killer(client, 1) as killer:
        same(bd.solve(there, y, max_size=4, prove=None, client=client), whole["solve"])
        same(bd.solve(there, y, lambda0=0.05, method="exact", client=client), whole["exact"])
    assert killer.kills > 0


@pytest.mark.filterwarnings("ignore")
def test_a_design_serves_the_next_call_whatever_became_of_the_last(client, in_parts):
    X, y = data()
    there = bd.from_array(da.from_array(X, chunks=(-1, 20)), client)
    assert bd.solve(there, y, lambda0=0.05, method="exact", time_limit=0.0).status == "time_limit"
    assert np.array_equal(there.columns(np.array([3, 60])), X[:, [3, 60]])
    same(bd.solve(there, y, lambda0=0.05), bestset.solve(X, y, lambda0=0.05))


def test_folds_have_the_delta_of_the_client(client):
    X, y = data()
    y[:5] += 20.0
    given = {"loss": "huber", "cv": 3, "max_size": 4, "prove": None}
    one, whole = bd.cv(X, y, client=client, **given), bestset.BestSubsetRegressorCV(**given).fit(X, y)
    assert np.array_equal(one.coef_, whole.coef_) and np.array_equal(one.cv_mean_, whole.cv_mean_)


CHILD = """
import os, signal, sys, threading, time
import numpy as np
from common import hard

def main():
    # What a shell starts in the background ignores the signal, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import dask.array as da, distributed
    import bestset.dask as bd
    from bestset.dask import _parts
    _parts.WHOLE = 0
    X, y = hard()
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            there = bd.from_array(da.from_array(X, chunks=(-1, 100)).persist(), client)
            sweep, count = there.correlate, []
            def slow(features, vectors):
                count.append(1)
                if len(count) == 6:
                    os.kill(os.getpid(), signal.SIGINT)
                return sweep(features, vectors)
            there.correlate = slow
            found = bd.solve(there, y, lambda0=2.0, lambda2=1.0, standardize=False, method="exact", on_interrupt="return", max_nodes=400)
            print("returned", found.status, found.lower_bound <= found.objective, len(found.support) > 0, flush=True)

if __name__ == "__main__":
    main()
"""


@pytest.mark.long
def test_ctrl_c_returns_the_best_answer_with_a_bound(tmp_path):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert "returned interrupted True True" in run.stdout, run.stdout + run.stderr


def test_nothing_of_dask_is_imported_by_the_package():
    code = "import sys, bestset; bestset.BestSubsetRegressor; sys.exit(any(m == 'dask' or m.startswith('torch') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
