"""Figures of the waveform, one row a channel."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._bearing import Bearing, chosen
from ._recording import Recording, _number
from ._spectra import table
from .errors import InputError

__all__ = ["FEATURES", "features"]

#: The figures of every channel, with their unit where they have one.
FEATURES = (
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
)

_LINES = ("bpfo", "bpfi", "bsf", "ftf")


def measured(
    rec: Recording,
    channel: int,
    rpm: float | None = None,
    orders: tuple[float, float, float, float] | None = None,
    band: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Quality, waveform and lines of one channel as the event's blocks."""
    blocks: dict[str, Any] = json.loads(_core.features(rec._core, channel, rpm, orders, band))
    return blocks


def features(
    rec: Recording,
    *,
    rpm: float | None = None,
    bearing: str | Bearing | Any = None,
    orders: Any = None,
    band: tuple[float, float] | None = None,
) -> Any:
    """Figures of the waveform of every channel.

    Parameters
    ----------
    rec : Recording
    rpm : float, optional
        Shaft speed, 1/min: with a bearing, levels of its defect lines are added.
    bearing, orders : optional
        As in `diagnose`.
    band : (low, high) in Hz, optional
        Band of the envelope's figures. Default: 0.1 to 0.39 of the rate.

    Returns
    -------
    pandas.DataFrame or dict of lists
        One row a channel (without pandas a list a column): ``channel``, the figures of `FEATURES` (g,
        mm/s; ratios without a unit), ``is_valid``, ``flags``, and with a bearing ``bpfo_snr_db``,
        ``bpfo_envelope_g`` and so on. A figure that is not measured, such as a velocity at a rate
        below 2 kHz, is ``NaN``.

    Notes
    -----
    ISO 13373-1:2002, annex; factors as in Lei et al. 2008, doi:10.1016/j.eswa.2007.08.072, table 1.
    Velocity 10 to 1,000 Hz (ISO 20816-1).
    """
    if not isinstance(rec, Recording):
        raise InputError(
            f"a {type(rec).__name__} is no Recording: make one with Recording(data, rate=…, unit=…)"
        )
    of_bearing = None
    if bearing is not None or orders is not None:
        if rpm is None:
            raise InputError("rpm= is missing: lines of a bearing have places only at a speed")
        of_bearing = chosen(bearing, orders).orders
    elif rpm is not None:
        raise InputError("bearing= or orders= is missing: a speed alone gives no lines")
    speed = None if rpm is None else _number("rpm", rpm)
    rows = []
    for at in range(rec.channels):
        rec._check_finite(at)
        rows.append(_row(rec, at, measured(rec, at, speed, of_bearing, band)))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return table(columns)


def _row(rec: Recording, channel: int, blocks: dict[str, Any]) -> dict[str, Any]:
    nan = float("nan")
    name = rec.channel_names[channel]
    row: dict[str, Any] = {"channel": channel if name is None else name}
    time = blocks["time_domain"]
    row.update({key: nan if time.get(key) is None else time[key] for key in FEATURES})
    lines = blocks["frequency_domain"]
    if lines is not None:
        for key in _LINES:
            line = lines[key]
            for figure, said in (("snr_db", "snr_db"), ("envelope_amplitude", "envelope_g")):
                value = line.get(figure)
                row[f"{key}_{said}"] = nan if value is None else value
    row["is_valid"] = blocks["signal_quality"]["valid"]
    row["flags"] = ", ".join(blocks["signal_quality"]["flags"])
    return row
