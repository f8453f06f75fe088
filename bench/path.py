"""A path on the paper's simulation (n=400, p=3000, SNR 20): abess sizes 0..90 and adelie's lasso, by processor time.

    cargo build --release -p bestset --example path_figures
    bench/.venv-peers/bin/python bench/path.py DIR          # writes DIR/x.f64 and DIR/y.f64, times the peers
    RAYON_NUM_THREADS=1 target/release/examples/path_figures DIR 400 3000 0.02 1.0 log=0.0485 [full] [cold]
"""

import os
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import adelie
import numpy as np
from abess import LinearRegression


def simulate(n: int = 400, p: int = 3000, chosen: int = 90, snr: float = 20.0) -> tuple[np.ndarray, np.ndarray]:
    """Columns with correlation 0.4^|i-j|, of unit norm; y = X beta + noise."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((n, p))
    x = np.empty((n, p))
    x[:, 0] = noise[:, 0]
    for j in range(1, p):
        x[:, j] = 0.4 * x[:, j - 1] + np.sqrt(1 - 0.4**2) * noise[:, j]
    x /= np.linalg.norm(x, axis=0)
    beta = np.zeros(p)
    beta[rng.choice(p, chosen, replace=False)] = rng.uniform(-1, 1, chosen)
    signal = x @ beta
    return x, signal + rng.standard_normal(n) * np.sqrt(signal.var() / snr)


def timed(name: str, run, repeats: int = 3) -> None:
    for _ in range(repeats):
        start, clock = time.process_time(), time.perf_counter()
        run()
        print(f"{name}: processor {time.process_time() - start:.3f} s, clock {time.perf_counter() - clock:.3f} s")


def main() -> None:
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    x, y = simulate()
    x.T.tofile(place / "x.f64")
    y.tofile(place / "y.f64")
    sizes = range(91)
    timed("abess 0..90", lambda: LinearRegression(support_size=sizes, fit_intercept=False, thread=1).fit(x, y))
    matrix, target = np.asfortranarray(x), adelie.glm.gaussian(y)
    settings = {"lmda_path_size": 100, "progress_bar": False, "n_threads": 1, "intercept": False, "early_exit": False}
    timed("adelie lasso, 100 points", lambda: adelie.grpnet(matrix, target, **settings))


if __name__ == "__main__":
    main()
