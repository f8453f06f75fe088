"""One benchmark problem: the data, the penalties, and how it travels to the solvers.

The convention is the project's, the same for every loss:

    P(beta) = sum_i loss(x_i' beta, y_i) + lambda0 ||beta||_0 + lambda1 ||beta||_1 + lambda2 ||beta||_2^2

a sum of losses, never the mean; the squared loss is (y - u)^2 / 2; the ridge term has no 1/2.

Every solver, bestset included, reads the same directory: `problem.json` with the sizes and penalties, and raw
little-endian arrays, `x.f64` (column-major) for a dense design, `indptr.i64`, `indices.i32`, `data.f64` (compressed
columns) for a sparse one, and `y.f64`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp


@dataclass
class Problem:
    """Data and penalties of one problem; `X` is column-major dense or CSC, `y` is +-1 for the logistic loss."""

    name: str
    X: np.ndarray | sp.csc_matrix
    y: np.ndarray
    loss: str
    lambda0: float
    lambda1: float
    lambda2: float
    seed: int = 0
    #: number of features that generated y; only used as a support size when bestset has not chosen one
    true_size: int | None = None
    #: relative gap asked of the solver: duality gap at lambda0 = 0, relaxation gap otherwise
    gap: float = 1e-9

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def format(self) -> str:
        return "csc" if sp.issparse(self.X) else "dense"

    @property
    def is_convex(self) -> bool:
        return self.lambda0 == 0.0

    @property
    def phase(self) -> str:
        """`convex` alone when there is no lambda0 (the elastic net), else `both` phases of MATH.md section 7."""
        return "convex" if self.is_convex else "both"


def save(problem: Problem, directory: Path) -> None:
    """Write the directory every solver reads."""
    directory.mkdir(parents=True, exist_ok=True)
    n, p = problem.shape
    header = {
        "n": n,
        "p": p,
        "format": problem.format,
        "loss": problem.loss,
        "lambda0": problem.lambda0,
        "lambda1": problem.lambda1,
        "lambda2": problem.lambda2,
        "intercept": False,
        "gap": problem.gap,
        "repeats": 3,
        "warm_up": True,
        "threads": 1,
        "phase": problem.phase,
    }
    write_header(directory, header)
    problem.y.astype("<f8").tofile(directory / "y.f64")
    if problem.format == "dense":
        # tofile writes in row-major order: the transpose of a column-major array, without a copy
        np.asfortranarray(problem.X, dtype="<f8").T.tofile(directory / "x.f64")
    else:
        problem.X.indptr.astype("<i8").tofile(directory / "indptr.i64")
        problem.X.indices.astype("<i4").tofile(directory / "indices.i32")
        problem.X.data.astype("<f8").tofile(directory / "data.f64")


def write_header(directory: Path, header: dict) -> None:
    (directory / "problem.json").write_text(json.dumps(header, indent=1) + "\n")


def read_header(directory: Path) -> dict:
    return json.loads((directory / "problem.json").read_text())


def load(directory: Path) -> Problem:
    """Read back what `save` wrote."""
    header = read_header(directory)
    n, p = header["n"], header["p"]
    if header["format"] == "dense":
        X = np.fromfile(directory / "x.f64", dtype="<f8").reshape((n, p), order="F")
    else:
        parts = [
            np.fromfile(directory / "data.f64", dtype="<f8"),
            np.fromfile(directory / "indices.i32", dtype="<i4"),
            np.fromfile(directory / "indptr.i64", dtype="<i8").astype("<i4"),
        ]
        X = sp.csc_matrix(tuple(parts), shape=(n, p))
    return Problem(
        name=directory.name,
        X=X,
        y=np.fromfile(directory / "y.f64", dtype="<f8"),
        loss=header["loss"],
        lambda0=header["lambda0"],
        lambda1=header["lambda1"],
        lambda2=header["lambda2"],
        gap=header["gap"],
    )


def tiny_like(problem: Problem, n: int = 30, p: int = 20) -> Problem:
    """A small random problem of the same kind (loss, storage, which penalties are present), to warm a solver up."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    X /= np.linalg.norm(X, axis=0)
    u = X[:, :3] @ np.array([3.0, -3.0, 2.0]) + 0.1 * rng.standard_normal(n)
    y = u if problem.loss == "squared" else np.where(u > 0, 1.0, -1.0)
    return Problem(
        name="tiny",
        X=X if problem.format == "dense" else sp.csc_matrix(X),
        y=y,
        loss=problem.loss,
        lambda0=0.05 if problem.lambda0 else 0.0,
        lambda1=0.05 if problem.lambda1 else 0.0,
        lambda2=0.1 if problem.lambda2 else 0.0,
        true_size=3,
    )
