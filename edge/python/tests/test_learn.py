"""The estimators follow scikit-learn's rules."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import pdm_bearings as pb

RATE = 12_800

ESTIMATORS = [
    pb.FeatureExtractor(rate=RATE, unit="g", scale=1.0),
    pb.FaultNamer(rate=RATE, unit="g", rpm=1797, bearing="6205", scale=1.0),
]


@parametrize_with_checks(ESTIMATORS)
def test_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    named = [None, "outer_race", "inner_race"]
    made = [
        (
            pb.simulate(fault=fault, severity=0.6, rate=RATE, duration_s=1.5, seed=seed).channel(0),
            fault or "sound",
        )
        for seed in range(1, 5)
        for fault in named
    ]
    return np.stack([row for row, _ in made]), np.array([label for _, label in made])


def test_a_namer_learns_the_callers_labels(rows):
    X, y = rows
    labels = {"sound": 0, "outer_race": 7, "inner_race": 9}
    theirs = np.array([labels[label] for label in y])
    namer = pb.FaultNamer(rate=RATE, unit="g", rpm=1797, bearing="6205", n_jobs=2).fit(X, theirs)
    assert (namer.predict(X) == theirs).mean() >= 0.9
    assert set(namer.outcomes(X)) >= {"outer_race", "inner_race"}
    np.testing.assert_allclose(namer.predict_proba(X).sum(axis=1), 1)


def test_figures_feed_a_classifier(rows):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    X, y = rows
    model = make_pipeline(pb.FeatureExtractor(rate=RATE, unit="g"), StandardScaler(), LogisticRegression())
    assert model.fit(X, y == "sound").score(X, y == "sound") >= 0.9
    names = clone(model[0]).fit(X).get_feature_names_out()
    assert list(names) == list(pb.FEATURES)


def test_a_missing_rate_is_refused_at_fit(rows):
    with pytest.raises(pb.InputError, match="rate= is missing"):
        pb.FeatureExtractor(unit="g").fit(rows[0])
    with pytest.raises(pb.InputError, match="bearing= or orders="):
        pb.FaultNamer(rate=RATE, unit="g", rpm=1797).fit(*rows)
