"""The figures are those of the gateway's program."""

import json
import subprocess
import threading

import numpy as np
import pytest

import pdm_bearings as pb
from conftest import not_run

#: What two runs may differ in.
IDENTITY = ("event_id",)

#: Bearing of each data set, where the catalogue has it.
BEARINGS = {"CWRU": "6205", "MFPT": "NICE", "IMS": "ZA-2115", "HIT-SM": "6205", "UESTC": "6203"}


def assert_same(got, expected, path=""):
    """Equal structure; numbers within 1e-9 of each other."""
    if isinstance(expected, dict):
        assert set(got) == set(expected), path
        for key in expected:
            if key not in IDENTITY:
                assert_same(got[key], expected[key], f"{path}/{key}")
    elif isinstance(expected, list):
        assert len(got) == len(expected), path
        for index, (one, other) in enumerate(zip(got, expected)):
            assert_same(one, other, f"{path}/{index}")
    elif isinstance(expected, float) and isinstance(got, (int, float)):
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12), path
    else:
        assert got == expected, path


def scale_of(entry):
    if "scale_g" in entry:
        return entry["scale_g"][0]
    return {"IMS": 0.001, "FEMTO": 0.001}.get(entry["dataset"])


def test_thirty_recordings_give_the_figures_of_the_program(data_files, pdm_edge):
    wanted = [
        entry
        for entry in data_files
        if entry["dataset"] in BEARINGS and entry["path"].suffix in (".npy", ".mat")
    ]
    compared = named = 0
    for entry in wanted[:: max(1, len(wanted) // 32)]:
        rpm = entry.get("rpm") or entry.get("rpm_nominal")
        rate, scale, bearing = entry.get("fs_hz"), scale_of(entry), BEARINGS[entry["dataset"]]
        arguments = ["--rate", str(rate), "--rpm", str(rpm), "--bearing", bearing, "--unit", "g"]
        options = {"rate": rate, "unit": "g", "channel": 0}
        if scale is not None:
            arguments += ["--scale", repr(scale)]
            options["scale"] = scale
        if entry["dataset"] == "MFPT":
            arguments += ["--variable", "bearing.gs"]
            options["variable"] = "bearing.gs"
        told = subprocess.run(
            [pdm_edge, "analyze", str(entry["path"]), *arguments, "--json"], capture_output=True, text=True
        )
        if told.returncode != 0:
            with pytest.raises((pb.InputError, pb.ReadError)):
                pb.diagnose(pb.read(entry["path"], **options), rpm=rpm, bearing=bearing)
            continue
        found = pb.diagnose(pb.read(entry["path"], **options), rpm=rpm, bearing=bearing, strict=False)
        assert_same(found.to_dict(), json.loads(told.stdout), entry["file"])
        compared += 1
        named += found.fault is not None
    assert compared >= 30 and named >= 10, (compared, named)


def test_a_baseline_gives_the_figures_of_the_program(tmp_path, pdm_edge):
    sound = pb.simulate(fault=None, seed=5)
    worn = pb.simulate(fault="outer_race", severity=0.4, seed=6)
    for name, rec in (("sound", sound), ("worn", worn)):
        np.save(tmp_path / f"{name}.npy", rec.channel(0))
    told = subprocess.run(
        [pdm_edge, "analyze", str(tmp_path / "worn.npy"), "--baseline", str(tmp_path / "sound.npy"),
         "--rate", "25600", "--unit", "g", "--rpm", "1797", "--bearing", "6205", "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    sound, worn = (pb.read(tmp_path / f"{n}.npy", rate=25_600, unit="g") for n in ("sound", "worn"))
    found = pb.diagnose(worn, rpm=1797, bearing="6205", baseline=sound)
    assert_same(found.to_dict(), json.loads(told.stdout))


def test_the_monitor_gives_the_figures_of_replay(tmp_path, pdm_edge):
    run = pb.simulate_run(snapshots=70, rate=12_800)
    np.save(tmp_path / "run.npy", np.stack([rec.to_numpy() for rec in run]))
    told = subprocess.run(
        [pdm_edge, "replay", str(tmp_path / "run.npy"), "--period", "600", "--rate", "12800", "--unit", "g",
         "--start", "2026-01-01T00:00:00Z", "--rpm", "1797", "--bearing", "6205", "--jsonl"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    expected = [json.loads(line) for line in told.stdout.splitlines()]
    read = pb.read_all(
        tmp_path / "run.npy", rate=12_800, unit="g", period_s=600, started_at="2026-01-01T00:00:00Z"
    )
    events = []
    pb.monitor(read, rpm=1797, bearing="6205", events=events)
    assert len(events) == len(expected) == 70
    for got, want in zip(events, expected):
        for block in ("time_domain", "frequency_domain", "anomaly", "trend", "rul", "operating"):
            assert_same(got[block], want[block], f"{want['sequence']}/{block}")
        assert got["anomaly_detected"] == want["anomaly_detected"]


@pytest.mark.parametrize("fault", ["outer_race", "inner_race"])
def test_a_simulated_fault_is_named(fault):
    rec = pb.simulate(fault=fault, severity=0.6, duration_s=2.0)
    found = pb.diagnose(rec, rpm=1797, bearing="6205")
    assert found.fault == fault and found.confidence > 0.8 and found.is_valid
    assert found.lines[fault].score > 0.5 and "fault" in found.verdict
    assert found.to_dict()["schema"] == "pdm.event/1"
    assert "rpm" in str(found)


def test_a_sound_machine_has_no_fault():
    found = pb.diagnose(pb.simulate(fault=None, duration_s=2.0), rpm=1797, bearing="6205")
    assert found.fault is None


def test_python_goes_on_while_a_verdict_is_computed():
    """The lock of Python is released: with it held, this loop would turn a few times at most."""
    rec = pb.simulate(fault="outer_race", duration_s=10.0)
    done = threading.Event()

    def judge():
        pb.diagnose(rec, rpm=1797, bearing="6205")
        done.set()

    thread = threading.Thread(target=judge)
    thread.start()
    turns = 0
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 1000


def test_threads_give_the_same_in_the_same_order():
    recordings = [
        pb.simulate(fault=fault, seed=seed) for seed in (1, 2) for fault in ("outer_race", "inner_race", None)
    ]
    alone = [pb.diagnose(rec, rpm=1797, bearing="6205") for rec in recordings]
    together = pb.diagnose_many(recordings, threads=4, rpm=1797, bearing="6205")
    for one, other in zip(alone, together):
        assert_same(one.to_dict(), other.to_dict())


def test_features_are_those_of_the_event(outer):
    row = pb.features(outer).iloc[0]
    time_domain = pb.diagnose(outer, rpm=1797, bearing="6205").time_domain
    for name in pb.FEATURES:
        # the envelope's is of the band of the features, not of the verdict
        if name != "envelope_rms_g":
            assert row[name] == pytest.approx(time_domain[name], rel=1e-12), name
    with_lines = pb.features(outer, rpm=1797, bearing="6205").iloc[0]
    assert with_lines["bpfo_snr_db"] > with_lines["bpfi_snr_db"]


def test_features_without_pandas_are_lists(outer, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = pb.features(outer)
    assert columns["channel"] == [0] and len(columns["rms_g"]) == 1


def test_real_recordings_of_data_are_named(data_files):
    entries = [entry for entry in data_files if entry["file"].endswith("12k_Drive_End_OR007@6_0_130.npy")]
    if not entries:
        not_run("CWRU 130 is not among the recordings")
    entry = entries[0]
    rec = pb.read(entry["path"], rate=12_000, unit="g", scale=entry["scale_g"][0], channel=0)
    found = pb.diagnose(rec, rpm=entry["rpm"], bearing="6205")
    assert found.fault == "outer_race" and found.confidence > 0.9
    # the same numbers as float32 with a scale, and as counts with one
    counts = np.load(entry["path"])[0]
    for data, scale in (
        (counts, entry["scale_g"][0]),
        ((counts * entry["scale_g"][0]).astype("float32"), None),
    ):
        again = pb.diagnose(
            pb.Recording(data, rate=12_000, unit="g", scale=scale), rpm=entry["rpm"], bearing="6205"
        )
        assert again.fault == "outer_race"
        assert again.confidence == pytest.approx(found.confidence, abs=1e-3)
