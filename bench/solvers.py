"""The processes the harness measures: a worker per peer, and the `bestset-bench` binary.

All of them run with one thread, read the same problem directory and leave their coefficients, `beta*.f64`, and, if they
keep one, a dual point, `alpha*.f64`, in it or in a copy. The rest of an outcome is their reply: `seconds`, what they claim, or
`error` alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from peers import PEERS
from problem import read_header, write_header

BENCH = Path(__file__).resolve().parent
BESTSET = BENCH.parent / "target" / "release" / "bestset-bench"
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


@dataclass
class Outcome:
    """A reply, and the vectors that came with it; `error` is empty when there are coefficients."""

    reply: dict
    beta: np.ndarray | None = None
    alpha: np.ndarray | None = None

    @property
    def error(self) -> str:
        return self.reply.get("error", "")

    @property
    def seconds(self) -> float:
        return self.reply["seconds"]

    @property
    def work(self) -> float:
        """Processor time, where it is known: a shared machine disturbs it less."""
        cpu = self.reply.get("cpu_seconds")
        return self.seconds if cpu is None else min(self.seconds, cpu)


def collect(reply: dict, beta: Path, alpha: Path) -> Outcome:
    """The outcome of a reply whose vectors are in these files."""
    if "error" in reply:
        return Outcome(reply)
    return Outcome(reply, np.fromfile(beta, dtype="<f8"), np.fromfile(alpha, dtype="<f8") if alpha.exists() else None)


def single_threaded() -> dict[str, str]:
    """The environment every solver runs in."""
    return os.environ | dict.fromkeys(THREAD_VARIABLES, "1")


class PeerProcess:
    """One worker, started at the first question and started again after it had to be ended for taking too long."""

    def __init__(self, name: str) -> None:
        self.peer = PEERS[name]
        self.version = ""
        self.process: subprocess.Popen | None = None

    def start(self) -> str:
        """Start the worker; the reason when it cannot be, else empty."""
        python = BENCH / f".venv-{self.peer.environment}" / "bin" / "python"
        if not python.exists():
            return "environment not set up: run bench/setup.sh"
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self.process = subprocess.Popen(
            [str(python), str(BENCH / "worker.py"), self.peer.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=single_threaded(),
        )
        hello = self._reply(120.0)
        self.version = hello.get("version", "")
        return hello.get("error", "")

    def solve(
        self, directory: Path, tolerance: float, variant: str, repeats: int, budget: float, time_limit: float, size: int
    ) -> Outcome:
        """One job: the median of up to `repeats` calls, fewer when they would take longer than `budget` seconds."""
        beta, alpha = (directory / f"{vector}-{self.peer.name}.f64" for vector in ("beta", "alpha"))
        alpha.unlink(missing_ok=True)
        request = {
            "directory": str(directory), "beta": str(beta), "alpha": str(alpha), "tolerance": tolerance,
            "variant": variant, "repeats": repeats, "budget": budget, "time_limit": time_limit, "support_size": size,
        }  # fmt: skip
        return collect(self.ask(request, patience=3.0 * time_limit + 120.0), beta, alpha)

    def ask(self, request: dict, patience: float) -> dict:
        """The worker's answer, or `error`; a worker silent for `patience` seconds is ended."""
        if self.process is None and (problem := self.start()):
            self.close()
            return {"error": problem}
        self.process.stdin.write((json.dumps(request) + "\n").encode())
        self.process.stdin.flush()
        return self._reply(patience)

    def _reply(self, patience: float) -> dict:
        stream = self.process.stdout
        deadline = time.monotonic() + patience
        while (remaining := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([stream], [], [], remaining)
            if ready:
                line = stream.readline()
                if line:
                    return json.loads(line)
                code = self.process.wait()
                self.log.seek(0)
                said = self.log.read().decode(errors="replace").strip().splitlines()
                self.close()
                return {"error": f"the solver's process ended with status {code}: {said[-1] if said else ''}"}
        self.close()
        return {"error": f"no answer after {patience:.0f} s, ended"}

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextlib.contextmanager
def copied(directory: Path, changes: dict) -> Iterator[Path]:
    """A problem directory with the same arrays and these changes of the header: `gap`, `method`, `repeats`, ..."""
    with tempfile.TemporaryDirectory(dir=directory) as name:
        own = Path(name)
        for array in directory.glob("*.*[0-9]"):
            (own / array.name).symlink_to(array)
        write_header(own, read_header(directory) | changes)
        yield own


def solve_bestset(binary: Path, directory: Path, patience: float = 600.0, **changes) -> Outcome:
    """Run the binary on a problem directory whose header has these changes."""
    if not binary.exists():
        return Outcome({"error": "not built"})
    with copied(directory, changes) as own:
        command, environment = [str(binary), str(own)], single_threaded()
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=patience, env=environment, check=False
            )
        except subprocess.TimeoutExpired:
            return Outcome({"error": f"no answer after {patience:.0f} s, ended"})
        if done.returncode != 0:
            message = done.stderr.strip().splitlines()
            return Outcome({"error": f"exit status {done.returncode}: {message[-1] if message else ''}"})
        return collect(json.loads(done.stdout), own / "beta.f64", own / "alpha.f64")
