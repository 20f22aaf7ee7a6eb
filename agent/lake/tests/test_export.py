"""A store into the archive: every row once, in one file a day, readable by others."""

import json

from conftest import exactly_once, history, lake, lines, of_bearings, plain, rows


def export(store, archive, *more):
    return lake("export", "--store", store.file, "--lake", archive, *more)


def test_every_closed_day_is_archived_in_one_file_and_once(store, archive):
    events = history(days=3)
    store.put(events)
    first = export(store, archive, "--json").ok()
    days = [json.loads(line) for line in first.stdout.splitlines()]
    assert [d["day"] for d in days] == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert all(d["marked"] and d["rows"]["events"] == 96 and d["rows"]["judgements"] == 96 for d in days)
    exactly_once(archive, events)
    files = lake("files", "--lake", archive).ok().stdout.split()
    assert len(files) == 3, files
    with_spectra = [e for e in events if e.get("spectra")]
    assert {r["event_id"] for r in rows(archive, "spectra", ["event_id"])} == {e["event_id"] for e in with_spectra}
    assert export(store, archive).ok().stdout == "", "nothing is due"
    assert len(lake("files", "--lake", archive).ok().stdout.split()) == 3


def test_one_day_is_archived_alone_and_status_names_the_others(store, archive):
    store.put(history(days=3))
    export(store, archive, "--day", "2026-01-02").ok()
    status = lake("status", "--lake", archive, "--store", store.file).ok().stdout
    assert "not archived: 2026-01-01, 2026-01-03" in status, status
    assert "B an event" in status
    export(store, archive).ok()
    assert "every closed day" in lake("status", "--lake", archive, "--store", store.file).ok().stdout


def test_a_late_event_comes_into_a_further_file(store, archive):
    events = history(days=2)
    late = [e for e in events if e["sequence"] == 5 and e["gateway_id"] == "gw1"]
    store.put([e for e in events if e not in late])
    export(store, archive).ok()
    store.put(late)
    done = json.loads(export(store, archive, "--json").ok().stdout)
    assert done["rows"] == {"events": 1, "judgements": 1} or done["rows"]["events"] == 1
    exactly_once(archive, events)
    assert len(lake("files", "--lake", archive, "--day", "2026-01-01").ok().stdout.split()) == 2
    assert "whole" in lake("verify", "--lake", archive).ok().stdout


def test_a_day_that_has_not_ended_waits_and_a_clock_ahead_is_told(store, archive):
    from datetime import datetime, timedelta, timezone

    now = datetime.now(timezone.utc)
    ahead = history(bearings=1, days=1, begin=now + timedelta(days=3))
    store.put(history(bearings=1, days=1) + ahead)
    told = export(store, archive).ok()
    assert "a day ahead" in told.stderr
    assert [r["day"].isoformat() for r in rows(archive, columns=["day"])] == ["2026-01-01"] * 24


def test_what_goes_in_comes_out(store, archive):
    """Whole events, with fields of a newer gateway and values that fit no column."""
    events = history(days=2)
    events[0]["humidity_percent"] = 41.5
    events[3]["time_domain"]["octave_bands_g"] = [0.1, None, 0.25]
    events[5]["frequency_domain"]["bpfo"]["harmonics"] = [{"n": 1, "frequency_hz": 87.5, "snr_db": 9.25, "phase_deg": 4.5}]
    store.put(events)
    export(store, archive).ok()
    out = lake("slice", "--lake", archive).ok().stdout.splitlines()
    assert json.loads(out[-1]) == {"schema": "pdm.slice-end/1", "events": len(events), "bearings": 4}
    read = [json.loads(line) for line in out[:-1]]
    expected = [plain({**e, "spectra": None}) for e in of_bearings(events)]
    assert [plain(e) for e in read] == expected


def test_episodes_and_follow_ups_come_when_they_are_final(store, archive):
    events = history(days=2)
    store.put(events)
    store.put_episode("2026-01-02T10:00:00Z")
    store.put_follow_up(events[0], 0, "2026-01-02T11:00:00Z")
    export(store, archive).ok()
    (episode,) = rows(archive, "episodes")
    assert episode["day"].isoformat() == "2026-01-02" and episode["risk_level"] == "Watch"
    (work,) = rows(archive, "follow_ups")
    assert work["verdict"] == "right" and work["repaired"] is True and work["event_id"] == events[0]["event_id"]
    # reported anew: both are kept, the later one counts
    store.put_follow_up(events[0], 0, "2026-01-02T12:00:00Z")
    export(store, archive).ok()
    assert len(rows(archive, "follow_ups")) == 2
    judged = rows(archive, "judgements")
    assert {j["event_id"] for j in judged} == {e["event_id"] for e in events}
    assert judged[0]["recommendation_ko"] == "살펴본다" and judged[0]["rul_hours"] == 1200.5


def test_events_cost_no_more_than_350_bytes_without_spectra(store, archive):
    """Distinct figures in every event; the figure of real plants is printed by `status`."""
    import random

    generator = random.Random(38)
    events = history(bearings=40, days=1, a_day=96)
    for event in events:
        for part in (event["time_domain"], *(event["frequency_domain"][d] for d in ("bpfo", "bpfi", "bsf", "ftf"))):
            for name, value in part.items():
                if isinstance(value, float):
                    part[name] = value * generator.uniform(0.9, 1.1)
    store.put(events)
    export(store, archive).ok()
    status = json.loads(lake("status", "--lake", archive, "--json").ok().stdout)
    of_events = next(t for t in status["tables"] if t["name"] == "events")
    print(f"{of_events['bytes_per_row']:.0f} B an event without spectra, {status['bytes_per_event']:.0f} B with")
    assert of_events["bytes_per_row"] <= 350
