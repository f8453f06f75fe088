"""Runs the solvers on one problem and turns their coefficients into rows of the table.

At lambda0 = 0 every solver, bestset included, is asked for the same relative duality gap, as the harness computes it
from the coefficients: its own tolerance is tightened, a decade at a time, until the gap is reached, then half a decade
is given back if it can be. These settings are then timed in turn, several rounds over all solvers, so that a change
of the machine's load meets them alike; among a peer's variants the fastest that reaches the gap counts.
At lambda0 > 0 each variant of a peer is a row of its own, with the time limit for those that need one.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import objective
import published
from problem import Problem
from solvers import Outcome, PeerProcess, solve_bestset
from table import ROUNDING, Row

#: calls of a short solve, of which the median counts, and the seconds they may take together
REPEATS = 5
BUDGET = 5.0
#: rounds over all solvers at lambda0 = 0
ROUNDS = 3
#: tightenings without a smaller gap after which a solver is taken to have reached its limit
STALLED = 4

#: one solve at a tolerance, timed as the median of so many calls
Ask = Callable[[float, int], Outcome]


@dataclass
class Entrant:
    """A solver with one of its settings, at lambda0 = 0."""

    solver: str
    variant: str
    ask: Ask
    loosest: float
    tightest: float


def one_pass(problem: Problem) -> float:
    """Median processor time of one X'alpha over the whole matrix, by the BLAS of numpy or the sparse product of scipy."""
    alpha = problem.y.copy()
    seconds = []
    for _ in range(9):
        start = time.process_time()
        problem.X.T @ alpha
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


class Measurement:
    """All rows of one problem. `directory` holds the problem as `problem.save` wrote it."""

    def __init__(
        self, problem: Problem, group: str, directory: Path, binary: Path, time_limit: float, published: bool
    ) -> None:
        self.problem, self.group, self.directory = problem, group, directory
        self.binary, self.time_limit, self.published = binary, time_limit, published
        self.pass_seconds = one_pass(problem)
        self.bestset_work: float | None = None
        self.support_size = problem.true_size or 0
        self.size_source = "of the truth"
        #: points the published algorithms start from
        self.points: dict[str, np.ndarray] = {}

    def rows(self, processes: Iterable[PeerProcess]) -> Iterator[Row]:
        """bestset's row first, then those of the peers; a peer that does not apply says why."""
        able, unable = [], []
        for process in processes:
            reason = process.peer.reason(self.problem)
            (unable if reason else able).append(process)
        if self.problem.is_convex:
            yield from self.to_the_gap(able)
        else:
            yield self.bestset_both()
            if self.published and self.points:
                yield from self.published_rows()
            for process in able:
                for variant in process.peer.variants(self.problem):
                    yield self.with_limit(process, variant)
        for process in unable:
            yield self.row(process.peer.name, note=process.peer.reason(self.problem))

    def row(self, solver: str, **fields) -> Row:
        n, p = self.problem.shape
        return Row(
            problem=self.problem.name, group=self.group, seed=self.problem.seed, n=n, p=p, loss=self.problem.loss,
            lambda0=self.problem.lambda0, lambda1=self.problem.lambda1, lambda2=self.problem.lambda2,
            solver=solver, pass_seconds=self.pass_seconds, **fields,
        )  # fmt: skip

    def evaluated(self, solver: str, setting: str, outcome: Outcome, refit: bool = False) -> Row:
        """A row whose objective, non-zeros and gap come from the coefficients, everything else from the reply.

        What the binary claims of these must agree with them.
        """
        problem, reply, beta = self.problem, outcome.reply, outcome.beta
        value = objective.primal(problem, beta)
        bound = reply.get("lower_bound")
        if problem.is_convex:
            gap = self.gap(outcome)
        else:
            gap = None if bound is None or not np.isfinite(bound) else (value - bound) / abs(value)
        row = self.row(
            solver, setting=setting, seconds=outcome.seconds, best_seconds=reply.get("best_seconds"),
            cpu_seconds=reply.get("cpu_seconds"), calls=reply.get("calls"), objective=value,
            nonzeros=int(np.count_nonzero(beta)), gap=gap, lower_bound=bound, status=str(reply.get("status", "")),
        )  # fmt: skip
        if refit:
            row.refit_objective = objective.primal(problem, objective.refit(problem, np.flatnonzero(beta)))
        if row.cpu_seconds is not None and row.seconds > 0.01:
            row.note = disturbance(row.cpu_seconds / row.seconds)
        if solver == "bestset":
            row.disagreement = self.disagreement(outcome)
            row.active = reply.get("active")
            row.stored = problem.X.size if problem.format == "dense" else int(problem.X.nnz)
            row.convex_seconds = reply.get("convex_seconds")
            row.convex_cpu_seconds = reply.get("convex_cpu_seconds")
            row.correlate_seconds = reply.get("correlate_cpu_seconds") or reply.get("correlate_seconds")
            row.peak_extra_bytes = reply.get("peak_rss_extra_bytes")
            # the unit of work is the faster of the two passes, so that a slow one flatters nobody
            self.pass_seconds = row.pass_seconds = min(row.pass_seconds, row.correlate_seconds or np.inf)
            self.bestset_work = row.work
        row.passes = row.work / row.pass_seconds
        if self.bestset_work:
            row.times_bestset = row.work / self.bestset_work
        return row

    def disagreement(self, outcome: Outcome) -> str:
        """Which claims of the binary the harness does not find again, empty if none: P, R and the bound at alpha.

        R is the least one met, which the coefficients may miss by rounding; the bound leaves room for rounding.
        """
        problem, reply = self.problem, outcome.reply
        value = objective.primal(problem, outcome.beta)
        room = ROUNDING * abs(value)
        wrong = []
        if abs(reply["objective"] - value) > room:
            wrong.append(f"P {reply['objective']!r}, found {value!r}")
        if reply["nonzeros"] != np.count_nonzero(outcome.beta):
            wrong.append(f"{reply['nonzeros']} non-zeros, found {np.count_nonzero(outcome.beta)}")
        if reply.get("phase") == "convex" and reply["relaxation"] is not None:
            relaxed = objective.relaxation(problem, outcome.beta)
            if abs(reply["relaxation"] - relaxed) > room:
                wrong.append(f"R {reply['relaxation']!r}, found {relaxed!r}")
        if reply["lower_bound"] is not None:
            convex = problem.is_convex
            bound = (objective.feasible_dual if convex else objective.dual)(problem, outcome.alpha)
            if abs(reply["lower_bound"] - bound) > room:
                wrong.append(f"D {reply['lower_bound']!r}, found {bound!r}")
        return "; ".join(wrong)

    # lambda0 = 0 ------------------------------------------------------------------------------------------------

    def gap(self, outcome: Outcome) -> float:
        return objective.relative_duality_gap(self.problem, outcome.beta, outcome.alpha)

    def entrants(self, processes: Iterable[PeerProcess]) -> Iterator[Entrant]:
        def bestset(gap: float, repeats: int) -> Outcome:
            return solve_bestset(self.binary, self.directory, gap=gap, phase="convex", repeats=repeats)

        yield Entrant("bestset", "", bestset, 1e-5, 1e-15)
        for process in processes:
            peer = process.peer
            for variant in peer.variants(self.problem):
                yield Entrant(peer.name, variant, self.asker(process, variant), peer.loosest, peer.tightest)

    def to_the_gap(self, processes: Iterable[PeerProcess]) -> Iterator[Row]:
        """Settings first, then the rounds, then one row for each solver."""
        failed: dict[str, Row] = {}
        settings: list[tuple[Entrant, float]] = []
        for entrant in self.entrants(processes):
            tolerance = self.until_gap(entrant)
            if isinstance(tolerance, str):
                failed.setdefault(entrant.solver, self.row(entrant.solver, setting=entrant.variant, note=tolerance))
            else:
                settings.append((entrant, tolerance))
        outcomes: list[list[Outcome]] = [[] for _ in settings]
        for _ in range(ROUNDS):
            for (entrant, tolerance), found in zip(settings, outcomes, strict=True):
                found.append(entrant.ask(tolerance, REPEATS))
        fastest: dict[str, tuple[Outcome, str]] = {}
        for (entrant, tolerance), found in zip(settings, outcomes, strict=True):
            if lost := self.shortcoming(found):
                failed.setdefault(entrant.solver, self.row(entrant.solver, setting=entrant.variant, note=lost))
                continue
            outcome = sorted(found, key=lambda one: one.work)[ROUNDS // 2]
            if entrant.solver not in fastest or outcome.work < fastest[entrant.solver][0].work:
                setting = ", ".join(filter(None, [entrant.variant, f"tolerance {tolerance:.0e}"]))
                fastest[entrant.solver] = (outcome, setting)
        yield from (self.evaluated(solver, setting, outcome) for solver, (outcome, setting) in fastest.items())
        yield from (row for solver, row in failed.items() if solver not in fastest)

    def shortcoming(self, outcomes: Iterable[Outcome]) -> str:
        """Why timed outcomes do not count: an error, or a gap that is not reached every time; else empty."""
        for outcome in outcomes:
            if outcome.error:
                return outcome.error
            if (gap := self.gap(outcome)) > self.problem.gap:
                return f"gap {gap:.1e} when timed, not {self.problem.gap:.0e}"
        return ""

    def until_gap(self, entrant: Entrant) -> float | str:
        """The loosest tolerance whose answer has the gap asked for, or why there is none."""
        tolerance, smallest, stalled = entrant.loosest, np.inf, 0
        while tolerance >= entrant.tightest * 0.99 and stalled < STALLED:
            outcome = entrant.ask(tolerance, 1)
            if outcome.error:
                return outcome.error
            gap = self.gap(outcome)
            if gap <= self.problem.gap:
                break
            stalled = 0 if gap < 0.5 * smallest else stalled + 1
            smallest = min(smallest, gap)
            tolerance /= 10.0
            if outcome.seconds > self.time_limit:
                return f"gap {smallest:.1e} after {outcome.seconds:.0f} s, not {self.problem.gap:.0e}"
        else:
            return f"gap {smallest:.1e} at best, not {self.problem.gap:.0e}"
        if tolerance < entrant.loosest:
            looser = tolerance * np.sqrt(10.0)
            outcome = entrant.ask(looser, 1)
            if not outcome.error and self.gap(outcome) <= self.problem.gap:
                return looser
        return tolerance

    # lambda0 > 0 ------------------------------------------------------------------------------------------------

    def bestset_both(self) -> Row:
        """Both phases, then the convex phase alone, whose gap the harness recomputes."""

        def solve(phase: str, repeats: int, warm_up: bool = True) -> Outcome:
            changes = {"gap": self.problem.gap, "phase": phase, "repeats": repeats, "warm_up": warm_up}
            return solve_bestset(self.binary, self.directory, **changes)

        # a long solve is its own warming up
        outcome = solve("both", 1, warm_up=False)
        if not outcome.error and outcome.seconds * 3 < BUDGET:
            outcome = solve("both", REPEATS)
        if outcome.error:
            return self.row("bestset", note=outcome.error)
        row = self.evaluated("bestset", f"gap {self.problem.gap:.0e}", outcome)
        self.support_size, self.size_source = row.nonzeros, "of bestset"
        relaxed = solve("convex", 1, warm_up=False)
        if relaxed.error:
            row.note = relaxed.error
            return row
        row.relaxation_gap, row.checked_bound = self.relaxation_gap(relaxed)
        row.disagreement = "; ".join(filter(None, [row.disagreement, self.disagreement(relaxed)]))
        self.points = {published.RELAXATION: relaxed.beta, published.ANSWER: outcome.beta}
        return row

    def published_rows(self) -> Iterator[Row]:
        """The published algorithms from every start, at most `published.LIMIT` seconds each."""
        found = published.solve(self.binary, self.directory, self.points, self.support_size)
        for run, outcome in found:
            solver, setting = f"published:{run.method}", f"from {run.start}"
            if outcome.error:
                yield self.row(solver, setting=setting, note=outcome.error)
                continue
            if run.is_k_sparse:
                # it bounds another problem
                outcome.reply["lower_bound"] = None
            yield self.evaluated(solver, setting, outcome)

    def relaxation_gap(self, outcome: Outcome) -> tuple[float, float]:
        """(R(beta) - D(alpha)) / |R(beta)| and D(alpha), by the harness.

        alpha = loss'(X beta), or the solver's own dual point if that gives the larger D.
        """
        problem = self.problem
        value = objective.relaxation(problem, outcome.beta)
        predictor = objective.linear_predictor(problem, outcome.beta)
        bound = objective.dual(problem, objective.loss_derivative(problem.loss, predictor, problem.y))
        if outcome.alpha is not None:
            bound = max(bound, objective.dual(problem, outcome.alpha))
        return (value - bound) / abs(value), bound

    def asker(self, process: PeerProcess, variant: str) -> Ask:
        return lambda tolerance, repeats: process.solve(
            self.directory, tolerance, variant, repeats, BUDGET, self.time_limit, self.support_size
        )

    def with_limit(self, process: PeerProcess, variant: str) -> Row:
        """One row: the peer's own stopping rule or the time limit, whichever is first."""
        peer = process.peer
        outcome = self.asker(process, variant)(peer.tolerance, REPEATS)
        if outcome.error:
            return self.row(peer.name, setting=variant, note=outcome.error)
        row = self.evaluated(peer.name, variant, outcome, refit=peer.refit)
        if peer.refit:
            row.note = "; ".join(filter(None, [f"support size {self.support_size}, {self.size_source}", row.note]))
        return row


def disturbance(cpu_share: float) -> str:
    """A remark when the processor time of a call does not fit its duration: another load, or a second thread."""
    if cpu_share > 1.15:
        return f"{cpu_share:.1f} threads"
    return f"disturbed: {cpu_share:.0%} of a core" if cpu_share < 0.85 else ""
