"""What curvature on the region P <= best would gain for the logistic loss: a prototype, no part of the solver.

    python bench/families/region.py [golub.csv.gz] > bench/families/REGION.md

For every point that is better than the best one known, sum of B_i(u_i) <= P - D(alpha), where B_i is the Bregman divergence of the loss from
u°_i with l'(u°_i) = alpha_i. Each u_i lies in an interval, B_i(u) >= m_i (u - u°_i)^2 / 2 there with the least secant m_i, and P is at least the
best subset of a least squares problem with weights m_i, to which all rules of least squares apply. The bound of that problem is set beside the
dual bound D of the same node: the root, and nodes with the largest coefficients of the answer fixed in.
"""

from __future__ import annotations

import csv
import gzip
import sys

import bestset
import numpy as np

# Seconds for a proof.
LIMIT = 15.0


def losses(u, y):
    return np.logaddexp(0, -y * u)


def slopes(u, y):
    return -y / (1 + np.exp(y * u))


def relaxed(X, y, l0, l2, fixed, rounds=4000):
    """The dual bound of a node and its point, by an accelerated gradient method; `fixed` are in."""
    n, p = X.shape
    lipschitz = 0.25 * (np.linalg.norm(X, 2) ** 2 + n)
    kink, slope = np.sqrt(l0 / l2), 2 * np.sqrt(l0 * l2)
    Z = np.hstack([X, np.ones((n, 1))])
    b = z = np.zeros(p + 1)
    pace, best, point = 1.0, -np.inf, None

    def step(v):
        size = np.abs(v)
        near, far = np.maximum(size - slope / lipschitz, 0), size * lipschitz / (lipschitz + 2 * l2)
        return np.sign(v) * np.where(fixed, far, np.where(near <= kink, near, np.maximum(far, kink)))

    for round_ in range(1, rounds + 1):
        new = z - Z.T @ slopes(Z @ z, y) / lipschitz
        new[:-1] = step(new[:-1])
        faster = 1.0 if (z - new) @ (new - b) > 0 else (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        z, b, pace = new + (pace - 1) / faster * (new - b), new, faster
        if round_ % 50 == 0:
            u, c = X @ b[:-1], b[-1]
            for _ in range(50):
                share = 1 / (1 + np.exp(y * (u + c)))
                c += (y * share).sum() / (share * (1 - share)).sum()
            u = u + c
            alpha = slopes(u, y)
            tau = X.T @ alpha
            q = np.clip(np.abs(alpha), 1e-300, 1 - 1e-16)
            each = l0 - tau**2 / (4 * l2)
            value = -(q * np.log(q) + (1 - q) * np.log1p(-q)).sum() + np.where(fixed, each, np.minimum(0, each)).sum()
            size = np.abs(b[:-1])
            envelope = np.where(fixed | (size > kink), l0 + l2 * size**2, slope * size).sum()
            if value > best:
                best, point = value, (u, alpha)
            if losses(u, y).sum() + envelope - best < 1e-7 * best:
                break
    return best, point


def secants(u, alpha, y, gap):
    """m_i: B_i(v) >= m_i (v - u_i)^2 / 2 wherever B_i(v) <= gap. The least is at an end or at u_i, since l'' rises and then falls."""
    def divergence(v):
        return losses(v, y) - losses(u, y) - alpha * (v - u)

    m = 1 / (2 + 2 * np.cosh(u))
    for side in (1, -1):
        low, high = np.zeros_like(u), np.ones_like(u)
        for _ in range(60):
            high = np.where(divergence(u + side * high) < gap, 2 * high, high)
        for _ in range(80):
            middle = (low + high) / 2
            inside = divergence(u + side * middle) < gap
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        m = np.minimum(m, 2 * gap / high**2)
    return m


def compared(name, X, y, l0, l2):
    X = np.asfortranarray(X)
    words = {"lambda2": l2, "standardize": False, "method": "exact", "time_limit": LIMIT}
    whole = bestset.solve(X, y, l0, loss="logistic", **words)
    order = whole.support[np.argsort(-np.abs(whole.coef[whole.support]))]
    for depth in (0, 2, 4):
        fixed = np.isin(np.arange(X.shape[1]), order[:depth])
        bound, (u, alpha) = relaxed(X, y, l0, l2, fixed)
        gap = whole.objective - bound
        if gap <= 1e-6 * whole.objective:
            print(f"| {name} | {l2} | {depth} | {whole.objective:.4f} | {bound:.4f} | closed | | | |", flush=True)
            continue
        m = secants(u, alpha, y, gap)
        below = bestset.solve(X, u - alpha / m, l0, loss="squared", sample_weight=m, price=np.where(fixed, 0.0, 1.0), **words)
        value = below.lower_bound + losses(u, y).sum() - (alpha**2 / (2 * m)).sum() + l0 * depth
        share = np.median(m * (2 + 2 * np.cosh(u)))
        print(f"| {name} | {l2} | {depth} | {whole.objective:.4f} | {bound:.4f} | {value:.4f} | {(value - bound) / gap:.0%} | {share:.2f} | {below.n_iter} |", flush=True)
    print(f"| {name} | {l2} | exact as it is | {whole.objective:.4f} | {whole.lower_bound:.4f} | {whole.status} | | | {whole.n_iter} |", flush=True)


def scaled(X):
    X = X - X.mean(axis=0)
    size = np.linalg.norm(X, axis=0)
    return X[:, size > 0] / size[size > 0]


def main():
    print("# Curvature on the region of better points, logistic loss: a prototype\n")
    print(__doc__.split("\n\n", 2)[2].strip() + "\n")
    print("| problem | λ2 | fixed in | P | D | bound of the least squares below | part of the gap | median of m/l'' | nodes |\n|---|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    X, true = rng.standard_normal((500, 1000)), np.arange(10)
    y = np.where(rng.uniform(size=500) < 1 / (1 + np.exp(-X[:, true] @ rng.choice([-1.0, 1.0], 10))), 1.0, -1.0)
    for l2 in (0.01, 0.05):
        compared("n = 500, p = 1000", scaled(X), y, 4.0, l2)
    for file in sys.argv[1:]:
        with gzip.open(file, "rt") as opened:
            rows = list(csv.reader(opened))[1:]
        X = np.array([[float(v) for v in row[:-1]] for row in rows])
        y = np.where([row[-1] == rows[0][-1] for row in rows], -1.0, 1.0)
        for l2 in (0.01, 0.05):
            compared("golub", scaled(X), y, 1.0, l2)


if __name__ == "__main__":
    main()
