"""What is said: bounds that stay true, errors with the name, the place and what to do, and what is odd about the data."""

import dataclasses
import os
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import bestset
from bestset import BestSubsetClassifier, BestSubsetRegressor, _core
from bestset._result import least, most, percent
from common import regression


def message(call, kind=ValueError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_bounds_in_few_digits_still_are_bounds():
    rng = np.random.default_rng(3)
    numbers = rng.standard_normal(2000) * 10.0 ** rng.integers(-9, 9, 2000)
    numbers = np.r_[numbers, np.nextafter(np.round(numbers, 3), np.inf), np.nextafter(np.round(numbers, 3), -np.inf), 0.1, 0.3, 1e7]
    for x in numbers.tolist():
        assert float(least(x)) <= x <= float(most(x)), x
        assert abs(float(most(x)) - x) <= 1e-3 * abs(x) and abs(float(least(x)) - x) <= 1e-6 * abs(x), x
        # As Python writes it, where that is on the right side.
        if float(f"{x:.4g}") >= x:
            assert most(x) == f"{x:.4g}", x
    assert (most(0.79673), least(0.79673, 4), most(0.0)) == ("0.7968", "0.7967", "0")
    assert (percent(0.12341), percent(float("inf"))) == ("12.4 %", "unknown")
    assert (most(float("inf")), least(float("-inf")), least(float("nan"))) == ("inf", "-inf", "nan")


def test_the_limit_of_r2_is_rounded_up():
    X, y = regression()
    seen = 0
    for lambda0 in (0.3, 1.0, 2.0, 5.0, 9.0):
        found = bestset.solve(X, y, lambda0, lambda2=0.3, prove=None)
        shown = re.search(r"exceeds (0\.\d+)", found.standing)
        if shown:
            assert found.r2_limit <= float(shown[1]) <= found.r2_limit + 1.001e-4, found.standing
            seen += 1
        certified = bestset.certify(X, y, found.coef, found.intercept, lambda0=lambda0, lambda2=0.3, prove=None)
        rows = dict(certified._rows())
        bound = rows["lower bound"]
        assert "the objective" in bound or float(bound) <= certified.lower_bound
        assert float(rows["gap"].split()[0]) >= certified.gap
    assert seen > 1


def test_an_objective_and_its_bound_do_not_differ_where_nothing_is_between_them():
    """12.34568 and 12.34567 would be a gap of 1e-5 of an answer whose own is 1e-9."""
    X, y = regression()
    found = bestset.solve(X, y, k=2, lambda2=0.3, method="exact")
    certified = bestset.certify(X, y, found.coef, found.intercept, k=2, lambda2=0.3)
    for answer in (found, certified):
        for bound in (answer.objective, np.nextafter(answer.objective, 0), answer.objective - 1e-9, 0.9 * answer.objective):
            made = dataclasses.replace(answer, lower_bound=bound, gap=max(0.0, answer.objective - bound))
            rows = dict(made._rows())
            shown = rows["lower bound"] if "lower bound" in rows else rows["objective"].split(" at least ")[1]
            if bound < 0.95 * answer.objective:
                assert float(shown) <= bound
            elif "less" in shown:
                assert made.gap <= float(shown.split()[-1]) <= 1.01 * made.gap
            elif shown != "the objective itself":
                assert shown == f"{answer.objective:.7g}"


def test_errors_name_the_column_and_what_to_do():
    X, y = regression()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    frame.iloc[4, 2] = np.nan
    for call in (
        lambda: bestset.solve(frame, y),
        lambda: bestset.path(frame, y),
        lambda: bestset.subsets(frame, y, 2),
        lambda: bestset.certify(frame, y, np.zeros(X.shape[1]), lambda0=1.0),
        lambda: bestset.stability(frame, y),
        lambda: BestSubsetRegressor().fit(frame, y),
    ):
        said = message(call)
        assert "X[4, 2] is NaN" in said and "fill it in" in said and "column 2 is 'gene 2'" in said, said
    frame.iloc[4, 2] = 3e200
    said = message(lambda: bestset.solve(frame, y))
    assert "its largest entry is 3e200" in said and "divide it by 1e200" in said and "'gene 2'" in said
    assert "sample_weight[3] is -1; weights must be at least 0, and 0 leaves a sample out" in message(
        lambda: bestset.solve(X, y, sample_weight=np.where(np.arange(len(y)) == 3, -1.0, 1.0))
    )
    assert "k is '3'; it must be a whole number" in message(lambda: bestset.solve(X, y, k="3"))
    assert "give int('3')" in message(lambda: BestSubsetRegressor(k="3").fit(X, y))


def test_a_target_that_is_not_finite_is_said_with_its_place():
    X, y = regression()
    y = y.copy()
    y[[5, 8]] = np.nan
    for call in (
        lambda: BestSubsetRegressor().fit(X, y),
        lambda: BestSubsetRegressor().fit(pd.DataFrame(X), pd.Series(y)),
        lambda: BestSubsetClassifier().fit(X, np.where(np.isnan(y), np.nan, 1.0 * (y > 0))),
    ):
        said = message(call)
        assert "y[5] is nan, the first of 2 such entries: leave these samples out" in said, said
    assert "y[5] is NaN; every entry must be finite: correct it, or leave out its sample" in message(lambda: bestset.solve(X, y))


def test_one_sample_one_value_and_constant_columns_are_said():
    X, y = regression()
    with pytest.warns(UserWarning, match="There is one sample only"):
        bestset.solve(X[:1], y[:1])
    for call in (
        lambda same: bestset.solve(X, same),
        lambda same: bestset.path(X, same),
        lambda same: bestset.subsets(X, same, 2),
        lambda same: BestSubsetRegressor().fit(X, same),
    ):
        with pytest.warns(UserWarning, match="The target is 3 in every sample"):
            call(np.full(len(y), 3.0))
    flat = pd.DataFrame(np.c_[X[:, :4], np.ones((len(y), 10))], columns=[f"c{j}" for j in range(14)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, sizes = bestset.solve(flat, y), bestset.subsets(flat, y)
        bestset.solve(X, y)
    assert found.constant == list(range(4, 14)) == sizes.constant
    text = "c4, c5, c6, c7, c8, c9, c10, c11 and 2 more are constant"
    assert text in repr(found) and text in found.summary() and text in repr(sizes) and text in sizes._repr_html_()
    assert bestset.solve(X, y).constant == [] and "left out" not in repr(bestset.solve(X, y))
    assert bestset.solve(flat, y, fit_intercept=False).constant == []
    # Nobody asked for eight.
    assert "sizes up to 8 of 14, as without max_size" in repr(sizes)
    assert "as without max_size" not in repr(bestset.subsets(flat, y, 8))


def test_names_beside_an_array(tmp_path):
    X, y = regression()
    path = tmp_path / "x.npy"
    np.save(path, np.asfortranarray(X))
    assert bestset.open(path).names is None
    names = [f"gene {j}" for j in range(X.shape[1])]
    (tmp_path / "x.npy.names").write_text("[" + ", ".join(f'"{name}"' for name in names) + "]")
    x = bestset.open(path)
    assert x.names == names and set(bestset.solve(x, y).selected) <= set(names)
    os.utime(tmp_path / "x.npy.names", (1e9, 1e9))
    with pytest.warns(UserWarning, match=r"x.npy.names, which is older than x.npy"):
        assert bestset.open(path).names == names
    (tmp_path / "x.npy.names").write_text('["a"]')
    assert f"it has 1 names for the {X.shape[1]} columns of x.npy" in message(lambda: bestset.open(path))
    broken = X.copy()
    broken[3, 1] = np.nan
    np.save(tmp_path / "nan.npy", np.asfortranarray(broken))
    said = message(lambda: bestset.solve(bestset.open(tmp_path / "nan.npy"), y))
    assert "nan.npy: X[3, 1] is NaN" in said
    np.save(tmp_path / "half.npy", np.asfortranarray(X.astype(np.float16)))
    assert "dtype float16 (<f2); columns on disk are float64, float32 or int8" in message(lambda: bestset.open(tmp_path / "half.npy"))


def test_shown_is_the_function_of_the_engine():
    assert _core.shown(1.23456, 3, True) == "1.24" and _core.shown(1.23456, 3, False) == "1.23"
