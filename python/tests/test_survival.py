"""Survival times: what is read, what is said of bad ones, and the same model from every way in."""

from __future__ import annotations

import subprocess
import sys

import bestset
import numpy as np
import pytest
from bestset import BestSubsetSurvival, BestSubsetSurvivalCV, Times


def samples(n=150, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    time = rng.exponential(np.exp(-1.5 * X[:, 2] + X[:, 5]))
    return X, np.minimum(time, 2.0), time < 2.0


def test_all_ways_to_write_times_are_one():
    X, time, event = samples()
    structured = np.array(list(zip(event, time)), dtype=[("event", bool), ("time", float)])
    columns = np.column_stack([time, event])
    late = np.column_stack([np.full(len(time), -1.0), time, event])
    found = [BestSubsetSurvival(k=2).fit(X, y) for y in (Times(time, event), structured, columns, late)]
    assert found[0].support_.tolist() == [2, 5]
    for other in found[1:3]:
        assert np.array_equal(found[0].coef_, other.coef_)
    np.testing.assert_allclose(found[3].coef_, found[0].coef_, rtol=1e-6)
    plain = bestset.solve(X, Times(time, event), loss="cox", k=2)
    np.testing.assert_allclose(plain.coef, found[0].coef_, rtol=1e-9)
    assert plain.lower_bound <= plain.objective and plain.intercept == 0.0


def test_predictions_follow_from_the_baseline_hazard(tmp_path):
    X, time, event = samples()
    y = np.column_stack([time, event])
    model = BestSubsetSurvival(k=2).fit(X, y)
    curves = model.predict_survival_function(X[:4], return_array=True)
    hazards = model.predict_cumulative_hazard_function(X[:4], return_array=True)
    np.testing.assert_allclose(curves, np.exp(-hazards))
    assert np.all(np.diff(curves, axis=1) <= 0)
    # Breslow's sum over event times, written out.
    risk = np.exp(model.predict(X))
    steps = [1.0 / risk[time >= t].sum() for t in np.sort(time[event])]
    expected = np.cumsum(steps)[:, None] * risk[None, :4]
    np.testing.assert_allclose(hazards, expected.T, rtol=1e-9)
    function = model.predict_survival_function(X[:1])[0]
    assert function(-1.0) == 1.0 and function(model.unique_times_[3]) == curves[0, 3]
    medians = model.predict_median(X[:4])
    for row, median in zip(curves, medians):
        below = model.unique_times_[row <= 0.5]
        assert median == (below[0] if len(below) else np.inf)
    model.save(tmp_path / "cox.json")
    again = bestset.load(tmp_path / "cox.json")
    np.testing.assert_allclose(again.curves(X[:4], model.unique_times_), curves)
    np.testing.assert_allclose(again.median(X[:4]), medians)


def test_concordance_counts_pairs():
    X, time, event = samples(60, 6, 4)
    time = np.ceil(6 * time)
    model = BestSubsetSurvival(lambda0=0.0).fit(X, np.column_stack([time, event]))
    u = model.predict(X)
    right = total = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            if time[j] > time[i] or (time[j] == time[i] and not event[j]):
                total += 1
                right += (u[i] > u[j]) + 0.5 * (u[i] == u[j])
    assert model.score(X, np.column_stack([time, event])) == pytest.approx(right / total, abs=1e-12)


def test_cross_validation_and_strata():
    X, time, event = samples(160, 8, 2)
    sites = np.where(np.arange(len(time)) % 3 == 0, "north", "south")
    y = np.column_stack([time, event])
    for scoring in (None, "concordance"):
        model = BestSubsetSurvivalCV(cv=4, scoring=scoring, lambda2=0.1, max_size=4).fit(X, y, strata=sites)
        assert {2, 5} <= set(model.support_.tolist())
        assert np.all(np.isfinite(model.cv_mean_))
    curves = model.predict_survival_function(X[:2], return_array=True, strata=["north", "south"])
    assert curves.shape == (2, len(model.unique_times_))
    with pytest.raises(ValueError, match="stratum"):
        model.predict_survival_function(X[:2])
    with pytest.raises(ValueError, match="east"):
        model.predict_survival_function(X[:1], strata=["east"])


def test_strata_of_a_file_have_their_names(tmp_path):
    X, time, event = samples()
    for labels in (np.array(["north", "south", "west"])[np.arange(len(time)) % 3], np.arange(len(time)) % 3 + 4):
        model = BestSubsetSurvival(k=2).fit(X, Times(time, event), strata=labels)
        model.save(tmp_path / "model.json")
        loaded = bestset.load(tmp_path / "model.json")
        at = model.unique_times_[::7]
        expected = [f(at) for f in model.predict_survival_function(X[:9], strata=labels[:9])]
        np.testing.assert_allclose(loaded.curves(X[:9], at, strata=labels[:9]), expected, rtol=1e-12)
        np.testing.assert_allclose(loaded.median(X[:9], strata=labels[:9]), model.predict_median(X[:9], strata=labels[:9]))
        # The command line takes the same file and the same names.
        table = tmp_path / "new.csv"
        names = [f"x{j}" for j in range(X.shape[1])]
        with table.open("w") as file:
            print(*names, "centre", sep=",", file=file)
            for row, label in zip(X[:9], labels):
                print(*map(repr, row.tolist()), label, sep=",", file=file)
        line = ["predict", str(tmp_path / "model.json"), str(table), "--type", "median", "--strata", "centre"]
        medians = np.loadtxt(command(*line)[1].splitlines()[1:], ndmin=1)
        np.testing.assert_allclose(medians, loaded.median(X[:9], strata=labels[:9]), rtol=1e-12)
        with pytest.raises(ValueError, match="the stratum 'east' was not among those of the fit: "):
            loaded.median(X[:1], strata=["east"])
        with pytest.raises(Exception, match="needs the stratum of each row"):
            loaded.median(X[:1])


@pytest.mark.parametrize(
    ("time", "event", "entry", "said"),
    [
        ([1.0, 2.0, 3.0], [0, 0, 0], None, "event"),
        ([1.0, -2.0, 3.0], [1, 0, 1], None, r"time\[1\] is -2"),
        ([1.0, 2.0, 3.0], [1, 0, 1], [0.0, 2.0, 0.0], r"entry\[1\] is 2"),
        ([1.0, 2.0, 3.0], [1, 0, 2], None, r"event\[2\] is 2"),
        ([1.0, 2.0], [1, 0, 1], None, "length"),
    ],
)
def test_bad_times_are_named(time, event, entry, said):
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match=said):
        bestset.solve(X, Times(time, event, entry), loss="cox", lambda0=0.1)


def test_some_of_the_times_are_taken():
    y = Times([3.0, 1.0, 2.0, 5.0], [1, 0, 1, 1], [0.0, 0.5, 1.0, 2.0], ["b", "a", "b", "c"], "breslow")
    for rows in (slice(1, 4), [1, 2, 3], np.array([False, True, True, True])):
        some = y[rows]
        assert list(some.time) == [1.0, 2.0, 5.0] and list(some.event) == [False, True, True] and some.ties == "breslow"
        assert list(some.entry) == [0.5, 1.0, 2.0] and [some.labels[s] for s in some.strata] == ["a", "b", "c"]
    assert len(y[2]) == 1


def test_a_report_has_curves_of_groups_by_risk(tmp_path):
    X, time, event = samples(150, 6, 8)
    model = BestSubsetSurvival(lambda2=0.5).fit(X, Times(time, event))
    page = tmp_path / "page.html"
    model.report(page)
    text = page.read_text()
    assert all(word in text for word in ("Hazard ratio", "Numbers at risk", "Concordance", "high risk", "Deviance explained"))


def test_separation_is_bounded():
    # The order of the times is that of a feature: without a ridge coefficients grow without an end.
    X = np.arange(30.0).reshape(-1, 1) @ np.array([[1.0, 0.0]]) + np.array([[0.0, 1.0]])
    found = bestset.solve(X, Times(np.arange(30.0)[::-1] + 1, np.ones(30)), loss="cox", lambda0=0.5)
    assert np.all(np.isfinite(found.coef)) and found.lower_bound <= found.objective
    assert not any("infinite" in remark for remark in found.remarks)
    with pytest.warns(UserWarning, match="may be infinite"):
        found = bestset.solve(X, Times(np.arange(30.0)[::-1] + 1, np.ones(30)), loss="cox", lambda0=0.5, lambda2=0.0, prove=None)
    assert np.all(np.isfinite(found.coef)) and found.lower_bound <= found.objective
    with pytest.raises(ValueError, match="survival times"):
        bestset.solve(X, np.arange(30.0), loss="cox", lambda0=0.5)


def command(*words):
    told = [sys.executable, "-c", "import bestset._core as c, sys; sys.exit(c.command(['bestset', *sys.argv[1:]]))", *words]
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_the_command_line_fits_the_same_model(tmp_path):
    X, time, event = samples(120, 6, 3)
    names = [f"g{j}" for j in range(6)]
    ends = [[repr(t), "yes" if e else "no"] for t, e in zip(time.tolist(), event)]
    rows = [",".join([*map(repr, row.tolist()), *end]) for row, end in zip(X, ends)]
    (tmp_path / "d.csv").write_text("\n".join([",".join([*names, "days", "died"]), *rows]) + "\n")
    data, model = str(tmp_path / "d.csv"), str(tmp_path / "m.json")
    code, out, _ = command("fit", data, "--time", "days", "--event", "died", "-o", model)
    assert code == 0 and "cox partial likelihood, efron ties" in out
    mine = bestset.solve(X, Times(time, event), loss="cox")
    there = bestset.load(model)
    np.testing.assert_allclose(there.coef, mine.coef, rtol=1e-12)
    assert there.intercept == 0.0
    code, out, _ = command("predict", model, data, "--type", "survival", "--times", "0.5,1.0")
    shown = np.array([[float(x) for x in line.split(",")] for line in out.splitlines()[1:]])
    np.testing.assert_allclose(shown, there.curves(X, [0.5, 1.0]), rtol=1e-12)
    assert command("predict", model, data, "--times", "1")[0] == 2
    code, _, err = command("certify", data, "--coefficients", model, "-t", "days", "--drop", "died")
    assert code == 2 and "--time and --event" in err
