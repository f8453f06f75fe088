"""scikit-learn's own checks, all of them: none is expected to fail."""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from bestset import (
    BestSubsetClassifier,
    BestSubsetClassifierCV,
    BestSubsetRegressor,
    BestSubsetRegressorCV,
    BestSubsetSelector,
)

ESTIMATORS = [
    BestSubsetRegressor(),
    BestSubsetRegressor(k=2),
    BestSubsetRegressor(loss="huber"),
    BestSubsetRegressor(loss="poisson"),
    BestSubsetClassifier(),
    BestSubsetClassifier(multi_class="ovr"),
    BestSubsetClassifier(loss="squared_hinge"),
    BestSubsetRegressorCV(),
    BestSubsetClassifierCV(cv=3),
    BestSubsetSelector(),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_check(estimator, check):
    check(estimator)


def test_no_check_is_skipped_and_defaults_pass():
    for estimator in (BestSubsetRegressor(), BestSubsetSelector(), BestSubsetRegressorCV()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check_estimator(estimator, on_fail=None)
        assert [(c["check_name"], c["status"]) for c in found if c["status"] != "passed"] == []
        assert len(found) > 40
