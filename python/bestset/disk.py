"""Matrices in files: columns that stay on disk, genotypes that stay packed."""

from __future__ import annotations

import os

from ._core import OnDisk

__all__ = ["OnDisk", "open"]


def open(path: str | os.PathLike[str], keep_moments: bool = False) -> OnDisk:
    """Open a matrix in files; what it gives is taken for X by every function and estimator.

    Columns are read by position, in blocks, when they are needed: X may be larger than memory, and answers and bounds are those of the
    same numbers in memory, to the bit. It is stored by pickle as its path, and says what it is when printed. Where a file changes,
    shrinks or cannot be read any more, a solve ends with the status ``"read_failed"``, the best answer so far and the last bound that was
    proved; before there is an answer it is an error.

    Parameters
    ----------
    path : path
        One of

        - a NumPy array (``.npy``) in Fortran order, of float64, float32 or int8: ``np.save(path, np.asfortranarray(X))``;
        - a folder with the parts of a SciPy CSC matrix: ``indptr.npy`` (int64), ``indices.npy`` (int32), ``data.npy`` and ``shape.npy``;
        - genotypes of PLINK, the ``.bed`` file with ``.bim`` and ``.fam`` beside it: all people of the ``.fam`` file by all variants,
          copies of the first allele, a missing one the mean of its variant. They stay packed in memory where that takes no more than
          half of what the machine has to spare, and in their file where it takes more.

    keep_moments : bool
        Whether means and norms of the columns are kept in a file beside the matrix (``X.npy.moments``), and taken from there as long as the
        matrix is what it was: one reading of all columns less from the second fit on. Nothing is written without it. Not for genotypes.

    Returns
    -------
    OnDisk
        With `shape`, `names`, `columns(features)`, which copies some columns, and `reading`, which says what was read so far.

    Examples
    --------
    >>> import tempfile, numpy as np, bestset
    >>> rng = np.random.default_rng(1)
    >>> X = rng.standard_normal((100, 500))
    >>> y = X[:, 3] - X[:, 400] + 0.1 * rng.standard_normal(100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", np.asfortranarray(X))
    ...     found = bestset.solve(bestset.open(f"{folder}/X.npy"), y, k=2)
    >>> found.support
    array([  3, 400])
    """
    return OnDisk(os.path.abspath(os.fspath(path)), keep_moments)
