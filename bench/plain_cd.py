"""Textbook coordinate descent for the squared loss: the yardstick, without screening, working sets or acceleration.

First the relaxation R is minimised by cyclic passes over all columns until its relative gap (R - D)/R is below the
tolerance or half the time is spent; then, from there, P by cyclic passes of the threshold operator T until no
coefficient moves. One loop serves dense and sparse designs: the column operations are passed in.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

import objective
from peers import Answer
from problem import Problem


@njit
def dense_dot(store, j, r):
    return np.dot(store[0][:, j], r)


@njit
def dense_axpy(store, j, step, r):
    r += step * store[0][:, j]


@njit
def sparse_dot(store, j, r):
    data, indices, indptr = store
    total = 0.0
    for k in range(indptr[j], indptr[j + 1]):
        total += data[k] * r[indices[k]]
    return total


@njit
def sparse_axpy(store, j, step, r):
    data, indices, indptr = store
    for k in range(indptr[j], indptr[j + 1]):
        r[indices[k]] += step * data[k]


@njit
def relaxed_update(z, c, lambda0, lambda1, lambda2):
    """argmin_b  c b^2/2 - z b + rho(b): zero below tau0 = lambda1 + 2 sqrt(lambda0 lambda2), two slopes above it."""
    tau0 = lambda1 + 2.0 * np.sqrt(lambda0 * lambda2)
    size = abs(z)
    if size <= tau0:
        return 0.0
    if (size - tau0) ** 2 * lambda2 <= lambda0 * c * c:
        return np.sign(z) * (size - tau0) / c
    return np.sign(z) * (size - lambda1) / (c + 2.0 * lambda2)


@njit
def threshold_update(z, c, lambda0, lambda1, lambda2):
    """T: argmin_b  c b^2/2 - z b + lambda0 [b != 0] + lambda1 |b| + lambda2 b^2."""
    size = abs(z) - lambda1
    if size <= 0.0 or size * size < 2.0 * lambda0 * (c + 2.0 * lambda2):
        return 0.0
    return np.sign(z) * size / (c + 2.0 * lambda2)


def make_sweep(dot, axpy, update):
    @njit
    def sweep(store, norms, beta, residual, lambda0, lambda1, lambda2):
        """One cyclic pass; returns the largest change of a fitted value it made, |step| ||x_j||."""
        largest = 0.0
        for j in range(len(beta)):
            c = norms[j]
            if c == 0.0:
                continue
            old = beta[j]
            new = update(dot(store, j, residual) + c * old, c, lambda0, lambda1, lambda2)
            if new != old:
                axpy(store, j, old - new, residual)
                beta[j] = new
                largest = max(largest, abs(new - old) * np.sqrt(c))
        return largest

    return sweep


SWEEPS = {
    "dense": (make_sweep(dense_dot, dense_axpy, relaxed_update), make_sweep(dense_dot, dense_axpy, threshold_update)),
    "csc": (make_sweep(sparse_dot, sparse_axpy, relaxed_update), make_sweep(sparse_dot, sparse_axpy, threshold_update)),
}


def minimise(problem: Problem, tolerance: float, time_limit: float) -> Answer:
    """R to relative gap `tolerance`, then P from R's minimiser to a fixed point of T."""
    start = time.perf_counter()
    X = problem.X
    dense = problem.format == "dense"
    store = (X,) if dense else (X.data, X.indices, X.indptr)
    norms = np.einsum("ij,ij->j", X, X) if dense else np.asarray(X.multiply(X).sum(axis=0)).ravel()
    penalties = (problem.lambda0, problem.lambda1, problem.lambda2)
    sweep_relaxed, sweep_threshold = SWEEPS[problem.format]
    beta, residual = np.zeros(X.shape[1]), problem.y.copy()

    lower_bound, gap, passes = -np.inf, np.inf, 0
    while gap > tolerance and time.perf_counter() - start < time_limit / 2:
        for _ in range(10):
            sweep_relaxed(store, norms, beta, residual, *penalties)
        passes += 10
        lower_bound = max(lower_bound, objective.dual(problem, -residual))
        value = objective.relaxation(problem, beta)
        gap = (value - lower_bound) / abs(value)

    scale = float(np.linalg.norm(problem.y))
    while time.perf_counter() - start < time_limit:
        if sweep_threshold(store, norms, beta, residual, *penalties) <= 1e-9 * scale:
            break
    return Answer(beta, lower_bound, f"relaxation gap {gap:.0e} after {passes} passes")
