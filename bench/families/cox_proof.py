"""Cox: a proof at n = 500, p = 1000, and the same sizes and prices beside abess and glmnet.

    python bench/families/cox_proof.py

abess (PyPI) and R's glmnet are compared where they are. Times are processor seconds of this process, or of the child for R.
"""

from __future__ import annotations

import json
import resource
import subprocess
import tempfile
from pathlib import Path

import bestset
import numpy as np


def seconds():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def data(n=500, p=1000, true=10, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    x[:, 1:] = 0.4 * x[:, :-1] + np.sqrt(1 - 0.16) * x[:, 1:]
    beta = np.zeros(p)
    beta[np.linspace(0, p - 1, true).astype(int)] = np.where(np.arange(true) % 2, 0.7, -0.7)
    time = rng.exponential(np.exp(-x @ beta))
    censored = rng.exponential(np.quantile(time, 0.8), n)
    return np.asfortranarray(x), bestset.Times(np.minimum(time, censored), time <= censored), np.flatnonzero(beta)


def likelihood(x, times, coef):
    """The partial log-likelihood (Breslow's; there are no ties), written out."""
    u, order = x @ coef, np.argsort(times.time)
    u, event = u[order], times.event[order]
    top = u.max()
    risk = top + np.log(np.cumsum(np.exp(u - top)[::-1])[::-1])
    return float(np.sum((u - risk)[event]))


def proof(x, times, true):
    start = seconds()
    chosen = bestset.solve(x, times, loss="cox", prove=None)
    print(f"chosen by EBIC: {len(chosen.support)} features, {len(set(chosen.support) & set(true))} of {len(true)} true, "
          f"gap {chosen.relative_gap:.2e}, {seconds() - start:.1f} s")
    start = seconds()
    found = bestset.solve(x, times, loss="cox", lambda0=chosen.lambda0, lambda2=chosen.lambda2, method="exact", time_limit=60, threads=1)
    print(f"exact at its price, 60 s: {found.status}, nodes {found.n_iter}, relative gap {found.relative_gap:.2e}, {seconds() - start:.1f} s")
    return chosen


def beside_abess(x, times, k):
    try:
        from abess import CoxPHSurvivalAnalysis
    except ImportError:
        print("abess is not installed")
        return
    start = seconds()
    other = CoxPHSurvivalAnalysis(support_size=[k], ic_type="ebic", thread=1)
    other.fit(x, np.column_stack([times.time, times.event]))
    theirs, took = likelihood(x, times, other.coef_), seconds() - start
    start = seconds()
    mine = bestset.solve(x, times, loss="cox", k=k, lambda2=1e-6, prove=None, threads=1)
    print(f"size {k}: partial log-likelihood {likelihood(x, times, mine.coef):.6f} ({seconds() - start:.1f} s), "
          f"abess {theirs:.6f} ({took:.1f} s)")


def beside_glmnet(x, times, folder):
    """The elastic net at one price: P of both, with the gap of ours."""
    n = len(times)
    np.savetxt(Path(folder, "x.csv"), x, delimiter=",")
    np.savetxt(Path(folder, "y.csv"), np.column_stack([times.time, times.event]), delimiter=",")
    lam, l2 = 0.02, 0.002
    # glmnet: −(1/n) log PL·(its scaling 2/n deviance/2) + λ(α|b| + (1 − α)b²/2).
    script = (
        "suppressMessages(library(glmnet)); x <- as.matrix(read.csv('x.csv', header=FALSE)); y <- as.matrix(read.csv('y.csv', header=FALSE));"
        "colnames(y) <- c('time','status');"
        f"t <- proc.time(); f <- glmnet(x, y, family='cox', standardize=FALSE, lambda={lam + l2!r}, alpha={lam / (lam + l2)!r}, thresh=1e-14, maxit=1e7);"
        "t <- proc.time() - t; cat(jsonlite::toJSON(list(coef=as.numeric(coef(f)), seconds=sum(t[1:2])), digits=17, auto_unbox=TRUE))"
    )
    told = json.loads(subprocess.run(["Rscript", "-e", script], cwd=folder, capture_output=True, text=True, check=True).stdout)
    theirs = np.asarray(told["coef"])
    start = seconds()
    mine = bestset.solve(x, times, loss="cox", lambda0=0.0, lambda1=n * lam, lambda2=n * l2 / 2, standardize=False, gap=1e-10, prove=None, threads=1)

    def price(b):
        return -likelihood(x, times, b) + n * lam * np.abs(b).sum() + n * l2 / 2 * (b @ b)

    print(f"lambda0 = 0: P {price(mine.coef):.9f}, bound {mine.lower_bound:.9f} ({seconds() - start:.1f} s); glmnet {price(theirs):.9f} ({told['seconds']:.1f} s)")


if __name__ == "__main__":
    x, times, true = data()
    print(f"{len(times)} samples, {int(times.event.sum())} events, {x.shape[1]} features")
    proof(x, times, true)
    for size in (5, 10, 15):
        beside_abess(x, times, size)
    with tempfile.TemporaryDirectory() as folder:
        beside_glmnet(x, times, folder)
