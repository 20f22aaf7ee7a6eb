"""The verdict on a recording."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._bearing import Bearing, chosen
from ._recording import Recording, _number
from ._spectra import Spectrum, Speed, _channel, _made, spectrum
from .errors import InputError, SignalWarning

__all__ = ["DefectLine", "Diagnosis", "diagnose", "diagnose_many", "speed"]

#: Fewest samples that are looked at at all.
LEAST_SAMPLES = 256

#: Names of the parts and of their defect frequencies.
PARTS = {"outer_race": "bpfo", "inner_race": "bpfi", "ball": "bsf", "cage": "ftf"}

_FLAG_HINTS = {
    "implausible": "levels that no bearing reaches: is the unit or the scale wrong?",
    "machine_off": "the machine stands: is the unit or the scale wrong?",
}


@dataclass(frozen=True)
class DefectLine:
    """What stands at one defect frequency.

    Attributes
    ----------
    frequency_hz, order : float or None
        Where its line was found, or its nominal place; Hz and multiples of the shaft speed.
    snr_db : float or None
        Level of the envelope line above the local floor, dB.
    score : float or None
        0 nothing … 1 certain that its lines are there.
    harmonics : list of int
        Multiples that stand out.
    sidebands : int
        Modulation lines that stand out around the first two multiples.
    amplitude_g, envelope_amplitude_g : float or None
        Amplitude in the acceleration spectrum and of the envelope there, g.
    """

    frequency_hz: float | None
    order: float | None
    snr_db: float | None
    score: float | None
    harmonics: list[int]
    sidebands: int
    amplitude_g: float | None
    envelope_amplitude_g: float | None


class Diagnosis:
    """The verdict on one channel of a recording, with its evidence.

    Attributes
    ----------
    fault : {'outer_race', 'inner_race', 'ball', 'cage'} or None
        The damaged part, where one is named.
    confidence : float
        How sure the name is, 0…1, calibrated on recordings whose truth is known; without a name, how
        likely the leading candidate is.
    undetermined : str or None
        Why a fault can neither be named nor excluded.
    lines : dict of str to DefectLine
        By part.
    speed : Speed
    band_hz : tuple of float or None
        Band whose envelope is shown.
    spectrum, envelope_spectrum : Spectrum or None
        What the verdict saw, in full resolution and up to four multiples of BPFI (the event holds at most
        800 lines of each).
    is_valid : bool
        The signal can be judged.
    flags : list of str
        What is wrong with the signal.
    notes : list of str
        What is to be said of the reading and of the baseline.
    """

    def __init__(self, core: _core.Verdict, rec: Recording, channel: int, bearing: Bearing) -> None:
        self._json: str = core.json
        self._event: dict[str, Any] = json.loads(core.json)
        self.recording = rec
        self.channel = channel
        self.bearing = bearing
        self.notes: list[str] = [*rec.notes, *core.notes]
        found = self._event["frequency_domain"]
        self.fault: str | None = found["dominant_fault"]
        self.confidence: float = found["confidence"]
        second = found.get("second_fault")
        self.second_fault: tuple[str, float] | None = (
            (second["fault"], second["confidence"]) if second else None
        )
        self.undetermined: str | None = found.get("undetermined")
        band = found.get("envelope_band_hz")
        self.band_hz: tuple[float, float] | None = tuple(band) if band else None
        quality = self._event["signal_quality"]
        self.is_valid: bool = quality["valid"]
        self.flags: list[str] = quality["flags"]
        operating = self._event["operating"]
        is_estimated = operating["speed_source"] == "estimated"
        self.speed = Speed(operating["shaft_speed_rpm"], is_estimated)
        self.lines: dict[str, DefectLine] = {part: _line(found[key]) for part, key in PARTS.items()}
        self.time_domain: dict[str, float | None] = self._event["time_domain"]
        raw, envelope = core.acceleration_spectrum, core.envelope_spectrum
        self.spectrum: Spectrum | None = None if raw is None else _made(raw, "g")
        self.envelope_spectrum: Spectrum | None = (
            None if envelope is None else _made(envelope, "g", squared=True, band_hz=self.band_hz)
        )

    @property
    def verdict(self) -> str:
        """The verdict in one sentence."""
        percent = f"confidence {self.confidence * 100:.0f} %"
        if self.fault is not None:
            also = ""
            if self.second_fault is not None:
                part, how_sure = self.second_fault
                also = f"; lines of the {_words(part)}, too, confidence {how_sure * 100:.0f} %"
            return f"{_words(self.fault)} fault, {percent}{also}"
        if self.undetermined is not None:
            return f"cannot say: {self.undetermined}"
        return "no bearing fault found"

    def to_dict(self) -> dict[str, Any]:
        """The event, as ``pdm-edge analyze --json`` prints it."""
        event: dict[str, Any] = json.loads(self._json)
        return event

    def to_json(self) -> str:
        """The same as text."""
        return self._json

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.recording.name!r}, channel {self.channel}: {self.verdict}>"

    def __str__(self) -> str:
        rows = [f"{self.recording.name}, channel {self.channel}: {self.verdict}"]
        known = self.speed.rpm is not None
        if known:
            how = "from the recording" if self.speed.is_estimated else "stated"
            rows.append(f"  {self.speed.rpm:.1f} rpm ({how})")
        for part, line in self.lines.items():
            if line.frequency_hz is None:
                continue
            level = "–" if line.snr_db is None else f"{line.snr_db:.1f}"
            score = "–" if line.score is None else f"{line.score:.2f}"
            several = " ".join(f"{n}×" for n in line.harmonics) or "none"
            rows.append(
                f"  {PARTS[part].upper()} ({_words(part)}): {line.frequency_hz:.2f} Hz, {level} dB, score "
                f"{score}, harmonics {several}"
            )
        rows.extend(f"  {note}" for note in self.notes)
        return "\n".join(rows)

    def defect_frequencies_hz(self) -> dict[str, float]:
        """Where lines are looked for: name of the frequency → Hz (2×BSF for the ball)."""
        places = {}
        for part, line in self.lines.items():
            if line.frequency_hz is not None:
                twice = part == "ball"
                name = "2×BSF" if twice else PARTS[part].upper()
                places[name] = line.frequency_hz * (2.0 if twice else 1.0)
        return places

    def plot(self, path: Any = None, *, harmonics: int = 3) -> Any:
        """Draw waveform, spectrum and envelope spectrum with matplotlib.

        Parameters
        ----------
        path : path-like, optional
            Write a picture there.
        harmonics : int, default 3
            Multiples of the named (else of every) defect frequency that are marked.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 7.5), layout="constrained")
        wave, raw, envelope = figure.subplots(3)
        rec = self.recording
        wave.plot(rec.time_s(), rec.channel(self.channel), linewidth=0.4)
        wave.set_xlabel("s")
        wave.set_ylabel("g")
        wave.set_title(f"{rec.name}, channel {self.channel}: {self.verdict}", fontsize="medium")
        if self.is_valid:
            # the whole range, to show where the demodulated band lies
            spectrum(rec, channel=self.channel).plot(raw)
            if self.band_hz is not None:
                raw.axvspan(*self.band_hz, alpha=0.15, color="C1", label="demodulated band")
                raw.legend(loc="upper right", fontsize="small")
        if self.envelope_spectrum is not None:
            places = self.defect_frequencies_hz()
            if self.fault is not None:
                name = {"ball": "2×BSF"}.get(self.fault, PARTS[self.fault].upper())
                places = {f"{n}×{name}" if n > 1 else name: n * places[name] for n in range(1, harmonics + 1)}
            limit = 1.15 * max(places.values(), default=float(self.envelope_spectrum.frequency[-1]))
            self.envelope_spectrum.plot(envelope, limit=limit, marks=places)
            envelope.set_ylabel("squared envelope, g²")
        if path is not None:
            figure.savefig(path, dpi=80)
        return figure


def _words(part: str) -> str:
    return part.replace("_", " ")


def _line(line: dict[str, Any]) -> DefectLine:
    return DefectLine(
        frequency_hz=line.get("frequency_hz"),
        order=line.get("order"),
        snr_db=line.get("snr_db"),
        score=line.get("score"),
        harmonics=[harmonic["n"] for harmonic in line.get("harmonics", [])],
        sidebands=line.get("sidebands", {}).get("count", 0),
        amplitude_g=line.get("amplitude_g"),
        envelope_amplitude_g=line.get("envelope_amplitude"),
    )


def _machine(rpm: Any, rpm_tolerance: Any, bearing: Bearing, order_tolerance: Any) -> tuple[Any, ...]:
    if rpm is None:
        raise InputError("rpm= is missing: the shaft speed, 1/min")
    speed_rpm = _number("rpm", rpm)
    if not (np.isfinite(speed_rpm) and speed_rpm > 0.0):
        raise InputError(f"rpm={rpm}: the shaft speed must be finite and above 0")
    if rpm_tolerance is not None:
        rpm_tolerance = _number("rpm_tolerance_percent", rpm_tolerance)
    if order_tolerance is not None:
        order_tolerance = _number("order_tolerance_percent", order_tolerance)
    return (speed_rpm, rpm_tolerance, bearing.orders, order_tolerance)


def diagnose(
    rec: Recording,
    *,
    rpm: float | None = None,
    bearing: str | Bearing | Any = None,
    orders: Any = None,
    channel: int | str = 0,
    baseline: Recording | None = None,
    rpm_tolerance_percent: float | None = None,
    order_tolerance_percent: float | None = None,
    strict: bool = True,
) -> Diagnosis:
    """Which part of the bearing is damaged, and how sure is that?

    The code path is that of ``pdm-edge analyze``: the figures are equal.

    Parameters
    ----------
    rec : Recording
        At least 15 shaft turns; a second at 1,500 rpm has 25. Of a whole capture its window is judged, with
        speed and bearing of its document where they are not given.
    rpm : float
        Shaft speed, 1/min. Required where no document states it.
    bearing : str or Bearing
        Name in the catalogue (see `bearings`), or a `Bearing`. Required unless ``orders`` is given.
    orders : sequence or mapping of 4 floats
        BPFO, BPFI, BSF (1×), FTF as multiples of the shaft speed.
    channel : int or str, default 0
    baseline : Recording, optional
        A sound recording of the same measuring point, at least at the same rate: what stood in it is
        taken off, so that the verdict rests on what is new, and the speed that it shows in place of the
        stated one is used where the recording shows none. The same channel of it is used.
    rpm_tolerance_percent : float, default 5
        Largest deviation of the true speed; it is searched within. More than 5 declares it uncertain.
    order_tolerance_percent : float, default 2
        Largest deviation of a line from its order (slip, contact angle, wear).
    strict : bool, default True
        Samples that are no finite number, and fewer than 256, are an error. ``False``: they give a
        diagnosis that says why the signal cannot be judged, as the command line does.

    Returns
    -------
    Diagnosis

    Warns
    -----
    SignalWarning
        Where the signal cannot be judged, or unit or scale look wrong.

    Raises
    ------
    InputError, UnknownBearingError

    Notes
    -----
    Squared envelopes of many bands (Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017), weighed
    against unrelated orders, with a confidence calibrated on public recordings; see
    ``docs/benchmark.md``.
    """
    if not isinstance(rec, Recording):
        raise InputError(
            f"a {type(rec).__name__} is no Recording: make one with Recording(data, rate=…, unit=…)"
        )
    if rec.capture is not None:
        told = rec.capture.machine
        rpm = told["rpm"] if rpm is None else rpm
        if bearing is None and orders is None:
            bearing = told["bearing"]
        if rpm_tolerance_percent is None:
            rpm_tolerance_percent = told["rpm_tolerance_percent"]
        if order_tolerance_percent is None:
            order_tolerance_percent = told["order_tolerance_percent"]
        start_s, length_s = rec.capture.window_s
        note = f"the window of the capture is judged: {length_s:.3f} s from {start_s:.3f} s on"
        notes = [*rec.notes, note]
        rec = rec.window()
        rec.notes = notes
    of_bearing = chosen(bearing, orders)
    machine = _machine(rpm, rpm_tolerance_percent, of_bearing, order_tolerance_percent)
    at = rec.index_of(channel)
    if strict:
        _check_judgeable(rec, at, "the recording")
    sound = None
    if baseline is not None:
        if not isinstance(baseline, Recording):
            raise InputError(f"baseline= is a {type(baseline).__name__} and no Recording")
        baseline = baseline.window()
        of_baseline = baseline.index_of(channel)
        if strict:
            _check_judgeable(baseline, of_baseline, "the baseline")
        sound = (baseline._core, of_baseline)
    name = bearing if isinstance(bearing, str) else of_bearing.name
    core = _core.diagnose(rec._core, at, machine, name, sound)
    found = Diagnosis(core, rec, at, of_bearing)
    if not found.is_valid or "machine_off" in found.flags:
        hints = [_FLAG_HINTS[flag] for flag in found.flags if flag in _FLAG_HINTS]
        text = "; ".join([f"{rec.name}, channel {at}: {found.undetermined}", *hints])
        warnings.warn(text, SignalWarning, stacklevel=2)
    return found


def _check_judgeable(rec: Recording, channel: int, what: str) -> None:
    rec._check_finite(channel)
    if rec.samples < LEAST_SAMPLES:
        raise InputError(
            f"{what} has {rec.samples} samples; at least {LEAST_SAMPLES} are needed, and 15 shaft turns for "
            "a name"
        )


def diagnose_many(recordings: Iterable[Recording], *, threads: int = 2, **options: Any) -> list[Diagnosis]:
    """`diagnose` of many recordings at once, in their order. Python's lock is released meanwhile.

    Parameters
    ----------
    recordings : iterable of Recording
    threads : int, default 2
    **options
        As `diagnose`.
    """
    if int(threads) < 1:
        raise InputError(f"threads={threads}, allowed is 1 and more")
    with ThreadPoolExecutor(int(threads)) as pool:
        return list(pool.map(lambda rec: diagnose(rec, **options), recordings))


def speed(
    rec: Recording,
    *,
    rpm: float | None = None,
    bearing: str | Bearing | Any = None,
    orders: Any = None,
    channel: int | str = 0,
    tolerance_percent: float = 5.0,
) -> Speed:
    """Shaft speed by the recording itself, around a nominal one.

    Parameters
    ----------
    rec : Recording
    rpm : float
        Nominal speed, 1/min. Required.
    bearing, orders : optional
        With a bearing the speed is that of `diagnose`: a part's line that poses as a shaft's is told
        apart, and the lines of a named part sharpen it.
    channel : int or str, default 0
    tolerance_percent : float, default 5
        How far from the nominal speed is searched, up to 20.

    Returns
    -------
    Speed

    Notes
    -----
    A comb of six shaft lines is laid over the acceleration spectrum and over that of the whole band's
    envelope; where none stands out by 11 dB and leads by 5 dB, the stated speed is returned with
    ``is_estimated`` false. A shaft whose few lines all stand far above the noise has no leading comb.
    """
    if bearing is not None or orders is not None:
        found = diagnose(
            rec,
            rpm=rpm,
            bearing=bearing,
            orders=orders,
            channel=channel,
            rpm_tolerance_percent=tolerance_percent,
        )
        return found.speed
    at = _channel(rec, channel)
    nominal = _machine(rpm, None, Bearing(3.0, 5.0, 2.0, 0.4), None)[0]
    if not 0.0 < tolerance_percent <= 20.0:
        raise InputError(f"tolerance_percent={tolerance_percent}, allowed is above 0 to 20")
    found_rpm, is_estimated = _core.searched_speed(rec._core, at, nominal, tolerance_percent / 100.0)
    return Speed(found_rpm, is_estimated)
