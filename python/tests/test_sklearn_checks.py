"""scikit-learn's own checks, all of them: none is expected to fail."""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from bestset import (
    BestSubsetClassifier,
    BestSubsetClassifierCV,
    BestSubsetRegressor,
    BestSubsetRegressorCV,
    BestSubsetSelector,
)

#: Every rule of scikit-learn's, on one estimator of each kind; cross-validation of classes is that of numbers in classes that are fitted here.
ESTIMATORS = [
    BestSubsetRegressor(),
    BestSubsetClassifier(),
    BestSubsetRegressorCV(),
    BestSubsetSelector(),
]
#: The same estimators on other ways through them.
OTHERS = [
    BestSubsetRegressor(k=2),
    BestSubsetRegressor(loss="huber"),
    BestSubsetRegressor(loss="poisson"),
    BestSubsetClassifier(multi_class="ovr"),
    BestSubsetClassifier(loss="squared_hinge"),
    BestSubsetClassifierCV(cv=3),
]
#: Of these no check is skipped either.
UNSKIPPED = (BestSubsetRegressor, BestSubsetSelector, BestSubsetRegressorCV)


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_check(estimator, check):
    passes(estimator, check)


@parametrize_with_checks(OTHERS)
@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.long
def test_check_of_others(estimator, check):
    passes(estimator, check)


def passes(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        assert type(estimator) not in UNSKIPPED, f"a check was skipped: {reason}"
        raise


def test_there_are_checks():
    for kind in UNSKIPPED:
        assert any(type(one) is kind and one.get_params() == kind().get_params() for one in ESTIMATORS), "with its defaults"
        assert len(list(estimator_checks_generator(kind()))) > 40
