"""What is not proved says what is, and what would be."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from common import share

import bestset


def data(seed: int, n: int, p: int):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (10 ** rng.uniform(-1, 1, p) if seed % 2 else 1.0)
    y = 2 * X[:, 0] / X[:, 0].std() - X[:, 3] / X[:, 3].std() + rng.standard_normal(n)
    return X, y


def cut(X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bestset.solve(X, y, method="exact", max_nodes=1, **more)


def test_a_proof_is_made_where_it_is_said_to_be():
    ridges = bounds = 0
    for seed in range(share(6)):
        X, y = data(seed, 40, 60)
        found = cut(X, y, lambda0=4.0, lambda2=1e-4)
        if not found.provable:
            assert found.status == "optimal"
            continue
        assert any(text.startswith("Not proved as a whole: ") for text in found.remarks)
        assert "Not proved as a whole" in found.summary()
        if "lambda2" in found.provable:
            larger = bestset.solve(X, y, lambda0=4.0, lambda2=found.provable["lambda2"], method="exact", max_nodes=50)
            assert larger.status == "optimal" and larger.provable == {}
            ridges += 1
        if "bound" in found.provable:
            b = found.provable["bound"]
            bounded = bestset.solve(X, y, lambda0=4.0, lambda2=1e-4, bounds=(-b, b), method="exact", max_nodes=50)
            assert bounded.status == "optimal" and np.abs(bounded.values).max() <= b
            bounds += 1
    assert ridges >= share(2), (ridges, bounds)


def test_a_refusal_says_what_would_be_proved():
    X, y = data(7, 15, 20)
    with pytest.raises(ValueError, match="lambda2 = ") as refused:
        bestset.solve(X, y, lambda0=2.0, lambda1=0.1, lambda2=0.0, method="exact")
    said = re.search(r"with lambda2 = (\S+) a proof is soon made", str(refused.value))
    assert said is not None
    proved = bestset.solve(X, y, lambda0=2.0, lambda1=0.1, lambda2=float(said[1]), method="exact")
    assert proved.status == "optimal"


def test_columns_that_are_constant_but_for_their_last_digits_are_named_and_in_no_answer():
    rng = np.random.default_rng(3)
    step = (rng.random(40) < 0.5).astype(float)
    flat = 2.0**40 + np.spacing(2.0**40) * step
    X = np.column_stack([flat, rng.standard_normal((40, 3))])
    y = 10 * step + X[:, 1] + 0.1 * rng.standard_normal(40)
    for lambda2 in (0.0, 1e-3):
        for standardize in (True, False):
            found = bestset.solve(X, y, lambda0=0.5, lambda2=lambda2, standardize=standardize, method="exact")
            assert found.dependent == [[0]] and 0 not in found.support
            assert found.status == "optimal" and found.lower_bound <= found.objective
            assert "constant but for rounding" in found.summary()
    assert bestset.subsets(X, y, 2).dependent == [[0]]
    with pytest.raises(ValueError, match="column 0 of X is constant but for its last digits"):
        bestset.certify(X, y, [1e4, 1.0, 0.0, 0.0], lambda0=0.5)
    model = bestset.BestSubsetRegressor().fit(X, y)
    assert model.coef_[0] == 0.0 and np.isfinite(model.predict(X)).all()
