"""A captured waveform is read by its document, and gives the verdict of the gateway without an option."""

import datetime as dt
import hashlib
import json
import pickle
import subprocess

import numpy as np
import pytest

import pdm_bearings as pb
from conftest import ROOT

RATE = 25_600
EXAMPLE = json.loads((ROOT / "config" / "examples" / "capture.json").read_text(encoding="utf-8"))


def wav_of(samples):
    """One channel of 32-bit float as the gateway writes it."""
    data = np.asarray(samples, dtype="<f4").tobytes()
    head = b"fmt " + (18).to_bytes(4, "little") + (3).to_bytes(2, "little") + (1).to_bytes(2, "little")
    head += RATE.to_bytes(4, "little") + (4 * RATE).to_bytes(4, "little") + bytes([4, 0, 32, 0, 0, 0])
    head += b"data" + len(data).to_bytes(4, "little")
    return b"RIFF" + (4 + len(head) + len(data)).to_bytes(4, "little") + b"WAVE" + head + data


def put(folder, samples, ending="wav", **changed):
    """A capture of these samples, m/s²: its path."""
    path = folder / f"P-101_DE.{ending}"
    if ending == "wav":
        path.write_bytes(wav_of(samples))
    else:
        np.save(path, np.asarray(samples, dtype="<f4"))
    content = path.read_bytes()
    document = {
        **EXAMPLE,
        "samples": len(samples),
        "window": {"first_sample": 2 * RATE, "samples": RATE},
        "gaps": [],
        "file": {"name": path.name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()},
        **changed,
    }
    path.with_suffix(".json").write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def struck():
    """Four seconds of a struck outer race of the example's bearing, m/s²."""
    t = np.arange(4 * RATE) / RATE
    since = (t * EXAMPLE["bearing"]["bpfo"] * EXAMPLE["speed"]["shaft_speed_rpm"] / 60.0) % 1.0
    since /= EXAMPLE["bearing"]["bpfo"] * EXAMPLE["speed"]["shaft_speed_rpm"] / 60.0
    ring = 20.0 * np.exp(-900.0 * since) * np.sin(25_000.0 * since)
    return ring + np.random.default_rng(1).normal(0.0, 0.3, len(t))


@pytest.mark.parametrize("ending", ["wav", "npy"])
def test_a_capture_is_read_by_its_document(struck, tmp_path, ending):
    path = put(tmp_path, struck, ending, sampling_rate_hz=25_600.2)
    rec = pb.read(path)
    assert rec.rate_hz == 25_600.2 and rec.samples == len(struck)
    np.testing.assert_array_equal(rec.channel(0, "m/s2"), struck.astype("<f4").astype(float))
    capture = rec.capture
    assert rec.started_at == capture.started_at == dt.datetime.fromisoformat(EXAMPLE["started_at"])
    assert (capture.equipment, capture.bearing_id) == (EXAMPLE["equipment_id"], EXAMPLE["bearing_id"])
    assert capture.rpm == EXAMPLE["speed"]["shaft_speed_rpm"]
    assert capture.bearing.bpfo == EXAMPLE["bearing"]["bpfo"]
    assert rec.window().samples == RATE and rec.window().capture is None
    assert pickle.loads(pickle.dumps(rec)).capture == capture


def test_a_capture_is_judged_without_an_option_as_the_program_does(struck, tmp_path, pdm_edge):
    path = put(tmp_path, struck)
    found = pb.diagnose(pb.read(path))
    assert found.fault == "outer_race"
    assert any("window of the capture" in note for note in found.notes)
    done = subprocess.run(
        [pdm_edge, "analyze", "--json", str(path)], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert found.time_domain["rms_g"] == pytest.approx(told["time_domain"]["rms_g"], rel=1e-9)
    assert found.confidence == pytest.approx(told["frequency_domain"]["confidence"], rel=1e-9)
    # what is given counts before the document
    other = pb.diagnose(pb.read(path), rpm=1000.0, bearing="6205")
    assert other.lines["outer_race"].order == pytest.approx(3.585, abs=0.1)


def test_parts_and_gaps_keep_their_time(struck, tmp_path):
    path = put(tmp_path, struck, gaps=[{"before_sample": RATE, "missing_s": 60.0}])
    rec = pb.read(path)
    assert rec.capture.gaps == [(RATE, 60.0)] and any("1 gaps" in note for note in rec.notes)
    later = pb.read(path, start_s=2.0, duration_s=1.0)
    assert later.started_at - rec.started_at == dt.timedelta(seconds=62)
    assert later.samples == RATE and later.capture is None


def test_the_monitor_of_captures_is_that_of_their_machine(struck, tmp_path):
    rec = pb.read(put(tmp_path, struck))
    rows = pb.monitor([rec.window()], **rec.capture.machine)
    assert list(rows["baseline"]) == ["learning"]


def test_a_document_of_another_file_or_version_is_refused(struck, tmp_path):
    path = put(tmp_path, struck)
    path.write_bytes(wav_of(struck * 2.0))
    with pytest.raises(pb.ReadError, match="SHA-256"):
        pb.read(path)
    for changed, told in [
        ({"schema": "pdm.capture/2"}, "schema"),
        ({"unit": "g"}, "unit"),
        ({"speed": {}}, "shaft_speed_rpm"),
        ({"sampling_rate_hz": 0.0}, "sampling_rate_hz"),
        ({"window": None}, "document"),
    ]:
        with pytest.raises(pb.ReadError, match=told):
            pb.read(put(tmp_path, struck, **changed))


def test_a_json_file_of_something_else_is_none(struck, tmp_path):
    path = put(tmp_path, struck)
    for other in ["{}", "[1]", "not json", json.dumps({"schema": "other/1"})]:
        path.with_suffix(".json").write_text(other, encoding="utf-8")
        rec = pb.read(path, unit="m/s2")
        assert rec.capture is None and rec.rate_hz == RATE
