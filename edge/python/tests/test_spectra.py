"""Spectra with known answers, and what they are compared with in SciPy."""

import numpy as np
import pytest

import pdm_bearings as pb

RATE = 10_240


def recording(data, **more):
    return pb.Recording(data, **{"rate": RATE, "unit": "g", **more})


def test_a_sine_stands_as_its_amplitude():
    t = np.arange(RATE) / RATE
    lines = pb.spectrum(recording(3 * np.sin(2 * np.pi * 100 * t) + 7))
    at, amplitude = lines.peak(100, 2)
    assert (at, amplitude) == (pytest.approx(100), pytest.approx(3, rel=1e-6))
    assert lines.amplitude[0] == pytest.approx(0, abs=1e-9)
    in_m_s2 = pb.spectrum(recording(3 * np.sin(2 * np.pi * 100 * t)), unit="m/s2").peak(100, 2)[1]
    assert in_m_s2 == pytest.approx(3 * pb.M_S2_PER_G, rel=1e-6)


def test_an_averaged_spectrum_is_scipys_welch():
    from scipy.signal import welch

    noise = np.random.default_rng(3).normal(size=8 * 1024)
    ours = pb.spectrum(recording(noise), df_hz=10)
    # SciPy's Hann is periodic by default and its spectrum RMS²; the mean of the whole record is removed here
    hz, power = welch(
        noise - noise.mean(), RATE, window="hann", nperseg=1024, scaling="spectrum", detrend=False
    )
    inner = slice(2, -2)
    np.testing.assert_allclose(ours.frequency, hz)
    np.testing.assert_allclose(ours.amplitude[inner], np.sqrt(2 * power)[inner], rtol=5e-3)


def test_a_modulation_stands_in_the_squared_envelope():
    t = np.arange(2 * RATE) / RATE
    wave = (2 + np.cos(2 * np.pi * 40 * t)) * np.sin(2 * np.pi * 3000 * t)
    lines = pb.envelope_spectrum(recording(wave), band=(2000, 4000), limit_hz=500)
    assert lines.band_hz == (2000, 4000) and lines.unit == "g2"
    # |2 + cos|² = 4.5 + 4 cos(40) + 0.5 cos(80)
    assert lines.peak(40, 2)[1] == pytest.approx(4, rel=1e-2)
    assert lines.peak(80, 2)[1] == pytest.approx(0.5, rel=2e-2)
    assert lines.frequency[-1] <= 502


def test_the_kurtogram_finds_the_ringing_band():
    rng = np.random.default_rng(1)
    t = np.arange(2 * RATE) / RATE
    ring = np.exp(-900 * (t % 0.01)) * np.sin(2 * np.pi * 3500 * (t % 0.01))
    rec = recording(2 * ring + 0.3 * rng.normal(size=t.size))
    bands = pb.kurtogram(rec)
    best = bands.iloc[0]
    assert best["low_hz"] <= 3500 <= best["high_hz"] and best["kurtosis"] > 1
    assert bands["kurtosis"].is_monotonic_decreasing
    lines = pb.envelope_spectrum(rec, band="kurtogram")
    assert lines.band_hz == (best["low_hz"], best["high_hz"])
    assert abs(lines.peak(100, 3)[0] - 100) < 1


@pytest.mark.parametrize("by", ["tachometer", "speed_rpm", "rpm"])
def test_a_ramp_stands_sharp_over_order(by):
    t = np.arange(5 * RATE) / RATE
    turns = 20 * t + t * t
    wave = np.sin(2 * np.pi * turns) + 0.5 * np.sin(2 * np.pi * 3.5 * turns)
    pulses = np.where(turns % 1 < 0.1, 5.0, 0.0)
    rec = recording(np.stack([wave, pulses]))
    options = {
        "tachometer": {"tachometer": 1},
        "speed_rpm": {"speed_rpm": 60 * (20 + 2 * np.linspace(0, 5, 51))},
        "rpm": {"rpm": 1500, "tolerance_percent": 25},
    }[by]
    track = pb.order_track(rec, samples_per_turn=64, **options)
    assert track.speed.rpm == pytest.approx(1500, rel=0.03) and track.speed.change_ratio > 0.2
    at, amplitude = track.spectrum.peak(3.5, 0.1)
    assert at == pytest.approx(3.5, abs=0.02) and amplitude > (0.25 if by == "rpm" else 0.4)
    smeared = pb.spectrum(rec).peak(87.5, 18)[1]
    assert amplitude > 1.5 * smeared
    assert track.samples.size == pytest.approx(track.turns * 64)


def test_a_speed_is_found_with_and_without_a_bearing():
    t = np.arange(4 * RATE) / RATE
    rng = np.random.default_rng(2)
    noise = 0.1 * rng.normal(size=t.size)
    rec = recording(sum(0.1 * np.sin(2 * np.pi * n * 25.3 * t + n) for n in range(1, 7)) + noise)
    for options in ({}, {"bearing": "6205"}):
        found = pb.speed(rec, rpm=1500, **options)
        assert found.is_estimated and found.rpm == pytest.approx(60 * 25.3, rel=2e-3)
        found = pb.speed(recording(noise), rpm=1500, **options)
        assert not found.is_estimated and found.rpm == 1500


def test_the_catalogue_and_geometry_agree():
    known = pb.Bearing.find("6205")
    made = pb.Bearing.from_geometry(9, 7.94, 39.04)
    assert made.bpfo == pytest.approx(known.bpfo, rel=2e-3)
    assert made.frequencies_hz(1797)["bpfo"] == pytest.approx(107.3, abs=0.2)
    assert len(pb.bearings()) >= 20 and all(one.source for one in pb.bearings())


def test_defect_frequencies_are_the_middles_of_matlabs_bands():
    """The first example of MATLAB's bearingFaultBands: 25 Hz, 8 elements of 2 cm on 12 cm, 15°."""
    bands = {
        "bpfo": (82.6512, 85.1512),
        "bpfi": (114.8488, 117.3488),
        "bsf": (71.8062, 74.3062),
        "ftf": (9.2377, 11.7377),
    }
    ours = pb.Bearing.from_geometry(8, 20, 120, 15).frequencies_hz(1500)
    for name, (low, high) in bands.items():
        assert ours[name] == pytest.approx((low + high) / 2, abs=1e-4), name


def test_a_recording_is_written_as_sound(tmp_path, outer):
    from scipy.io import wavfile

    full_g = pb.listen(outer, tmp_path / "a.wav", band=(2000, 4000), slower=2, least_s=3)
    rate, counts = wavfile.read(tmp_path / "a.wav")
    assert rate == 12_800 and counts.dtype == np.int16 and counts.size >= 3 * 12_800
    assert abs(counts).max() == 32_767 and full_g > 0


def test_pictures_are_drawn(tmp_path, outer):
    import matplotlib

    matplotlib.use("Agg")
    pb.diagnose(outer, rpm=1797, bearing="6205").plot(tmp_path / "d.png")
    assert (tmp_path / "d.png").stat().st_size > 10_000
    assert pb.spectrum(outer).plot(limit=1000).get_ylabel() == "g"
    assert list(pb.spectrum(outer).to_frame()) == ["frequency_hz", "amplitude"]
