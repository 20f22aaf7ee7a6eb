"""Each error is an exception that names the argument, the value and what is allowed."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pdm_bearings as pb

WAVE = np.sin(np.arange(12_000) / 7.0)


def recording(data=WAVE, **more):
    return pb.Recording(data, **{"rate": 12_000, "unit": "g", **more})


def with_nan():
    wave = WAVE.copy()
    wave[[17, 40]] = np.nan
    return wave


REFUSED = {
    "no rate": (lambda: pb.Recording(WAVE, unit="g"), r"rate= is missing"),
    "no unit": (lambda: pb.Recording(WAVE, rate=12_000), r"unit= is missing.*'g' or 'm/s2'"),
    "rate 0": (lambda: recording(rate=0), r"rate=0: .* above 0"),
    "rate below 0": (lambda: recording(rate=-1), r"rate=-1"),
    "rate NaN": (lambda: recording(rate=float("nan")), r"rate=nan"),
    "rate as text": (lambda: recording(rate="12 kHz"), r"rate='12 kHz' is no number"),
    "rate True": (lambda: recording(rate=True), r"rate=True is no number"),
    "unit of velocity": (lambda: recording(unit="mm/s"), r"unit='mm/s' is no unit of acceleration"),
    "millivolts alone": (lambda: recording(unit="mV"), r"sensitivity_mv_per_g= is missing"),
    "unit and sensitivity": (lambda: recording(sensitivity_mv_per_g=100), r"contradict each other"),
    "sensitivity 0": (lambda: recording(unit="mV", sensitivity_mv_per_g=0), r"sensitivity .*0"),
    "integers without a scale": (
        lambda: recording(np.round(WAVE * 9999).astype("int16")),
        r"scale= is missing: dtype int16",
    ),
    "counts as floats": (lambda: recording(np.round(WAVE * 9999)), r"scale= is missing: channel 0 .* counts"),
    "scale 0": (lambda: recording(scale=0), r"scale"),
    "NaN": (lambda: recording(with_nan()), r"channel 0: 2 of 12000 samples .* first is sample 17"),
    "infinite": (lambda: recording(np.where(WAVE > 0.99, np.inf, WAVE)), r"no finite number"),
    "nullable with NA": (lambda: recording(pd.Series(with_nan()).astype("Float64")), r"sample 17"),
    "masked": (lambda: recording(np.ma.masked_less(WAVE, -0.9)), r"samples are masked"),
    "3-D": (lambda: recording(np.zeros((2, 3, 400))), r"3 dimensions, shape \(2, 3, 400\)"),
    "4-D": (lambda: recording(np.zeros((1, 1, 1, 400))), r"4 dimensions"),
    "time down the rows": (lambda: recording(np.zeros((400, 2))), r"400 channels of 2 samples.*data\.T"),
    "a wrong axis": (lambda: recording(np.zeros((2, 400)), time_axis=5), r"time_axis=5"),
    "empty": (lambda: recording(np.zeros(0)), r"empty"),
    "unequal lists": (lambda: recording([[1.0, 2.0], [3.0]]), r"unequal|object"),
    "a column of times": (
        lambda: recording(pd.DataFrame({"t": np.arange(12_000) / 12_000, "x": WAVE})),
        r"'t'.* rises evenly .* rate is 12000 Hz",
    ),
    "a naive time": (lambda: recording(started_at="2026-01-01T00:00:00"), r"no time zone"),
    "names": (lambda: recording(channel_names=["a", "b"]), r"2 names for 1 channel"),
    "missing": (lambda: recording(missing="drop"), r"missing='drop'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_recording_is_refused_by_name(case):
    make, message = REFUSED[case]
    with pytest.raises(pb.InputError, match=message) as caught:
        make()
    assert isinstance(caught.value, ValueError)


KINDS = {
    "complex": (WAVE + 1j, "complex"),
    "object": (np.array([1.0, None] * 300, dtype=object), "object"),
    "text": (np.array(["1.0"] * 300), "texts"),
    "bool": (WAVE > 0, "bool"),
    "dates": (np.arange(300).astype("datetime64[s]"), "dates"),
    "structured": (np.zeros(300, dtype=[("x", "f4"), ("y", "f4")]), r"data\['x'\]"),
    "column of objects": (pd.Series([1.0, "a"] * 300), "first value that is no number is 'a'"),
    "a path": ("motor.wav", "read"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_no_vibration_has_are_type_errors_too(kind):
    data, message = KINDS[kind]
    with pytest.raises(pb.DtypeError, match=message) as caught:
        recording(data)
    assert isinstance(caught.value, TypeError)


REQUESTS = {
    "100 samples": (dict(), WAVE[:100], r"100 samples; at least 256"),
    "no rpm": (dict(rpm=None), WAVE, r"rpm= is missing"),
    "rpm 0": (dict(rpm=0), WAVE, r"rpm=0"),
    "rpm as text": (dict(rpm="fast"), WAVE, r"rpm='fast'"),
    "no bearing": (dict(bearing=None), WAVE, r"bearing= or orders="),
    "both": (dict(orders=(3.5, 5.4, 2.3, 0.4)), WAVE, r"both given"),
    "three orders": (dict(bearing=None, orders=(3.5, 5.4, 2.3)), WAVE, r"3 numbers"),
    "orders without ftf": (dict(bearing=None, orders=dict(bpfo=3.5, bpfi=5.4, bsf=2.3)), WAVE, r"no ftf"),
    "orders in hertz": (dict(bearing=None, orders=(107.0, 162.0, 70.0, 12.0)), WAVE, r"orders="),
    "a tolerance": (dict(rpm_tolerance_percent=50), WAVE, r"rpm_tolerance_percent=50.*0 to 20"),
    "a channel": (dict(channel=3), WAVE, r"channel=3 is not there"),
    "a channel's name": (dict(channel="DE"), WAVE, r"channel='DE' is not there"),
    "a speed above the rate": (dict(rpm=90_000), WAVE, r"Nyquist"),
    "a baseline that is an array": (dict(baseline=WAVE), WAVE, r"baseline= is a ndarray"),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_request_is_refused_by_name(case):
    options, data, message = REQUESTS[case]
    with pytest.raises(pb.InputError, match=message):
        pb.diagnose(recording(data), **{"rpm": 1500, "bearing": "6205", **options})


def test_an_unknown_bearing_comes_with_its_nearest():
    with pytest.raises(pb.UnknownBearingError, match=r"bearing='6025' .* near are .*6205"):
        pb.diagnose(recording(), rpm=1500, bearing="6025")
    with pytest.raises(pb.UnknownBearingError, match=r"orders=\(bpfo"):
        pb.Bearing.find("qqqqq")


def test_an_array_in_place_of_a_recording_is_told_what_to_do():
    for call in (pb.diagnose, pb.features, pb.spectrum, pb.envelope_spectrum):
        options = {"rpm": 1500, "bearing": "6205"} if call is pb.diagnose else {}
        with pytest.raises(pb.InputError, match=r"ndarray is no Recording"):
            call(WAVE, **options)


def test_what_cannot_be_judged_is_said_and_not_named():
    for data, words in [(with_nan(), "no numbers"), (WAVE[:100], "too short")]:
        rec = recording(data, missing="keep")
        with pytest.raises(pb.InputError):
            pb.diagnose(rec, rpm=1500, bearing="6205")
        with pytest.warns(pb.SignalWarning, match=words):
            found = pb.diagnose(rec, rpm=1500, bearing="6205", strict=False)
        assert not found.is_valid and found.fault is None and words in found.undetermined


def test_a_wrong_unit_is_warned_of():
    with pytest.warns(pb.SignalWarning, match="unit or the scale wrong"):
        pb.diagnose(recording(WAVE * 1e-6), rpm=1500, bearing="6205")


def test_sound_samples_warn_of_nothing(outer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pb.diagnose(outer, rpm=1797, bearing="6205")


def test_files_are_refused_by_name(tmp_path):
    with pytest.raises(FileNotFoundError):
        pb.read(tmp_path / "no.wav", rate=1, unit="g")
    (tmp_path / "empty.wav").write_bytes(b"")
    with pytest.raises(pb.ReadError, match="empty"):
        pb.read(tmp_path / "empty.wav", rate=1, unit="g")
    np.save(tmp_path / "x.npy", WAVE)
    with pytest.raises(pb.InputError, match="rate="):
        pb.read(tmp_path / "x.npy", unit="g")
    with pytest.raises(pb.InputError, match="unit= is missing: x.npy"):
        pb.read(tmp_path / "x.npy", rate=12_000)
    np.save(tmp_path / "i.npy", np.round(WAVE * 999).astype("int16"))
    with pytest.raises(pb.InputError, match="scale="):
        pb.read(tmp_path / "i.npy", rate=12_000, unit="g")


SPECTRA = {
    "band above Nyquist": (lambda r: pb.envelope_spectrum(r, band=(1000, 9000)), "above half the rate"),
    "band turned": (lambda r: pb.envelope_spectrum(r, band=(4000, 1000)), "band="),
    "band word": (lambda r: pb.envelope_spectrum(r, band="auto"), "'kurtogram'"),
    "df 0": (lambda r: pb.spectrum(r, df_hz=0), "df_hz=0"),
    "levels": (lambda r: pb.kurtogram(r, levels=99), "levels=99"),
    "no angle": (lambda r: pb.order_track(r), "one of tachometer="),
    "two angles": (lambda r: pb.order_track(r, rpm=1500, tachometer=0), "tachometer and rpm"),
    "speeds": (lambda r: pb.order_track(r, speed_rpm=[1500, -1]), "must be finite and above 0"),
    "a speed in 1/h": (
        lambda r: pb.order_track(r, speed_rpm=[1e12] * 5, samples_per_turn=65_536),
        "is the speed in 1/min",
    ),
    "few samples": (lambda r: pb.spectrum(r.cut(0, 10 / 12_000)), "10 samples; at least 16"),
    "speed tolerance": (lambda r: pb.speed(r, rpm=1500, tolerance_percent=90), "tolerance_percent=90"),
}


@pytest.mark.parametrize("case", SPECTRA)
def test_a_spectrum_is_refused_by_name(case):
    call, message = SPECTRA[case]
    with pytest.raises(pb.InputError, match=message):
        call(recording())


def test_a_rate_that_changes_ends_a_monitor():
    point = pb.Monitor(rpm=1500, bearing="6205")
    point.observe(recording(), at=0)
    with pytest.raises(pb.InputError, match="rate 10000 Hz, those before 12000 Hz"):
        point.observe(recording(rate=10_000), at=60)
    with pytest.raises(pb.InputError, match="in order"):
        point.observe(recording(), at=0)
