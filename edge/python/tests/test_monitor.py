"""The stateful condition over a run to failure."""

import pytest

import pdm_bearings as pb


@pytest.fixture(scope="module")
def course():
    events = []
    run = pb.simulate_run(snapshots=150, rate=12_800, seed=3)
    return pb.monitor(run, rpm=1797, bearing="6205", events=events), events


def test_a_growing_fault_is_an_anomaly_after_its_baseline_and_none_before(course):
    frame, events = course
    assert len(frame) == len(events) == 150
    assert frame["baseline"].iloc[0] == "learning" and frame["baseline"].iloc[-1] == "ready"
    assert not frame["anomaly_detected"].iloc[:50].any()
    assert frame["anomaly_detected"].iloc[-1]
    assert (frame["fault"].iloc[-20:] == "outer_race").any()
    assert [event["sequence"] for event in events] == list(range(1, 151))


def test_recordings_without_times_take_a_period(outer):
    frame = pb.monitor([outer] * 3, rpm=1797, bearing="6205", period_s=60)
    assert list(frame["measured_at"].str[14:16]) == ["00", "01", "02"]
    with pytest.raises(pb.InputError, match="in order"):
        pb.monitor([outer] * 3, rpm=1797, bearing="6205")


def test_a_short_baseline_and_relearning(outer):
    point = pb.Monitor(rpm=1797, bearing="6205", baseline_windows=10)
    for index in range(30):
        event = point.observe(outer, at=index * 60.0)
    assert event["anomaly"]["baseline"]["state"] == "ready"
    point.relearn()
    event = point.observe(outer, at=31 * 60.0)
    assert event["anomaly"]["baseline"]["state"] == "learning"
    with pytest.raises(pb.InputError, match="baseline_windows=3"):
        pb.Monitor(rpm=1797, bearing="6205", baseline_windows=3).observe(outer)
    with pytest.raises(pb.InputError, match="no recordings"):
        pb.monitor([], rpm=1797, bearing="6205")
