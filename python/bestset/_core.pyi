"""The engine. Everything here is called through the functions and classes of `bestset`."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestset._problem import Control, Data, Grid, Spec

__version__: str

class CoefficientsDict(TypedDict):
    support: NDArray[np.int64]
    values: NDArray[np.float64]
    intercept: float

class CertificateDict(TypedDict):
    objective: float
    relaxation: float | None
    lower_bound: float
    gap: float
    relative_gap: float

class RankedDict(CoefficientsDict):
    objective: float
    proved: bool

class AnswerDict(CoefficientsDict, CertificateDict):
    status: str

class SolutionDict(AnswerDict):
    n_iter: int
    passes: float
    seconds: float
    excluded: int
    included: int
    dual: NDArray[np.float64]
    trace: dict[str, NDArray[Any]]
    ranked: list[RankedDict]
    dependent: list[list[int]]

class PointDict(SolutionDict):
    lambda0: float
    lambda1: float
    lambda2: float

class SubsetDict(AnswerDict):
    size: int
    loss: float
    r2: float
    adjusted_r2: float | None
    cp: float | None
    aic: float | None
    bic: float | None

class SubsetsDict(TypedDict):
    sizes: list[SubsetDict]
    dependent: list[list[int]]

class GroupSolutionDict(AnswerDict):
    groups: NDArray[np.int64]
    dual: NDArray[np.float64]
    seconds: float

class CertifiedDict(CertificateDict):
    solution: SolutionDict

class PathDict(TypedDict):
    points: list[PointDict]
    status: str
    criteria: dict[str, NDArray[np.float64]]

class ChoiceDict(TypedDict):
    path: PathDict
    chosen: int | None
    lambda0: float
    solution: SolutionDict

class ValidationDict(TypedDict):
    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    folds: list[NDArray[np.float64]]
    best: int
    one_se: int
    status: str
    path: PathDict
    lambda0: float
    solution: SolutionDict

def solve(
    data: Data, spec: Spec, control: Control, callback: Callable[[dict[str, float]], object] | None = None
) -> SolutionDict: ...
def certify(
    data: Data, spec: Spec, control: Control, given: tuple[Sequence[int], Sequence[float], float]
) -> CertifiedDict: ...
def path(data: Data, spec: Spec, control: Control, grid: Grid) -> PathDict: ...
def choose(data: Data, spec: Spec, control: Control, grid: Grid, criterion: str) -> ChoiceDict: ...
def cross_validate(
    data: Data,
    spec: Spec,
    control: Control,
    grid: Grid,
    splits: Sequence[tuple[Sequence[int], Sequence[int]]],
    score: str,
    one_se: bool,
) -> ValidationDict: ...
def subsets(data: Data, spec: Spec, control: Control, most: int) -> SubsetsDict: ...
def solve_groups(
    data: Data, spec: Spec, control: Control, labels: Sequence[int], prices: Sequence[float] | None = None
) -> GroupSolutionDict: ...
