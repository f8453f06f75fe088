"""What the default solver must show, each line computed from the rows of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from table import ROUNDING, Row

Line = tuple[str, str, str]


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
    return "no lower bound above an objective found by anyone", measured, verdict(not broken)


def lowest_objective(ours: list[Row], rows: list[Row], group: str) -> Iterator[Line]:
    mine = [row for row in ours if row.group == group]
    others = by_problem(row for row in finished(rows) if row.solver != "bestset")
    pairs = [(row, min(other.value for other in others[row.problem])) for row in mine if row.problem in others]
    if pairs:
        worst = max((row.value - other) / abs(other) for row, other in pairs)
        title = f"{group}: P never above any other solver's"
        yield title, f"worst excess {worst:.1e} over {len(pairs)}", verdict(worst <= ROUNDING)


def within(rows: list[Row], title: str, measure, limit: float, form: str = ".3g") -> Iterator[Line]:
    """The largest value of `measure` over `rows` against its limit."""
    values = [measure(row) for row in rows if measure(row) is not None]
    if values:
        measured = f"{max(values):{form}} at most over {len(values)}"
        yield f"{title} within {limit:g}", measured, verdict(max(values) <= limit)


def named(rows: list[Row], prefix: str) -> list[Row]:
    return [row for row in rows if row.problem.startswith(prefix)]


def convex_passes(row: Row) -> float | None:
    return None if row.convex_seconds is None else row.convex_seconds / row.pass_seconds


def relaxation_gap(row: Row) -> float | None:
    return row.relaxation_gap


def as_fast_as(ours: list[Row], rows: list[Row], rivals: tuple[str, ...]) -> Iterator[Line]:
    """At lambda0 = 0: bestset's seconds against the fastest of the rivals that reached the same gap."""
    for row in ours:
        if row.lambda0 == 0:
            others = [other for other in finished(rows, *rivals) if other.problem == row.problem]
            if others:
                fastest = min(others, key=lambda other: other.seconds)
                ratio = row.seconds / fastest.seconds
                title = f"{row.problem}: not slower than {' and '.join(rivals)}"
                yield title, f"{ratio:.2f} of {fastest.solver}", verdict(ratio <= 1)


def lines(rows: list[Row]) -> Iterator[Line]:
    """(target, measured, met) for every target the run has rows for."""
    yield bounds_hold(rows)
    ours = finished(rows, "bestset")
    yield from lowest_objective(ours, rows, "paper")
    yield from within(named(ours, "paper-snr"), "paper: relative relaxation gap", relaxation_gap, 1e-9, ".1e")
    large = named(ours, "paper-snr20-n600")
    yield from within(large, "n=600, SNR 20: convex phase, passes", convex_passes, 15)
    yield from within(large, "n=600, SNR 20: both phases, passes", lambda row: row.passes, 100)
    yield from within(named(ours, "wide"), "n=1000, p=100,000: both phases, passes", lambda row: row.passes, 30)
    yield from as_fast_as(ours, rows, ("celer", "skglm"))
    yield from lowest_objective([row for row in ours if row.lambda0 > 0], rows, "logistic")
    yield from within(named(ours, "logistic-l0"), "logistic, lambda0 > 0: seconds", lambda row: row.seconds, 1)
    for name, gap, seconds in (("hard-scaling", 1e-8, 5), ("news20-unit", 1e-6, 10), ("news20-raw", 1e-4, 60)):
        mine = named(ours, name)
        yield from within(mine, f"{name}: relative relaxation gap", relaxation_gap, gap, ".1e")
        yield from within(mine, f"{name}: seconds of the convex phase", lambda row: row.convex_seconds, seconds)
    yield from lowest_objective(ours, rows, "hard-scaling")
    for row in ours:
        if row.peak_extra_bytes is not None and not row.problem.startswith("paper"):
            measured = f"{row.peak_extra_bytes / 1e6:.1f} MB, {row.nonzeros} non-zeros"
            yield f"{row.problem}: memory beyond X", measured, "reported"
