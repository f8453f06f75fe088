"""Runs one peer in its own process: reads jobs as JSON lines on standard input, answers each with one JSON line.

A job names a problem directory and the settings of the call. The coefficients, and a dual point if the peer has one,
go to files, the figures to the answer. The first job of a kind (loss, storage, penalties, variant) is preceded by an
untimed call on a tiny problem of that kind, so that no compilation is timed. Anything a library prints goes to
standard error.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import statistics
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

from peers import PEERS, Answer, Job
from problem import Problem, load, tiny_like


def timed_calls(call, repeats: int, budget: float) -> tuple[Answer, list[float], list[float]]:
    """Up to `repeats` calls, fewer when together they would take longer than `budget` seconds; at least one."""
    wall, cpu = [], []
    while not wall or (len(wall) < repeats and sum(wall) + wall[0] <= budget):
        cpu_start, start = time.process_time(), time.perf_counter()
        answer = call()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - cpu_start)
    return answer, wall, cpu


class Worker:
    """Keeps the last problem loaded, and remembers which kinds of problem are warm."""

    def __init__(self, name: str) -> None:
        self.peer = PEERS[name]
        self.version = importlib.metadata.version(self.peer.package)
        self.directory: str | None = None
        self.problem: Problem | None = None
        self.warm: set[tuple] = set()

    def load(self, directory: str) -> Problem:
        if directory != self.directory or self.problem is None:
            self.problem = None
            self.problem = load(Path(directory))
            self.directory = directory
        return self.problem

    def warm_up(self, problem: Problem, job: Job) -> None:
        penalties = tuple(value > 0 for value in (problem.lambda0, problem.lambda1, problem.lambda2))
        kind = (problem.loss, problem.format, penalties, job.variant)
        if kind not in self.warm:
            tiny_job = Job(1e-4, job.variant, 30.0, support_size=3)
            self.peer.prepare(tiny_like(problem), tiny_job)()
            self.warm.add(kind)

    def answer(self, request: dict) -> dict:
        problem = self.load(request["directory"])
        job = Job(request["tolerance"], request["variant"], request["time_limit"], request["support_size"])
        self.warm_up(problem, job)
        call = self.peer.prepare(problem, job)
        answer, wall, cpu = timed_calls(call, request["repeats"], request["budget"])
        beta = np.asarray(answer.beta, dtype="<f8")
        if beta.shape != (problem.shape[1],) or not np.all(np.isfinite(beta)):
            raise ValueError(f"coefficients of shape {beta.shape}, finite: {bool(np.all(np.isfinite(beta)))}")
        beta.tofile(request["beta"])
        if answer.dual is not None:
            np.asarray(answer.dual, dtype="<f8").tofile(request["alpha"])
        return {
            "seconds": statistics.median(wall),
            "best_seconds": min(wall),
            "calls": len(wall),
            "cpu_seconds": statistics.median(cpu),
            "lower_bound": answer.lower_bound,
            "status": answer.status,
        }


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def send(reply: dict) -> None:
        replies.write(json.dumps(reply) + "\n")
        replies.flush()

    try:
        worker = Worker(sys.argv[1])
    except importlib.metadata.PackageNotFoundError as missing:
        return send({"error": f"not installed: {missing.name}"})
    send({"version": worker.version})
    for line in sys.stdin:
        try:
            send(worker.answer(json.loads(line)))
        except Exception as failure:
            traceback.print_exc()
            reason = str(failure).strip().splitlines()
            send({"error": f"{type(failure).__name__}: {reason[0] if reason else ''}"})


if __name__ == "__main__":
    main()
