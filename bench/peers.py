"""One small adapter per peer: our penalties in, its own call, coefficients out.

An adapter `prepare(problem, job)` does what is not to be timed (imports, conversion of the penalties, wrapping the
data) and returns a function that makes one complete, cold call. It converts (lambda0, lambda1, lambda2) of

    P(beta) = sum of losses + lambda0 ||beta||_0 + lambda1 ||beta||_1 + lambda2 ||beta||_2^2

to the peer's own scaling; `check_conversions.py` proves each conversion on small problems. Libraries are imported
inside the adapters, so that this file can be read where they are not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from objective import lambda1_max
from problem import Problem


@dataclass
class Job:
    """What is asked of one call: `tolerance` in the peer's own unit, `variant` one of the peer's settings."""

    tolerance: float = 1e-8
    variant: str = ""
    time_limit: float = 60.0
    support_size: int = 0


@dataclass
class Answer:
    """Coefficients, and what the solver itself claims: a lower bound of P if it has one, and how it ended.

    `dual` is a dual point alpha (at lambda2 = 0, any multiple of one), for solvers that keep a better one than
    the derivative of the loss at their coefficients.
    """

    beta: np.ndarray
    lower_bound: float | None = None
    status: str = ""
    dual: np.ndarray | None = None


@dataclass(frozen=True)
class Peer:
    """A solver of the table. `reason(problem)` says why it does not apply to a problem, and is empty when it does."""

    name: str
    package: str
    prepare: Callable[[Problem, Job], Callable[[], Answer]]
    reason: Callable[[Problem], str]
    variants: Callable[[Problem], tuple[str, ...]] = lambda problem: ("",)
    environment: str = "peers"
    #: tolerances tried at lambda0 = 0, loose to tight, and the one used at lambda0 > 0
    loosest: float = 1e-3
    tightest: float = 1e-16
    tolerance: float = 1e-8
    #: chooses the support by a criterion without lambda1: the harness also minimises P on the support it returns
    refit: bool = False


def elastic_net(problem: Problem, ridge_factor: float = 1.0) -> tuple[float, float]:
    """(alpha, l1_ratio) of  mean loss + alpha (l1_ratio ||b||_1 + (1-l1_ratio)/2 ||b||^2)  =  P / n.

    `ridge_factor` multiplies lambda2, for the peer that divides it again.
    """
    total = problem.lambda1 + 2.0 * problem.lambda2 * ridge_factor
    return total / problem.shape[0], problem.lambda1 / total


def lambda_path(problem: Problem, variant: str, alpha: float, l1_ratio: float) -> np.ndarray:
    """The target alpha alone (`single`), or ten values down to it from the one that gives zero (`path`)."""
    if variant == "single":
        return np.array([alpha])
    top = lambda1_max(problem.loss, problem.X, problem.y) / (l1_ratio * problem.shape[0])
    return np.geomspace(max(top, alpha), alpha, 10)


def convex_only(problem: Problem) -> str:
    return "" if problem.is_convex else "solves lambda0 = 0 only"


def lasso_if_logistic(problem: Problem) -> str:
    if problem.loss == "logistic" and problem.lambda2 > 0:
        return "no ridge term with the logistic loss"
    return convex_only(problem)


def celer(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Mean of squared losses + alpha (l1_ratio ||b||_1 + (1-l1_ratio)/2 ||b||^2); *sum* of logistic losses.

    It extrapolates its dual point, theta = -alpha / lambda1 up to a factor, and stops by the gap at that point.
    """
    from celer import celer_path

    common = {"tol": job.tolerance, "max_iter": 1000, "max_epochs": 100_000, "return_thetas": True}
    if problem.loss == "squared":
        alpha, l1_ratio = elastic_net(problem)
        kind = "lasso"
        common |= {"alphas": [alpha], "l1_ratio": l1_ratio, "prune": job.variant == "prune"}
    else:
        kind = "logreg"
        common |= {"alphas": [problem.lambda1], "use_PN": job.variant == "newton"}

    def run() -> Answer:
        _, coefficients, _, thetas = celer_path(problem.X, problem.y, kind, **common)
        dual = None if problem.lambda2 > 0 else -problem.lambda1 * thetas[0]
        return Answer(coefficients[:, 0], dual=dual)

    return run


def skglm(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Mean of losses + alpha (l1_ratio ||b||_1 + (1-l1_ratio)/2 ||b||^2); tolerance on the optimality residual."""
    from skglm.datafits import Logistic, Quadratic
    from skglm.penalties import L1, L1_plus_L2
    from skglm.solvers import AndersonCD, ProxNewton

    alpha, l1_ratio = elastic_net(problem)
    penalty = L1(alpha) if problem.lambda2 == 0 else L1_plus_L2(alpha, l1_ratio)
    datafit = Quadratic() if problem.loss == "squared" else Logistic()
    if job.variant == "newton":
        solver = ProxNewton(tol=job.tolerance, max_iter=1000, max_pn_iter=10_000, fit_intercept=False)
    else:
        solver = AndersonCD(tol=job.tolerance, max_iter=1000, max_epochs=1_000_000, fit_intercept=False)
    return lambda: Answer(solver.solve(problem.X, problem.y, datafit, penalty)[0])


def scikit_learn(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Elastic net as above, by coordinate descent; logistic: ||b||_1 + C (sum of losses), by liblinear."""
    from sklearn.linear_model import ElasticNet, LogisticRegression

    common = {"fit_intercept": False, "tol": job.tolerance, "max_iter": 10**6}
    if problem.loss == "squared":
        alpha, l1_ratio = elastic_net(problem)
        model = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, **common)
    else:
        common |= {"solver": "liblinear", "random_state": 0}
        model = LogisticRegression(l1_ratio=1.0, C=1.0 / problem.lambda1, **common)
    return lambda: Answer(np.array(model.fit(problem.X, problem.y).coef_).ravel())


def glmnet(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Mean of losses + lambda (a ||b||_1 + (1-a)/(2s) ||b||^2), s = 1 for the logistic loss.

    For the squared loss it divides y by its standard deviation s (about the mean, also without intercept), and lambda
    with it, which leaves its ridge term weaker by s than its documentation says: it is given s lambda2.
    """
    from glmnet import ElasticNet, LogitNet

    squared = problem.loss == "squared"
    scale = float(np.std(problem.y)) if squared else 1.0
    alpha, l1_ratio = elastic_net(problem, ridge_factor=scale)
    model = (ElasticNet if squared else LogitNet)(
        alpha=l1_ratio,
        lambda_path=lambda_path(problem, job.variant, alpha, l1_ratio),
        standardize=False,
        fit_intercept=False,
        n_splits=0,
        tol=job.tolerance,
        max_iter=10**7,
    )
    return lambda: Answer(np.asarray(model.fit(problem.X, problem.y).coef_path_)[..., -1].reshape(-1))


def adelie(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Mean of losses + lambda (a ||b||_1 + (1-a)/2 ||b||^2), groups of size one."""
    import adelie as ad

    sparse = problem.format == "csc"
    X = ad.matrix.sparse(problem.X, method="naive", n_threads=1) if sparse else problem.X
    squared = problem.loss == "squared"
    glm = ad.glm.gaussian(problem.y) if squared else ad.glm.binomial((problem.y + 1.0) / 2.0)
    alpha, l1_ratio = elastic_net(problem)
    options = {
        "alpha": l1_ratio,
        "lmda_path": lambda_path(problem, job.variant, alpha, l1_ratio),
        "intercept": False,
        "early_exit": False,
        "tol": job.tolerance,
        "irls_tol": job.tolerance,
        "n_threads": 1,
        "progress_bar": False,
    }
    return lambda: Answer(np.asarray(ad.grpnet(X, glm, **options).betas[-1].todense()).ravel())


def el0ps_reason(problem: Problem) -> str:
    if problem.is_convex:
        return "needs lambda0 > 0"
    n, p = problem.shape
    return f"takes a dense matrix only, {8e-9 * n * p:.1f} GB here" if problem.format == "csc" else ""


def el0ps(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Branch and bound on sum of losses + lambda0 ||b||_0 + sum_j (lambda1 |b_j| + lambda2 b_j^2): exactly P."""
    from el0ps.datafit import Leastsquares, Logistic
    from el0ps.penalty import L1L2norm, L2norm
    from el0ps.solver import BnbSolver

    class Recording(BnbSolver):
        """Keeps the lower bound of the tree, which the package's own result leaves out."""

        def package_results(self, wrapped, results):
            self.lower_bound = float(results.bound)
            return super().package_results(wrapped, results)

    datafit = Leastsquares(problem.y) if problem.loss == "squared" else Logistic(problem.y)
    l1, l2 = problem.lambda1, problem.lambda2
    penalty = L2norm(l2) if l1 == 0 else L1L2norm(l1, l2)

    def run() -> Answer:
        solver = Recording(time_limit=job.time_limit, relative_gap=job.tolerance)
        result = solver.solve(datafit, penalty, problem.X, problem.lambda0)
        return Answer(np.array(result.x), solver.lower_bound, f"{result.status.value}, {result.iter_count} nodes")

    return run


def l0bnb_reason(problem: Problem) -> str:
    if problem.loss != "squared" or problem.lambda1 != 0 or problem.is_convex:
        return "solves the squared loss with lambda1 = 0 < lambda0 only"
    return "takes a dense matrix only" if problem.format == "csc" else ""


def l0bnb(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Branch and bound on P with lambda1 = 0 and a box |b| <= M.

    M = ||y|| / sqrt(2 lambda2) never binds: lambda2 b_j^2 <= P(beta) <= P(0) = ||y||^2 / 2 at any minimiser. Where
    M >= sqrt(lambda0 / lambda2) its relaxation does not depend on M, so that a large M costs it nothing.
    """
    from l0bnb import BNBTree

    box = float(np.linalg.norm(problem.y)) / np.sqrt(2.0 * problem.lambda2)

    def run() -> Answer:
        tree = BNBTree(problem.X, problem.y)
        found = tree.solve(problem.lambda0, problem.lambda2, box, gap_tol=job.tolerance, time_limit=job.time_limit)
        # it begins with gap_tol + 1, and has no bound before the root is left
        known = found.gap < 1.0
        unfinished = "time limit" if found.sol_time >= job.time_limit else "tree exhausted"
        status = "gap reached" if found.gap <= job.tolerance else unfinished
        bound = float(found.cost) * (1.0 - float(found.gap)) if known else None
        return Answer(found.beta, bound, f"{status}, {tree.number_of_nodes} nodes")

    return run


def abess_reason(problem: Problem) -> str:
    return "needs a support size" if problem.is_convex else ""


def abess(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Splicing at a given support size; no lambda1, no bound. Ridge: alpha = 2 lambda2 (squared), lambda2 (logistic).

    With its own `alpha` its exchange rule for the squared loss ends in supports far from the best one (see
    `check_conversions.py`), so it is also run on the same criterion written without alpha, as `rows`: p more rows
    sqrt(2 lambda2) I below X and zeros below y; or, where that matrix is too large, with `no ridge` at all. An
    exchange must gain an absolute amount, so y is given in units where that amount is negligible; the coefficients
    of the squared loss scale with y.
    """
    from abess import LinearRegression, LogisticRegression

    p = problem.shape[1]
    X, y, scale = problem.X, problem.y, 1.0
    alpha = 2.0 * problem.lambda2
    if problem.loss == "squared":
        scale = 1000.0 / float(np.sqrt(np.mean(y**2)))
        y = y * scale
    else:
        alpha, y = problem.lambda2, (y > 0).astype(int)
    if job.variant == "rows":
        X = np.asfortranarray(np.vstack([X, np.sqrt(2.0 * problem.lambda2) * np.eye(p)]))
        y = np.concatenate([y, np.zeros(p)])
    if job.variant != "alpha":
        alpha = 0.0

    def run() -> Answer:
        model = (LinearRegression if problem.loss == "squared" else LogisticRegression)(
            support_size=[job.support_size], alpha=alpha, fit_intercept=False, thread=1
        )
        model.fit(X, y, is_normal=False)
        return Answer(np.asarray(model.coef_).ravel() / scale)

    return run


def abess_variants(problem: Problem) -> tuple[str, ...]:
    """The extra rows only where the enlarged dense matrix stays below a gigabyte."""
    if problem.loss != "squared":
        return ("alpha",)
    n, p = problem.shape
    affordable = problem.format == "dense" and 8 * (n + p) * p < 1e9
    return ("alpha", "rows" if affordable else "no ridge")


def plain_cd_reason(problem: Problem) -> str:
    if problem.loss != "squared" or problem.is_convex or problem.lambda2 == 0:
        return "the textbook baseline is written for the squared loss with lambda0, lambda2 > 0"
    return ""


def plain_cd(problem: Problem, job: Job) -> Callable[[], Answer]:
    """Textbook cyclic coordinate descent, first on R, then from its minimiser on P (`plain_cd.py`)."""
    from plain_cd import minimise

    return lambda: minimise(problem, job.tolerance, job.time_limit)


def celer_variants(problem: Problem) -> tuple[str, ...]:
    return ("", "prune" if problem.loss == "squared" else "newton")


def skglm_variants(problem: Problem) -> tuple[str, ...]:
    return ("",) if problem.loss == "squared" else ("", "newton")


def path_variants(problem: Problem) -> tuple[str, ...]:
    return ("single", "path")


PEERS = {
    peer.name: peer
    for peer in (
        Peer("celer", "celer", celer, lasso_if_logistic, celer_variants, tightest=1e-13),
        Peer("skglm", "skglm", skglm, convex_only, skglm_variants, loosest=1e-4),
        Peer("scikit-learn", "scikit-learn", scikit_learn, lasso_if_logistic),
        Peer("glmnet", "python-glmnet", glmnet, convex_only, path_variants, loosest=1e-7, tightest=1e-26),
        Peer("adelie", "adelie", adelie, convex_only, path_variants, loosest=1e-7, tightest=1e-24),
        Peer("el0ps", "el0ps", el0ps, el0ps_reason),
        Peer("l0bnb", "l0bnb", l0bnb, l0bnb_reason, environment="l0bnb", tolerance=1e-4),
        Peer("abess", "abess", abess, abess_reason, abess_variants, refit=True),
        Peer("plain-cd", "numba", plain_cd, plain_cd_reason, tolerance=1e-6),
    )
}
