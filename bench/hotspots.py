"""Where the time of bestset goes: samples of `perf` by the part of the solver they fall in.

A sample belongs to the first part of the list below that has a function on its stack. Where `perf` is missing or not
allowed the section is left out.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from solvers import copied, single_threaded

#: seconds of solving that are sampled
SECONDS = 3.0

#: names of parts and the functions that make them, innermost first
PARTS = (
    ("passes over X", ("Design>::correlate",)),
    ("norms of the columns", ("design::moments", "design::squares")),
    ("bound D", ("dual_value", "best_scaling", "offer_dual")),
    ("inner products (Gram)", ("Gram::extend", "gram::Gram>::extend")),
    ("tableau of exchanges: build", ("Tableau::new",)),
    ("tableau of exchanges: pivots", ("Tableau::pivot", "Tableau::drop_turned")),
    ("tableau of exchanges: scans", ("Tableau::improving", "Tableau::descend", "Tableau::removals")),
    ("Newton steps", ("newton_step", "augmented::", "Quadratic>::solve")),
    ("sweeps of T on P", ("threshold_descent", "threshold_sweep")),
    ("sweeps on R and fits", ("descend::minimise", "descend::sweep", "Workspace::minimise", "Workspace::newton")),
    ("copies and residuals of the active set", ("Workspace::", "ActiveSet::")),
    ("rest of the convex phase", ("convex::",)),
    ("rest of the primal phase", ("primal::", "incremental::")),
)


@dataclass
class Profile:
    """Shares of the processor time of one phase on one problem, by part."""

    problem: str
    phase: str
    samples: int
    shares: dict[str, float]

    @property
    def cells(self) -> list[str]:
        named = sorted(self.shares.items(), key=lambda item: -item[1])
        text = ", ".join(f"{name} {share:.0%}" for name, share in named if share >= 0.01)
        return [self.problem, self.phase, str(self.samples), text]


def write_csv(found: Iterable[Profile], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("problem", "phase", "samples", "part", "share"))
        for one in found:
            writer.writerows((one.problem, one.phase, one.samples, part, share) for part, share in one.shares.items())


def read_csv(path: Path) -> list[Profile]:
    """What `write_csv` wrote; nothing where there is no such file."""
    found: dict[tuple[str, str], Profile] = {}
    if path.exists():
        with path.open(newline="") as file:
            for line in csv.DictReader(file):
                key = line["problem"], line["phase"]
                one = found.setdefault(key, Profile(*key, int(line["samples"]), {}))
                one.shares[line["part"]] = float(line["share"])
    return list(found.values())


def profiles(binary: Path, directory: Path, seconds: float) -> Iterator[Profile]:
    """The convex phase alone and both phases, where `perf` can be used; `seconds` is what one solve takes."""
    if shutil.which("perf") is None or not binary.exists():
        return
    for phase in ("convex", "both"):
        text = sampled(binary, directory, phase, repeats=max(1, min(100, int(SECONDS / seconds))))
        counts = Counter(part for stack in text.split("\n\n") if (part := part_of(stack, phase)))
        if total := sum(counts.values()):
            shares = {part: count / total for part, count in counts.items()}
            yield Profile(directory.name, phase, total, shares)


def sampled(binary: Path, directory: Path, phase: str, repeats: int) -> str:
    """The stacks of all samples, as `perf script` prints them; empty when sampling is not allowed."""
    with copied(directory, {"phase": phase, "repeats": repeats, "warm_up": False}) as own:
        data = own / "perf"
        record = ["perf", "record", "--quiet", "--freq", "1500", "--call-graph", "dwarf,8192", "--output", str(data)]
        command = [*record, str(binary), str(own)]
        if subprocess.run(command, capture_output=True, env=single_threaded(), check=False).returncode != 0:
            return ""
        script = ["perf", "script", "--input", str(data), "--no-inline", "--fields", "ip,sym"]
        return subprocess.run(script, capture_output=True, text=True, check=False).stdout


def part_of(stack: str, phase: str) -> str:
    """The part a sample belongs to; empty for what is not timed, such as reading the files."""
    # `phase: both` is followed by solves of the convex phase alone, which are not wanted here
    if "measure::answer" not in stack or (phase == "both" and "incremental::solve" not in stack):
        return ""
    for part, functions in PARTS:
        if any(function in stack for function in functions):
            return part
    return "other"
