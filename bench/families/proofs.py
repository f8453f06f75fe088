"""Proofs of every family: n = 500, p = 1000, ten true features, at the price that EBIC chooses.

    python bench/families/proofs.py [FAMILY ...]

One thread, 60 s by the clock for the proof, on a machine that does nothing else. Rows go to proofs.csv beside this file, those of other families stay,
and PROOFS.md is made of them.
"""

from __future__ import annotations

import csv
import resource
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import bestset
import numpy as np
from cox_proof import data as cox_data
from families import LOSSES, THETA, drawn

# Seconds of the clock for a proof.
LIMIT = 60.0
CLASSES = 3
FAMILIES = ("gaussian", "binomial", "poisson", "gamma", "negbin", "cox", "multinomial")
SIZES = {"gaussian": 0.5, "binomial": 1.0, "negbin": 0.5}
HEAD = ("family", "lambda2", "lambda0", "seconds of EBIC's path", "status", "nodes", "seconds", "processor seconds", "relative gap", "gap of the path's answer", "features", "true")


def classes(n: int = 500, p: int = 1000, true: int = 10):
    """Independent columns, ten of which tell three classes apart."""
    rng = np.random.default_rng([3, n, p, true])
    X = np.asfortranarray(rng.standard_normal((n, p)))
    support = np.sort(rng.choice(p, true, replace=False))
    u = X[:, support] @ rng.standard_normal((true, CLASSES))
    return X, np.argmax(u + rng.gumbel(size=u.shape), axis=1).astype(float), support


def posed(family: str):
    """X, y, what solve needs to know of the family, and the true features."""
    if family == "cox":
        X, times, true = cox_data()
        return X, times, {"loss": "cox"}, true
    if family == "multinomial":
        X, y, true = classes()
        return X, y, {"loss": "multinomial"}, true
    X, y, _, _, true = drawn(family, 500, 1000, 10, SIZES.get(family, 0.3))
    more = {"theta": THETA} if family == "negbin" else {}
    return np.asfortranarray(X), 2 * y - 1 if family == "binomial" else y, {"loss": LOSSES[family], **more}, true


def used() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def proved(family: str) -> list:
    X, y, words, true = posed(family)
    start = time.monotonic()
    chosen = bestset.solve(X, y, prove=None, threads=1, **words)
    first, start, before = time.monotonic() - start, time.monotonic(), used()
    found = bestset.solve(X, y, lambda0=chosen.lambda0, lambda2=chosen.lambda2, method="exact", time_limit=LIMIT, threads=1, **words)
    seconds, processor = time.monotonic() - start, used() - before
    right = len(set(map(int, found.support)) & set(map(int, true)))
    return [family, f"{chosen.lambda2:.3g}", f"{chosen.lambda0:.4g}", f"{first:.1f}", found.status, found.n_iter, f"{seconds:.1f}", f"{processor:.1f}",
            f"{found.relative_gap:.1e}", f"{chosen.relative_gap:.1e}", len(found.support), right]


def written(rows: dict) -> None:
    kept = [rows[family] for family in FAMILIES if family in rows]
    with (HERE / "proofs.csv").open("w", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([HEAD, *kept])
    lines = ["| " + " | ".join(row) + " |" for row in [HEAD, ["---"] * len(HEAD), *kept]]
    about = "# Proofs of every family\n\nn = 500, p = 1000, ten true features; the price that EBIC chooses, at most 60 s by the clock, one thread, build of the tests.\nMade by `python bench/families/proofs.py`.\n\n"
    (HERE / "PROOFS.md").write_text(about + "\n".join(lines) + "\n")


def main() -> None:
    file, rows = HERE / "proofs.csv", {}
    if file.exists():
        with file.open(newline="") as opened:
            rows = {row[0]: row for row in list(csv.reader(opened))[1:]}
    for family in sys.argv[1:] or FAMILIES:
        rows[family] = [str(value) for value in proved(family)]
        print(*rows[family], sep=" | ", flush=True)
        written(rows)


if __name__ == "__main__":
    main()
