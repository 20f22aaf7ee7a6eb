"""Recordings: samples with their rate and unit."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import channel_by_sample, check_counts, check_no_time, check_rate, given
from ._captured import Capture, capture_of
from .errors import InputError

__all__ = ["M_S2_PER_G", "Recording", "read", "read_all"]

#: Standard gravity, m/s² (ISO 80000-3).
M_S2_PER_G = 9.80665

_UNITS = {
    "g": "g",
    "m/s2": "m/s2",
    "m/s^2": "m/s2",
    "m/s²": "m/s2",
    "m/s**2": "m/s2",
    "m s-2": "m/s2",
    "m·s⁻²": "m/s2",
    "mv": "mV",
}


def _number(name: str, value: Any) -> float:
    if isinstance(value, (bool, np.bool_, str, bytes)) or value is None:
        raise InputError(f"{name}={value!r} is no number")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}={value!r} is no number") from error
    return number


def _rate(rate: Any) -> float:
    if rate is None:
        raise InputError("rate= is missing: the samples per second of each channel, Hz")
    number = _number("rate", rate)
    if not np.isfinite(number) or number <= 0.0:
        raise InputError(f"rate={rate}: the samples per second must be finite and above 0")
    return number


def _unit(unit: Any, sensitivity_mv_per_g: float | None, stated: str | None = None) -> str | None:
    """The unit as the readers know it, checked; ``None`` for millivolts with a sensitivity."""
    if unit is None and sensitivity_mv_per_g is None:
        said = f" (the data say {stated!r})" if stated else ""
        raise InputError(
            f"unit= is missing{said}: 'g' or 'm/s2', or sensitivity_mv_per_g= for samples in millivolts"
        )
    if unit is None:
        return None
    known = _UNITS.get(str(unit).strip().lower())
    if known is None:
        raise InputError(
            f"unit={unit!r} is no unit of acceleration; allowed are 'g' and 'm/s2', or 'mV' with "
            "sensitivity_mv_per_g="
        )
    if known == "mV":
        if sensitivity_mv_per_g is None:
            raise InputError("sensitivity_mv_per_g= is missing: unit='mV' needs what 1 g gives")
        return None
    if sensitivity_mv_per_g is not None:
        raise InputError(
            f"unit={unit!r} and sensitivity_mv_per_g={sensitivity_mv_per_g} contradict each other: a "
            "sensitivity is for samples in millivolts"
        )
    if stated is not None and _UNITS.get(stated.strip().lower(), known) != known:
        raise InputError(f"unit={unit!r} contradicts the data, whose attribute says {stated!r}")
    return known


def _unix_ms(at: Any) -> int | None:
    if at is None:
        return None
    if isinstance(at, np.datetime64):
        return int(at.astype("datetime64[ms]").astype(np.int64))
    if isinstance(at, str):
        at = dt.datetime.fromisoformat(at.replace("Z", "+00:00"))
    if isinstance(at, dt.datetime):
        if at.tzinfo is None:
            raise InputError(f"started_at={at.isoformat()} has no time zone; give one, such as +00:00")
        return round(at.timestamp() * 1000.0)
    return round(_number("started_at", at) * 1000.0)


class Recording:
    """Acceleration of one or more channels, sampled together.

    Parameters
    ----------
    data : array_like, shape (samples,) or (channels, samples)
        NumPy array of any float or integer type, list, pandas Series or DataFrame (time runs down the
        rows, a column is a channel), polars Series or DataFrame, xarray DataArray (the dimension
        ``time`` is found by its name).
    rate : float
        Samples per second of each channel, Hz. Required, also where an index holds times: it must
        then agree with them within 1 %.
    unit : {'g', 'm/s2', 'mV'}
        Unit of ``data`` after scaling. Required.
    scale : float, optional
        What one count is, in the unit. Required for integers, and for floats that hold only whole
        numbers above 50.
    sensitivity_mv_per_g : float, optional
        Sensitivity of the sensor, for samples in millivolts.
    offset : float, default 0
        Subtracted after scaling, in the unit.
    time_axis : int, optional
        Axis of time of a 2-D array where it is not the last one.
    channel_names : sequence of str, optional
        Names of the channels.
    name : str, default 'recording'
        What the recording is called in events and pictures.
    started_at : datetime, str or float, optional
        Time of the first sample: with a time zone, RFC 3339, or seconds since 1970. Default: now.
    missing : {'refuse', 'keep'}
        What is done with samples that are no finite number: refused with channel and place, or kept
        (`diagnose` with ``strict=False`` then says why it cannot judge).

    Raises
    ------
    InputError
        With the argument, its value and what is allowed.
    DtypeError
        For complex numbers, objects, texts, booleans and dates.

    Examples
    --------
    >>> import numpy as np
    >>> from pdm_bearings import Recording
    >>> t = np.arange(12_000) / 12_000
    >>> rec = Recording(np.sin(2 * np.pi * 100 * t).astype("float32"), rate=12_000, unit="g")
    >>> rec
    <Recording 'recording': 1 channel × 12000 samples at 12000 Hz, 1.000 s>
    """

    __slots__ = ("_capture", "_core", "_names", "_read_as", "notes")

    def __init__(
        self,
        data: Any,
        *,
        rate: float | None = None,
        unit: str | None = None,
        scale: float | None = None,
        sensitivity_mv_per_g: float | None = None,
        offset: float = 0.0,
        time_axis: int | None = None,
        channel_names: Sequence[str] | None = None,
        name: str = "recording",
        started_at: dt.datetime | str | float | None = None,
        missing: str = "refuse",
    ) -> None:
        if isinstance(data, Recording):
            raise InputError("data is a Recording already; use it as it is")
        if missing not in ("refuse", "keep"):
            raise InputError(f"missing={missing!r}, allowed are 'refuse' and 'keep'")
        got = given(data)
        rate_hz = _rate(rate)
        meaning_unit = _unit(unit, sensitivity_mv_per_g, got.unit)
        array = channel_by_sample(got, time_axis)
        check_rate(rate_hz, got.axis_rate)
        factor = None if scale is None else _number("scale", scale)
        names: list[str | None] | None = got.names
        if channel_names is not None:
            names = [str(one) for one in channel_names]
        if names is not None and len(names) != array.shape[0]:
            raise InputError(f"channel_names has {len(names)} names for {array.shape[0]} channels")
        check_no_time(array, names)
        check_counts(array, factor)
        started_ms = _unix_ms(started_at)
        raw = np.ascontiguousarray(array, dtype="<f8").tobytes()
        meaning = (
            meaning_unit,
            None if sensitivity_mv_per_g is None else _number("sensitivity_mv_per_g", sensitivity_mv_per_g),
            factor,
            _number("offset", offset),
        )
        at_ms = round(time.time() * 1000.0) if started_ms is None else started_ms
        self._core = _core.Samples.of_raw(raw, array.shape[0], rate_hz, meaning, str(name), at_ms)
        self._names: list[str | None] = names or [None] * array.shape[0]
        self._capture: Capture | None = None
        self._read_as: str | None = None
        self.notes: list[str] = []
        if missing == "refuse":
            self._check_finite()

    @classmethod
    def _of(cls, core: _core.Samples) -> Recording:
        made = cls.__new__(cls)
        made._core = core
        made._names = core.channel_names
        made._capture = None
        made._read_as = core.interpretation
        made.notes = [] if core.interpretation is None else [core.interpretation]
        return made

    def _check_finite(self, channel: int | None = None) -> None:
        for at in range(self.channels) if channel is None else (channel,):
            count, first = self._core.not_finite(at)
            if count:
                raise InputError(
                    f"channel {at}: {count} of {self.samples} samples are no finite number (NaN or "
                    f"infinite), the first is sample {first}: cut the recording around them, or fill "
                    "them; a spectrum needs every sample"
                )

    # --- what it is -----------------------------------------------------------------------------

    @property
    def channels(self) -> int:
        """Number of channels."""
        return self._core.channels

    @property
    def samples(self) -> int:
        """Samples of each channel."""
        return self._core.samples

    @property
    def rate_hz(self) -> float:
        """Samples per second, Hz."""
        return self._core.rate_hz

    @property
    def duration_s(self) -> float:
        """Length, s."""
        return self.samples / self.rate_hz

    @property
    def name(self) -> str:
        """Name of the file, or what it was called."""
        return self._core.name

    @property
    def channel_names(self) -> list[str | None]:
        """Names of the channels, ``None`` where nobody names one."""
        return list(self._names)

    @property
    def started_at(self) -> dt.datetime:
        """Time of the first sample where it is known, else of the file or of making it (UTC)."""
        return dt.datetime.fromtimestamp(self._core.measured_at_ms / 1000.0, dt.timezone.utc)

    @property
    def interpretation(self) -> str | None:
        """How a file was read, in one line; ``None`` for an array."""
        return self._read_as

    @property
    def capture(self) -> Capture | None:
        """What the document beside a captured waveform says; ``None`` for every other recording."""
        return self._capture

    def window(self) -> Recording:
        """The window of a capture that the gateway judged; of every other recording all of it.

        `diagnose` judges it where a whole capture is given, as ``pdm-edge analyze`` does.
        """
        if self._capture is None:
            return self
        start_s, length_s = self._capture.window_s
        return self.cut(start_s, length_s)

    def __repr__(self) -> str:
        plural = "" if self.channels == 1 else "s"
        return (
            f"<Recording {self.name!r}: {self.channels} channel{plural} × {self.samples} samples at "
            f"{self.rate_hz:g} Hz, {self.duration_s:.3f} s>"
        )

    def __len__(self) -> int:
        return self.samples

    # --- its samples ----------------------------------------------------------------------------

    def index_of(self, channel: int | str) -> int:
        """Index of a channel by number (from 0; negative from the end) or name."""
        if isinstance(channel, str):
            if channel not in self._names:
                known = ", ".join(str(name) for name in self._names)
                raise InputError(f"channel={channel!r} is not there; the recording has {known}")
            return self._names.index(channel)
        at = int(channel)
        if not -self.channels <= at < self.channels:
            raise InputError(f"channel={channel} is not there: {self!r} counts from 0")
        return at % self.channels

    def to_numpy(self, unit: str = "g") -> np.ndarray:
        """Samples as float64, shape (channels, samples), in ``'g'`` or ``'m/s2'``."""
        return np.stack([self.channel(at, unit) for at in range(self.channels)])

    def channel(self, channel: int | str = 0, unit: str = "g") -> np.ndarray:
        """Samples of one channel as float64, shape (samples,), in ``'g'`` or ``'m/s2'``."""
        accel_m_s2 = np.frombuffer(self._core.accel_m_s2(self.index_of(channel)), dtype="<f8")
        wanted = _unit(unit, None)
        return accel_m_s2 / M_S2_PER_G if wanted == "g" else accel_m_s2.copy()

    def time_s(self) -> np.ndarray:
        """Time of each sample since the first, s."""
        return np.arange(self.samples) / self.rate_hz

    def cut(self, start_s: float = 0.0, duration_s: float | None = None) -> Recording:
        """A part of the recording, in seconds."""
        first = round(_number("start_s", start_s) * self.rate_hz)
        last = self.samples
        if duration_s is not None:
            last = first + round(_number("duration_s", duration_s) * self.rate_hz)
        if not 0 <= first < last <= self.samples:
            raise InputError(
                f"start_s={start_s}, duration_s={duration_s} lie outside {self.duration_s:.3f} s"
            )
        return self._rebuilt(self.to_numpy("m/s2")[:, first:last], 1000.0 * first / self.rate_hz)

    def _rebuilt(self, accel_m_s2: np.ndarray, later_ms: float = 0.0) -> Recording:
        at_ms = self._core.measured_at_ms + round(later_ms)
        return _rebuild(accel_m_s2, self.rate_hz, self._names, self.name, at_ms)

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self.to_numpy("m/s2"), self.rate_hz, self._names, self.name)
        return _rebuild, (*state, self._core.measured_at_ms, self._capture, self.notes)


def _rebuild(
    accel_m_s2: np.ndarray,
    rate_hz: float,
    names: list[str | None],
    name: str,
    at_ms: int,
    capture: Capture | None = None,
    notes: Sequence[str] = (),
) -> Recording:
    made = Recording.__new__(Recording)
    raw = np.ascontiguousarray(accel_m_s2, dtype="<f8").tobytes()
    meaning = ("m/s2", None, None, 0.0)
    made._core = _core.Samples.of_raw(raw, len(accel_m_s2), rate_hz, meaning, name, at_ms)
    made._names = list(names)
    made._capture = capture
    made._read_as = None
    made.notes = list(notes)
    return made


def _options(
    rate: Any,
    unit: Any,
    scale: Any,
    sensitivity_mv_per_g: Any,
    offset: Any,
    channel: Any,
    variable: str | None,
    start_s: float,
    duration_s: float | None,
    prefer: str | None,
    decimal: str | None,
) -> dict[str, Any]:
    known = None if unit is None else _unit(unit, sensitivity_mv_per_g)
    if channel is None:
        channels: list[int] = []
    elif isinstance(channel, Iterable) and not isinstance(channel, str):
        channels = [int(one) for one in channel]
    else:
        channels = [int(channel)]
    return {
        "rate_hz": None if rate is None else _rate(rate),
        "meaning": (
            known,
            None if sensitivity_mv_per_g is None else _number("sensitivity_mv_per_g", sensitivity_mv_per_g),
            None if scale is None else _number("scale", scale),
            _number("offset", offset),
        ),
        "channels": channels,
        "variable": variable,
        "start_s": _number("start_s", start_s),
        "duration_s": None if duration_s is None else _number("duration_s", duration_s),
        "prefer": prefer,
        "decimal": decimal,
        "started_at_ms": None,
        "period_s": None,
    }


def _stated(core: _core.Samples) -> _core.Samples:
    if core.unit_is_assumed:
        raise InputError(
            f"unit= is missing: {core.name} states none; pass 'g' or 'm/s2', or sensitivity_mv_per_g= "
            "for samples in millivolts"
        )
    return core


def read(
    path: str | os.PathLike[str],
    *,
    rate: float | None = None,
    unit: str | None = None,
    scale: float | None = None,
    sensitivity_mv_per_g: float | None = None,
    offset: float = 0.0,
    channel: int | Sequence[int] | None = None,
    variable: str | None = None,
    snapshot: int = 0,
    start_s: float = 0.0,
    duration_s: float | None = None,
    prefer: str | None = None,
    decimal: str | None = None,
) -> Recording:
    """Read one recording by the gateway's own readers.

    Reads WAV, CSV and other tables, Excel (.xlsx), NumPy, MATLAB (5 and 7.3), HDF5, Parquet, LabVIEW
    LVM and TDMS, universal files, JSON, IMS ASCII; also in gzip or zip. The format is found by the
    content, not by the name. Beside a captured waveform stands its document (``pdm.capture/1``), which
    states rate, unit, time, speed and bearing; what is given here counts before it.

    Parameters
    ----------
    path : str or path-like
        The file.
    rate : float, optional
        Samples per second, Hz. Required where neither the file nor a time column in it states one.
    unit : {'g', 'm/s2', 'mV'}, optional
        Unit of the samples after scaling. Required where the file states none.
    scale, sensitivity_mv_per_g, offset
        As in `Recording`.
    channel : int or sequence of int, optional
        Channels to read, from 0, over the columns of acceleration. Default: all.
    variable : str, optional
        Variable of a file that holds several, such as ``'bearing.gs'``; column; sheet.
    snapshot : int, default 0
        Snapshot of a 3-D array.
    start_s, duration_s : float, optional
        Seconds left out at the beginning; seconds read.
    prefer : {'file', 'option'}, optional
        Which side counts where the file contradicts ``rate`` or ``unit``. Default: refused.
    decimal : {'comma', 'point'}, optional
        Decimal sign of a text where the text does not tell.

    Returns
    -------
    Recording
        `Recording.interpretation` says how the file was read, `Recording.capture` what the document of a
        captured waveform says.

    Raises
    ------
    FileNotFoundError, ReadError, InputError
        `ReadError` also where a document describes another file (SHA-256).
    """
    capture = capture_of(path)
    if capture is not None:
        # the head of a WAV file holds whole Hz
        prefer = prefer or ("option" if rate is None else None)
        rate = capture.rate_hz if rate is None else rate
        if unit is None and sensitivity_mv_per_g is None:
            unit = "m/s2"
    options = _options(
        rate,
        unit,
        scale,
        sensitivity_mv_per_g,
        offset,
        channel,
        variable,
        start_s,
        duration_s,
        prefer,
        decimal,
    )
    made = Recording._of(_stated(_core.read(os.fspath(path), options, int(snapshot))))
    return made if capture is None else _captured(made, capture, options)


def _captured(made: Recording, capture: Capture, options: dict[str, Any]) -> Recording:
    """A capture with the time and the meaning that its document states."""
    start_s, duration_s = options["start_s"], options["duration_s"]
    is_whole = start_s == 0.0 and duration_s is None
    first = round(start_s * made.rate_hz)
    missing_s = sum(gap for before, gap in capture.gaps if before <= first)
    at_ms = round(1000.0 * (capture.started_at.timestamp() + start_s + missing_s))
    notes = [*made.notes, f"{made.name}: captured from {capture.equipment}/{capture.bearing_id}"]
    if capture.gaps:
        notes.append(f"{made.name}: {len(capture.gaps)} gaps in it (rec.capture.gaps)")
    whole = capture if is_whole else None
    dated = _rebuild(made.to_numpy("m/s2"), made.rate_hz, made._names, made.name, at_ms, whole, notes)
    dated._read_as = made.interpretation
    return dated


def read_all(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    period_s: float | None = None,
    started_at: dt.datetime | str | float | None = None,
    most: int | None = None,
    rate: float | None = None,
    unit: str | None = None,
    scale: float | None = None,
    sensitivity_mv_per_g: float | None = None,
    offset: float = 0.0,
    channel: int | Sequence[int] | None = None,
    variable: str | None = None,
    start_s: float = 0.0,
    duration_s: float | None = None,
    prefer: str | None = None,
    decimal: str | None = None,
) -> list[Recording]:
    """Read every snapshot of files or folders, in the order of time.

    Parameters
    ----------
    paths : path or sequence of paths
        Files in the order of time, or folders, whose files are sorted by name.
    period_s : float, optional
        Seconds from the beginning of one snapshot to that of the next.
    started_at : datetime, str or float, optional
        Time of the first snapshot.
    most : int, optional
        At most so many snapshots: a run to failure may be larger than memory.
    rate, unit, scale, sensitivity_mv_per_g, offset, channel, variable, start_s, duration_s, prefer, decimal
        As in `read`.

    Returns
    -------
    list of Recording
    """
    options = _options(
        rate,
        unit,
        scale,
        sensitivity_mv_per_g,
        offset,
        channel,
        variable,
        start_s,
        duration_s,
        prefer,
        decimal,
    )
    options["started_at_ms"] = _unix_ms(started_at)
    options["period_s"] = None if period_s is None else _number("period_s", period_s)
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    files = [os.fspath(path) for path in several]
    return [Recording._of(_stated(core)) for core in _core.read_sequence(files, options, most)]
