"""The condition of a measuring point over many recordings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from . import _core
from ._bearing import Bearing, chosen
from ._diagnosis import _machine
from ._recording import Recording, _number, _unix_ms
from ._spectra import table
from .errors import InputError

__all__ = ["Monitor", "monitor"]


class Monitor:
    """A measuring point that learns its own normal and tells what leaves it.

    The stage is the gateway's: baseline, anomaly with persistence, trend, remaining life, and a
    thorough look when one is due. Give recordings in the order of time; one object is one point.

    Parameters
    ----------
    rpm, bearing, orders, rpm_tolerance_percent, order_tolerance_percent
        As in `diagnose`.
    channel : int or str, default 0
    baseline_windows : int, default 50
        Recordings that make the baseline, at least 10.
    equipment, bearing_name : str
        Names in the events.
    """

    def __init__(
        self,
        *,
        rpm: float | None = None,
        bearing: str | Bearing | Any = None,
        orders: Any = None,
        channel: int | str = 0,
        baseline_windows: int | None = None,
        rpm_tolerance_percent: float | None = None,
        order_tolerance_percent: float | None = None,
        equipment: str = "machine",
        bearing_name: str = "bearing",
    ) -> None:
        of_bearing = chosen(bearing, orders)
        self._machine = _machine(rpm, rpm_tolerance_percent, of_bearing, order_tolerance_percent)
        self._channel = channel
        self._names = (str(equipment), str(bearing_name), f"channel-{channel}")
        self._baseline_windows = None if baseline_windows is None else int(baseline_windows)
        self._core: _core.PointMonitor | None = None

    def observe(self, rec: Recording, at: Any = None) -> dict[str, Any]:
        """Judge the next recording; returns its event.

        Parameters
        ----------
        rec : Recording
            At the rate of those before.
        at : datetime, str or float, optional
            When it began. Default: ``rec.started_at``.
        """
        if not isinstance(rec, Recording):
            raise InputError(
                f"a {type(rec).__name__} is no Recording: make one with Recording(data, rate=…, unit=…)"
            )
        channel = rec.index_of(self._channel)
        if self._core is None:
            self._core = _core.PointMonitor(self._machine, rec.rate_hz, self._names, self._baseline_windows)
        given_ms = _unix_ms(at)
        at_ms = rec._core.measured_at_ms if given_ms is None else given_ms
        event: dict[str, Any] = json.loads(self._core.observe(rec._core, channel, at_ms))
        return event

    def relearn(self) -> None:
        """Forget everything, after the bearing was replaced."""
        if self._core is not None:
            self._core.relearn()


def monitor(
    recordings: Iterable[Recording],
    *,
    period_s: float | None = None,
    events: list[dict[str, Any]] | None = None,
    **options: Any,
) -> Any:
    """Run recordings of one measuring point through its stateful condition.

    Parameters
    ----------
    recordings : iterable of Recording
        In the order of time, at one rate.
    period_s : float, optional
        Seconds from the beginning of one to that of the next, where the recordings have no time of
        their own.
    events : list, optional
        The whole events are appended to it.
    **options
        As `Monitor`.

    Returns
    -------
    pandas.DataFrame or dict of lists
        One row a recording: ``measured_at``, ``is_valid``, ``anomaly_detected``, ``score``,
        ``baseline`` (learning or ready), ``contributors``, ``fault``, ``confidence``, ``rms_g``,
        ``kurtosis``, ``envelope_rms_g``, ``velocity_rms_mm_s``, ``trend``, ``rul_h``,
        ``rul_unknown``.
    """
    point = Monitor(**options)
    period_ms = None if period_s is None else 1000.0 * _number("period_s", period_s)
    if period_ms is not None and not period_ms > 0.0:
        raise InputError(f"period_s={period_s}, allowed is above 0")
    rows: list[dict[str, Any]] = []
    first_ms = None
    for index, rec in enumerate(recordings):
        at = None
        if period_ms is not None and isinstance(rec, Recording):
            first_ms = rec._core.measured_at_ms if first_ms is None else first_ms
            at = (first_ms + index * period_ms) / 1000.0
        event = point.observe(rec, at)
        if events is not None:
            events.append(event)
        rows.append(_row(event))
    if not rows:
        raise InputError("there are no recordings")
    return table({name: [row[name] for row in rows] for name in rows[0]})


def _row(event: dict[str, Any]) -> dict[str, Any]:
    anomaly, time, found = event["anomaly"], event["time_domain"], event["frequency_domain"]
    rul = event["rul"]
    nan = float("nan")

    def number(value: float | None) -> float:
        return nan if value is None else value

    return {
        "measured_at": event["measured_at"],
        "is_valid": event["signal_quality"]["valid"],
        "anomaly_detected": event["anomaly_detected"],
        "score": number(anomaly.get("score")),
        "baseline": anomaly["baseline"]["state"],
        "contributors": ", ".join(anomaly.get("contributors", [])),
        "fault": found["dominant_fault"],
        "confidence": found["confidence"],
        "rms_g": number(time.get("rms_g")),
        "kurtosis": number(time.get("kurtosis")),
        "envelope_rms_g": number(time.get("envelope_rms_g")),
        "velocity_rms_mm_s": number(time.get("velocity_rms_mm_s")),
        "trend": event["trend"]["trend_direction"],
        "rul_h": number(rul.get("hours")),
        "rul_unknown": rul.get("unknown"),
    }
