"""The table: one row per problem, solver and setting; printed as it grows, stored as CSV and as Markdown."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path


#: relative room for rounding when two objectives, or an objective and a bound, are compared
ROUNDING = 1e-9


@dataclass
class Row:
    """What was measured for one solver on one problem; None where there is nothing to say."""

    problem: str
    group: str
    seed: int
    n: int
    p: int
    loss: str
    lambda0: float
    lambda1: float
    lambda2: float
    solver: str
    setting: str = ""
    seconds: float | None = None
    best_seconds: float | None = None
    cpu_seconds: float | None = None
    calls: int | None = None
    #: P at the returned coefficients, by the harness
    objective: float | None = None
    #: the smallest P on the returned support, for solvers that choose it by another criterion
    refit_objective: float | None = None
    nonzeros: int | None = None
    #: lambda0 = 0: relative duality gap, by the harness; lambda0 > 0: (P - the solver's own lower bound) / |P|
    gap: float | None = None
    lower_bound: float | None = None
    #: (R - D) / |R| of bestset's convex phase and its D, both by the harness
    relaxation_gap: float | None = None
    checked_bound: float | None = None
    convex_seconds: float | None = None
    convex_cpu_seconds: float | None = None
    #: processor time of one X'alpha: by the harness or by bestset, whichever is faster; and bestset's own
    pass_seconds: float | None = None
    correlate_seconds: float | None = None
    passes: float | None = None
    times_bestset: float | None = None
    #: memory of bestset beyond X, and the most columns it had copied
    peak_extra_bytes: int | None = None
    active: int | None = None
    #: entries of X stored
    stored: int | None = None
    #: claims of bestset that the harness does not find again
    disagreement: str = ""
    status: str = ""
    note: str = ""
    #: date, commit and command of the run that measured it
    run: str = ""

    @property
    def value(self) -> float | None:
        """The objective that counts in comparisons: refitted where the solver did not minimise P on its support."""
        return self.objective if self.refit_objective is None else min(self.objective, self.refit_objective)

    @property
    def work(self) -> float | None:
        """What ratios are made of: the processor time of the single thread, which a shared machine disturbs less."""
        return self.seconds if self.cpu_seconds is None else min(self.seconds, self.cpu_seconds)

    @property
    def label(self) -> str:
        return f"{self.solver} ({self.setting})" if self.setting else self.solver


def number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


COLUMNS = (
    ("problem", lambda row: row.problem),
    ("solver", lambda row: row.label),
    ("seconds", lambda row: number(row.seconds, ".4g")),
    ("/ bestset", lambda row: number(row.times_bestset, ".3g")),
    ("/ pass", lambda row: number(row.passes, ".3g")),
    ("P", lambda row: number(row.objective, ".8g")),
    ("P refitted", lambda row: number(row.refit_objective, ".8g")),
    ("non-zeros", lambda row: number(row.nonzeros, "d")),
    ("gap", lambda row: number(row.gap, ".1e")),
    ("relaxation gap", lambda row: number(row.relaxation_gap, ".1e")),
    ("status", lambda row: "; ".join(filter(None, [row.status, row.note]))),
)
WIDTHS = (26, 30, 9, 9, 8, 11, 11, 9, 9, 14, 0)


def print_header() -> None:
    print("  ".join(f"{title:<{width}}" for (title, _), width in zip(COLUMNS, WIDTHS, strict=True)), flush=True)


def print_row(row: Row) -> None:
    cells = [f"{cell(row):<{width}}" for (_, cell), width in zip(COLUMNS, WIDTHS, strict=True)]
    print("  ".join(cells).rstrip(), flush=True)


def write_csv(rows: Iterable[Row], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            cells = {name: "" if value is None else value for name, value in asdict(row).items()}
            writer.writerow({k: repr(v) if isinstance(v, float) else v for k, v in cells.items()})


def read_csv(path: Path) -> list[Row]:
    """What `write_csv` wrote."""

    def value(kind: str, text: str):
        if text == "" and "None" in kind:
            return None
        return int(text) if kind.startswith("int") else float(text) if kind.startswith("float") else text

    with path.open(newline="") as file:
        kinds = {field.name: field.type for field in fields(Row)}
        return [Row(**{name: value(kinds[name], cell) for name, cell in line.items()}) for line in csv.DictReader(file)]


def merged(runs: Iterable[list[Row]]) -> list[Row]:
    """Rows of several runs; of a solver measured twice on a problem, the later ones."""
    kept: dict[tuple[str, str, str], Row] = {}
    for rows in runs:
        again = {(row.problem, row.solver) for row in rows}
        kept = {key: row for key, row in kept.items() if key[:2] not in again}
        kept |= {(row.problem, row.solver, row.setting): row for row in rows}
    return list(kept.values())


def markdown_table(titles: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    titles = list(titles)
    return "\n".join([line(titles), line("---" for _ in titles), *map(line, lines)]) + "\n"


def problem_section(rows: list[Row]) -> str:
    """One table for the rows of a group."""
    return markdown_table((title for title, _ in COLUMNS), ([cell(row) for _, cell in COLUMNS] for row in rows))


def best_published(rows: Iterable[Row]) -> Iterator[Row]:
    """For each problem the published run with the lowest P."""
    best: dict[str, Row] = {}
    for row in rows:
        if row.solver.startswith("published:") and row.value is not None:
            held = best.get(row.problem)
            if held is None or row.value < held.value:
                best[row.problem] = row
    yield from (replace(row, solver="best published run", setting="") for row in best.values())


def paper_section(rows: list[Row]) -> str:
    """The simulation, one line per setting and solver: medians over the seeds, and the worst excess of P.

    Of the published algorithms, the best run on each seed; all of them are in the CSV.
    """
    rows = [row for row in rows if not row.solver.startswith("published:")] + list(best_published(rows))
    best = {}
    for row in rows:
        if row.value is not None:
            best[row.problem] = min(row.value, best.get(row.problem, row.value))
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.problem.rsplit("-seed", 1)[0], row.solver != "bestset")):
        groups.setdefault((row.problem.rsplit("-seed", 1)[0], row.label), []).append(row)
    lines = []
    for (setting, label), members in groups.items():
        done = [row for row in members if row.seconds is not None]
        if not done:
            lines.append([setting, label, "0", "", "", "", "", "", "", members[0].note])
            continue
        excess = max((row.value - best[row.problem]) / abs(best[row.problem]) for row in done)

        def median(field: str, form: str, done: list[Row] = done) -> str:
            values = [getattr(row, field) for row in done if getattr(row, field) is not None]
            return number(statistics.median(values), form) if values else ""

        lines.append([
            setting, label, str(len(done)), median("seconds", ".4g"), median("times_bestset", ".3g"),
            median("passes", ".3g"), median("value", ".6g"), f"{excess:.1e}", median("nonzeros", ".0f"),
            median("gap", ".1e"),
        ])  # fmt: skip
    titles = [
        "setting",
        "solver",
        "seeds",
        "seconds",
        "/ bestset",
        "/ pass",
        "P",
        "worst excess of P",
        "non-zeros",
        "gap",
    ]
    return markdown_table(titles, lines)
