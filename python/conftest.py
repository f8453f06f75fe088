"""Set before scipy is imported: without it scikit-learn skips its check of array API input."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
