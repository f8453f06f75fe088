"""Trees of the logistic loss with the dual bound alone, and with the least squares below it at every node: nodes and seconds.

    python bench/families/region_tree.py golub.csv.gz

Best bound first, the rules of exclusion and inclusion at every node, branching on the coefficient whose envelope charges nearest to half its price. The
first tree has D of every node, the second also the bound of the least squares problem on the region P <= best (region.py), searched with at most so many
nodes of its own. Answers are known to both from the start.
"""

from __future__ import annotations

import csv
import gzip
import heapq
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import bestset
import numpy as np
from region import losses, scaled, secants, slopes

MOST = int(os.environ.get("MOST", "400"))


def relaxed(X, y, l0, l2, fixed, b, best_known, rounds=3000):
    """D, its point, its correlations and R's minimiser; until the node is closed or D is near R."""
    n, p = X.shape
    Z = np.hstack([X, np.ones((n, 1))])
    lipschitz = 0.25 * np.linalg.norm(Z, 2) ** 2
    kink, slope = np.sqrt(l0 / l2), 2 * np.sqrt(l0 * l2)
    z, pace, best, found = b, 1.0, -np.inf, None

    def step(v):
        size = np.abs(v)
        near, far = np.maximum(size - slope / lipschitz, 0), size * lipschitz / (lipschitz + 2 * l2)
        return np.sign(v) * np.where(fixed, far, np.where(near <= kink, near, np.maximum(far, kink)))

    for round_ in range(1, rounds + 1):
        new = z - Z.T @ slopes(Z @ z, y) / lipschitz
        new[:-1] = step(new[:-1])
        faster = 1.0 if (z - new) @ (new - b) > 0 else (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        z, b, pace = new + (pace - 1) / faster * (new - b), new, faster
        if round_ % 40 == 0:
            u, c = X @ b[:-1], b[-1]
            for _ in range(30):
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
                best, found = value, (u, alpha, tau)
            left = losses(u, y).sum() + envelope - best
            if best >= best_known or left < 1e-2 * (best_known - best):
                break
    return best, found, b


def grown(X, y, l0, l2, most, least_squares):
    p, start = X.shape[1], time.process_time()
    free, inside = np.arange(p), np.zeros(p, bool)
    heap, nodes, inner, count, closed = [(-np.inf, 0, free, inside[free], np.zeros(p + 1))], 0, 0, 0, 0
    kink = np.sqrt(l0 / l2)
    while heap and nodes < MOST:
        bound, _, columns, fixed, b = heapq.heappop(heap)
        nodes += 1
        own = X[:, columns]
        value, (u, alpha, tau), b = relaxed(own, y, l0, l2, fixed, b, most)
        value = max(value, bound)
        if value >= most:
            continue
        worth = l0 - tau**2 / (4 * l2)
        keep = fixed | (value + np.maximum(worth, 0) < most)
        fixed = fixed | (value + np.maximum(-worth, 0) >= most)
        columns, fixed, b = columns[keep], fixed[keep], b[np.append(keep, True)]
        if least_squares:
            gap = most - value
            m = secants(u, alpha, y, gap)
            below = bestset.solve(np.asfortranarray(X[:, columns]), u - alpha / m, l0, loss="squared", sample_weight=m, lambda2=l2, standardize=False,
                                  price=np.where(fixed, 0.0, 1.0), method="exact", max_nodes=least_squares, threads=1)
            inner += below.n_iter
            lower = below.lower_bound + losses(u, y).sum() - (alpha**2 / (2 * m)).sum() + l0 * fixed.sum()
            value = max(value, lower)
            if value >= most:
                closed += 1
                continue
        part = np.where(fixed, np.inf, np.abs(np.minimum(np.abs(b[:-1]) / kink, 1) - 0.5))
        at = int(np.argmin(part))
        if not np.isfinite(part[at]):
            continue
        taken = fixed.copy()
        taken[at] = True
        left = np.arange(len(columns)) != at
        for child in ((columns, taken, b), (columns[left], fixed[left], b[np.append(left, True)])):
            count += 1
            heapq.heappush(heap, (value, count, *child))
    lowest = min([h[0] for h in heap], default=most)
    return nodes, inner, closed, lowest, time.process_time() - start


def main():
    with gzip.open(sys.argv[1], "rt") as opened:
        rows = list(csv.reader(opened))[1:]
    X = scaled(np.array([[float(v) for v in row[:-1]] for row in rows]))
    y = np.where([row[-1] == rows[0][-1] for row in rows], -1.0, 1.0)
    print("| λ2 | P | bound of nodes | nodes | closed by least squares | nodes of least squares | bound | seconds of the processor |\n|---|---|---|---|---|---|---|---|", flush=True)
    for l2 in map(float, sys.argv[2:] or ("0.05", "0.01")):
        start = time.process_time()
        whole = bestset.solve(np.asfortranarray(X), y, 1.0, loss="logistic", lambda2=l2, standardize=False, method="exact", threads=1)
        took = time.process_time() - start
        print(f"| {l2} | {whole.objective:.4f} | exact as it is | {whole.n_iter} | | | {whole.lower_bound:.4f} | {took:.1f} |", flush=True)
        for allowed in (0, 1, 20):
            most = whole.objective * (1 - 1e-6)
            nodes, inner, closed, bound, seconds = grown(X, y, 1.0, l2, most, allowed)
            name = "D alone" if not allowed else f"and least squares, {allowed} nodes each"
            print(f"| {l2} | {whole.objective:.4f} | {name} | {nodes} | {closed if allowed else ''} | {inner if allowed else ''} | {bound:.4f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
