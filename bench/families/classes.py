"""Multinomial regression beside nnet, statsmodels, glmnet and abess: writes bench/families/CLASSES.md's figures to standard output.

    cargo build --release -p bestset --example many_classes
    python bench/families/classes.py target/release/examples/many_classes

needs numpy; statsmodels, abess and R's nnet and glmnet where they are there (what is missing is said).
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PROGRAM = sys.argv[1]
FOLDER = Path(tempfile.mkdtemp())


def simulated(n: int, p: int, true: int, classes: int, seed: int, unit: bool):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    if unit:
        x = (x - x.mean(axis=0)) / np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=0))
    b = np.zeros((p, classes))
    b[:true] = rng.choice([-1.0, 1.0], (true, classes)) * rng.uniform(0.5, 1.5, (true, classes))
    scale = np.sqrt(n) if unit else 1.0
    u = scale * x @ b
    y = (u + rng.gumbel(size=u.shape)).argmax(axis=1)
    return x, y


def written(x, y) -> Path:
    file = FOLDER / f"{x.shape[0]}x{x.shape[1]}.csv"
    np.savetxt(file, np.column_stack([y, x]), delimiter=",", fmt="%.17g")
    return file


def cpu(run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bestset(method: str, file: Path, lambda0: float, lambda2: float, seconds: float, size: int | None = None):
    command = [PROGRAM, method, str(file), repr(lambda0), repr(lambda2), str(seconds)]
    command += [] if size is None else [str(size)]
    out, took = cpu(lambda: subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    number = lambda name: float(re.search(rf"{name} (\S+)", out).group(1))
    rows = [np.array(re.sub(r"[\[\],]", " ", r).split(), float) for r in re.findall(r"class \d+ (.*)", out)]
    features = [int(j) for j in re.search(r"features \[(.*)\]", out).group(1).split(",") if j.strip()]
    return {
        "status": re.search(r"status (.*) lambda0", out).group(1), "objective": number("objective"), "bound": number("bound"),
        "gap": number("gap"), "nodes": int(number("nodes")), "loss": number("loss"), "features": features,
        "classes": np.array(rows), "lambda0": number("lambda0"), "cpu": took,
    }


def deviance(x, y) -> float:
    """Twice the least loss of all columns, by statsmodels or by Newton's steps here."""
    n, classes = len(y), y.max() + 1
    z = np.column_stack([np.ones(n), x])
    theta, target = np.zeros((z.shape[1], classes)), np.eye(classes)[y]
    for _ in range(100):
        u = z @ theta
        q = np.exp(u - u.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        g = z.T @ (q - target)
        h = np.zeros((theta.size, theta.size))
        for a in range(classes):
            for c in range(classes):
                w = q[:, a] * ((a == c) - q[:, c])
                h[a::classes, c::classes] = z.T @ (z * w[:, None])
        theta -= np.linalg.lstsq(h, g.ravel(), rcond=1e-12)[0].reshape(theta.shape)
        if np.abs(g).max() < 1e-10:
            break
    u = z @ theta
    most = u.max(axis=1)
    return 2 * float((most + np.log(np.exp(u - most[:, None]).sum(axis=1)) - u[np.arange(n), y]).sum())


def r(code: str) -> str | None:
    try:
        return subprocess.run(["Rscript", "-e", code], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"  (R: {str(getattr(error, 'stderr', error)).strip().splitlines()[-1]})")
        return None


def on_a_support() -> None:
    print("## On a support: coefficients against the first class, largest difference\n")
    x, y = simulated(300, 4, 4, 3, 1, False)
    file = written(x, y)
    own = bestset("incremental", file, 0.0, 1e-9, 60)
    ours = (own["classes"][1:] - own["classes"][0])
    try:
        import statsmodels.api as sm

        fit = sm.MNLogit(y, sm.add_constant(x)).fit(method="newton", disp=0, maxiter=100, tol=1e-14)
        print(f"- statsmodels MNLogit: {np.abs(fit.params.T - ours).max():.1e}, log-likelihood {abs(fit.llf + own['loss']):.1e}")
    except ImportError:
        print("- statsmodels is not there")
    out = r(f'd <- read.csv("{file}", header = FALSE); f <- nnet::multinom(factor(V1) ~ ., d, trace = FALSE, reltol = 1e-16, abstol = 0, '
            'maxit = 5000); cat(format(rbind(t(coef(f)), 0), digits = 17)); cat("\\n", format(logLik(f), digits = 17))')
    if out:
        values = np.array(out.split("\n")[0].split(), float).reshape(2, -1)[:, :-1]
        print(f"- nnet::multinom: {np.abs(values - ours).max():.1e}, log-likelihood {abs(float(out.split()[-1]) + own['loss']):.1e}")
    print(f"- of its own here: loss {abs(deviance(x, y) / 2 - own['loss']):.1e}\n")


def a_proof() -> None:
    print("## Proof: n = 500, p = 1000, ten true features, three classes, columns of length one\n")
    print("| λ2 | λ0 of the largest | status | gap | nodes | processor s | features | true among them |\n|---|---|---|---|---|---|---|---|")
    x, y = simulated(500, 1000, 10, 3, 2, True)
    file = written(x, y)
    for lambda2, lambda0 in [(1.0, 0.3), (0.3, 0.3), (0.1, 0.3), (0.1, 0.2)]:
        own = bestset("exact", file, lambda0, lambda2, 60)
        true = len([j for j in own["features"] if j < 10])
        print(f"| {lambda2} | {lambda0} | {own['status']} | {own['gap']:.1e} | {own['nodes']} | {own['cpu']:.1f} | {len(own['features'])} | {true} |")
    print()


def beside_abess() -> None:
    print("## Beside abess: deviance of the features chosen, refitted without shrinkage by the same Newton steps\n")
    try:
        from abess.linear import MultinomialRegression
    except ImportError:
        print("abess is not there\n")
        return
    import time

    print("| n × p | seed | abess, size 10 | processor s | bestset, its own size | processor s | bestset's features |\n|---|---|---|---|---|---|---|")
    for n, p, seed in [(500, 200, 3), (500, 200, 4), (500, 1000, 2)]:
        x, y = simulated(n, p, 10, 3, seed, True)
        scaled = x * np.sqrt(n)
        file = written(x, y)
        own = None
        for lambda0 in np.geomspace(0.4, 0.03, 10):
            found = bestset("incremental", file, float(lambda0), 0.05, 60)
            if found["features"] and (own is None or len(found["features"]) <= 10):
                own, price = found, lambda0
            if len(found["features"]) >= 10:
                break
        size = len(own["features"])
        start = time.process_time()
        model = MultinomialRegression(support_size=size)
        model.fit(scaled, y)
        took = time.process_time() - start
        chosen = np.flatnonzero(np.abs(model.coef_).sum(axis=1 if model.coef_.shape[0] == p else 0))
        print(f"| {n} × {p} | {seed} | {deviance(scaled[:, chosen], y):.6f} (size {len(chosen)}) | {took:.2f} | "
              f"{deviance(scaled[:, own['features']], y):.6f} (size {size}) | {own['cpu']:.2f} | {own['features']} |")
    print()


if "support" in sys.argv[2:] or len(sys.argv) == 2:
    on_a_support()
if "proof" in sys.argv[2:] or len(sys.argv) == 2:
    a_proof()
if "abess" in sys.argv[2:] or len(sys.argv) == 2:
    beside_abess()
