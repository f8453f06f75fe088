"""`solve` and `certify`: one answer, one certificate."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _input, _problem, _report, _result
from ._result import Certificate, Result


def solve(
    X: Any,
    y: ArrayLike,
    lambda0: float | None = None,
    lambda1: float = 0.0,
    lambda2: float | None = None,
    k: int | None = None,
    loss: str = "squared",
    method: str = "incremental",
    fit_intercept: bool = True,
    bounds: tuple[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
    gap: float = 1e-6,
    threads: int | None = None,
    warm_start: Result | ArrayLike | None = None,
    callback: Callable[[dict[str, float]], object] | None = None,
    *,
    criterion: str = "ebic",
    gamma: float = 1.0,
    max_size: int | None = None,
    prove: float | str | None = "auto",
    delta: float | None = None,
    theta: float | None = None,
    standardize: bool | str = True,
    offset: ArrayLike | None = None,
    price: ArrayLike | None = None,
    shrinkage: ArrayLike | None = None,
    always: Sequence[int | str] | None = None,
    never: Sequence[int | str] | None = None,
    groups: ArrayLike | None = None,
    group_prices: ArrayLike | None = None,
    top: int = 1,
    stop: str = "literal",
    max_iter: int | None = None,
    max_nodes: int | None = None,
    max_memory: int | None = None,
    trace: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    proof: str | os.PathLike[str] | None = None,
    proof_data: str | os.PathLike[str] | None = None,
    on_interrupt: str = "raise",
) -> Result:
    r"""The best subset of the features, and how good it is known to be.

    .. math::

        P(\beta, b) = \sum_i w_i\,\ell(x_i^\top\beta + b + o_i,\; y_i)
            + \lambda_0 \sum_j f_j [\beta_j \ne 0] + \lambda_1 \sum_j g_j |\beta_j| + \lambda_2 \sum_j g_j \beta_j^2

    is minimised, subject to the bounds and, if `k` is given, to at most `k` non-zero coefficients. Losses are summed,
    never averaged; the squared loss is :math:`\tfrac{1}{2} (y - u)^2`; the ridge term has no ½. Weights, factors
    :math:`f, g` and offsets are one, one and zero unless given. The penalty is put on columns of norm one
    (`standardize`); coefficients are those of the columns given. Without `lambda0` and `k` a path over `lambda0` is
    computed and `criterion` chooses, as in `BestSubsetRegressor` and on the command line.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), sparse matrix or data frame
        Not copied if it is a Fortran-ordered array of float64 or float32 (read-only and memory-mapped arrays
        included), or a CSC matrix of these types; anything else is copied once.
    y : array of shape (n_samples,)
        Targets; for a classification loss labels of two classes, the larger of which counts as +1.
    lambda0 : float, optional
        The price of a feature.
    lambda1 : float
        Price of absolute size.
    lambda2 : float, optional
        Price of squared size; None for 0.01 of the sum of squares of a column: a coefficient alone of least
        squares is shrunk by two percent, of other losses by more where samples say little (rare classes, small counts, few
        events). A lower bound needs ``lambda2 > 0`` or bounds on every coefficient; with ``lambda2=0`` least squares can be proved
        in some cases, which are listed in the guide under "What can be proved".
    k : int, optional
        The largest number of features, in place of a price.
    loss : {"squared", "huber", "logistic", "squared_hinge", "multinomial", "poisson", "gamma", "negative_binomial", "cox"}
        ``"multinomial"`` is for more than two classes, with a row of coefficients for each.
        ``"cox"`` is the partial likelihood of survival times, which y then is: `Times`, a structured array (event, time), or
        columns (time, event) or (entry, time, event); there is no intercept.
        With labels :math:`y = \pm 1`: :math:`\log(1 + e^{-yu})` and :math:`\max(0, 1 - yu)^2`. Huber: ½r² for a residual
        :math:`|r| \le \delta`, :math:`\delta|r| - \tfrac{1}{2}\delta^2` beyond. ``"poisson"``,
        ``"negative_binomial"`` and ``"gamma"`` are half the deviance of counts and of positive amounts whose mean is :math:`e^u`; ``offset=np.log(exposure)`` for counts of different exposure.
    method : str
        ``"incremental"``: the relaxation on a growing set of features, then a search, then `prove`. ``"exact"``:
        branch and bound until the gap is closed or a limit strikes. The published algorithms: ``"primal_dual"``,
        ``"primal_dual_plain"``, ``"dual_ascent"``, ``"dual_iht"``, ``"cdss"``.
    fit_intercept : bool
        Whether there is an unpenalised intercept b.
    bounds : (lower, upper), optional
        Numbers or arrays of shape (n_features,), on the scale of the columns given; they must contain zero. None stands
        for no bound: ``(0, None)`` is non-negativity.
    sample_weight : array of shape (n_samples,), optional
        Whole numbers count like so many copies of the sample; others weigh samples against each other, and criteria
        count the rows.
    time_limit : float, optional
        Seconds after which the best answer so far is returned, with a valid bound.
    gap : float
        Relative gap that counts as proved.
    threads : int, optional
        None: ``OMP_NUM_THREADS`` if it is set, else one per processor.
    warm_start : Result or array of shape (n_features,), optional
        Coefficients to start from, at a price or with a size.
    callback : callable, optional
        Called with every row of the trace, a dictionary, as it is made. A true return value ends the solve with the
        best answer so far.
    criterion : {"ebic", "bic", "aic", "gic", "cp", "adjusted_r2"}
        What chooses where neither `lambda0` nor `k` is given.
    gamma : float
        Of EBIC: how much the number of subsets of a size counts, from 0, which is BIC, up.
    max_size : int, optional
        The largest size that it compares; None for :math:`n/(\log p\,\log\log n)`, at most p and n/2.
    prove : "auto", float or None
        What is spent on closing the gap: as long again as the fit, two seconds at least, and 150 nodes at the
        most; or so many seconds; or nothing.
    delta : float, optional
        Of the Huber loss, in units of y; None for 1.345 times the spread of the residuals of a first fit, estimated by their
        median absolute deviation. `Result.delta` has what was taken.
    theta : float, optional
        Of the negative binomial, which needs it: the variance of a count of mean m is :math:`m + m^2/\theta`.
    standardize : bool, "norm" or "variance"
        The scale of the columns that the penalty is put on: with :math:`s_j` the norm of column j (centred, if there is
        an intercept), or its standard deviation for ``"variance"``, the penalty is
        :math:`\lambda_1 \sum s_j|\beta_j| + \lambda_2 \sum s_j^2\beta_j^2`. False: :math:`s_j = 1`. Coefficients are
        always those of the columns given. :math:`\lambda_0` does not depend on the scale.
    offset : array of shape (n_samples,), optional
        A fixed part o of the linear predictor.
    price : array of shape (n_features,), optional
        The factors f of `lambda0`.
    shrinkage : array of shape (n_features,), optional
        The factors g of `lambda1` and `lambda2`; a feature of factor 0 is not shrunk, and ``"exact"`` refuses it.
    always : sequence of int or str, optional
        Features free of `lambda0`, by index or by column name of a data frame. They are shrunk as others are, and in every model
        unless their best coefficient is exactly zero.
    never : sequence of int or str, optional
        Features kept out, by index or by column name.
    groups : array of shape (n_features,), optional
        Labels; features with the same label are selected together, at ``lambda0`` times the size of the group. With `k`
        a group counts for as many features as it has.
    group_prices : array, optional
        Other prices of the groups, in units of `lambda0`, in the order of ``numpy.unique(groups)``; times the mean of the
        factors `price` of their features.
    top : int
        How many of the best subsets ``"exact"`` looks for (``Result.ranked``).
    stop : {"literal", "patient"}
        When ``"primal_dual"``, ``"primal_dual_plain"`` and ``"dual_ascent"`` take their gap for no longer decreasing: at
        the first step that does not lower it, as their paper has it, or when it has not fallen for long.
    max_iter : int, optional
        The most iterations.
    max_nodes : int, optional
        The most nodes of branch and bound.
    max_memory : int, optional
        The most bytes taken besides the data; half of what the machine has to spare unless given.
    trace : bool
        Whether to keep the trace.
    checkpoint : path, optional
        A file that keeps what is done, and from which an interrupted call goes on: of the path, or with
        ``method="exact"`` of branch and bound. A single solve by another method, and anything with groups, have none.
    proof : path, optional
        A file for the proof of ``method="exact"``, which the program ``bestset-check`` verifies without this package. Where a
        limit strikes, a ConvergenceWarning says so; what there is of the proof waits in FILE.part, from where the same
        call with more time goes on. A search that is cut before waits in FILE.search unless ``checkpoint`` is given; those
        of other data or settings are kept as FILE.part-1 and FILE.search-1.
    proof_data : path, optional
        A CSV file for the data as they are used, to check the proof against. Without it: ``bestset-check X.npy FILE --target
        y.npy``, with the arrays saved by ``numpy.save``; weights and offsets need it.
    on_interrupt : {"raise", "return"}
        What Ctrl-C does: raise KeyboardInterrupt, or return the best answer so far; before all of X was seen once, the model without
        features.

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np, bestset
    >>> rng = np.random.default_rng(0)
    >>> X = np.asfortranarray(rng.standard_normal((100, 20)))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.standard_normal(100)
    >>> found = bestset.solve(X, y)
    >>> found.support
    array([3, 7])
    >>> found.chosen_by.split(" along")[0], found.status
    ('chosen by EBIC', 'optimal')
    >>> bestset.solve(X, y, lambda0=1.0, method="exact").proved
    True
    """
    data, p = _problem.data(X, y, loss, sample_weight, offset)
    names = _input.feature_names(X)
    setup = _problem.setup(
        p, names, lambda1=lambda1, lambda2=lambda2, loss=loss, delta=delta, theta=theta, bounds=bounds, fit_intercept=fit_intercept,
        standardize=standardize, price=price, shrinkage=shrinkage, always=always, never=never, groups=groups,
        group_prices=group_prices,
    )  # fmt: skip
    beside = [name for name, given in (("sample_weight", sample_weight), ("offset", offset)) if given is not None]
    choice = _problem.choice(lambda0=lambda0, k=k, criterion=criterion, gamma=gamma, max_size=max_size)
    control = _problem.control(
        method, threads, on_interrupt, gap=gap, time_limit=time_limit, max_iter=max_iter, max_nodes=max_nodes,
        max_memory=max_memory, top=top, stop=stop, trace=trace, warm_start=_start(warm_start, p), prove=prove,
        checkpoint=checkpoint, proof=_problem.proof_file(proof, proof_data, p, names, _input.target_name(y), method, beside),
    )  # fmt: skip
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable; it is {callback!r}")
    with _input.named(names):
        found = _core.select(data, setup, choice, _problem.spread(data, setup, choice, control), callback)
    if found["unfinished"] is not None:
        found["remarks"].append(("limit", found["unfinished"]))
    _result.warn(found["remarks"], stacklevel=2)
    result = _result.selected(found, p, names, setup, target=_input.target_name(y), classes=_input.class_labels(y, loss))
    result.ties = "efron" if data.survival is None else data.survival.ties
    result.strata = () if data.survival is None else data.survival.labels
    result.offset = _input.offset_name(offset, loss)
    result._seen = _report.seen(X, data, found["kept"])
    if groups is not None:
        result.groups = np.unique(np.asarray(groups)[result.support])
    return result


def _start(warm_start: Any, p: int) -> tuple[list[int], list[float], float] | None:
    if warm_start is None:
        return None
    if isinstance(warm_start, Result):
        return warm_start.support.tolist(), warm_start.values.tolist(), warm_start.intercept
    return _pairs(warm_start, 0.0, p, "warm_start")


def _pairs(coef: Any, intercept: float, p: int, name: str) -> tuple[list[int], list[float], float]:
    """The non-zero coefficients; a row or column of shape (1, p) or (p, 1) will do."""
    array = np.asarray(coef, dtype=np.float64)
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.shape != (p,):
        rows = "; a row for each class goes with loss='multinomial'" if array.ndim == 2 and array.shape[1] == p else ""
        raise ValueError(f"{name} must have one entry for each of the {p} features; its shape is {array.shape}{rows}")
    support = np.flatnonzero(array)
    return support.tolist(), array[support].tolist(), float(np.squeeze(intercept))


def _class_rows(coef: Any, intercept: Any, p: int) -> tuple[list[int], list[list[float]], list[float]]:
    """The coefficients of the features that any class has, a row for each class, and the intercepts."""
    array = np.asarray(coef, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != p or len(array) < 2:
        raise ValueError(f"coef must have a row for each class and a column for each of the {p} features; its shape is {array.shape}")
    support = np.flatnonzero(array.any(axis=0))
    intercepts = np.broadcast_to(np.asarray(intercept, dtype=np.float64), len(array))
    return support.tolist(), array[:, support].tolist(), intercepts.tolist()


def certify(
    X: Any,
    y: ArrayLike,
    coef: ArrayLike,
    intercept: float = 0.0,
    *,
    lambda0: float | None = None,
    lambda1: float = 0.0,
    lambda2: float | None = None,
    k: int | None = None,
    loss: str = "squared",
    method: str = "incremental",
    fit_intercept: bool = True,
    bounds: tuple[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
    gap: float = 1e-6,
    threads: int | None = None,
    prove: float | str | None = "auto",
    delta: float | None = None,
    theta: float | None = None,
    standardize: bool | str = True,
    offset: ArrayLike | None = None,
    price: ArrayLike | None = None,
    shrinkage: ArrayLike | None = None,
    always: Sequence[int | str] | None = None,
    never: Sequence[int | str] | None = None,
    max_nodes: int | None = None,
    max_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_interrupt: str = "raise",
) -> Certificate:
    r"""How far given coefficients, from any solver, can be from the best possible.

    The objective is that of `solve`; so are the parameters that are not listed here.

    Parameters
    ----------
    X, y
        The samples.
    coef : array of shape (n_features,)
        The coefficients, on the scale of the columns of X; with ``loss="multinomial"`` a row for each class.
    intercept : float
        Their intercept, zero unless given; unless ``fit_intercept=False``, other intercepts compete with it.
    lambda0 : float, optional
        The objective that the coefficients are judged by, unless `k` is given: the price of a feature.
    k : int, optional
        The largest number of features; coefficients with more have an infinite objective.
    method : {"incremental", "exact", ...}
        What finds the bound. ``"exact"`` raises it until it meets the best objective.

    Returns
    -------
    Certificate

    Examples
    --------
    Is the subset that the lasso picks, with its coefficients, any good as a subset of its size?

    >>> import numpy as np, bestset
    >>> from sklearn.linear_model import Lasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = X[:, :3].sum(axis=1) + rng.standard_normal(100)
    >>> lasso = Lasso(alpha=0.2).fit(X, y)
    >>> judged = bestset.certify(X, y, lasso.coef_, lasso.intercept_, lambda0=2.0, method="exact")
    >>> bool(judged.gap > 1.0), judged.solution.status
    (True, 'optimal')
    """
    if lambda0 is None and k is None:
        raise ValueError("give lambda0 (the price of a feature) or k (how many): the objective to judge by")
    data, p = _problem.data(X, y, loss, sample_weight, offset)
    names = _input.feature_names(X)
    setup = _problem.setup(
        p, names, lambda1=lambda1, lambda2=lambda2, loss=loss, delta=delta, theta=theta, bounds=bounds, fit_intercept=fit_intercept,
        standardize=standardize, price=price, shrinkage=shrinkage, always=always, never=never,
    )  # fmt: skip
    given: Any = _class_rows(coef, intercept, p) if loss == "multinomial" else _pairs(coef, intercept, p, "coef")
    if not fit_intercept and np.any(np.asarray(given[2]) != 0.0):
        raise ValueError(f"intercept is {given[2]}, but the problem has none; pass fit_intercept=True")
    control = _problem.control(
        method, threads, on_interrupt, gap=gap, time_limit=time_limit, max_nodes=max_nodes, max_memory=max_memory,
        trace=False, prove=prove, checkpoint=checkpoint,
    )  # fmt: skip
    with _input.named(names):
        found = _core.certify(data, setup, _problem.choice(lambda0=lambda0, k=k), control, given)
    _result.warn(found["selected"]["remarks"], stacklevel=2)
    solution = _result.selected(
        found["selected"], p, names, setup, target=_input.target_name(y), classes=_input.class_labels(y, loss)
    )
    plain: dict[str, Any] = {name: value for name, value in found.items() if name != "selected"}
    return Certificate(**plain, solution=solution)
