"""The engine. Everything here is called through the functions and classes of `bestset`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from bestset._model import Stored
from bestset._problem import Choice, Control, Data, Draws, Setup
from bestset._report import About
from bestset._times import Times

__version__: str

Block = NDArray[Any] | tuple[int, NDArray[np.uint8]]

def block_correlate(
    block: Block, features: NDArray[np.int64] | None, vectors: NDArray[np.float64]
) -> NDArray[np.float64]: ...
def block_columns(block: Block, features: NDArray[np.int64] | None) -> NDArray[np.float64]: ...
def block_moments(
    block: Block,
    weights: NDArray[np.float64] | None = None,
    centre: NDArray[np.float64] | None = None,
    scale: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]: ...
def shown(value: float, digits: int, above: bool) -> str: ...
def percent(share: float) -> str: ...
def misleads(value: str, bound: str, gap: float) -> bool: ...
def explained(
    loss: str,
    theta: float | None,
    y: NDArray[np.float64],
    margins: NDArray[np.float64],
    offset: NDArray[np.float64] | None,
    weights: NDArray[np.float64] | None,
) -> float: ...
def part(data: Data, setup: Setup, choice: Choice, control: Control, asked: str, check: Callable[[], None] | None = None) -> str: ...
def command(words: Sequence[str]) -> int: ...
def curves(
    given: Any, u: NDArray[np.float64], what: str, times: list[float], strata: list[int] | None = None
) -> NDArray[np.float64]: ...
def concordance(times: Times, u: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> float: ...
def check_command(words: Sequence[str]) -> int: ...

class OnDisk:
    """A matrix in files; see `bestset.open`."""

    def __init__(self, path: str, keep_moments: bool = False) -> None: ...
    @property
    def path(self) -> Path: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def reading(self) -> dict[str, float]: ...
    @property
    def rounding(self) -> tuple[float, float]: ...
    def correlate(self, features: NDArray[np.int64] | None, vectors: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def columns(self, features: NDArray[np.int64] | None = None) -> NDArray[np.float64]: ...
    def __len__(self) -> int: ...

class Kept: ...

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

class StandingDict(TypedDict):
    standing: str
    r2: float
    r2_limit: float

class RankedDict(CoefficientsDict):
    objective: float
    proved: bool

class AnswerDict(CoefficientsDict, CertificateDict):
    status: str

class PointDict(AnswerDict, StandingDict):
    n_iter: int
    passes: float
    seconds: float
    excluded: int
    included: int
    dual: NDArray[np.float64]
    trace: dict[str, NDArray[Any]]
    ranked: list[RankedDict]
    dependent: list[list[int]]
    lambda0: float
    lambda1: float
    lambda2: float

class SolutionDict(PointDict):
    k: int | None
    method: str

class SubsetDict(AnswerDict):
    size: int
    reached: bool
    loss: float
    r2: float
    adjusted_r2: float | None
    cp: float | None
    aic: float | None
    bic: float | None

class SubsetsDict(TypedDict):
    sizes: list[SubsetDict]
    dependent: list[list[int]]
    constant: list[int]
    remarks: list[tuple[str, str]]

class PathDict(TypedDict):
    points: list[PointDict]
    status: str
    criteria: dict[str, NDArray[np.float64]]
    remarks: list[tuple[str, str]]
    delta: float | None

class ValidationDict(TypedDict):
    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    folds: list[NDArray[np.float64]]
    best: int
    one_se: int
    score: str
    frequencies: NDArray[np.float64]

class SelectedDict(TypedDict):
    solution: SolutionDict
    remarks: list[tuple[str, str]]
    constant: list[int]
    provable: dict[str, float]
    path: PathDict | None
    point: int | None
    delta: float | None
    criterion: str | None
    validation: ValidationDict | None
    baseline: tuple[float, list[tuple[int, list[float], list[float]]]] | None
    classes: tuple[list[list[float]], list[float]] | None
    kept: Kept
    unfinished: str | None

class CertifiedDict(CertificateDict, StandingDict):
    status: str
    selected: SelectedDict

class StabilityDict(TypedDict):
    frequencies: list[list[tuple[int, float]]]
    largest: list[tuple[int, float]]
    subsamples: int
    status: str

class ModelDict(AnswerDict):
    loss: str
    delta: float | None
    lambda0: float
    lambda1: float
    lambda2: float
    n_features: int
    feature_names: list[str] | None

def select(
    data: Data,
    setup: Setup,
    choice: Choice,
    control: Control,
    callback: Callable[[dict[str, float]], object] | None = None,
) -> SelectedDict: ...
def certify(
    data: Data,
    setup: Setup,
    choice: Choice,
    control: Control,
    given: tuple[Sequence[int], Sequence[float], float],
) -> CertifiedDict: ...
def path(data: Data, setup: Setup, choice: Choice, control: Control) -> PathDict: ...
def subsets(data: Data, setup: Setup, control: Control, most: int | None = None) -> SubsetsDict: ...
def stability(data: Data, setup: Setup, choice: Choice, control: Control, draws: Draws) -> StabilityDict: ...
def report(data: Data, setup: Setup, kept: Kept, about: About) -> str: ...
def save_model(path: str, stored: Stored, encoding: str) -> None: ...
def read_model(text: str) -> ModelDict: ...
