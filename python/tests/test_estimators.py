"""The estimators among scikit-learn's tools."""

import pickle
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from common import hard, regression, share
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bestset
from bestset import (
    BestSubsetClassifier,
    BestSubsetClassifierCV,
    BestSubsetRegressor,
    BestSubsetRegressorCV,
    BestSubsetSelector,
)

EVERY = [BestSubsetRegressor, BestSubsetRegressorCV, BestSubsetClassifier, BestSubsetClassifierCV, BestSubsetSelector]
REPORTED = [
    "coef_", "support_", "n_iter_", "objective_", "lower_bound_", "dual_gap_", "status_", "lambda0_", "lambda2_", "path_",
    "standing_", "r2_", "r2_limit_",
]  # fmt: skip


def target(estimator, y):
    return np.where(y > np.median(y), "high", "low") if "Classifier" in estimator.__name__ else y


@pytest.mark.parametrize("estimator", EVERY)
def test_clone_pickle_and_attributes(estimator):
    X, y = regression()
    model = estimator().fit(X, target(estimator, y))
    for name in REPORTED:
        assert hasattr(model, name)
    assert model.lower_bound_ <= model.objective_ and model.dual_gap_ == model.objective_ - model.lower_bound_
    assert {3, 7} <= set(model.support_.tolist())
    fresh = clone(model)
    assert fresh.get_params().keys() == model.get_params().keys() and not hasattr(fresh, "coef_")
    again = pickle.loads(pickle.dumps(model))
    use = "transform" if estimator is BestSubsetSelector else "predict"
    np.testing.assert_array_equal(getattr(again, use)(X), getattr(model, use)(X))


def test_no_shrinkage_is_least_squares_on_the_subset():
    X, y = regression()
    model = BestSubsetRegressor(lambda2=0.0).fit(X, y)
    plain = LinearRegression().fit(X[:, model.support_], y)
    np.testing.assert_allclose(model.coef_[model.support_], plain.coef_, rtol=1e-6)
    assert model.intercept_ == pytest.approx(plain.intercept_)
    proved = BestSubsetRegressor(lambda2=0.0, method="exact", k=2).fit(X, y)
    assert proved.status_ == "optimal" and proved.support_.tolist() == [3, 7]


def test_ridge_alone_is_that_of_scikit_learn():
    X, y = regression()
    Z = StandardScaler().fit_transform(X)
    ours = BestSubsetRegressor(lambda0=0.0, lambda2=0.5, standardize="variance").fit(Z, y)
    np.testing.assert_allclose(ours.coef_, sklearn.linear_model.Ridge(alpha=1.0).fit(Z, y).coef_, rtol=1e-6)
    labels = y > 1
    ours = BestSubsetClassifier(lambda0=0.0, lambda2=0.5, standardize="variance").fit(Z, labels)
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(Z, labels)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)


def test_scale_of_columns_does_not_matter():
    X, y = regression(noise=1.0)
    scale = 10.0 ** np.arange(-5, 15)
    for estimator in (BestSubsetRegressor(), BestSubsetRegressorCV(select="1se")):
        plain, scaled = clone(estimator).fit(X, y), clone(estimator).fit(X * scale, y)
        np.testing.assert_array_equal(plain.support_, scaled.support_)
        np.testing.assert_allclose(plain.coef_, scaled.coef_ * scale, rtol=1e-5, atol=1e-9)


@pytest.mark.long
def test_grid_search_and_parallel_jobs():
    X, y = regression()
    grid = GridSearchCV(BestSubsetRegressor(), {"k": [1, 2, 3], "lambda2": [0.1, 1.0]}, cv=3, n_jobs=2).fit(X, y)
    assert grid.best_params_["k"] in (2, 3) and grid.best_score_ > 0.9
    alone = [BestSubsetRegressor(k=k).fit(X, y).coef_ for k in (1, 2, 3)]
    jobs = joblib.Parallel(n_jobs=2)(joblib.delayed(BestSubsetRegressor(k=k).fit)(X, y) for k in (1, 2, 3))
    for coef, job in zip(alone, jobs):
        np.testing.assert_array_equal(coef, job.coef_)


def test_selector_in_a_pipeline_keeps_names():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = regression()
    names = [f"gene{j}" for j in range(20)]
    frame = pandas.DataFrame(X, columns=names)
    selector = BestSubsetSelector().set_output(transform="pandas").fit(frame, y)
    assert selector.transform(frame).columns.tolist() == ["gene3", "gene7"]
    assert selector.get_support().sum() == 2 and selector.get_support(indices=True).tolist() == [3, 7]
    table = polars.DataFrame(X, schema=names)
    assert clone(selector).set_output(transform="polars").fit_transform(table, y).columns == ["gene3", "gene7"]
    pipe = make_pipeline(StandardScaler(), BestSubsetSelector(k=2), LinearRegression()).set_output(transform="pandas")
    assert pipe.fit(frame, y).score(frame, y) > 0.9
    assert pipe[:-1].get_feature_names_out().tolist() == ["gene3", "gene7"]
    model = BestSubsetRegressor().fit(frame, y)
    assert model.feature_names_in_.tolist() == names and model.results_[0].selected == ["gene3", "gene7"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"gene3": "other"}))


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [3, 11], [-1.0, 1.0], np.array(["u", "v"], dtype=object)]
)
def test_labels_come_back_as_they_were(labels):
    X, y = regression()
    given = np.asarray(labels)[(y > 1).astype(int)]
    model = BestSubsetClassifier().fit(X, given)
    assert model.predict(X).dtype == given.dtype and model.score(X, given) > 0.8
    np.testing.assert_array_equal(model.classes_, np.unique(given))
    assert model.coef_.shape == (1, 20) and model.decision_function(X).shape == (100,)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.log(model.predict_proba(X)), model.predict_log_proba(X))


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    each = (BestSubsetClassifier(multi_class="ovr"), BestSubsetClassifier(loss="squared_hinge"), BestSubsetClassifierCV(cv=3, multi_class="ovr"))
    for model in each:
        model.fit(X, names)
        assert model.score(X, names) > 0.9 and model.coef_.shape == (3, 4)
        assert model.lambda0_.shape == model.objective_.shape == model.status_.shape == (3,)
        assert np.all(model.lower_bound_ <= model.objective_)
    assert len(model.lambda0s_) == 3 and model.lambda0_min_.shape == (3,)
    assert not hasattr(BestSubsetClassifier(loss="squared_hinge"), "predict_proba")
    union = BestSubsetSelector(loss="logistic").fit(X, names)
    assert union.coef_.shape == (3, 4) and set(union.support_) == set(np.flatnonzero(union.coef_.any(axis=0)))
    balanced = BestSubsetClassifier(class_weight="balanced").fit(X[40:], names[40:])
    plain = BestSubsetClassifier().fit(X[40:], names[40:])
    assert not np.allclose(balanced.intercept_, plain.intercept_)


def test_sparse_is_dense():
    X, y = regression(n=80, p=30)
    X[np.abs(X) < 1] = 0.0
    for estimator in EVERY:
        dense = estimator().fit(X, target(estimator, y))
        thin = estimator().fit(sparse.csr_matrix(X), target(estimator, y))
        np.testing.assert_array_equal(dense.support_, thin.support_)
        np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=1e-6, atol=1e-9)
    assert sparse.issparse(thin.transform(sparse.csr_matrix(X)))


def test_cross_validation_by_its_definition():
    X, y = regression(noise=1.5)
    splits = list(ShuffleSplit(4, test_size=0.3, random_state=0).split(X))
    model = BestSubsetRegressorCV(cv=splits, standardize=False, lambda2=[0.5, 5.0], max_size=6).fit(X, y)
    assert model.cv_scores_.shape == (len(model.lambda0s_), 4) == (len(model.path_), 4)
    assert set(model.lambda2s_) == {0.5, 5.0} and model.path_.sizes.max() <= 6
    for k in (1, 3):
        train, test = splits[k]
        share = len(train) / len(y)
        for ridge in (0.5, 5.0):
            fold = bestset.path(X[train], y[train], lambda2=share * ridge, standardize=False, max_size=6)
            for i in np.flatnonzero(model.lambda2s_ == ridge):
                if model.path_.sizes[i] not in fold.sizes:
                    continue
                # The fold's answer of the size, the first of its path.
                answer = fold[int(np.argmax(fold.sizes == model.path_.sizes[i]))]
                error = np.mean((y[test] - answer.predict(X[test])) ** 2)
                assert model.cv_scores_[i, k] == pytest.approx(-error, rel=0.02)
    mean = model.cv_scores_.mean(axis=1)
    np.testing.assert_allclose(model.cv_mean_, mean)
    best = int(np.argmax(mean))
    assert (model.lambda0_min_, model.lambda2_min_) == (model.lambda0s_[best], model.lambda2s_[best])
    assert model.lambda2_ == model.lambda2_min_ and len(model.support_) == model.path_.sizes[best]
    assert model.cv_frequencies_.shape == model.support_.shape and np.all(model.cv_frequencies_ <= 1.0)
    one = clone(model).set_params(select="1se").fit(X, y)
    assert one.lambda2_ == one.lambda2_1se_ and len(one.support_) <= len(model.support_)
    close = model.cv_mean_ >= mean.max() - model.cv_standard_error_[best]
    assert len(one.support_) == model.path_.sizes[close].min()


def test_the_largest_size_changes_no_score():
    X, y = regression(noise=1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few, many = (BestSubsetRegressorCV(cv=3, max_size=most).fit(X, y) for most in (3, 9))
    scores = {(r, k): s for r, k, s in zip(many.lambda2s_, many.path_.sizes, many.cv_mean_)}
    for ridge, size, score in zip(few.lambda2s_, few.path_.sizes, few.cv_mean_):
        assert score == pytest.approx(scores[ridge, size], rel=1e-12)


def test_folds_are_those_of_the_core():
    X, y = regression(noise=1.5)
    usual, ten, other = (BestSubsetRegressorCV(**kind).fit(X, y) for kind in ({}, {"cv": 10}, {"random_state": 1}))
    np.testing.assert_array_equal(usual.cv_scores_, ten.cv_scores_)
    assert usual.cv_scores_.shape[1] == 10 and not np.array_equal(usual.cv_scores_, other.cv_scores_)
    assert len(np.unique(usual.lambda2s_)) == 5, "lambda2 is compared unless it is given"
    assert set(BestSubsetRegressorCV(lambda2=0.1).fit(X, y).lambda2s_) == {0.1}


def test_summary_save_and_report(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = regression()
    frame = pandas.DataFrame(X, columns=[f"gene{j}" for j in range(20)])
    labels = np.where(y > 1, "high", "low")
    for model, given in ((BestSubsetRegressorCV(), y), (BestSubsetClassifier(), labels), (BestSubsetClassifier(), y > 1)):
        model.fit(frame, given)
        assert "gene3" in model.summary() and model.standing_ in model.summary()
        model.save(tmp_path / "model.json")
        again = bestset.load(tmp_path / "model.json").predict(frame)
        if given.dtype.kind == "f":
            np.testing.assert_allclose(again, model.predict(frame), rtol=1e-12)
        else:
            np.testing.assert_array_equal(again, model.predict(frame))
        model.report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        assert "gene3" in page and type(model).__name__ in page
    model = BestSubsetRegressor(k=2).fit(frame, y)
    model.set_params(k=3).report(tmp_path / "page.html")
    assert "BestSubsetRegressor(k=2).fit(X, y)" in (tmp_path / "page.html").read_text("utf-8"), "as it was fitted"
    with pytest.raises(ValueError, match="fit again"):
        pickle.loads(pickle.dumps(model)).report(tmp_path / "page.html")
    three = BestSubsetClassifier(multi_class="ovr").fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="each of one class"):
        three.save(tmp_path / "three.json")
    three.results_[0].save(tmp_path / "first.json")
    assert bestset.load(tmp_path / "first.json").classes == ("not 0", 0)


def test_factors_lists_and_groups():
    X, y = regression()
    assert 7 not in BestSubsetRegressor(lambda0=2.0, price=np.r_[np.ones(7), 1e4, np.ones(12)]).fit(X, y).support_
    kept = BestSubsetRegressor(always=[0], never=[3]).fit(X, y)
    assert 0 in kept.support_ and 3 not in kept.support_
    labels = np.array(["a", "b", "c", "d"])[np.arange(20) % 4]
    grouped = BestSubsetRegressor(groups=labels).fit(X, y)
    assert set(grouped.support_) <= {3, 7, 11, 15, 19} and grouped.lower_bound_ <= grouped.objective_
    shrunk = BestSubsetRegressor(lambda0=2.0, shrinkage=np.r_[np.ones(3), 1e4, np.ones(16)]).fit(X, y)
    assert abs(shrunk.coef_[3]) < 0.5


def test_ways_to_split_and_score():
    X, y = regression(n=60)
    groups = np.arange(60) // 6
    for cv in (3, RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), list(GroupKFold(5).split(X, groups=groups))):
        assert BestSubsetRegressorCV(cv=cv, n_lambdas=10).fit(X, y).score(X, y) > 0.9
    absolute = BestSubsetRegressorCV(scoring="neg_mean_absolute_error").fit(X, y)
    assert np.all(absolute.cv_scores_ < 0)
    for scoring in ("accuracy", "roc_auc", "neg_log_loss"):
        model = BestSubsetClassifierCV(scoring=scoring, cv=3, n_lambdas=10).fit(X, y > 1)
        assert model.score(X, y > 1) > 0.8
    given = BestSubsetRegressorCV(lambda0s=[100.0, 10.0, 1.0], lambda2=0.01).fit(X, y)
    assert given.lambda0s_.tolist() == [100.0, 10.0, 1.0]
    assert cross_val_score(BestSubsetRegressorCV(n_lambdas=10), X, y, cv=3).mean() > 0.9


def test_weights_are_routed():
    X, y = regression()
    w = np.r_[np.ones(50), np.zeros(50)]
    half = BestSubsetRegressor().fit(X[:50], y[:50])
    np.testing.assert_allclose(BestSubsetRegressor().fit(X, y, sample_weight=w).coef_, half.coef_, rtol=1e-6, atol=1e-9)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = BestSubsetRegressor().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        grid = GridSearchCV(inner, {"k": [1, 2]}, cv=3).fit(X, y, sample_weight=np.ones(100))
        assert grid.best_params_ == {"k": 2}
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True), BestSubsetRegressor().set_fit_request(sample_weight=True)
        )
        pipe.fit(X, y, sample_weight=w)
        np.testing.assert_allclose(pipe.predict(X), half.predict(X), rtol=1e-6)


def test_limits_warn_and_keep_an_answer():
    X, y = hard()
    for model in (
        BestSubsetRegressor(lambda0=2.0, method="exact", time_limit=0.2),
        BestSubsetRegressor(time_limit=0.0),
        BestSubsetRegressorCV(time_limit=0.0),
        BestSubsetClassifier(time_limit=0.0),
    ):
        labels = y > 0 if isinstance(model, BestSubsetClassifier) else y
        with pytest.warns(ConvergenceWarning, match="time limit"):
            model.fit(X, labels)
        assert model.lower_bound_ <= model.objective_ and model.predict(X).shape == (60,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BestSubsetRegressor().fit(X, y)


def test_bounds_and_signs():
    X, y = regression()
    assert BestSubsetRegressor(positive=True).fit(X, y).coef_.min() >= 0.0
    bounded = BestSubsetRegressor(bounds=(-0.5, 0.7), lambda0=0.1).fit(X * 3.0, y)
    assert bounded.coef_.max() <= 0.7 and bounded.coef_.min() >= -0.5
    lower = np.full(20, -np.inf)
    lower[7] = 0.0
    assert BestSubsetRegressor(bounds=(lower, None)).fit(X, y).coef_[7] >= 0.0


def test_noise_selects_nothing():
    rng = np.random.default_rng(0)
    found = [len(BestSubsetRegressor().fit(rng.standard_normal((60, 200)), rng.standard_normal(60)).support_) for _ in range(20)]
    assert np.mean(np.array(found) > 0) <= 0.2, found


@pytest.mark.parametrize(
    "model, text",
    [
        (BestSubsetRegressor(loss="logistic"), "squared, huber"),
        (BestSubsetRegressor(criterion="best"), "criterion is 'best'"),
        (BestSubsetRegressor(k=0), "k is 0"),
        (BestSubsetRegressor(lambda0=1.0, k=2), "not both"),
        (BestSubsetRegressor(lambda2=[0.1, 1.0]), "lambda2 with the values 0.1, 1 cannot be used with a criterion"),
        (BestSubsetRegressor(standardize="unit"), "standardize is 'unit'"),
        (BestSubsetRegressor(prove="long"), "prove is 'long'"),
        (BestSubsetRegressorCV(cv=1), "at least 2"),
        (BestSubsetRegressorCV(random_state=-3), "random_state is -3"),
        (BestSubsetRegressor(method="magic"), "no method named"),
        (BestSubsetRegressor(n_lambdas=0), "n_lambdas is 0"),
        (BestSubsetRegressor(n_jobs=0), "threads is 0"),
        (BestSubsetRegressorCV(select="2se"), "select is '2se'"),
        (BestSubsetRegressorCV(scoring="r2"), "no scoring named 'r2'"),
        (BestSubsetRegressorCV(scoring="accuracy"), "classification"),
        (BestSubsetRegressorCV(scoring="neg_log_loss"), "needs the logistic loss"),
        (BestSubsetSelector(loss="cubic"), "no loss named 'cubic'"),
    ],
)
def test_bad_parameters(model, text):
    X, y = regression()
    with pytest.raises(ValueError, match=text):
        model.fit(X, y)


def test_cross_validation_recovers_a_clear_model():
    # At the price where a feature has just entered, folds often lack it: the prices must lie inside the intervals.
    found = []
    for seed in range(share(8)):
        X, y = regression(noise=1.0, seed=seed)
        found.append(BestSubsetRegressorCV().fit(X, y).support_.tolist())
    assert sum(support == [3, 7] for support in found) >= len(found) - 1, found


def test_offsets_are_a_fixed_part_of_the_predictor():
    X, y = regression()
    fixed = np.linspace(-3.0, 3.0, len(y)) ** 2
    plain = BestSubsetRegressor(lambda0=2.0, prove=None).fit(X, y)
    shifted = BestSubsetRegressor(lambda0=2.0, prove=None).fit(X, y + fixed, offset=fixed)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, atol=1e-9)
    np.testing.assert_allclose(shifted.predict(X, fixed), plain.predict(X) + fixed, atol=1e-9)
    signs = np.where(y > 0, "yes", "no")
    model = BestSubsetClassifier(lambda0=2.0).fit(X, signs, offset=fixed)
    solved = bestset.solve(X, np.where(y > 0, 1.0, -1.0), lambda0=2.0, loss="logistic", offset=fixed)
    np.testing.assert_allclose(model.coef_[0], solved.coef, atol=1e-9)
    margins = model.decision_function(X, fixed)
    np.testing.assert_allclose(margins, model.decision_function(X) + fixed)
    np.testing.assert_array_equal(model.predict(X, fixed) == "yes", margins > 0)
    np.testing.assert_allclose(model.predict_proba(X, fixed)[:, 1], 1 / (1 + np.exp(-margins)))
    with pytest.raises(ValueError, match="offset has length 3, but X has"):
        model.predict(X, np.zeros(3))
    flowers, kinds = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="offset is for two classes; y has 3"):
        BestSubsetClassifier(multi_class="ovr").fit(flowers, kinds, offset=np.zeros(len(kinds)))
    with pytest.raises(ValueError, match="a column for each class; its shape is"):
        BestSubsetClassifier().fit(flowers, kinds, offset=np.zeros(len(kinds)))


def test_gamma_of_ebic():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 40))
    y = X[:, :6] @ np.array([1.0, 0.8, 0.6, 0.4, 0.3, 0.25]) + rng.standard_normal(80)
    models = {gamma: BestSubsetRegressor(gamma=gamma, prove=None).fit(X, y) for gamma in (0.0, 0.5, 1.0)}
    bic = BestSubsetRegressor(criterion="bic", prove=None).fit(X, y)
    np.testing.assert_array_equal(models[0.0].support_, bic.support_)
    sizes = [len(model.support_) for model in models.values()]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1], sizes
    for gamma, model in models.items():
        # The values beside a model are those that chose it.
        best = int(np.argmin(model.path_.criteria["ebic"]))
        assert model.path_[best].support.tolist() == model.support_.tolist(), gamma
        assert bestset.solve(X, y, gamma=gamma, prove=None).support.tolist() == model.support_.tolist()
    with pytest.raises(ValueError, match="gamma is -1"):
        BestSubsetRegressor(gamma=-1.0).fit(X, y)


def test_weights_are_counts_or_known_up_to_a_factor():
    X, y = regression(noise=1.0)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    found = [BestSubsetRegressor(prove=None).fit(X, y, sample_weight=c * weights).support_.tolist() for c in (1, 1 / weights.sum(), 50)]
    assert found[0] == found[1] == found[2] != []


def test_several_classes_say_how_to_keep_them(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = BestSubsetClassifier(prove=None, multi_class="ovr").fit(X, y)
    with pytest.raises(ValueError, match=r"3 models, each of one class against the rest.*results_"):
        model.report(tmp_path / "three.html")
    for number, result in enumerate(model.results_):
        result.save(tmp_path / f"model-{number}.json")
    margins = [bestset.load(tmp_path / f"model-{number}.json").decision_function(X) for number in range(3)]
    np.testing.assert_array_equal(model.classes_[np.argmax(margins, axis=0)], model.predict(X))
