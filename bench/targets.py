"""What the default solver must show, each line computed from the rows of one run."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator

from table import ROUNDING, Row

#: target, measured, met, and what `--only` takes to measure it again
Line = tuple[str, str, str, str]


def verdict(met: bool) -> str:
    return "yes" if met else "NO"


def by_problem(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.problem, []).append(row)
    return found


def finished(rows: Iterable[Row], *solvers: str) -> list[Row]:
    return [row for row in rows if row.seconds is not None and (not solvers or row.solver in solvers)]


def bounds_hold(rows: list[Row]) -> Line:
    """No lower bound, claimed or computed, above an objective found by anyone on the same problem."""
    broken, compared = [], 0
    for name, members in by_problem(finished(rows)).items():
        lowest = min(row.value for row in members)
        for row in members:
            for bound in (row.lower_bound, row.checked_bound):
                if bound is not None:
                    compared += 1
                    if bound > lowest + ROUNDING * abs(lowest):
                        broken.append(f"{row.solver} on {name}")
    measured = "; ".join(broken) if broken else f"{compared} bounds compared"
    return "no lower bound above an objective found by anyone", measured, verdict(not broken), ""


def claims_hold(ours: list[Row]) -> Line:
    """P, R, D and the non-zeros that bestset claims, against the harness's own."""
    wrong = [f"{row.problem}: {row.disagreement}" for row in ours if row.disagreement]
    title = "P, R, D and non-zeros claimed by bestset are those the harness computes"
    return title, "; ".join(wrong) or f"{len(ours)} answers checked", verdict(not wrong), ""


def lowest_objective(ours: list[Row], rows: list[Row], group: str, prefix: str = "") -> Iterator[Line]:
    """P of bestset against the lowest of the solvers whose name begins with `prefix`."""
    mine = [row for row in ours if row.group == group and row.lambda0 > 0]
    rivals = [row for row in finished(rows) if row.solver != "bestset" and row.solver.startswith(prefix)]
    others = by_problem(rivals)
    pairs = [(row, min(other.value for other in others[row.problem])) for row in mine if row.problem in others]
    if pairs:
        excess = [(row.value - other) / abs(other) for row, other in pairs]
        # a rival started from bestset's own answer is never above it
        own = by_problem(row for row in rivals if "answer of bestset" not in row.setting)
        least = {name: min(row.value for row in members) for name, members in own.items()}
        count = sum(row.value < least[row.problem] * (1 - ROUNDING) for row, _ in pairs)
        rival = "any published algorithm's from any start" if prefix == "published:" else "any other solver's"
        measured = f"worst excess {max(excess):.1e} over {len(pairs)} problems, lower on {count}"
        yield f"{group}: P never above {rival}", measured, verdict(max(excess) <= ROUNDING), group


def within(rows: list[Row], title: str, measure, limit: float, only: str, form: str = ".3g") -> Iterator[Line]:
    """The largest value of `measure` over `rows` against its limit."""
    values = [measure(row) for row in rows if measure(row) is not None]
    if values:
        several = f" at most over {len(values)}, median {statistics.median(values):{form}}" if len(values) > 1 else ""
        yield f"{title} within {limit:g}", f"{max(values):{form}}{several}", verdict(max(values) <= limit), only


def named(rows: list[Row], prefix: str) -> list[Row]:
    return [row for row in rows if row.problem.startswith(prefix)]


def convex_passes(row: Row) -> float | None:
    return None if row.convex_seconds is None else convex_work(row) / row.pass_seconds


def convex_work(row: Row) -> float | None:
    """Of one thread: what the clock shows on a machine with nothing else to do."""
    return row.convex_cpu_seconds or row.convex_seconds


def relaxation_gap(row: Row) -> float | None:
    return row.relaxation_gap


def as_fast_as(ours: list[Row], rows: list[Row], rivals: tuple[str, ...]) -> Iterator[Line]:
    """At lambda0 = 0: bestset's seconds against the fastest of the rivals that reached the same gap."""
    for row in ours:
        if row.lambda0 == 0:
            others = [other for other in finished(rows, *rivals) if other.problem == row.problem]
            if others:
                fastest = min(others, key=lambda other: other.work)
                ratio = row.work / fastest.work
                title = f"{row.problem}: not slower than {' and '.join(rivals)}"
                yield title, f"{ratio:.2f} of {fastest.solver}", verdict(ratio <= 1), row.problem


def memory(row: Row) -> Iterator[Line]:
    """Peak memory beyond X against what the active set itself takes: its columns, its inner products, vectors over p.

    The columns may sit in a buffer up to twice as long while it grows, and so may the inner products, of which there are
    three at once when exchanges are priced; two dozen numbers for each feature of X.
    """
    if row.peak_extra_bytes is None or row.active is None or row.stored is None:
        return
    columns = row.active * row.stored / row.p * (8 if row.stored == row.n * row.p else 12)
    products = 8.0 * min(row.active, 4096) ** 2
    allowed = 2 * columns + 6 * products + 24 * 8 * row.p + 4e6
    whole = row.stored * (8 if row.stored == row.n * row.p else 12)
    measured = (
        f"{row.peak_extra_bytes / 1e6:.1f} MB, {row.peak_extra_bytes / whole:.1%} of X; {row.active} of {row.p} columns "
        f"active, limit {allowed / 1e6:.1f} MB"
    )
    title = f"{row.problem}: memory beyond X within a few times the active set and a few vectors over p"
    yield title, measured, verdict(row.peak_extra_bytes <= allowed), row.problem


def memory_per_feature(rows: list[Row]) -> Iterator[Line]:
    """What a feature that is never active adds to the memory beyond X, from the same problem at two sizes."""
    rows = sorted((row for row in rows if row.peak_extra_bytes is not None), key=lambda row: row.p)
    if len(rows) == 2:
        small, large = rows
        each = (large.peak_extra_bytes - small.peak_extra_bytes) / (large.p - small.p)
        title = f"n={large.n}, p={small.p:,} to p={large.p:,}: bytes beyond X for each feature added within 200"
        measured = f"{each:.0f}; its column takes {8 * large.n:,}"
        yield title, measured, verdict(each <= 200), "wide"


def lines(rows: list[Row]) -> Iterator[Line]:
    """(target, measured, met, only) for every target the run has rows for."""
    ours = finished(rows, "bestset")
    yield bounds_hold(rows)
    yield claims_hold(ours)
    yield from lowest_objective(ours, rows, "paper", "published:")
    yield from lowest_objective(ours, rows, "paper")
    gaps = named(ours, "paper-snr")
    yield from within(gaps, "paper: relative relaxation gap", relaxation_gap, 1e-9, "paper", ".1e")
    large, pattern = named(ours, "paper-snr20-n600"), "paper-snr20-n600*"
    yield from within(large, "n=600, SNR 20: convex phase, passes", convex_passes, 15, pattern)
    yield from within(large, "n=600, SNR 20: both phases, passes", lambda row: row.passes, 100, pattern)
    huge = named(ours, "wide")
    yield from within([row for row in huge if row.p == 100_000], "n=1000, p=100,000: both phases, passes", lambda row: row.passes, 30, "wide")
    yield from as_fast_as(ours, rows, ("celer", "skglm"))
    yield from lowest_objective(ours, rows, "logistic")
    yield from within(named(ours, "logistic-l0"), "logistic, lambda0 > 0: seconds", lambda r: r.seconds, 1, "logistic-l0")
    for name, gap, limit in (("hard-scaling", 1e-8, 5), ("news20-unit", 1e-6, 10), ("news20-raw", 1e-4, 60)):
        mine = named(ours, name)
        yield from within(mine, f"{name}: relative relaxation gap", relaxation_gap, gap, name, ".1e")
        yield from within(mine, f"{name}: processor seconds of the convex phase", convex_work, limit, name)
    yield from lowest_objective(ours, rows, "hard-scaling")
    for row in ours:
        if row.problem.startswith(("wide", "news20", "hard")):
            yield from memory(row)
    yield from memory_per_feature(named(ours, "wide"))
