"""Set before numpy and scipy are imported."""

import os

# Without it scikit-learn skips its check of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# There is a process for every core: threads of OpenBLAS wait for small products by spinning, longer than these take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
