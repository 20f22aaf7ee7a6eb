"""From a row of an archive's table back to the event (``pdm.event/1``) that it was.

`COLUMNS` are the columns of `pdm-lake`'s table ``events`` whose names are shorter than their field's path. In tables of
others a column holds a field by its path: ``time_domain.rms_g``, ``time_domain__rms_g``, ``time_domain_rms_g``, or a
struct ``time_domain``. What has no column stands in the JSON object of the column ``rest``; ``null`` and absent are the
same. Columns that are no field (``day``, ``arrival``) belong to the archive and to no event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any

from .errors import ReadError

__all__ = ["BLOCKS", "FIELDS", "REQUIRED", "event_of", "path_of", "utc_text"]

_LINE: dict[str, Any] = {"sidebands": {}}

#: Blocks of the event, and those inside them.
BLOCKS: dict[str, Any] = {
    "window": {},
    "operating": {},
    "signal_quality": {},
    "anomaly": {"persistence": {}, "baseline": {}},
    "change": {},
    "timing": {"period": {}},
    "input": {},
    "time_domain": {},
    "frequency_domain": {
        "bpfo": _LINE,
        "bpfi": _LINE,
        "bsf": _LINE,
        "ftf": _LINE,
        "second_fault": {},
        "damaged": {},
        "bearing_estimate": {},
    },
    "trend": {},
    "rul": {},
    "spectra": {"acceleration": {}, "envelope": {}},
}

#: Fields outside blocks.
FIELDS = (
    "schema",
    "event_id",
    "gateway_id",
    "sequence",
    "epoch",
    "site",
    "equipment_id",
    "bearing_id",
    "measuring_point",
    "measured_at",
    "replayed",
    "delayed_s",
    "anomaly_detected",
)

#: What every event has.
REQUIRED = (
    "event_id",
    "gateway_id",
    "sequence",
    "site",
    "equipment_id",
    "bearing_id",
    "measured_at",
    "replayed",
    "delayed_s",
    "window",
    "operating",
    "signal_quality",
    "anomaly_detected",
    "anomaly",
    "time_domain",
    "frequency_domain",
    "trend",
    "rul",
)

_OF_LINE = {
    "frequency_hz": "frequency_hz",
    "order": "order",
    "amplitude_g": "amplitude_g",
    "envelope_amplitude": "envelope_amplitude",
    "snr_db": "snr_db",
    "score": "score",
    "harmonic_n": "harmonics[].n",
    "harmonic_frequency_hz": "harmonics[].frequency_hz",
    "harmonic_snr_db": "harmonics[].snr_db",
    "sideband_spacing_hz": "sidebands.spacing_hz",
    "sideband_count": "sidebands.count",
    "sideband_snr_db": "sidebands.snr_db",
}

_OF_TIME = (
    "rms_g",
    "peak_g",
    "peak_to_peak_g",
    "crest_factor",
    "kurtosis",
    "skewness",
    "shape_factor",
    "impulse_factor",
    "clearance_factor",
    "envelope_rms_g",
    "velocity_rms_mm_s",
    "low_band_rms_g",
    "iso_zone",
)

#: Columns of `pdm-lake` by the path of their field; ``[]`` is a field of each object of a list.
COLUMNS = {
    "sampling_rate_hz": "window.sampling_rate_hz",
    "measured_rate_hz": "window.measured_rate_hz",
    "running": "operating.running",
    "shaft_speed_rpm": "operating.shaft_speed_rpm",
    "speed_source": "operating.speed_source",
    "speed_basis": "operating.speed_basis",
    "stated_speed_rpm": "operating.stated_speed_rpm",
    "temperature_c": "operating.temperature_c",
    "signal_valid": "signal_quality.valid",
    "signal_flags": "signal_quality.flags",
    "persistence_k": "anomaly.persistence.k",
    "persistence_n": "anomaly.persistence.n",
    "baseline_state": "anomaly.baseline.state",
    "baseline_windows": "anomaly.baseline.windows",
    "level_ratio": "anomaly.level_ratio",
    **{name: f"time_domain.{name}" for name in _OF_TIME},
    "method": "frequency_domain.method",
    "envelope_band_hz": "frequency_domain.envelope_band_hz",
    "noise_floor_g": "frequency_domain.noise_floor_g",
    **{
        f"{line}_{name}": f"frequency_domain.{line}.{path}"
        for line in ("bpfo", "bpfi", "bsf", "ftf")
        for name, path in _OF_LINE.items()
    },
    "dominant_fault": "frequency_domain.dominant_fault",
    "confidence": "frequency_domain.confidence",
    "second_fault": "frequency_domain.second_fault.fault",
    "second_fault_confidence": "frequency_domain.second_fault.confidence",
    "new_comb_db": "frequency_domain.new_comb_db",
    "estimated_bearing": "frequency_domain.bearing_estimate.bearing",
    "order_tolerance_percent": "frequency_domain.bearing_estimate.order_tolerance_percent",
    "damage_most_likely": "frequency_domain.damaged.most_likely",
    "damage_or_else": "frequency_domain.damaged.or_else",
    "undetermined": "frequency_domain.undetermined",
    "trend_direction": "trend.trend_direction",
    "acceleration_detected": "trend.acceleration_detected",
}

#: Blocks of which every field may be without a value, so that nothing of them is archived.
_MAY_BE_EMPTY = ("time_domain", "rul")

#: Path of a field in the event.
Path = tuple[str, ...]


def path_of(column: str) -> Path | None:
    """Where the value of a column belongs; ``None`` for one that is no field of the event."""
    if column in COLUMNS:
        return tuple(COLUMNS[column].split("."))
    if column in FIELDS or column in BLOCKS:
        return (column,)
    for separator in (".", "__"):
        if separator in column:
            path = tuple(column.split(separator))
            return path if path[0] in BLOCKS and all(path) else None
    return _inside(column, BLOCKS, ())


def _inside(column: str, blocks: dict[str, Any], before: Path) -> Path | None:
    """The path of ``anomaly_persistence_k``: the block by its name, the rest inside it."""
    for block, inner in blocks.items():
        rest = column.removeprefix(f"{block}_")
        if rest != column and rest:
            return _inside(rest, inner, (*before, block)) or (*before, block, rest)
    return None


def utc_text(at: datetime) -> str:
    """A time as events write it: UTC, with milliseconds. A time without a zone is UTC, as Parquet has it."""
    utc = at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
    whole = utc.microsecond % 1000 == 0
    return utc.isoformat(timespec="milliseconds" if whole else "microseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    """A value of Arrow as JSON has it. Text that holds a list or an object is one."""
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if one is not None}
    return value


def _put(event: dict[str, Any], path: Path, value: Any) -> None:
    for at, block in enumerate(path[:-1]):
        if block.endswith("[]"):
            return _put_each(event, block.removesuffix("[]"), path[at + 1 :], value)
        inner = event.get(block)
        if not isinstance(inner, dict):
            inner = event[block] = {}
        event = inner
    last = path[-1]
    if isinstance(value, dict) and isinstance(event.get(last), dict):
        for key, one in value.items():
            _put(event[last], (key,), one)
    else:
        event[last] = value


def _put_each(event: dict[str, Any], name: str, path: Path, values: Any) -> None:
    """One field of each object of a list, whose other fields are other columns, or in ``rest``."""
    items = event.setdefault(name, [])
    items.extend({} for _ in range(len(values) - len(items)))
    for item, value in zip(items, values):
        _put(item, path, value)


def event_of(columns: Iterable[str], where: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The function that makes an event of a row; ``where`` names the table in errors."""
    paths = [(column, path) for column in columns if (path := path_of(column)) is not None]

    def event(row: dict[str, Any]) -> dict[str, Any]:
        rest = row.get("rest")
        made: dict[str, Any] = {"schema": "pdm.event/1"}
        try:
            given = rest if isinstance(rest, dict) else json.loads(rest) if rest else {}
        except ValueError as error:
            raise ReadError(f"{where}: rest of event {row.get('event_id')} is no JSON: {error}") from error
        if not isinstance(given, dict):
            raise ReadError(f"{where}: rest of event {row.get('event_id')} is no JSON object")
        made.update(given)
        for column, path in paths:
            # a field without a value is left out, as where it was never measured
            if (value := row[column]) is not None:
                _put(made, path, _plain(value))
        for block in _MAY_BE_EMPTY:
            made.setdefault(block, {})
        missing = [name for name in REQUIRED if name not in made]
        if missing:
            raise ReadError(
                f"{where}: no event can be made of its rows, which lack {', '.join(missing)}: neither a column nor "
                "the column rest has them"
            )
        return made

    return event
