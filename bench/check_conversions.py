"""Proves, on small problems, that each peer is asked for the same P: run it after `setup.sh`.

    bench/.venv-peers/bin/python bench/check_conversions.py

- lambda0 = 0, both losses, dense and sparse, with and without ridge, y with a mean far from zero: each peer's tightest
  answer must have a relative duality gap below 1e-8. The gap is computed here, so a wrong scaling cannot pass.
- lambda0 > 0: all 2^8 supports are enumerated, P minimised on each; exact solvers must return the smallest P and a
  lower bound that is not above it.
- abess: on the support it returns, its coefficients must be stationary for P with lambda1 = 0; whether the support is
  the best of its size is reported, not required.
- plain-cd: its bound must not be above the smallest P, its P not below it.
- Every gap must refuse a wrong scaling: with lambda2 off by one part in ten it must exceed the tolerance.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import objective
from peers import PEERS
from problem import Problem, save
from solvers import Outcome, PeerProcess

GAP = 1e-8


def small(loss: str, n: int, p: int, lambdas: tuple[float, float, float], sparse: bool, seed: int = 3) -> Problem:
    """Columns of different norms, four true features, y with a mean of about one for the squared loss."""
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, p)) * rng.uniform(0.1, 0.4, p))
    u = X[:, :4] @ np.array([2.0, -2.0, 1.5, 1.0]) + 0.3 * rng.standard_normal(n)
    y = u + 1.0 if loss == "squared" else np.where(u > 0, 1.0, -1.0)
    return Problem("small", sp.csc_matrix(X) if sparse else X, y, loss, *lambdas, gap=GAP)


class Checker:
    """Asks the peers in their own processes, and counts what fails."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.solved = 0
        self.failures = 0

    def say(self, passed: bool, text: str) -> None:
        self.failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {text}", flush=True)

    def solve(self, process: PeerProcess, problem: Problem, variant: str, tolerance: float, size: int = 3) -> Outcome:
        # a worker keeps the last problem it read: each problem needs a directory of its own
        self.solved += 1
        directory = self.root / f"problem-{self.solved}"
        save(problem, directory)
        return process.solve(directory, tolerance, variant, 1, 1.0, 60.0, size)

    def convex(self, process: PeerProcess) -> None:
        peer = process.peer
        for loss, lambda2, sparse in itertools.product(("squared", "logistic"), (0.0, 0.3), (False, True)):
            problem = small(loss, 60, 25, (0.0, 0.15, lambda2), sparse)
            if peer.reason(problem):
                continue
            for variant in peer.variants(problem):
                label = f"{peer.name:<13}{variant:<7} {loss:<8} lambda2={lambda2} {problem.format:<5}"
                outcome = self.solve(process, problem, variant, peer.tightest)
                if outcome.error:
                    self.say(False, f"{label} {outcome.error}")
                    continue
                gap = objective.relative_duality_gap(problem, outcome.beta, outcome.alpha)
                wrong = replace(problem, lambda1=1.1 * problem.lambda1, lambda2=1.1 * lambda2)
                refused = objective.relative_duality_gap(wrong, outcome.beta, outcome.alpha)
                self.say(gap <= GAP < refused, f"{label} gap {gap:.1e}; ten per cent off: {refused:.1e}")

    def best_subset(self, process: PeerProcess) -> None:
        peer = process.peer
        for loss, lambda1 in itertools.product(("squared", "logistic"), (0.0, 0.15)):
            problem = small(loss, 30, 8, (0.2, lambda1, 0.3), sparse=False)
            if peer.reason(problem):
                continue
            values = enumerate_supports(problem)
            best = min(values, key=values.get)
            for variant in peer.variants(problem):
                label = f"{peer.name:<13}{variant:<7} {loss:<8} lambda1={lambda1}"
                outcome = self.solve(process, problem, variant, peer.tolerance, size=len(best))
                if outcome.error:
                    self.say(False, f"{label} {outcome.error}")
                elif peer.refit:
                    self.stationary(label, problem, outcome.beta, values)
                else:
                    self.against_enumeration(label, problem, outcome, values[best], peer.name != "plain-cd")

    def against_enumeration(self, label: str, problem: Problem, outcome: Outcome, smallest: float, exact: bool) -> None:
        value = objective.primal(problem, outcome.beta)
        excess = (value - smallest) / smallest
        bound = outcome.reply["lower_bound"]
        sound = bound is None or bound <= smallest * (1 + 1e-9)
        shown = "none" if bound is None else f"{bound:.7f}"
        self.say(
            sound and excess >= -1e-9 and (excess <= 1e-5 or not exact),
            f"{label} P {value:.7f}, enumerated {smallest:.7f}, bound {shown}",
        )

    def stationary(self, label: str, problem: Problem, beta: np.ndarray, values: dict) -> None:
        """X_S' loss'(X beta) + 2 lambda2 beta_S = 0 on the support S."""
        support = np.flatnonzero(beta)
        alpha = objective.loss_derivative(problem.loss, objective.linear_predictor(problem, beta), problem.y)
        residual = np.abs(problem.X[:, support].T @ alpha + 2.0 * problem.lambda2 * beta[support]).max()
        chosen = values[tuple(support)]
        best = min(value for key, value in values.items() if len(key) == len(support))
        self.say(
            residual < 1e-8,
            f"{label} residual {residual:.1e}; P of its support {chosen:.5f}, best of that size {best:.5f}",
        )


def enumerate_supports(problem: Problem) -> dict[tuple[int, ...], float]:
    """The smallest P on each of the 2^p supports."""
    p = problem.shape[1]
    values = {}
    for size in range(p + 1):
        for support in itertools.combinations(range(p), size):
            beta = objective.refit(problem, np.array(support, dtype=int)) if support else np.zeros(p)
            values[support] = objective.primal(problem, beta)
    return values


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        checker = Checker(Path(root))
        for name in PEERS:
            process = PeerProcess(name)
            try:
                if reason := process.start():
                    print(f"skip {name}: {reason}")
                    continue
                checker.convex(process)
                checker.best_subset(process)
            finally:
                process.close()
    print(f"{checker.failures} failures")
    sys.exit(checker.failures > 0)


if __name__ == "__main__":
    main()
