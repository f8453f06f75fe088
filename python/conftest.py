"""Set before numpy and scipy are imported."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")
# Without it scikit-learn skips its check of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# There is a process for every core: threads of OpenBLAS wait for small products by spinning, longer than these take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
