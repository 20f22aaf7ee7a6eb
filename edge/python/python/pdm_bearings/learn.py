"""Estimators for scikit-learn: rows of samples in, figures or names out.

Import needs scikit-learn; the rest of the package does not.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._bearing import chosen
from ._diagnosis import _machine
from ._features import FEATURES
from ._recording import _number, _rate, _unit
from .errors import InputError

__all__ = ["FaultNamer", "FeatureExtractor"]

#: What a look at a recording can come to.
OUTCOMES = ("none", "outer_race", "inner_race", "ball", "cage", "undetermined")


def _samples(row: np.ndarray, rate_hz: float, meaning: tuple[Any, ...]) -> _core.Samples:
    raw = np.ascontiguousarray(row, dtype="<f8").tobytes()
    return _core.Samples.of_raw(raw, 1, rate_hz, meaning, "row", 0)


class _OfRows(BaseEstimator):
    """What both estimators know of their rows."""

    rate: float | None
    unit: str | None
    scale: float | None
    n_jobs: int | None

    def _meaning(self) -> tuple[float, tuple[Any, ...]]:
        rate_hz = _rate(self.rate)
        unit = _unit(self.unit, None)
        scale = None if self.scale is None else _number("scale", self.scale)
        return rate_hz, (unit, None, scale, 0.0)

    def _map(self, function: Any, rows: np.ndarray) -> list[Any]:
        threads = 1 if self.n_jobs is None else int(self.n_jobs)
        if threads < 1:
            raise InputError(f"n_jobs={self.n_jobs}, allowed is 1 and more")
        if threads == 1:
            return [function(row) for row in rows]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(function, rows))


class FeatureExtractor(TransformerMixin, _OfRows):
    """Figures of the waveform of each row (`pdm_bearings.features`).

    Parameters
    ----------
    rate : float
        Samples per second of each row, Hz.
    unit : {'g', 'm/s2'}
    scale : float, optional
        What one count is, in the unit.
    undefined : float, default NaN
        Figure that is not measured, such as a velocity at a low rate, or a kurtosis of a row that does
        not move.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_features_in_ : int
        Samples of a row.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> model = make_pipeline(FeatureExtractor(rate=12_000, unit="g"), HistGradientBoostingClassifier())
    """

    def __init__(
        self,
        rate: float | None = None,
        unit: str | None = None,
        scale: float | None = None,
        undefined: float = np.nan,
        n_jobs: int | None = None,
    ) -> None:
        self.rate = rate
        self.unit = unit
        self.scale = scale
        self.undefined = undefined
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # the figures are float64 whatever the rows are
        tags.transformer_tags.preserves_dtype = []
        tags.requires_fit = True
        return tags

    def fit(self, X: Any, y: Any = None) -> FeatureExtractor:
        """Check the rows and learn their length; nothing else is learnt."""
        self._meaning()
        validate_data(self, X, dtype=np.float64, ensure_min_features=2)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Figures of each row, shape (rows, figures)."""
        check_is_fitted(self, "n_features_in_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        rate_hz, meaning = self._meaning()

        def figures(row: np.ndarray) -> list[float]:
            blocks = json.loads(_core.features(_samples(row, rate_hz, meaning), 0, None, None, None))
            time = blocks["time_domain"]
            return [self.undefined if time.get(key) is None else time[key] for key in FEATURES]

        return np.asarray(self._map(figures, rows), dtype=np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the figures, with their units."""
        check_is_fitted(self, "n_features_in_")
        return np.asarray(FEATURES, dtype=object)


class FaultNamer(ClassifierMixin, _OfRows):
    """Names the damaged part of each row by `pdm_bearings.diagnose`, in the labels of the caller.

    Nothing of the signal is learnt: the rule is fixed and calibrated. What `fit` learns is how often each
    label of the caller goes with each outcome of the rule (a table of six rows with one count added to each
    cell), so that ``'IR'``, ``'inner'`` and ``3`` all work, and a rule that is wrong on this machine shows as a
    table without a diagonal (`counts_`).

    Parameters
    ----------
    rate : float
        Samples per second of each row, Hz.
    unit : {'g', 'm/s2'}
    rpm : float
        Shaft speed of every row, 1/min.
    bearing, orders
        As in `pdm_bearings.diagnose`.
    scale : float, optional
    rpm_tolerance_percent, order_tolerance_percent : float, optional
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    classes_ : numpy.ndarray
    counts_ : numpy.ndarray, shape (6, classes)
        Rows by outcome (`OUTCOMES`) and label.
    n_features_in_ : int
    """

    def __init__(
        self,
        rate: float | None = None,
        unit: str | None = None,
        rpm: float | None = None,
        bearing: Any = None,
        orders: Any = None,
        scale: float | None = None,
        rpm_tolerance_percent: float | None = None,
        order_tolerance_percent: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rate = rate
        self.unit = unit
        self.rpm = rpm
        self.bearing = bearing
        self.orders = orders
        self.scale = scale
        self.rpm_tolerance_percent = rpm_tolerance_percent
        self.order_tolerance_percent = order_tolerance_percent
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # rows that are no vibration get no name, and the most frequent label
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> FaultNamer:
        """Count which label goes with which outcome."""
        rows, y = validate_data(self, X, y, dtype=np.float64, ensure_min_features=2)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.counts_ = np.zeros((len(OUTCOMES), len(self.classes_)), dtype=np.int64)
        np.add.at(self.counts_, (self._outcomes(rows), labels), 1)
        return self

    def outcomes(self, X: Any) -> np.ndarray:
        """Names by the rule itself, one of `OUTCOMES` a row; needs no `fit`."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2:
            raise InputError(f"X has the shape {rows.shape}, allowed is (rows, samples)")
        return np.asarray(np.asarray(OUTCOMES, dtype=object)[self._outcomes(rows)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each label, shape (rows, classes)."""
        check_is_fitted(self, "counts_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        # one count spread over the labels as they are frequent: an outcome that was never seen says
        # nothing, so it gives the most frequent label
        frequency = self.counts_.sum(axis=0) / self.counts_.sum()
        weights = self.counts_ + frequency
        return np.asarray((weights / weights.sum(axis=1, keepdims=True))[self._outcomes(rows)])

    def predict(self, X: Any) -> np.ndarray:
        """Label of each row."""
        check_is_fitted(self, "counts_")
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])

    def _outcomes(self, rows: np.ndarray) -> np.ndarray:
        rate_hz, meaning = self._meaning()
        of_bearing = chosen(self.bearing, self.orders)
        machine = _machine(self.rpm, self.rpm_tolerance_percent, of_bearing, self.order_tolerance_percent)

        def outcome(row: np.ndarray) -> int:
            samples = _samples(row, rate_hz, meaning)
            found = json.loads(_core.diagnose(samples, 0, machine, None, None).json)
            found = found["frequency_domain"]
            if found["dominant_fault"] is not None:
                return OUTCOMES.index(found["dominant_fault"])
            return OUTCOMES.index("none" if found.get("undetermined") is None else "undetermined")

        return np.asarray(self._map(outcome, rows), dtype=np.intp)
