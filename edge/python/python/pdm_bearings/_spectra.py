"""Spectra, envelope spectra, the kurtogram and order tracking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._recording import M_S2_PER_G, Recording, _number, _unit
from .errors import InputError

__all__ = ["OrderTrack", "Speed", "Spectrum", "envelope_spectrum", "kurtogram", "order_track", "spectrum"]

#: Fewest samples of a spectrum: fewer have no line between the mean and half the rate.
_LEAST_SAMPLES = 16

#: Levels and least width (share of half the rate) of the kurtogram where none are given.
_LEVELS, _LEAST_SHARE = 5, 1.0 / 32.0


@dataclass(frozen=True)
class Spectrum:
    """Lines at equal distances from 0 on.

    Attributes
    ----------
    frequency : numpy.ndarray, shape (lines,)
        Hz; multiples of the shaft speed in an order spectrum.
    amplitude : numpy.ndarray, shape (lines,)
        One-sided peak amplitudes in ``unit``: a sine of amplitude *a* on a line shows as *a*.
    unit : str
        ``'g'``, ``'m/s2'``, or their squares for a squared envelope.
    band_hz : tuple of float or None
        The band whose envelope was taken.
    axis : str
        ``'Hz'`` or ``'order'``.
    """

    frequency: np.ndarray
    amplitude: np.ndarray
    unit: str
    band_hz: tuple[float, float] | None = None
    axis: str = "Hz"

    @property
    def df(self) -> float:
        """Distance of the lines, in the unit of the axis."""
        return float(self.frequency[1]) if len(self.frequency) > 1 else 0.0

    def peak(self, near: float, reach: float) -> tuple[float, float]:
        """Place and amplitude of the highest line within ± ``reach`` of ``near``."""
        inside = np.abs(self.frequency - near) <= reach
        if not inside.any():
            raise InputError(f"no line within ± {reach} {self.axis} of {near}")
        at = int(np.flatnonzero(inside)[np.argmax(self.amplitude[inside])])
        return float(self.frequency[at]), float(self.amplitude[at])

    def to_frame(self) -> Any:
        """A pandas DataFrame with the columns ``frequency_hz`` (or ``order``) and ``amplitude``."""
        import pandas as pd

        name = "frequency_hz" if self.axis == "Hz" else "order"
        return pd.DataFrame({name: self.frequency, "amplitude": self.amplitude})

    def plot(self, ax: Any = None, *, limit: float | None = None, marks: Any = None) -> Any:
        """Draw it with matplotlib; returns the axes. ``marks``: mapping of names to places."""
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(9, 3), layout="constrained")
        shown = slice(None) if limit is None else self.frequency <= limit
        ax.plot(self.frequency[shown], self.amplitude[shown], linewidth=0.7)
        for index, (name, place) in enumerate((marks or {}).items()):
            if limit is None or place <= limit:
                ax.axvline(place, color=f"C{index % 9 + 1}", linestyle=":", linewidth=1, label=name)
        if marks:
            ax.legend(loc="upper right", fontsize="small")
        ax.set_xlabel("Hz" if self.axis == "Hz" else "order (multiples of the shaft speed)")
        ax.set_ylabel(self.unit.replace("2", "²") if self.unit == "g2" else self.unit)
        return ax


def _made(lines: tuple[float, bytes], unit: str, *, squared: bool = False, **more: Any) -> Spectrum:
    df, raw = lines
    amplitude = np.frombuffer(raw, dtype="<f8")
    scale = (1.0 / M_S2_PER_G) if unit == "g" else 1.0
    amplitude = amplitude * (scale * scale if squared else scale)
    shown = {"g": "g2", "m/s2": "(m/s2)2"}[unit] if squared else unit
    return Spectrum(np.arange(amplitude.size) * df, amplitude, shown, **more)


def _channel(rec: Recording, channel: int | str) -> int:
    if not isinstance(rec, Recording):
        raise InputError(
            f"a {type(rec).__name__} is no Recording: make one with Recording(data, rate=…, unit=…)"
        )
    at = rec.index_of(channel)
    if rec.samples < _LEAST_SAMPLES:
        raise InputError(f"{rec.samples} samples; at least {_LEAST_SAMPLES} are needed")
    rec._check_finite(at)
    return at


def spectrum(
    rec: Recording, *, channel: int | str = 0, df_hz: float | None = None, unit: str = "g"
) -> Spectrum:
    """Amplitude spectrum of the acceleration.

    Parameters
    ----------
    rec : Recording
    channel : int or str, default 0
    df_hz : float, optional
        Distance of the lines, Hz: the spectrum is then averaged over half-overlapping blocks of
        ``1 / df_hz`` seconds (root of the mean square). Default: one block, the whole recording.
    unit : {'g', 'm/s2'}

    Returns
    -------
    Spectrum
        One-sided peak amplitudes, Hann taper, mean removed.

    Notes
    -----
    Heinzel, Rüdiger & Schilling 2002 (scaling); Welch 1967, doi:10.1109/TAU.1967.1161901 (averages).

    Examples
    --------
    >>> import numpy as np
    >>> from pdm_bearings import Recording, spectrum
    >>> t = np.arange(2000) / 2000
    >>> rec = Recording(3 * np.sin(2 * np.pi * 100 * t), rate=2000, unit="g")
    >>> at_hz, peak_g = spectrum(rec).peak(100, 2)
    >>> round(at_hz), round(peak_g, 6)
    (100, 3.0)
    """
    at = _channel(rec, channel)
    wanted = _unit(unit, None) or "g"
    block = None
    if df_hz is not None:
        distance = _number("df_hz", df_hz)
        block = round(rec.rate_hz / distance) if distance > 0 else 0
        if not 2 <= block <= rec.samples:
            raise InputError(
                f"df_hz={df_hz}, allowed is {rec.rate_hz / rec.samples:.6g} to {rec.rate_hz / 2:g} Hz for "
                f"{rec.samples} samples at {rec.rate_hz:g} Hz"
            )
    return _made(_core.spectrum(rec._core, at, block), wanted)


def envelope_spectrum(
    rec: Recording,
    *,
    channel: int | str = 0,
    band: tuple[float, float] | str | None = None,
    limit_hz: float | None = None,
    unit: str = "g",
) -> Spectrum:
    """Spectrum of the squared envelope in a band.

    Parameters
    ----------
    rec : Recording
    channel : int or str, default 0
    band : (low, high) in Hz, 'kurtogram', or None
        The band that is demodulated. ``None``: 0.1 to 0.39 of the rate, as the gateway demodulates
        every window, so that recordings compare. ``'kurtogram'``: the most impulsive band.
    limit_hz : float, optional
        Highest frequency, Hz. Default: what the band's width allows.
    unit : {'g', 'm/s2'}
        The amplitudes are in its square.

    Returns
    -------
    Spectrum
        ``Spectrum.band_hz`` says which band was taken.

    Notes
    -----
    Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017, section 5: the band is cut out of the
    one-sided spectrum, shifted to 0 Hz and transformed back. Band by kurtogram: Antoni 2007,
    doi:10.1016/j.ymssp.2005.12.002.
    """
    at = _channel(rec, channel)
    wanted = _unit(unit, None) or "g"
    search, given = None, None
    if isinstance(band, str):
        if band != "kurtogram":
            raise InputError(f"band={band!r}, allowed are (low, high) in Hz, 'kurtogram' and None")
        search = (_LEVELS, _LEAST_SHARE * rec.rate_hz / 2)
    elif band is not None:
        try:
            low, high = band
        except (TypeError, ValueError) as error:
            raise InputError(f"band={band!r}, allowed are two frequencies (low, high) in Hz") from error
        given = (_number("band", low), _number("band", high))
    limit = float("inf") if limit_hz is None else _number("limit_hz", limit_hz)
    if not limit > 0.0:
        raise InputError(f"limit_hz={limit_hz}, allowed is above 0")
    lines, used = _core.envelope_spectrum(rec._core, at, given, search, limit)
    return _made(lines, wanted, squared=True, band_hz=used)


def kurtogram(
    rec: Recording,
    *,
    channel: int | str = 0,
    levels: int = _LEVELS,
    least_width_hz: float | None = None,
) -> Any:
    """Spectral kurtosis on a tree of bands, the most impulsive first.

    Parameters
    ----------
    rec : Recording
    channel : int or str, default 0
    levels : int, default 5
        How often the bands are halved, 1 to 16; a split into thirds lies between two levels.
    least_width_hz : float, optional
        Narrowest band, Hz. Default: a 32nd of half the rate.

    Returns
    -------
    pandas.DataFrame or dict of lists
        Columns ``low_hz``, ``high_hz``, ``kurtosis`` (0 for Gaussian noise).

    Notes
    -----
    Antoni 2007, doi:10.1016/j.ymssp.2005.12.002: the same tree, with exact bands in place of its
    filter bank.
    """
    at = _channel(rec, channel)
    if not 1 <= int(levels) <= 16:
        raise InputError(f"levels={levels}, allowed is 1 to 16")
    least = _LEAST_SHARE * rec.rate_hz / 2 if least_width_hz is None else least_width_hz
    rows = _core.kurtogram(rec._core, at, int(levels), _number("least_width_hz", least))
    columns = {
        "low_hz": [row[0] for row in rows],
        "high_hz": [row[1] for row in rows],
        "kurtosis": [row[2] for row in rows],
    }
    return table(columns)


def table(columns: dict[str, list[Any]], index: str | None = None) -> Any:
    """A DataFrame where pandas is installed, else the columns."""
    try:
        import pandas as pd
    except ImportError:
        return columns
    frame = pd.DataFrame(columns)
    return frame if index is None else frame.set_index(index)


@dataclass(frozen=True)
class Speed:
    """A shaft speed and where it is from.

    Attributes
    ----------
    rpm : float
        Mean speed, 1/min.
    is_estimated : bool
        The recording gave it; else it is the stated one.
    change_ratio : float or None
        How much it changes over the recording, highest minus lowest by the mean, where it was
        followed.
    """

    rpm: float
    is_estimated: bool
    change_ratio: float | None = None


@dataclass(frozen=True)
class OrderTrack:
    """A recording at equal shaft angles.

    Attributes
    ----------
    samples : numpy.ndarray, shape (turns × samples_per_turn,)
        Acceleration at equal angles, in ``unit``.
    samples_per_turn : int
    turns : float
        Shaft turns covered.
    speed : Speed
        Mean speed and its change.
    spectrum : Spectrum
        Order spectrum: lines by multiples of the shaft speed.
    unit : str
    """

    samples: np.ndarray
    samples_per_turn: int
    turns: float
    speed: Speed
    spectrum: Spectrum
    unit: str


def order_track(
    rec: Recording,
    *,
    channel: int | str = 0,
    tachometer: int | str | None = None,
    pulses_per_turn: int = 1,
    speed_rpm: Any = None,
    rpm: float | None = None,
    tolerance_percent: float = 20.0,
    samples_per_turn: int = 256,
    unit: str = "g",
) -> OrderTrack:
    """Resample a channel to equal shaft angle, so that lines stay sharp while the speed changes.

    The angle comes from one of three sources.

    Parameters
    ----------
    rec : Recording
    channel : int or str, default 0
        The vibration.
    tachometer : int or str, optional
        Channel with the pulses of a tachometer.
    pulses_per_turn : int, default 1
    speed_rpm : array_like, optional
        Speeds (1/min) at equal steps over the whole recording, the first at its begin, the last at
        its end.
    rpm : float, optional
        Nominal speed (1/min), where the strongest line within ``tolerance_percent`` of it is to be
        followed through the recording itself.
    tolerance_percent : float, default 20
    samples_per_turn : int, default 256
        Keep the highest order of interest below a quarter of it.
    unit : {'g', 'm/s2'}

    Returns
    -------
    OrderTrack

    Notes
    -----
    Fyfe & Munck 1997, doi:10.1006/mssp.1996.0056.
    """
    at = _channel(rec, channel)
    wanted = _unit(unit, None) or "g"
    sources = [
        name
        for name, it in (("tachometer", tachometer), ("speed_rpm", speed_rpm), ("rpm", rpm))
        if it is not None
    ]
    if len(sources) != 1:
        got = " and ".join(sources) or "none"
        raise InputError(f"one of tachometer=, speed_rpm= and rpm= is needed, got {got}")
    if not 2 <= int(samples_per_turn) <= 65_536:
        raise InputError(f"samples_per_turn={samples_per_turn}, allowed is 2 to 65536")
    angle: tuple[Any, ...]
    if tachometer is not None:
        if int(pulses_per_turn) < 1:
            raise InputError(f"pulses_per_turn={pulses_per_turn}, allowed is 1 and more")
        angle = (_channel(rec, tachometer), int(pulses_per_turn))
    elif speed_rpm is not None:
        speeds = np.asarray(speed_rpm, dtype=np.float64)
        if speeds.ndim != 1 or speeds.size < 2:
            raise InputError(f"speed_rpm has the shape {speeds.shape}, allowed is (n,) with n ≥ 2")
        angle = ((speeds / 60.0).astype("<f8").tobytes(), rec.duration_s / (speeds.size - 1))
    else:
        nominal_hz = _number("rpm", rpm) / 60.0
        if not (np.isfinite(nominal_hz) and nominal_hz > 0.0):
            raise InputError(f"rpm={rpm}, allowed is above 0")
        if not 0.0 < tolerance_percent <= 50.0:
            raise InputError(f"tolerance_percent={tolerance_percent}, allowed is above 0 to 50")
        angle = (nominal_hz, tolerance_percent / 100.0, "vibration")
    raw, turns, mean_hz, change, lines = _core.order_track(rec._core, at, angle, int(samples_per_turn))
    accel = np.frombuffer(raw, dtype="<f8") / (M_S2_PER_G if wanted == "g" else 1.0)
    found = Speed(mean_hz * 60.0, True, change)
    return OrderTrack(accel, int(samples_per_turn), turns, found, _made(lines, wanted, axis="order"), wanted)
