"""X on a device: n = 1000, p = 10^7 in single precision (40 GB), and genotypes of UK Biobank's shape (487,409 x 805,426 in 2 bits, 98 GB).

    python bench/device.py dense     [--samples 1000] [--features 10000000] [--library torch] [--device cuda] [--json out.json]
    python bench/device.py genotypes [--samples 487409] [--features 805426] ...
    python bench/device.py pairs     [--samples 1000] [--features 100000] ...     the largest products of all pairs of columns

Needs the package, numpy, and PyTorch or CuPy (``--library array_api_strict`` tries it out without a device, with small sizes). Data are
drawn on the device: unit columns, ten coefficients +-1, SNR 5, lambda0 0.1, lambda2 0.05 unless given (bench/exact.py has the same at p = 10^5).
Prints the seconds of a pass beside what the memory of the device allows, of the default solve, and of a proof.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import numpy as np

import bestset
from bestset.device import DeviceDesign, DeviceGenotypes

#: Columns that are drawn at once.
BLOCK = 1 << 16


class Torch:
    def __init__(self, device: str) -> None:
        import torch

        self.torch, self.device = torch, torch.device(device)
        torch.manual_seed(1)

    def normal(self, n: int, p: int) -> Any:
        """Columns of length one, each contiguous."""
        x = self.torch.empty((p, n), dtype=self.torch.float32, device=self.device)
        for first in range(0, p, BLOCK):
            part = x[first : first + BLOCK]
            part.normal_()
            part /= part.norm(dim=1, keepdim=True)
        return x.t()

    def packed(self, people: int, variants: int) -> Any:
        """Codes of people in equilibrium, allele frequencies from 0.05 to 0.5, one in a thousand not known; bytes of four people."""
        torch, stride = self.torch, -(-people // 4)
        out = torch.empty((variants, stride), dtype=torch.uint8, device=self.device)
        width = max(1, (1 << 28) // people)
        for first in range(0, variants, width):
            count = min(width, variants - first)
            share = torch.rand((count, 1), device=self.device) * 0.45 + 0.05
            byte = torch.zeros((count, stride), dtype=torch.uint8, device=self.device)
            for k in range(4):
                copies = (torch.rand((count, stride), device=self.device) < share).to(torch.uint8)
                copies += (torch.rand((count, stride), device=self.device) < share).to(torch.uint8)
                # 2 copies are 00, one 10, none 11.
                code = (2 - copies) + (copies < 2).to(torch.uint8)
                code = torch.where(torch.rand((count, stride), device=self.device) < 0.001, torch.ones_like(code), code)
                byte |= code << (2 * k)
            out[first : first + count] = byte
        return out

    def copy(self, x: Any) -> float:
        """Seconds to read all of it once."""
        begun = time.perf_counter()
        flat = x.t() if x.dtype == self.torch.float32 else x
        for first in range(0, flat.shape[0], 1 << 20):
            flat[first : first + (1 << 20)].max()
        self.wait()
        return time.perf_counter() - begun

    def wait(self) -> None:
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()


class Numpy:
    """Any library of the array API, data drawn by numpy: to try the script out."""

    def __init__(self, name: str) -> None:
        self.xp = __import__(name)
        self.rng = np.random.default_rng(1)

    def normal(self, n: int, p: int) -> Any:
        x = self.rng.standard_normal((p, n), dtype=np.float32)
        return self.xp.asarray((x / np.linalg.norm(x, axis=1, keepdims=True)).T)

    def packed(self, people: int, variants: int) -> Any:
        share = self.rng.uniform(0.05, 0.5, (variants, 1))
        copies = self.rng.binomial(2, np.broadcast_to(share, (variants, people)))
        code = np.array([3, 2, 0], dtype=np.uint8)[copies]
        code[self.rng.random(code.shape) < 0.001] = 1
        code = np.pad(code, ((0, 0), (0, -people % 4)))
        return self.xp.asarray(code[:, 0::4] | code[:, 1::4] << 2 | code[:, 2::4] << 4 | code[:, 3::4] << 6)

    def copy(self, x: Any) -> float:
        begun = time.perf_counter()
        self.xp.max(x)
        return time.perf_counter() - begun

    def wait(self) -> None:
        pass


class Counted:
    """A design whose calls are counted and timed: what is left of a solve is the engine's."""

    def __init__(self, design: Any) -> None:
        self.design, self.shape, self.rounding, self.trip = design, design.shape, design.rounding, design.trip
        self.calls: dict[str, list[float]] = {}

    def _call(self, name: str, features: float, *arguments: Any) -> Any:
        begun = time.perf_counter()
        result = getattr(self.design, name)(*arguments)
        known = self.calls.setdefault(name, [0, 0.0, 0.0])
        known[0] += 1
        known[1] += features / self.shape[1]
        known[2] += time.perf_counter() - begun
        return result

    def correlate(self, features: Any, vectors: Any) -> Any:
        return self._call("correlate", self.shape[1] if features is None else len(features), features, vectors)

    def columns(self, features: Any) -> Any:
        return self._call("columns", len(features), features)

    def moments(self, *given: Any) -> Any:
        return self._call("moments", self.shape[1], *given)

    def __getattr__(self, name: str) -> Any:
        """What only some designs have."""
        if name not in ("reaching", "largest", "largest_pairs") or not hasattr(self.design, name):
            raise AttributeError(name)
        if name in ("largest", "largest_pairs"):
            return lambda *given: self._call(name, 0, *given)
        return lambda features, *given: self._call("reaching", self.shape[1] if features is None else len(features), features, *given)


def timed(name: str, body: Any, found: dict[str, Any], design: Any = None) -> Any:
    if design is not None:
        design.calls.clear()
    begun = time.perf_counter()
    result = body()
    found[name] = time.perf_counter() - begun
    print(f"{name}: {found[name]:.3f} s", flush=True)
    for call, (count, passes, seconds) in ({} if design is None else design.calls).items():
        found[f"{name} {call}"] = {"calls": count, "passes": passes, "seconds": seconds}
        print(f"  {call}: {count:.0f} calls, {passes:.2f} passes, {seconds:.3f} s", flush=True)
    return result


def shown(name: str, result: Any, found: dict[str, Any], support: Any) -> None:
    facts = {
        "status": result.status, "objective": result.objective, "lower_bound": result.lower_bound, "gap": result.relative_gap,
        "n_iter": result.n_iter, "features": len(result.support), "true": int(np.isin(result.support, support).sum()),
    }  # fmt: skip
    found[f"{name} answer"] = facts
    print(f"  {facts}", flush=True)


def passes(library: Any, x: Any, design: Any, found: dict[str, Any]) -> None:
    n = design.shape[0]
    rng = np.random.default_rng(3)
    found["read once"] = min(library.copy(x) for _ in range(3))
    print(f"read once: {found['read once']:.4f} s", flush=True)
    for count in (1, 1, 4):
        timed(f"pass with {count}", lambda: design.correlate(None, np.asfortranarray(rng.standard_normal((n, count)))), found)


def pairs(library: Any, n: int, p: int, found: dict[str, Any], everything: bool) -> None:
    x = timed("draw", lambda: library.normal(n, p), found)
    library.wait()
    design = DeviceDesign(x)
    columns = np.asfortranarray(design.columns(np.arange(p)).astype(np.float32))
    for name in ("first", "again"):
        _, values = timed(f"largest products, {name}", lambda: design.largest(columns, columns, 31), found)
    found["largest"] = float(np.abs(values).max())
    some = np.random.default_rng(0).integers(0, p, 20)
    exact = np.abs(columns[:, some].astype(np.float64).T @ columns.astype(np.float64))
    exact[np.arange(20), some] = 0.0
    off = np.abs(np.sort(np.abs(values[some]), axis=1) - np.sort(exact, axis=1)[:, -31:]).max()
    found["off in twenty rows"] = float(off)
    print(f"  largest of all {found['largest']:.4f}, off by {off:.1e} in twenty rows", flush=True)


def dense(library: Any, n: int, p: int, found: dict[str, Any], everything: bool) -> None:
    x = timed("draw", lambda: library.normal(n, p), found)
    library.wait()
    design = Counted(DeviceDesign(x))
    passes(library, x, design, found)
    rng = np.random.default_rng(2)
    support = np.sort(rng.choice(p, 10, replace=False))
    signal = design.columns(support) @ rng.choice([-1.0, 1.0], 10)
    y = signal + np.sqrt(signal @ signal / n / 5.0) * rng.standard_normal(n)
    given: dict[str, Any] = {"lambda0": 0.1, "lambda2": found["lambda2"], "standardize": False, "fit_intercept": False}
    shown("solve", timed("solve", lambda: bestset.solve(design, y, prove=None, **given), found, design), found, support)
    proof = timed("proof", lambda: bestset.solve(design, y, method="exact", gap=1e-4, time_limit=found["limit"], **given), found, design)
    shown("proof", proof, found, support)
    if everything:
        shown("all defaults", timed("all defaults", lambda: bestset.solve(design, y), found, design), found, support)


def genotypes(library: Any, people: int, variants: int, found: dict[str, Any], everything: bool) -> None:
    x = timed("draw", lambda: library.packed(people, variants), found)
    library.wait()
    design = Counted(timed("counts", lambda: DeviceGenotypes(x, people), found))
    passes(library, x, design, found)
    rng = np.random.default_rng(2)
    support = np.sort(rng.choice(variants, 20, replace=False))
    columns = design.columns(support)
    signal = (columns - columns.mean(axis=0)) / columns.std(axis=0) @ rng.choice([-1.0, 1.0], 20)
    # A heritability of a half.
    y = signal + signal.std() * rng.standard_normal(people)
    price = 0.002 * float((y - y.mean()) @ (y - y.mean()))
    fit = timed("fit", lambda: bestset.solve(design, y, lambda0=price, lambda2=0.01), found, design)
    shown("fit", fit, found, support)
    if everything:
        shown("all defaults", timed("all defaults", lambda: bestset.solve(design, y, max_size=40), found, design), found, support)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("dense", "genotypes", "pairs"))
    parser.add_argument("--samples", type=int)
    parser.add_argument("--features", type=int)
    parser.add_argument("--library", default="torch", help="torch, or a library of the array API")
    parser.add_argument("--device", default="cuda", help="of PyTorch")
    parser.add_argument("--lambda2", type=float, default=0.05, help="of dense")
    parser.add_argument("--limit", type=float, default=100.0, help="seconds for the proof")
    parser.add_argument("--everything", action="store_true", help="a solve with all defaults as well: a path, and EBIC chooses")
    parser.add_argument("--json", help="file for the figures")
    given = parser.parse_args()
    library: Any = Torch(given.device) if given.library == "torch" else Numpy(given.library)
    usual = {"dense": (1000, 10_000_000), "genotypes": (487_409, 805_426), "pairs": (1000, 100_000)}[given.what]
    n, p = given.samples or usual[0], given.features or usual[1]
    found: dict[str, Any] = {"what": given.what, "samples": n, "features": p, "library": given.library, "device": given.device}
    found["limit"], found["lambda2"] = given.limit, given.lambda2
    {"dense": dense, "genotypes": genotypes, "pairs": pairs}[given.what](library, n, p, found, given.everything)
    found["host memory, GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"host memory: {found['host memory, GB']:.1f} GB", flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
