"""Families of responses beside R's glm, MASS, statsmodels, abess, glmnet and skglm; proofs of each family.

    python bench/families.py [--binary target/release/bestset] [--parts references,proofs,abess,lasso]

Needs statsmodels, abess and skglm, and Rscript with glmnet and MASS for their rows: what is missing is said and left out. One thread each;
times are of the processor. Writes FAMILIES.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from scipy.special import gammaln, xlogy

BENCH = Path(__file__).parent
THETA = 2.0
FAMILIES = ("gaussian", "binomial", "poisson", "gamma", "negbin")


def used() -> float:
    own, other = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + other.ru_utime + other.ru_stime


def drawn(family: str, n: int, p: int, true: int, size: float, seed: int = 1, extra: bool = False):
    """Independent columns, `true` coefficients of +-size; weights of whole numbers and an offset where `extra`."""
    rng = np.random.default_rng([seed, n, p, true])
    X = rng.standard_normal((n, p))
    support = np.sort(rng.choice(p, true, replace=False))
    offset = rng.uniform(-0.5, 0.5, n) if extra else np.zeros(n)
    u = X[:, support] @ (size * rng.choice([-1.0, 1.0], true)) + 0.5 + offset
    mean = np.exp(np.clip(u, -20, 8))
    y = {
        "gaussian": lambda: u + rng.standard_normal(n),
        "binomial": lambda: (rng.uniform(size=n) < 1 / (1 + np.exp(-u))).astype(float),
        "poisson": lambda: rng.poisson(mean).astype(float),
        "gamma": lambda: mean * rng.gamma(2.0, 0.5, n),
        "negbin": lambda: rng.negative_binomial(THETA, THETA / (THETA + mean)).astype(float),
    }[family]()
    weights = rng.integers(1, 4, n).astype(float) if extra else np.ones(n)
    return X, y, weights, offset, support


def deviance(family: str, y, u, w) -> float:
    m = np.exp(u)
    each = {
        "gaussian": lambda: (y - u) ** 2,
        "binomial": lambda: 2 * np.logaddexp(0, -(2 * y - 1) * u),
        "poisson": lambda: 2 * (xlogy(y, y) - y * u - (y - m)),
        "gamma": lambda: 2 * ((y - m) / m - np.log(y) + u),
        "negbin": lambda: 2 * (xlogy(y, y) - y * u - (y + THETA) * (np.log(y + THETA) - np.log(m + THETA))),
    }[family]()
    return float(w @ each)


def log_likelihood(family: str, y, u, w) -> float:
    m, n, dev = np.exp(u), w.sum(), deviance(family, y, u, w)
    if family == "gaussian":
        return float((np.log(w).sum() - len(y) * (np.log(2 * np.pi * dev / len(y)) + 1)) / 2)
    if family == "gamma":
        k = n / dev
        return float(w @ (k * np.log(k / m) + (k - 1) * np.log(y) - k * y / m - gammaln(k)))
    each = {
        "binomial": lambda: -np.logaddexp(0, -(2 * y - 1) * u),
        "poisson": lambda: y * u - m - gammaln(y + 1),
        "negbin": lambda: gammaln(THETA + y) - gammaln(THETA) - gammaln(y + 1) + THETA * np.log(THETA / (THETA + m)) + y * np.log(m / (THETA + m)),
    }[family]()
    return float(w @ each)


class Bestset:
    """The command on a table written to a file; processor seconds of the child."""

    def __init__(self, binary: Path):
        self.binary = binary

    def __call__(self, word: str, family: str, X, y, weights=None, offset=None, *more) -> dict:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "data.csv"
            extra = [c for c in (weights, offset) if c is not None]
            names = [f"x{j}" for j in range(X.shape[1])] + ["y"] + ["w"] * (weights is not None) + ["o"] * (offset is not None)
            np.savetxt(file, np.column_stack([X, y, *extra]), delimiter=",", header=",".join(names), comments="", fmt="%.17g")
            words = [self.binary, word, file, "--target", "y", "--family", family, "--threads", "1", "--json", *more]
            words += ["--theta", str(THETA)] * (family == "negbin") + ["--positive", "1"] * (family == "binomial")
            words += ["--weights", "w"] * (weights is not None) + ["--offset", "o"] * (offset is not None)
            before = used()
            done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
            seconds = used() - before
        assert done.stdout, done.stderr
        found = json.loads(done.stdout)
        found["cpu"] = seconds
        found["beta"] = np.zeros(X.shape[1])
        for feature in found.get("features", []):
            found["beta"][int(feature["name"][1:])] = feature["coefficient"]
        return found


def r(program: str, X, y, weights, offset) -> dict | None:
    """Values printed as JSON by a program of R that has x, y, w and o."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "data.csv"
        np.savetxt(file, np.column_stack([X, y, weights, offset]), delimiter=",", fmt="%.17g")
        head = f'd <- as.matrix(read.csv("{file}", header = FALSE)); p <- ncol(d) - 3; x <- d[, 1:p]; y <- d[, p + 1]; w <- d[, p + 2]; o <- d[, p + 3]\n'
        show = '\ncat(sprintf("{\\"coef\\": [%s], \\"deviance\\": %.17g, \\"loglik\\": %.17g, \\"cpu\\": %.3f}", paste(sprintf("%.17g", b), collapse = ", "), dev, ll, cpu))'
        done = subprocess.run(["Rscript", "-e", head + program + show], capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 and done.stdout else None


def references(bestset: Bestset) -> list[str]:
    """Coefficients, deviance and likelihood without a penalty, with weights and an offset."""
    import statsmodels.api as sm

    rows = ["| family | reference | largest difference of a coefficient, relative | deviance, relative | log-likelihood, relative |", "|---|---|---|---|---|"]
    words = {"gaussian": "gaussian()", "binomial": "binomial()", "poisson": "poisson()", "gamma": 'Gamma("log")', "negbin": f"MASS::negative.binomial({THETA})"}
    for family in FAMILIES:
        X, y, w, o, _ = drawn(family, 200, 5, 3, 0.4, extra=True)
        own = bestset("fit", family, X, y, w, o, "--lambda0", "0", "--lambda2", "0", "--prove", "0", "--gap", "1e-12")
        b = np.concatenate([[own["intercept"]], own["beta"]])
        u = b[0] + X @ b[1:] + o
        mine = (deviance(family, y, u, w), log_likelihood(family, y, u, w))
        kinds = {"gaussian": sm.families.Gaussian(), "binomial": sm.families.Binomial(), "poisson": sm.families.Poisson(), "gamma": sm.families.Gamma(sm.families.links.Log()), "negbin": sm.families.NegativeBinomial(alpha=1 / THETA)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = sm.GLM(y, sm.add_constant(X), family=kinds[family], freq_weights=w, offset=o).fit(tol=1e-14, maxiter=500)
        likelihood = theirs.llf if family in ("binomial", "poisson", "negbin") else None
        found = [("statsmodels", theirs.params, theirs.deviance, likelihood)]
        program = f'g <- suppressWarnings(glm(y ~ x, family = {words[family]}, weights = w, offset = o, control = list(epsilon = 1e-14, maxit = 500))); b <- coef(g); dev <- deviance(g); ll <- as.numeric(logLik(g)); cpu <- 0'
        if (of_r := r(program, X, y, w, o)) is not None:
            # R counts samples, not weights, in the dispersion of Gamma.
            found.append(("R " + words[family], np.array(of_r["coef"]), of_r["deviance"], None if family in ("gamma", "negbin") else of_r["loglik"]))
        else:
            rows.append(f"| {family} | R: not there | | | |")
        for name, coef, dev, ll in found:
            off = np.max(np.abs(b - coef) / np.abs(coef))
            like = "–" if ll is None else f"{abs(mine[1] - ll) / abs(ll):.1e}"
            rows.append(f"| {family} | {name} | {off:.1e} | {abs(mine[0] - dev) / dev:.1e} | {like} |")
    return rows


def proofs(bestset: Bestset) -> list[str]:
    rows = ["| family | status | nodes | processor seconds | gap, relative | features, of them true |", "|---|---|---|---|---|---|"]
    for family in FAMILIES:
        size = {"gaussian": 0.5, "binomial": 1.0, "negbin": 0.5}.get(family, 0.3)
        X, y, _, _, support = drawn(family, 500, 1000, 10, size)
        chosen = bestset("fit", family, X, y, None, None, "--prove", "0")
        found = bestset("exact", family, X, y, None, None, "--lambda0", repr(chosen["problem"]["lambda0"]), "--time-limit", "60")
        selected = np.flatnonzero(found["beta"])
        true = len(set(selected) & set(support))
        rows.append(f"| {family} | {found['status']} | {found["iterations"]} | {found['cpu']:.1f} | {found.get('relative_gap', float('nan')):.1e} | {len(selected)}, {true} |")
    return rows


def fit_on(family: str, X, y, support) -> float:
    """The deviance of the fit on a support, by statsmodels."""
    import statsmodels.api as sm

    made = sm.GLM(y, sm.add_constant(X[:, support]), family=sm.families.Poisson()).fit(tol=1e-12, maxiter=200)
    return made.deviance


def beside_abess(bestset: Bestset) -> list[str]:
    from abess import PoissonRegression

    rows = ["| n, p | features | deviance, abess | deviance, bestset | processor seconds, abess | bestset |", "|---|---|---|---|---|---|"]
    for n, p, seed in ((200, 500, 1), (500, 1000, 2), (200, 100, 3)):
        X, y, *_ = drawn("poisson", n, p, 10, 0.3, seed)
        for k in (5, 10, 15):
            before = used()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = PoissonRegression(support_size=k, thread=1).fit(X, y)
            seconds = used() - before
            found = bestset("fit", "poisson", X, y, None, None, "-k", str(k), "--lambda2", "1e-3", "--prove", "0")
            both = fit_on("poisson", X, y, np.flatnonzero(theirs.coef_)), fit_on("poisson", X, y, np.flatnonzero(found["beta"]))
            rows.append(f"| {n}, {p} | {k} | {both[0]:.4f} | {both[1]:.4f} | {seconds:.2f} | {found['cpu']:.2f} |")
    return rows


def beside_lasso(bestset: Bestset) -> list[str]:
    """min Σ loss + λ1 Σ|b_j| on the columns as they are, for a few λ1; the harness's own gap."""
    rows = ["| n, p | λ1 / λ1_max | solver | objective − best, relative | processor seconds |", "|---|---|---|---|---|"]
    for n, p in ((500, 1000), (200, 5000)):
        X, y, *_ = drawn("poisson", n, p, 10, 0.3)
        largest = np.max(np.abs(X.T @ (y - y.mean())))
        for share in (0.3, 0.1):
            l1 = share * largest

            def objective(b0, b):
                return deviance("poisson", y, np.clip(b0 + X @ b, -700, 700), np.ones(n)) / 2 + l1 * np.abs(b).sum()

            found = []
            own = bestset("fit", "poisson", X, y, None, None, "--lambda0", "0", "--lambda1", repr(l1), "--lambda2", "0", "--standardize", "none", "--prove", "0")
            found.append(("bestset (reads a file of text)", objective(own["intercept"], own["beta"]), own["cpu"]))
            program = f"library(glmnet); t <- proc.time(); g <- glmnet(x, y, family = 'poisson', standardize = FALSE, lambda = {largest / n} * exp(seq(0, log({share}), length = 10)), thresh = 1e-12, maxit = 1e6); cpu <- sum((proc.time() - t)[1:2]); b <- as.numeric(coef(g)[, 10]); dev <- 0; ll <- 0"
            if (of_r := r(program, X, y, np.ones(n), np.zeros(n))) is not None:
                found.append(("glmnet, ten λ down to it", objective(of_r["coef"][0], np.array(of_r["coef"][1:])), of_r["cpu"]))
            try:
                from skglm import GeneralizedLinearEstimator
                from skglm.datafits import Poisson
                from skglm.penalties import L1
                from skglm.solvers import ProxNewton

                for repeat in range(2):
                    before = used()
                    made = GeneralizedLinearEstimator(Poisson(), L1(l1 / n), ProxNewton(tol=1e-9, fit_intercept=True)).fit(X, y)
                    seconds = used() - before
                found.append(("skglm", objective(float(np.ravel(made.intercept_)[0]), np.ravel(made.coef_)), seconds))
            except Exception as error:  # noqa: BLE001: said, not hidden
                rows.append(f"| {n}, {p} | {share} | skglm: {type(error).__name__} | | |")
            best = min(f[1] for f in found)
            rows += [f"| {n}, {p} | {share} | {name} | {(value - best) / best:.1e} | {seconds:.2f} |" for name, value, seconds in found]
    return rows


PARTS = {
    "references": ("Without a penalty, with weights and an offset", references),
    "proofs": ("Proofs: n = 500, p = 1000, ten true features, at the price that EBIC chooses, at most 60 s", proofs),
    "abess": ("The same sizes beside abess, Poisson: deviance of the fit on the support", beside_abess),
    "lasso": ("λ0 = 0 beside glmnet and skglm, Poisson", beside_lasso),
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--binary", type=Path, default=BENCH.parent / "target" / "release" / "bestset")
    asked.add_argument("--parts", default=",".join(PARTS))
    given = asked.parse_args()
    bestset, file = Bestset(given.binary), BENCH / "FAMILIES.md"
    known = {}
    if file.exists():
        for part in file.read_text().split("\n## ")[1:]:
            title, _, body = part.partition("\n")
            known[title] = body.strip().splitlines()
    for name in given.parts.split(","):
        title, make = PARTS[name]
        known[title] = make(bestset)
        print(title, *known[title], sep="\n", flush=True)
    head = "# Families of responses\n\nMade by `python bench/families.py`; processor seconds on a shared machine, of one thread.\n"
    parts = [f"\n## {title}\n\n" + "\n".join(known[title]).strip() + "\n" for title, _ in PARTS.values() if title in known]
    file.write_text(head + "".join(parts))


if __name__ == "__main__":
    main()
