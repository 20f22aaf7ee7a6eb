"""What the document beside a captured waveform says (``pdm.capture/1``)."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._bearing import Bearing
from .errors import ReadError, UnknownBearingError

__all__ = ["Capture", "capture_of"]

#: Largest document that is read, bytes.
_MOST_DOCUMENT = 1 << 20


@dataclass(frozen=True)
class Capture:
    """A captured waveform by its document, which stands beside the samples under the same name.

    Attributes
    ----------
    capture_id : str
        Identity of the capture.
    equipment, bearing_id : str
        Machine and bearing, as the plant names them.
    measuring_point : str or None
        Location of the sensor.
    reasons : list of str
        Why it was captured: ``'alarm'``, ``'stage'``, ``'name'``, ``'no_name'``, ``'demand'``,
        ``'reference'``.
    started_at : datetime
        Time of the first sample (UTC).
    rate_hz : float
        Samples per second; a WAV file holds whole Hz alone.
    rpm, rpm_tolerance_percent : float
        Shaft speed, 1/min, and how far the true one may be from it.
    bearing : Bearing
        Defect orders.
    order_tolerance_percent : float
        Largest deviation of a line from its order.
    window_s : tuple of float
        The window that the gateway judged: its begin after the first sample, and its length, s; without the
        time of gaps.
    gaps : list of tuple
        Where samples are missing: number of the sample before which, and for how long, s.
    not_finite : int
        Samples that are no number.
    document : dict
        The whole document.
    """

    capture_id: str
    equipment: str
    bearing_id: str
    measuring_point: str | None
    reasons: list[str]
    started_at: dt.datetime
    rate_hz: float
    rpm: float
    rpm_tolerance_percent: float
    bearing: Bearing
    order_tolerance_percent: float
    window_s: tuple[float, float]
    gaps: list[tuple[int, float]]
    not_finite: int
    document: dict[str, Any] = field(repr=False)

    @property
    def machine(self) -> dict[str, Any]:
        """Speed and bearing as arguments of `diagnose` and `Monitor`."""
        return {
            "rpm": self.rpm,
            "bearing": self.bearing,
            "rpm_tolerance_percent": self.rpm_tolerance_percent,
            "order_tolerance_percent": self.order_tolerance_percent,
        }


def capture_of(path: str | os.PathLike[str]) -> Capture | None:
    """The capture that a file holds; ``None`` for a file without such a document.

    Parameters
    ----------
    path : path
        A WAV or NumPy file.

    Raises
    ------
    ReadError
        If the document is of another file (SHA-256), or lacks what it has to say.
    """
    samples = Path(path)
    beside = samples.with_suffix(".json")
    if samples.suffix not in (".wav", ".npy") or not beside.is_file():
        return None
    if beside.stat().st_size > _MOST_DOCUMENT:
        return None
    try:
        document = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or not str(document.get("schema", "")).startswith("pdm.capture/"):
        return None
    if document["schema"] != "pdm.capture/1":
        raise ReadError(f"{beside}: schema {document['schema']!r}, this version reads 'pdm.capture/1'")
    try:
        capture = _of_document(document)
        named, expected = document["file"]["name"], document["file"]["sha256"]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ReadError(f"{beside}: no document of a capture: {error!r}") from error
    # NumPy files of before had the document of the WAV file
    if Path(named).suffix == samples.suffix and _sha256(samples) != str(expected).lower():
        raise ReadError(f"{samples} is not the file that {beside} describes (SHA-256)")
    return capture


def _of_document(document: dict[str, Any]) -> Capture:
    rate_hz = float(document["sampling_rate_hz"])
    if not rate_hz > 0.0:
        raise ValueError(f"sampling_rate_hz {rate_hz}")
    if document["unit"] != "m/s2":
        raise ValueError(f"unit {document['unit']!r}")
    speed, own, window = document["speed"], document["bearing"], document["window"]
    bpfo, bpfi, bsf, ftf = (float(own[name]) for name in ("bpfo", "bpfi", "bsf", "ftf"))
    bearing = Bearing(bpfo, bpfi, bsf, ftf, source="capture")
    estimated = own.get("estimated_for")
    if estimated:
        # estimated orders are looked up, as the gateway does; a catalogue of its own is not here
        try:
            bearing = Bearing.find(str(estimated))
        except UnknownBearingError:
            pass
    return Capture(
        capture_id=str(document["capture_id"]),
        equipment=str(document["equipment_id"]),
        bearing_id=str(document["bearing_id"]),
        measuring_point=document.get("measuring_point"),
        reasons=list(dict.fromkeys(str(one["reason"]) for one in document["triggers"])),
        started_at=dt.datetime.fromisoformat(str(document["started_at"]).replace("Z", "+00:00")),
        rate_hz=rate_hz,
        rpm=float(speed["shaft_speed_rpm"]),
        rpm_tolerance_percent=100.0 * float(speed["tolerance"]),
        bearing=bearing,
        order_tolerance_percent=100.0 * float(own["order_tolerance"]),
        window_s=(int(window["first_sample"]) / rate_hz, int(window["samples"]) / rate_hz),
        gaps=[(int(gap["before_sample"]), float(gap["missing_s"])) for gap in document.get("gaps", [])],
        not_finite=int(document["not_finite"]),
        document=document,
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()
