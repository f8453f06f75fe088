"""Branch and bound to proof: the paper's simulation, and wide problems against el0ps in the same run.

    bench/.venv-peers/bin/python bench/exact.py [--seconds 60] [--threads 2] [--snr 2,5,20] [--seeds 5] [--no-wide]

Writes exact.csv and EXACT.md beside this file; rows measured before stay unless measured again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

# One thread for each solver; and those that BLAS starts wait busily for a while after the data are drawn, in the time of what is
# measured next.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

import problem as storage
from problem import Problem
from problems import autoregressive, paper, unit_columns, with_noise

BENCH = Path(__file__).parent
BINARY = BENCH.parent / "target" / "release" / "bestset-bench"
FIELDS = ["problem", "n", "p", "seed", "solver", "threads", "gap_asked", "limit", "status", "seconds", "cpu_seconds", "nodes"]
FIELDS += ["objective", "lower_bound", "relative_gap", "nonzeros", "commit"]


def wide(p: int, rho: float, seed: int = 1) -> Problem:
    """n = 1000, ten coefficients +-1, unit columns, AR(1) rho, SNR 5; lambda0 = 0.1 lets the true subset win."""
    rng = np.random.default_rng([seed, 1000, p, round(100 * rho)])
    X = unit_columns(autoregressive(rng, 1000, p, rho))
    support = rng.choice(p, 10, replace=False)
    y = with_noise(rng, X[:, support] @ rng.choice([-1.0, 1.0], 10), 5)
    return Problem("", X, y, "squared", 0.1, 0.0, 0.05, seed=seed, true_size=10)


def bestset(problem: Problem, gap: float, threads: int, seconds: float) -> dict:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        storage.save(problem, directory)
        more = {"method": "exact", "optimality_gap": gap, "threads": threads, "time_limit": seconds}
        header = storage.read_header(directory) | more | {"repeats": 1, "warm_up": False}
        storage.write_header(directory, header)
        out = json.loads(subprocess.run([BINARY, directory], capture_output=True, text=True, check=True).stdout)
    same = ["status", "seconds", "cpu_seconds", "objective", "lower_bound", "relative_gap", "nonzeros"]
    return {k: out[k] for k in same} | {"solver": "bestset", "threads": threads, "nodes": out["iterations"]}


def el0ps(problem: Problem, gap: float, seconds: float) -> dict:
    """El0ps on the same P; warm: a small problem first, so that what it compiles is compiled."""
    from el0ps.datafit import Leastsquares
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver

    def solve(X, y, limit):
        return BnbSolver(time_limit=limit, relative_gap=gap).solve(Leastsquares(y), L2norm(problem.lambda2), X, problem.lambda0)

    solve(np.asfortranarray(problem.X[:, :50]), problem.y, 60.0)
    start, busy = time.perf_counter(), time.process_time()
    result = solve(problem.X, problem.y, seconds)
    took, cpu = time.perf_counter() - start, time.process_time() - busy
    beta = np.array(result.x)
    loss = 0.5 * np.sum((problem.y - problem.X @ beta) ** 2)
    objective = loss + problem.lambda0 * np.count_nonzero(beta) + problem.lambda2 * beta @ beta
    figures = {"status": str(result.status.value), "seconds": took, "cpu_seconds": cpu, "nodes": result.iter_count}
    return figures | {"solver": "el0ps", "threads": 1, "objective": objective, "nonzeros": int(np.count_nonzero(beta))}


def cases(arguments: argparse.Namespace):
    for snr in (int(s) for s in arguments.snr.split(",") if s):
        for n in (200, 300, 400, 500, 600):
            for seed in range(1, arguments.seeds + 1):
                yield f"snr{snr}-n{n}", seed, (lambda n=n, snr=snr, seed=seed: paper(n, snr, seed)), 1e-6, False
    if arguments.wide:
        for p in (10_000, 100_000):
            for rho in (0.1, 0.5):
                yield f"wide-p{p}-rho{rho}", 1, (lambda p=p, rho=rho: wide(p, rho)), 1e-4, True


def summary(rows: list[dict]) -> list[str]:
    """One line for each signal-to-noise ratio: how many were proved, and how far the others got."""
    lines = ["| simulation | proved | longest proof, s | largest gap left where not proved |", "| --- | --- | --- | --- |"]
    for snr in ("snr5-", "snr2-", "snr20-"):
        group = [r for r in rows if r["problem"].startswith(snr)]
        proved = [float(r["seconds"]) for r in group if r["status"] == "optimal"]
        left = [float(r["relative_gap"]) for r in group if r["status"] != "optimal"]
        cells = [snr[3:-1], f"{len(proved)} of {len(group)}", f"{max(proved, default=0):.2f}", f"{max(left):.1e}" if left else "none"]
        lines.append("| SNR " + " | ".join(cells) + " |")
    return lines


def report(rows: list[dict]) -> str:
    lines = [
        "# Branch and bound to proof",
        "",
        "Made by `bench/exact.py` (its rows: `exact.csv`; each names the commit it was measured at). `snr...`: the simulation of",
        "[docs/MATH.md](../docs/MATH.md) section 8 with its penalties, drawn by numpy, so not the data sets of `experiments/`; to a relative",
        "gap of 1e-6, at most 60 s. `wide...`: n = 1000, ten true features, lambda0 0.1, lambda2 0.05, to 1e-4, beside el0ps with its",
        "defaults, which tells no bound. Seconds are those of the clock with the threads given, CPU s those of the processor: where they",
        "differ by more than the threads the machine had other work, and a limit by the clock cut the search short. The machine has 2 cores.",
        "`gap` is (P - bound) / P when the run ended, at the proof or at the limit.",
        "",
        *summary(rows),
        "",
        "| problem | seed | solver | threads | status | seconds | CPU s | nodes | P | gap | non-zeros |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]

    def figure(row: dict, key: str, form: str) -> str:
        return format(float(row[key]), form) if row.get(key) not in (None, "") else ""

    for r in rows:
        parts = [r["problem"], r["seed"], r["solver"], r["threads"], r["status"], figure(r, "seconds", ".2f")]
        parts += [figure(r, "cpu_seconds", ".2f"), r["nodes"], figure(r, "objective", ".6f"), figure(r, "relative_gap", ".1e")]
        lines.append("| " + " | ".join(str(x) for x in [*parts, r["nonzeros"]]) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of each run (60)")
    parser.add_argument("--threads", type=int, default=2, help="threads of bestset on the simulation (2)")
    parser.add_argument("--snr", default="2,5,20", help="signal-to-noise ratios to run (2,5,20)")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of each setting (5)")
    parser.add_argument("--no-wide", dest="wide", action="store_false", help="leave the wide problems out")
    arguments = parser.parse_args()
    git = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=BENCH, check=False)
    table = BENCH / "exact.csv"
    rows = list(csv.DictReader(table.open())) if table.exists() else []
    for name, seed, make, gap, with_peer in cases(arguments):
        problem = make()
        n, p = problem.X.shape
        # Against el0ps, which has one thread, on one thread.
        found = [bestset(problem, gap, 1 if with_peer else arguments.threads, arguments.seconds)]
        if with_peer:
            found.append(el0ps(problem, gap, arguments.seconds))
        for row in found:
            row |= {"problem": name, "seed": seed, "n": n, "p": p, "gap_asked": gap, "limit": arguments.seconds}
            row["commit"] = git.stdout.strip()
            rows = [r for r in rows if (r["problem"], str(r["seed"]), r["solver"]) != (name, str(seed), row["solver"])] + [row]
            print(name, seed, row["solver"], row["status"], f"{row['seconds']:.2f} s", row["nodes"], row.get("relative_gap"), flush=True)
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(rows)
        (BENCH / "EXACT.md").write_text(report(rows))


if __name__ == "__main__":
    main()
