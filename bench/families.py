"""Families of responses beside R's glm, MASS, statsmodels, abess, glmnet and skglm; proofs are in families/proofs.py.

    python bench/families.py [--parts references,abess,cox,classes,draws,fresh,lasso]

Needs statsmodels, abess and skglm, and Rscript with glmnet and MASS for their rows: what is missing is said and left out. One thread each;
times are of the processor. Writes FAMILIES.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import bestset
import numpy as np
from scipy.special import gammaln, xlogy

BENCH = Path(__file__).parent
THETA = 2.0
DRAWS = range(11, 15)
FRESH = 70_001
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


LOSSES = {"gaussian": "squared", "binomial": "logistic", "poisson": "poisson", "gamma": "gamma", "negbin": "negative_binomial"}


def fitted(family: str, X, y, weights=None, offset=None, **more):
    """bestset.solve with one thread, and its processor seconds."""
    X = np.asfortranarray(X)
    if family == "binomial":
        y = 2 * y - 1
    if family == "negbin":
        more["theta"] = THETA
    before = used()
    found = bestset.solve(X, y, loss=LOSSES[family], sample_weight=weights, offset=offset, threads=1, **more)
    return found, used() - before


def r(program: str, X, y, weights, offset) -> dict | None:
    """Values printed as JSON by a program of R that has x, y, w and o."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "data.csv"
        np.savetxt(file, np.column_stack([X, y, weights, offset]), delimiter=",", fmt="%.17g")
        head = f'd <- as.matrix(read.csv("{file}", header = FALSE)); p <- ncol(d) - 3; x <- d[, 1:p]; y <- d[, p + 1]; w <- d[, p + 2]; o <- d[, p + 3]\n'
        show = '\ncat(sprintf("{\\"coef\\": [%s], \\"deviance\\": %.17g, \\"loglik\\": %.17g, \\"cpu\\": %.3f}", paste(sprintf("%.17g", b), collapse = ", "), dev, ll, cpu))'
        done = subprocess.run(["Rscript", "-e", head + program + show], capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 and done.stdout else None


def references() -> list[str]:
    """Coefficients, deviance and likelihood without a penalty, with weights and an offset."""
    import statsmodels.api as sm

    rows = ["| family | reference | largest difference of a coefficient, relative | deviance, relative | log-likelihood, relative |", "|---|---|---|---|---|"]
    words = {"gaussian": "gaussian()", "binomial": "binomial()", "poisson": "poisson()", "gamma": 'Gamma("log")', "negbin": f"MASS::negative.binomial({THETA})"}
    for family in FAMILIES:
        X, y, w, o, _ = drawn(family, 200, 5, 3, 0.4, extra=True)
        own, _ = fitted(family, X, y, w, o, lambda0=0.0, lambda2=0.0, prove=None, gap=1e-12)
        b = np.concatenate([[own.intercept], own.coef])
        u = b[0] + X @ b[1:] + o
        mine = (deviance(family, y, u, w), log_likelihood(family, y, u, w))
        kinds = {"gaussian": sm.families.Gaussian(), "binomial": sm.families.Binomial(), "poisson": sm.families.Poisson(), "gamma": sm.families.Gamma(sm.families.links.Log()), "negbin": sm.families.NegativeBinomial(alpha=1 / THETA)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = sm.GLM(y, sm.add_constant(X), family=kinds[family], freq_weights=w, offset=o).fit(tol=1e-15, tol_criterion="params", maxiter=500)
        likelihood = theirs.llf if family in ("binomial", "poisson", "negbin") else None
        found = [("statsmodels", theirs.params, theirs.deviance, likelihood)]
        # glm ends where the deviance stays, which knows half the digits of a coefficient: begun again where it ended, it goes on.
        program = f'fit <- function(from) suppressWarnings(glm(y ~ x, family = {words[family]}, weights = w, offset = o, start = from, control = list(epsilon = 1e-14, maxit = 500))); g <- fit(NULL); for (i in 1:30) g <- fit(coef(g)); b <- coef(g); dev <- deviance(g); ll <- as.numeric(logLik(g)); cpu <- 0'
        if (of_r := r(program, X, y, w, o)) is not None:
            # R counts samples, not weights, in the dispersion of Gamma.
            found.append(("R " + words[family], np.array(of_r["coef"]), of_r["deviance"], None if family in ("gamma", "negbin") else of_r["loglik"]))
        else:
            rows.append(f"| {family} | R: not there | | | |")
        for name, coef, dev, ll in found:
            off = np.max(np.abs(b - coef) / np.abs(coef))
            like = "–" if ll is None else f"{abs(mine[1] - ll) / abs(ll):.1e}"
            rows.append(f"| {family} | {name} | {off:.1e} | {abs(mine[0] - dev) / dev:.1e} | {like} |")
    return rows + references_of_classes()


def references_of_classes() -> list[str]:
    """Coefficients of three classes against the first one; shrinkage of 1e-12 makes them one answer and is below their digits."""
    import statsmodels.api as sm

    rng = np.random.default_rng(7)
    X = rng.standard_normal((300, 4))
    u = X @ rng.standard_normal((4, 3))
    y = np.argmax(u + rng.gumbel(size=u.shape), axis=1)
    own = bestset.solve(X, y.astype(float), loss="multinomial", lambda0=0.0, lambda2=1e-12, standardize=False, prove=None, gap=1e-16)
    each = np.column_stack([own.class_intercept, own.class_coef])
    b = (each[1:] - each[0]).T
    fit = sm.MNLogit(y, sm.add_constant(X)).fit(method="newton", disp=0, maxiter=100, tol=1e-15)
    found = [("statsmodels MNLogit", fit.params, fit.llf)]
    program = "d <- data.frame(x); fit <- function(...) nnet::multinom(factor(y) ~ ., d, trace = FALSE, reltol = 0, abstol = 0, maxit = 5000, ...); g <- fit(); for (i in 1:50) g <- fit(Wts = g$wts); b <- as.numeric(coef(g)); dev <- deviance(g); ll <- -dev / 2; cpu <- 0"
    if (of_r := r(program, X, y, np.ones(300), np.zeros(300))) is not None:
        found.append(("R nnet::multinom", np.array(of_r["coef"]).reshape(-1, 2), of_r["loglik"]))
    else:
        found.append(("R nnet::multinom: not there", np.full_like(b, np.nan), np.nan))
    minus = float(own.objective)
    return [f"| multinomial | {name} | {np.max(np.abs(b - coef) / np.abs(coef)):.1e} | {abs(minus + ll) / abs(ll):.1e} | {abs(minus + ll) / abs(ll):.1e} |" for name, coef, ll in found]


def fit_on(family: str, X, y, support) -> float:
    """The deviance of the fit on a support, by statsmodels."""
    import statsmodels.api as sm

    made = sm.GLM(y, sm.add_constant(X[:, support]), family=sm.families.Poisson()).fit(tol=1e-12, maxiter=200)
    return made.deviance


def beside_abess() -> list[str]:
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
            found, own = fitted("poisson", X, y, k=k, lambda2=1e-6, prove=None)
            both = fit_on("poisson", X, y, np.flatnonzero(theirs.coef_)), fit_on("poisson", X, y, found.support)
            rows.append(f"| {n}, {p} | {k} | {both[0]:.4f} | {both[1]:.4f} | {seconds:.2f} | {own:.2f} |")
            print(rows[-1], flush=True)
    return rows


def beside_lasso() -> list[str]:
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
            own, seconds = fitted("poisson", X, y, lambda0=0.0, lambda1=l1, lambda2=0.0, standardize=False, prove=None, gap=1e-10)
            found.append((f"bestset, gap {own.relative_gap:.0e}", objective(own.intercept, own.coef), seconds))
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


def cox_beside_abess() -> list[str]:
    from abess import CoxPHSurvivalAnalysis

    sys.path.insert(0, str(BENCH / "families"))
    from cox_proof import data, likelihood

    rows = ["| n, p | features | log partial likelihood, abess | bestset | processor seconds, abess | bestset |", "|---|---|---|---|---|---|"]
    for n, p, seed in ((500, 1000, 1), (200, 500, 2), (300, 100, 3)):
        X, times, _ = data(n, p, seed=seed)
        y = np.column_stack([times.time, times.event])
        for k in (5, 10, 15):
            before = used()
            theirs = CoxPHSurvivalAnalysis(support_size=[k], ic_type="ebic", thread=1).fit(X, y)
            seconds, before = used() - before, used()
            found = bestset.solve(X, times, loss="cox", k=k, lambda2=1e-6, prove=None, threads=1)
            own = used() - before
            both = likelihood(X, times, theirs.coef_), likelihood(X, times, found.coef)
            rows.append(f"| {n}, {p} | {k} | {both[0]:.5f} | {both[1]:.5f} | {seconds:.2f} | {own:.2f} |")
            print(rows[-1], flush=True)
    X, times, true = data()
    y = np.column_stack([times.time, times.event])
    before = used()
    theirs = CoxPHSurvivalAnalysis(support_size=range(29), ic_type="ebic", thread=1).fit(X, y)
    seconds, before = used() - before, used()
    found = bestset.solve(X, times, loss="cox", prove=None, threads=1)
    size = np.count_nonzero(theirs.coef_)
    rows.append(f"| 500, 1000 | EBIC: {size} and {len(found.support)} | | all true: {set(true) <= set(found.support)}, gap {found.relative_gap:.1%} | {seconds:.2f} | {used() - before:.2f} |")
    return rows


def class_deviance(X, y, support) -> float:
    """Twice the least negative log-likelihood on a support, by statsmodels."""
    import statsmodels.api as sm

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = sm.MNLogit(y, sm.add_constant(X[:, support])).fit(method="newton", disp=0, maxiter=100, tol=1e-12)
    return -2 * made.llf


def classes_beside_abess() -> list[str]:
    from abess import MultinomialRegression

    rows = ["| n, p, classes | features | deviance, abess | deviance, bestset | processor seconds, abess | bestset |", "|---|---|---|---|---|---|"]
    for n, p, count, seed in ((500, 200, 3, 1), (500, 1000, 3, 2), (500, 200, 5, 3), (300, 100, 4, 4)):
        rng = np.random.default_rng([seed, n, p, count])
        X = np.asfortranarray(rng.standard_normal((n, p)))
        u = X[:, :10] @ rng.standard_normal((10, count)) * 0.7
        y = np.argmax(u + rng.gumbel(size=u.shape), axis=1)
        for k in (5, 10):
            before = used()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = MultinomialRegression(support_size=k, thread=1).fit(X, y)
            seconds, before = used() - before, used()
            found = bestset.solve(X, y.astype(float), loss="multinomial", k=k, lambda2=1e-6, prove=None, threads=1)
            own = used() - before
            coef = theirs.coef_ if theirs.coef_.shape[0] == p else theirs.coef_.T
            chosen = np.flatnonzero(np.abs(coef).sum(axis=1))
            both = class_deviance(X, y, chosen), class_deviance(X, y, found.support)
            rows.append(f"| {n}, {p}, {count} | {len(chosen)}, {len(found.support)} | {both[0]:.4f} | {both[1]:.4f} | {seconds:.2f} | {own:.2f} |")
            print(rows[-1], flush=True)
    return rows


def correlated(rng, n: int, p: int, rho: float) -> np.ndarray:
    """Columns of which neighbours are correlated by rho: AR(1)."""
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho * rho) * X[:, j]
    return np.asfortranarray(X)


def draw(family: str, n: int, p: int, seed: int, rho: float = 0.5, scale: float = 1.0):
    """Ten features among correlated columns, coefficients `scale` times those of the families."""
    rng = np.random.default_rng([seed, n, p, len(family)])
    X, true = correlated(rng, n, p, rho), np.sort(rng.choice(p, 10, replace=False))
    signs = scale * rng.choice([-1.0, 1.0], 10)
    if family == "multinomial":
        u = X[:, true] @ rng.standard_normal((10, 3)) * 0.7 * scale
        return X, np.argmax(u + rng.gumbel(size=u.shape), axis=1).astype(float)
    if family == "cox":
        time = rng.exponential(np.exp(-X[:, true] @ (0.5 * signs)))
        censored = rng.exponential(np.quantile(time, 0.8), n)
        return X, bestset.Times(np.minimum(time, censored), time <= censored)
    return X, rng.poisson(np.exp(np.clip(X[:, true] @ (0.3 * signs) + 0.5, -20, 8))).astype(float)


def judged(family: str, X, y, support) -> float:
    """Twice the negative log-likelihood, or the deviance of counts, of the fit on a support: written out here, its coefficients by bestset."""
    sys.path.insert(0, str(BENCH / "families"))
    from cox_proof import likelihood

    own = np.asfortranarray(X[:, support])
    loss = family if family != "binomial" else "logistic"
    found = bestset.solve(own, y, loss=loss, lambda0=0.0, lambda2=1e-6, prove=None, threads=1)
    if family == "cox":
        return -2 * likelihood(own, y, found.coef)
    if family == "multinomial":
        u = found.class_intercept[:, None] + found.class_coef @ own.T
        top = u.max(axis=0)
        return float(2 * (top + np.log(np.exp(u - top).sum(axis=0)) - u[y.astype(int), np.arange(len(y))]).sum())
    return deviance("poisson", y, found.intercept + own @ found.coef, np.ones(len(y)))


def compared(family: str, X, y, k: int) -> tuple[float, float, float, float]:
    """Deviances of abess's support and of ours, refitted alike, and the processor seconds of both."""
    from abess import CoxPHSurvivalAnalysis, MultinomialRegression, PoissonRegression

    kind = {"poisson": PoissonRegression, "cox": CoxPHSurvivalAnalysis, "multinomial": MultinomialRegression}[family]
    target = np.column_stack([y.time, y.event]) if family == "cox" else y if family == "poisson" else y.astype(int)
    before = used()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = kind(support_size=[k], thread=1).fit(X, target)
    first, before = used() - before, used()
    found = bestset.solve(X, y, loss=family, k=k, lambda2=1e-6, prove=None, threads=1)
    second = used() - before
    coef = np.atleast_2d(theirs.coef_)
    coef = coef.T if coef.shape[0] != X.shape[1] else coef
    return judged(family, X, y, np.flatnonzero(np.abs(coef).sum(axis=1))), judged(family, X, y, found.support), first, second


def counted(cases) -> list[str]:
    """A row for every name of `cases`, (name, family, sizes, draws): how often the deviance of a size is equal, lower and higher than abess's."""
    rows = ["| family | draws of | features | draws | equal | lower | higher | largest excess | processor seconds, abess | bestset |", "|---|---|---|---|---|---|---|---|---|---|"]
    for name, family, sizes, draws in cases:
        for k in sizes:
            counts, excess, seconds = [0, 0, 0], 0.0, [0.0, 0.0]
            for words in draws:
                a, b, *took = compared(family, *draw(family, *words), k)
                seconds = [s + t for s, t in zip(seconds, took)]
                counts[0 if abs(a - b) <= 1e-6 * abs(a) else 1 if b < a else 2] += 1
                excess = max(excess, b - a)
                if b > a * (1 + 1e-6):
                    print(f"higher: {family} k={k} {words}: {a:.4f} {b:.4f}", flush=True)
            share = [s / len(draws) for s in seconds]
            rows.append(f"| {family} | {name} | {k} | {len(draws)} | {counts[0]} | {counts[1]} | {counts[2]} | {max(excess, 0):.3f} | {share[0]:.2f} | {share[1]:.2f} |")
            print(rows[-1], flush=True)
    return rows


COMPARED = ("poisson", "cox", "multinomial")


def other_draws() -> list[str]:
    """Draws that searches were looked at with."""
    shapes = ((200, 500), (500, 1000))
    return counted([(f"n = {n}, p = {p}", f, (5, 10, 15), [(n, p, seed) for seed in DRAWS]) for f in COMPARED for n, p in shapes])


def fresh_draws() -> list[str]:
    """Draws that no search was looked at with before it was what it is: other shapes, correlations and coefficients, a seed for each."""
    cases = []
    for family in COMPARED:
        seed = FRESH
        for n, p in ((150, 300), (250, 800), (500, 1000)):
            for rho, scale in ((0.0, 1.0), (0.8, 1.0), (0.3, 0.5), (0.9, 2.0)):
                cases.append((f"n = {n}, p = {p}, ρ = {rho}, coefficients × {scale}", family, (4, 8, 12), [(n, p, seed, rho, scale)]))
                seed += 1
    return counted(cases)


PARTS = {
    "references": ("Without a penalty, with weights and an offset", references),
    "abess": ("The same sizes beside abess, Poisson: deviance of the fit on the support", beside_abess),
    "cox": ("The same sizes beside abess, Cox: log partial likelihood", cox_beside_abess),
    "classes": ("The same sizes beside abess, many classes: deviance of the fit on the support", classes_beside_abess),
    "draws": ("The same sizes beside abess, other draws: neighbouring columns correlated by .5", other_draws),
    "fresh": ("The same sizes beside abess, draws that nothing was tuned on", fresh_draws),
    "lasso": ("λ0 = 0 beside glmnet and skglm, Poisson", beside_lasso),
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--parts", default=",".join(PARTS))
    given = asked.parse_args()
    file = BENCH / "FAMILIES.md"
    known = {}
    if file.exists():
        for part in file.read_text().split("\n## ")[1:]:
            title, _, body = part.partition("\n")
            known[title] = body.strip().splitlines()
    for name in given.parts.split(","):
        title, make = PARTS[name]
        known[title] = make()
        print(title, *known[title], sep="\n", flush=True)
    head = "# Families of responses\n\nMade by `python bench/families.py`; processor seconds on a shared machine, of one thread.\n"
    parts = [f"\n## {title}\n\n" + "\n".join(known[title]).strip() + "\n" for title, _ in PARTS.values() if title in known]
    file.write_text(head + "".join(parts))


if __name__ == "__main__":
    main()
