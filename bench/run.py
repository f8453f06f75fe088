"""Side-by-side benchmark of bestset and its peers: same data, one thread, warm, one table.

bench/setup.sh                                      once: the peers' environments
bench/.venv-peers/bin/python bench/run.py           everything
bench/.venv-peers/bin/python bench/run.py --quick   a few small problems
bench/.venv-peers/bin/python bench/run.py --only 'paper-snr20-n600*' --only lasso-dense
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.metadata
import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy: the harness's own X'alpha is timed as well

# ruff: noqa: E402
import hotspots
import problems
import table
import targets
from measure import Measurement
from peers import PEERS
from problem import save
from solvers import BENCH, BESTSET, PeerProcess


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    option = parser.add_argument
    option("--only", action="append", default=[], metavar="NAME", help="problem, group or pattern; repeatable")
    option("--quick", action="store_true", help="the small problems only")
    option("--peers", default="all", metavar="A,B", help="peers to run, `published` among them: a list, `all` or `none`")
    option("--time-limit", type=float, default=20.0, metavar="S", help="seconds given to exact solvers (20; 60 on two)")
    option("--data", type=Path, default=Path("../shared/data"), help="where news20.bz2 is, from the repository's root")
    option("--bestset", type=Path, default=BESTSET, help="the bestset-bench binary (target/release/bestset-bench)")
    option("--out", type=Path, default=BENCH, help="where results.csv and RESULTS.md go (bench)")
    option("--merge", type=Path, action="append", default=[], metavar="DIR", help="write the report of earlier runs' --out")
    option("--list", action="store_true", help="print the names of the problems and stop")
    option("--keep-data", action="store_true", help="leave the problem directories in bench/data")
    return parser.parse_args()


def selected(options: argparse.Namespace) -> list[problems.Case]:
    data = options.data if options.data.is_absolute() else BENCH.parent / options.data
    chosen = [case for case in problems.cases(data) if case.quick or not options.quick]
    if options.only:
        chosen = [
            case
            for case in chosen
            if any(fnmatch.fnmatch(case.name, name) or case.group == name for name in options.only)
        ]
    return chosen


def run_case(
    case: problems.Case, options: argparse.Namespace, processes: dict, profiles: list[hotspots.Profile]
) -> list[table.Row]:
    """All rows of one case, printed as they come."""
    try:
        problem = case.build()
    except problems.DataMissing as missing:
        print(f"{case.name}: skipped, {missing}", flush=True)
        return []
    problem.name = case.name
    directory = BENCH / "data" / case.name
    save(problem, directory)
    wanted = (*PEERS, "published") if options.peers == "all" else options.peers.split(",")
    rows = []
    try:
        published = case.published and "published" in wanted
        limit = case.time_limit or options.time_limit
        measurement = Measurement(problem, case.group, directory, options.bestset, limit, published)
        for row in measurement.rows(processes[name] for name in case.peers if name in wanted):
            rows.append(row)
            table.print_row(row)
        if case.profiled and rows[0].seconds:
            profiles += hotspots.profiles(options.bestset, directory, rows[0].seconds)
    finally:
        if not options.keep_data:
            shutil.rmtree(directory)
    return rows


def command_line() -> str:
    """The command of this run, without the machine's paths."""
    hidden = [Path(a).name if os.path.isabs(a) else a for a in sys.argv[1:]]
    return shlex.join(["bench/.venv-peers/bin/python", "bench/run.py", *hidden])


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def commit() -> str:
    """The commit the tree is at, marked when it has changes."""
    command = ["git", "-C", str(BENCH), "describe", "--always", "--dirty", "--abbrev=10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def versions(processes: dict) -> str:
    libraries = [f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy", "numba")]
    environments = {"peers": BENCH / ".venv-peers", "l0bnb": BENCH / ".venv-l0bnb"}
    found = {}
    for name, process in processes.items():
        site = next(environments[process.peer.environment].glob("lib/python*/site-packages"), None)
        for one in importlib.metadata.distributions(name=process.peer.package, path=[str(site)]) if site else ():
            found[name] = one.version
    found.pop("plain-cd", None)
    peers = ", ".join(f"{name} {version}" for name, version in found.items()) or "none installed"
    return f"peers: {peers}; with Python {platform.python_version()}, {', '.join(libraries)}"


def report(rows: list[table.Row], profiles: list[hotspots.Profile], processes: dict) -> str:
    """RESULTS.md."""
    runs = "\n".join(f"- {run}" for run in dict.fromkeys(row.run for row in rows))
    parts = [
        "# Benchmark results",
        f"Measured on {os.cpu_count()} cores of {processor()} by\n\n{runs}\n\n"
        "and by nothing else: every figure below comes from `results.csv`, which these commands wrote. All solvers read\n"
        "the same data, use one thread and are warm; seconds are the median of several calls where a call is short.\n"
        "P, the duality gap at lambda0 = 0 and the relaxation gap are recomputed by the harness from the\n"
        "coefficients. At lambda0 > 0 the gap is (P - lower bound)/|P| with the solver's own bound. A pass is one\n"
        "X'alpha over the whole matrix on one thread, by the harness or by bestset, whichever is faster. Ratios are of\n"
        "processor time, which other programs on the machine disturb less; seconds are those of the clock.\n"
        "The problems: `bench/problems.py`.",
        f"Versions: {versions(processes)}.",
        "## Targets",
        "The last column is what `bench/run.py --only` takes to measure a line again.",
        table.markdown_table(("target", "measured", "met", "--only"), map(escaped, targets.lines(rows))),
    ]
    if profiles:
        titles = ("problem", "phase", "samples", "share of the processor time")
        lines = (one.cells for one in profiles)
        parts += ["## Where the time goes", TIME_NOTE, table.markdown_table(titles, lines)]
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        section = table.paper_section if group == "paper" else table.problem_section
        parts += [f"## {group}", section(members)]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def store(out: Path, rows: list[table.Row], profiles: list[hotspots.Profile], processes: dict) -> None:
    """results.csv, hotspots.csv and RESULTS.md."""
    out.mkdir(parents=True, exist_ok=True)
    table.write_csv(rows, out / "results.csv")
    hotspots.write_csv(profiles, out / "hotspots.csv")
    (out / "RESULTS.md").write_text(report(rows, profiles, processes))


#: what the words of the profile mean
TIME_NOTE = """\
Samples of `perf record` on `bestset-bench`, by the part of the solver they fall in (`bench/hotspots.py`). A pass is
Xᵀα over the features still alive; the bound D is evaluated after each; inner products are those of the active set;
the tableau prices every addition, removal and exchange of a feature."""


def escaped(cells: tuple[str, ...]) -> tuple[str, ...]:
    return (*cells[:-1], f"`{cells[-1]}`" if cells[-1] else "")


def main() -> None:
    options = arguments()
    chosen = selected(options)
    if options.list or not chosen:
        print("\n".join(case.name for case in chosen) or "no problem of that name; see --list")
        return
    processes = {name: PeerProcess(name) for name in PEERS}
    if options.merge:
        rows = table.merged(table.read_csv(out / "results.csv") for out in options.merge)
        profiles = [one for out in options.merge for one in hotspots.read_csv(out / "hotspots.csv")]
        return store(options.out, rows, profiles, processes)
    rows: list[table.Row] = []
    profiles: list[hotspots.Profile] = []
    run = f"{datetime.now(UTC):%Y-%m-%d} at {commit()}: `{command_line()}`"
    table.print_header()
    try:
        for case in chosen:
            rows += (replace(row, run=run) for row in run_case(case, options, processes, profiles))
            store(options.out, rows, profiles, processes)
    finally:
        for process in processes.values():
            process.close()
    print()
    for target, measured, met, _ in targets.lines(rows):
        print(f"{met:<9} {target}: {measured}")


if __name__ == "__main__":
    main()
