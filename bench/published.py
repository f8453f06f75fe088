"""The published algorithms, through the same binary: P must not be lower than bestset's wherever they start.

They run as published (step 0.0005, epsilon = zeta = 1e-6), with the patient reading of their stopping rule, which goes
on for longer than the literal one, cold, each at most `LIMIT` seconds. Only their P counts, so
as many run at a time as there are cores; their seconds are the time to their answer, not to be compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solvers import Outcome, solve_bestset

#: seconds given to one run
LIMIT = 2.0

ZERO, RELAXATION, ANSWER = "zero", "minimiser of R", "answer of bestset"


@dataclass(frozen=True)
class Run:
    """An algorithm and the point it starts from."""

    method: str
    start: str

    @property
    def is_k_sparse(self) -> bool:
        return self.method == "dual_iht"


RUNS = (
    *(Run(method, ZERO) for method in ("primal_dual", "primal_dual_plain", "dual_ascent", "dual_iht", "cdss")),
    *(Run(method, RELAXATION) for method in ("primal_dual", "primal_dual_plain", "dual_ascent", "dual_iht", "cdss")),
    # coordinate descent and swaps from the answer itself: finds a better neighbour if there is one
    Run("cdss", ANSWER),
)


def solve(binary: Path, directory: Path, points: dict[str, np.ndarray], size: int) -> Iterator[tuple[Run, Outcome]]:
    """All runs, in order. `points` holds the coefficients of the starts; `size` is the k of the k-sparse problem."""
    for name, beta in points.items():
        beta.astype("<f8").tofile(directory / start_file(name))

    def one(run: Run) -> Outcome:
        changes = {"method": run.method, "repeats": 1, "warm_up": False, "time_limit": LIMIT}
        if run.is_k_sparse:
            # the k-sparse problem has no price on the number of features
            changes |= {"k": max(size, 1), "lambda0": 0.0}
        if run.start != ZERO:
            changes["start"] = start_file(run.start)
        return solve_bestset(binary, directory, patience=10 * LIMIT + 60, **changes)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(RUNS, pool.map(one, RUNS), strict=True)


def start_file(name: str) -> str:
    return f"start-{name.replace(' ', '-')}.f64"
