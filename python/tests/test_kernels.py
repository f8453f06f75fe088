"""Kernels of devices, the same lines on a processor: kernels_on_cpu.h has what CUDA would do."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from common import regression

import bestset
from bestset import _core
from bestset.device import DeviceDesign, DeviceGenotypes, _arrays, _dense, _genotypes, _launch
from bestset.testing import check_design
from test_device import packed

DENSE = [f"by_{by}_{m}" for by in ("columns", "rows") for m in (1, 2, 4, 8)] + ["moments_by_columns", "moments_by_rows"]
KERNELS = {"dense": DENSE, "genotypes": ["lay_digits", "genotypes_1", "genotypes_2", "genotypes_ones"]}
SOURCES = Path(_launch.__file__).parent

# Each kernel is compiled once.
pytestmark = pytest.mark.xdist_group("kernels")


class OnCpu:
    """Kernels that a compiler of C++ has made."""

    def __init__(self, library):
        self.library, self.launched = ctypes.CDLL(str(library)), []

    def launch(self, name, grid, threads, stream, *arguments):
        places = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(argument) for argument in arguments))
        self.launched.append((name, grid))
        assert self.library.run(name.encode(), (ctypes.c_uint * 2)(*grid), threads, places) == 0, name


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Kernels of a source, with faults if some are wanted: (what is there, what is put in its place)."""
    folder, made = tmp_path_factory.mktemp("kernels"), {}
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    assert compiler, "a compiler of C++ is needed to run the kernels on the processor"

    def of(source, kind="", fault=None):
        key = (source, kind, fault)
        if key not in made:
            text, name = (SOURCES / f"{source}.cu").read_text(), f"{source}{len(made)}"
            if fault is not None:
                assert fault[0] in text, fault[0]
                text = text.replace(*fault)
            (folder / f"{name}.cu").write_text(text)
            given = [f"-DELEMENT={_launch.NAMES[kind]}"] if kind else []
            listed = " ".join(f"KERNEL({kernel})" for kernel in KERNELS[source])
            here = Path(__file__).parent / "kernels_on_cpu.h"
            options = ["-x", "c++", "-std=c++17", "-O2", "-ftree-vectorize", "-U_FORTIFY_SOURCE", "-w", "-shared", "-fPIC", f'-DSOURCE="{folder / name}.cu"', f"-DKERNELS={listed}"]
            subprocess.run([compiler, *options, *given, "-o", folder / f"{name}.so", here], check=True)
            made[key] = folder / f"{name}.so"
        return OnCpu(made[key])

    return of


@pytest.fixture
def kernels(compiled, monkeypatch):
    """Arrays of numpy have kernels, as those on a device have; those made, in order."""
    given = []

    def use(fault=None):
        def made(self, source, kind=""):
            given.append(compiled(source, kind, fault))
            return given[-1]

        monkeypatch.setattr(_arrays.ArrayApi, "kernels", made)
        return given

    return use


@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8])
def test_dense_arrays(kernels, kind, order):
    made = kernels()
    X, y = regression(n=75, p=45)
    X = np.array((np.rint(3 * X) if kind == np.int8 else X).astype(kind), order=order)
    there = DeviceDesign(X)
    assert there.by == {"F": "columns", "C": "rows"}[order]
    check_design(there)
    found, here = bestset.solve(there, y, lambda0=0.5), bestset.solve(X.astype(np.float64), y, lambda0=0.5)
    assert np.array_equal(found.support, here.support) and abs(found.objective - here.objective) < 1e-9
    # All numbers of vectors at once, and views with gaps.
    rng = np.random.default_rng(0)
    for m in (1, 2, 3, 5, 8, 11):
        vectors = np.asfortranarray(rng.standard_normal((75, m)))
        exact = X.astype(np.longdouble).T @ vectors
        assert np.abs(there.correlate(None, vectors) - exact).max() < 1e-13 * np.abs(X).sum(axis=0, dtype=float).max()
        gaps = DeviceDesign(X[:, 3:30] if order == "C" else X[5:70])
        own = exact[3:30] if order == "C" else X[5:70].astype(np.longdouble).T @ vectors[5:70]
        assert np.abs(gaps.correlate(None, vectors if order == "C" else vectors[5:70]) - own).max() < 1e-9
    names = {name for name, _ in made[0].launched}
    assert names == {f"by_{there.by}_{m}" for m in (1, 2, 4, 8)} | {f"moments_by_{there.by}"}


@pytest.mark.parametrize("order", ["F", "C"])
def test_long_columns_are_divided(kernels, monkeypatch, order):
    made = kernels()
    monkeypatch.setattr(_dense, "SHORTEST", 10)
    X, _ = regression(n=203, p=19)
    check_design(DeviceDesign(np.array(X, order=order)))
    assert max(grid[1] for _, grid in made[0].launched) > 4


def test_other_layouts_are_left_to_the_library(kernels):
    made = kernels()
    X, _ = regression(n=40, p=24)
    there = DeviceDesign(X[::2, ::3])
    assert there.kernels is None and there.trip is not None
    check_design(there)
    assert not made[0].launched


@pytest.mark.parametrize("people", [1, 5, 64, 131, 1027])
def test_packed_genotypes(kernels, monkeypatch, people):
    made = kernels()
    monkeypatch.setattr(_genotypes, "LONGEST", 3)
    bytes_ = packed(people, 53)
    # Rows that begin anywhere, also outside of words.
    at = np.concatenate([np.zeros(5, np.uint8), bytes_.reshape(-1)])[5:].reshape(bytes_.shape)
    there = DeviceGenotypes(at, people)
    kept = (people, np.ascontiguousarray(bytes_).reshape(-1))
    features = np.array([5, 52, 0, 5, 30, 21, 16, 48])
    assert np.array_equal(there.columns(features), _core.block_columns(kept, features))
    if people < 1000:
        check_design(there)
    rng = np.random.default_rng(1)
    x = _core.block_columns(kept, None)
    for spread in (0, 20):
        vectors = np.asfortranarray(rng.standard_normal((people, 3)) * 10.0 ** rng.uniform(-spread, spread, (people, 3)))
        room = 2.0**-53 * (people + 16) * (np.abs(x).T @ np.abs(vectors))
        exact = x.astype(np.longdouble).T @ vectors.astype(np.longdouble)
        assert (np.abs(there.correlate(None, vectors) - exact) <= room).all()
        assert (np.abs(there.correlate(features, vectors) - exact[features]) <= room[features]).all()
    # Whole numbers are added up exactly.
    whole = np.asfortranarray(rng.integers(-1000, 1000, (people, 1)).astype(float))
    known = np.flatnonzero(there.missing == 0)
    assert np.array_equal(there.correlate(known, whole), x[:, known].T @ whole)
    weights = rng.uniform(0.0, 1.0, people)
    for w in (None, weights):
        assert np.allclose(there.moments(w, None, None), _core.block_moments(kept, w), rtol=1e-11, atol=1e-9)
    assert people < 1000 or max(grid[1] for _, grid in made[0].launched) > 1


@pytest.mark.long
def test_largest_sums_fit(kernels):
    """As many people as a part may have, of the same code, with digits that are as large as can be."""
    kernels()
    people = 64 * 4 * _genotypes.LONGEST - 64
    for code, entry in ((0b00, 2.0), (0b10, 1.0), (0b11, 0.0)):
        there = DeviceGenotypes(np.full((1, people // 4), code * 0b01010101, dtype=np.uint8), people)
        worst = np.asfortranarray(np.full((people, 1), -np.ldexp(float(0x80808080808080), -56)))
        assert there.correlate(None, worst)[0, 0] == entry * people * worst[0, 0]


def test_groups_begin_alike():
    rng = np.random.default_rng(0)
    for count in (1, 15, 16, 200):
        features = rng.integers(0, 1000, count)
        rows, places = _genotypes.grouped(features)
        assert len(rows) % 128 == 0 and all(len(set(group % 16)) == 1 for group in rows.reshape(-1, 32))
        kept = places >= 0
        assert np.array_equal(np.sort(places[kept]), np.arange(count)) and np.array_equal(features[places[kept]], rows[kept])


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("dense", ("(double)now[r][c]", "(double)(float)now[r][c]")),
        pytest.param("dense", ("fma((double)now[r][c], a[m], sum[c][m])", "(double)(float)fma((double)now[r][c], a[m], sum[c][m])"), marks=pytest.mark.long),
        pytest.param("dense", ("step >>= 1) x +=", "step >>= 2) x +="), marks=pytest.mark.long),
        pytest.param("dense", ("if (row >= end) break;", ""), marks=pytest.mark.long),
        ("genotypes", ("left = (left - digit) >> 8", "left = left >> 8")),
        pytest.param("genotypes", ("4 - (shift >> 2)", "4"), marks=pytest.mark.long),
        pytest.param("genotypes", ("(shift & 3) * words", "0 * words"), marks=pytest.mark.long),
        ("genotypes", ("if (!ones) sum[0] -= sum[1];", "")),
        pytest.param("genotypes", (">> (2 * k)) << (8 * d)", ">> k) << (8 * d)"), marks=pytest.mark.long),
        pytest.param("genotypes", ("fma(upper, 4294967296.0, pair)", "pair"), marks=pytest.mark.long),
    ],
)
def test_faults_are_found(kernels, source, fault):
    kernels(fault)
    X, _ = regression(n=75, p=45)
    with pytest.raises(AssertionError):
        check_design(DeviceDesign(np.asfortranarray(X)) if source == "dense" else DeviceGenotypes(packed(131, 53), 131))
