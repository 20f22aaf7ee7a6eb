"""What people have becomes a Recording, and the same numbers give the same figures."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import pdm_bearings as pb

RATE = 12_000


@pytest.fixture(scope="module")
def wave():
    t = np.arange(RATE) / RATE
    return np.round(1000 * np.sin(2 * np.pi * 100 * t)) / 1000


FLOATS = ["float16", "float32", "float64", "longdouble", ">f4", ">f8"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", ">i2"]


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_float_is_taken_as_it_is(wave, dtype):
    rec = pb.Recording(wave.astype(dtype), rate=RATE, unit="g")
    assert rec.channel(0).dtype == np.float64
    np.testing.assert_allclose(rec.channel(0), wave, atol=5e-4 if dtype == "float16" else 1e-7)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_is_taken_with_a_scale(wave, dtype):
    offset = 1.0 if np.dtype(dtype).kind == "u" else 0.0
    counts = np.round((wave + offset) * 100).astype(dtype)
    rec = pb.Recording(counts, rate=RATE, unit="g", scale=0.01, offset=offset)
    np.testing.assert_allclose(rec.channel(0), counts.astype(float) * 0.01 - offset, atol=1e-12)


def test_lists_are_taken(wave):
    assert pb.Recording(wave.tolist(), rate=RATE, unit="g").samples == RATE
    assert pb.Recording([wave.tolist()] * 2, rate=RATE, unit="g").channels == 2


def test_units_agree(wave):
    in_g = pb.Recording(wave, rate=RATE, unit="g")
    in_m_s2 = pb.Recording(wave * pb.M_S2_PER_G, rate=RATE, unit="m/s²")
    in_mv = pb.Recording(wave * 100, rate=RATE, unit="mV", sensitivity_mv_per_g=100)
    for other in (in_m_s2, in_mv):
        np.testing.assert_allclose(other.channel(0), in_g.channel(0), atol=1e-12)
    np.testing.assert_allclose(in_g.channel(0, "m/s2"), wave * pb.M_S2_PER_G, atol=1e-12)


@pytest.mark.parametrize("view", ["reversed", "strided", "fortran", "read only", "mapped"])
def test_views_are_read_as_numpy_shows_them(wave, view, tmp_path):
    """A view that is not contiguous has other bytes than numbers; it must not be read as bytes."""
    two = np.stack([wave, 2 * wave])
    if view == "reversed":
        data = two[:, ::-1]
    elif view == "strided":
        data = np.repeat(two, 2, axis=1)[:, ::2]
    elif view == "fortran":
        data = np.asfortranarray(two)
    elif view == "read only":
        data = two.copy()
        data.flags.writeable = False
    else:
        np.save(tmp_path / "x.npy", two)
        data = np.load(tmp_path / "x.npy", mmap_mode="r")
    rec = pb.Recording(data, rate=RATE, unit="g")
    np.testing.assert_allclose(rec.to_numpy(), np.array(data), atol=1e-12)


def test_a_series_and_a_frame_are_taken_with_their_names(wave):
    series = pb.Recording(pd.Series(wave.astype("float32"), name="DE"), rate=RATE, unit="g")
    assert series.channel_names == ["DE"] and series.samples == RATE
    frame = pb.Recording(pd.DataFrame({"DE": wave, "FE": 2 * wave}), rate=RATE, unit="g")
    assert frame.channels == 2 and frame.samples == RATE
    np.testing.assert_allclose(frame.channel("FE"), 2 * wave, atol=1e-12)


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "Int16", "float32"])
def test_nullable_columns_are_numbers_and_not_objects(wave, dtype):
    """`numpy.asarray` of a nullable column is an array of objects."""
    whole = dtype == "Int16"
    series = pd.Series(np.round(wave * 100) if whole else wave).astype(dtype)
    rec = pb.Recording(series, rate=RATE, unit="g", scale=0.01 if whole else None)
    assert rec.samples == RATE


@pytest.mark.parametrize("unit", ["s", "ns", "us"])
def test_an_index_of_times_must_agree_with_the_rate(wave, unit):
    index = pd.to_timedelta(np.arange(RATE) / RATE, unit="s")
    if unit != "s":
        index = pd.TimedeltaIndex(index.astype(f"timedelta64[{unit}]"))
    rec = pb.Recording(pd.Series(wave, index=index), rate=RATE, unit="g")
    assert rec.rate_hz == RATE
    with pytest.raises(pb.InputError, match="contradicts the index"):
        pb.Recording(pd.Series(wave, index=index), rate=12.0, unit="g")


def test_an_index_in_milliseconds_is_not_taken_for_seconds(wave):
    series = pd.Series(wave, index=np.arange(RATE) * 1000 / RATE)
    with pytest.raises(pb.InputError, match="contradicts the index"):
        pb.Recording(series, rate=RATE, unit="g")
    assert pb.Recording(series.to_numpy(), rate=RATE, unit="g").samples == RATE


def test_an_xarray_finds_its_time_by_name(wave):
    data = xr.DataArray(
        np.stack([wave, 2 * wave], axis=1),
        dims=("time", "sensor"),
        coords={"time": np.arange(RATE) / RATE, "sensor": ["x", "y"]},
        attrs={"units": "g"},
    )
    rec = pb.Recording(data, rate=RATE, unit="g")
    assert rec.channels == 2 and rec.channel_names == ["x", "y"]
    np.testing.assert_allclose(rec.channel("y"), 2 * wave, atol=1e-12)
    with pytest.raises(pb.InputError, match="attribute says 'g'"):
        pb.Recording(data, rate=RATE, unit="m/s2")
    with pytest.raises(pb.InputError, match="contradicts the coordinate 'time'"):
        pb.Recording(data, rate=2 * RATE, unit="g")


def test_a_recording_is_cut_copied_and_pickled(wave):
    at = dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc)
    rec = pb.Recording(wave, rate=RATE, unit="g", name="m1", started_at=at)
    part = rec.cut(0.25, 0.5)
    assert part.samples == RATE // 2 and part.started_at == at + dt.timedelta(seconds=0.25)
    again = pickle.loads(pickle.dumps(rec))
    assert again.name == "m1" and again.started_at == at
    np.testing.assert_array_equal(again.channel(0), rec.channel(0))


def test_files_are_read_by_the_gateways_readers(tmp_path, wave, outer):
    from scipy.io import savemat, wavfile

    accel = outer.channel(0)
    np.save(tmp_path / "a.npy", accel)
    wavfile.write(tmp_path / "a.wav", 25_600, np.round(accel * 3000).astype(np.int16))
    savemat(tmp_path / "a.mat", {"gs": accel, "sr": 25_600.0})
    t = np.arange(accel.size) / 25_600
    pd.DataFrame({"time [s]": t, "x [g]": accel}).to_csv(tmp_path / "a.csv", index=False)
    read = [
        pb.read(tmp_path / "a.npy", rate=25_600, unit="g"),
        pb.read(tmp_path / "a.wav", unit="g", scale=1 / 3000),
        pb.read(tmp_path / "a.mat", rate=25_600, unit="g", variable="gs"),
        pb.read(tmp_path / "a.csv"),
    ]
    for rec in read:
        assert rec.samples == accel.size and abs(rec.rate_hz - 25_600) < 1e-3
        assert rec.interpretation
        np.testing.assert_allclose(rec.channel(0), accel, atol=2e-4)


def test_the_output_of_scipys_wavfile_is_told_how_to_be_passed(tmp_path, wave):
    from scipy.io import wavfile

    wavfile.write(tmp_path / "a.wav", RATE, np.stack([wave, wave], axis=1).astype("float32"))
    with pytest.raises(pb.InputError, match="data.T"):
        pb.Recording(wavfile.read(tmp_path / "a.wav"), rate=RATE, unit="g")


def test_snapshots_are_read_in_their_order(tmp_path):
    run = np.random.default_rng(1).normal(size=(3, 2, 512)).astype("float32")
    np.save(tmp_path / "run.npy", run)
    read = pb.read_all(
        tmp_path / "run.npy", rate=5120, unit="g", period_s=60, started_at="2026-01-01T00:00:00Z"
    )
    assert len(read) == 3 and read[0].channels == 2
    np.testing.assert_allclose(read[2].to_numpy(), run[2], atol=1e-6)
    assert (read[2].started_at - read[0].started_at).total_seconds() == 120
    assert len(pb.read_all([tmp_path / "run.npy"], rate=5120, unit="g", most=2)) == 2


def test_no_library_is_imported_that_nobody_uses():
    import subprocess
    import sys

    code = (
        "import sys, numpy as np, pdm_bearings as pb;"
        "pb.Recording(np.zeros(9), rate=1, unit='g');"
        "print([m for m in ('pandas','xarray','sklearn','matplotlib','polars') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
