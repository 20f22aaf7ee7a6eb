"""Histories as JSON lines: checked whole before anything is written."""

import json
import random

import pytest
from conftest import BIN, exactly_once, history, lake, lines, of_bearings, rows, run


def test_a_history_comes_in_once(archive):
    events = of_bearings(history(days=3))
    lake("import", "-", "--lake", archive, "--whole", input=lines(events, end=True)).ok()
    exactly_once(archive, events)
    assert len(rows(archive, "spectra", ["event_id"])) == sum(1 for e in events if e.get("spectra"))
    again = lake("import", "-", "--lake", archive, input=lines(events)).ok()
    assert again.stdout.startswith("0 events archived")
    exactly_once(archive, events)
    assert "whole" in lake("verify", "--lake", archive).ok().stdout


def test_a_store_and_a_history_meet_in_one_archive(store, archive):
    events = history(days=2)
    store.put(events[:100])
    lake("export", "--store", store.file, "--lake", archive).ok()
    lake("import", "-", "--lake", archive, input=lines(of_bearings(events))).ok()
    exactly_once(archive, events)


WRONG = {
    "reversed": (lambda e: e[::-1], "steps back"),
    "shuffled": (lambda e: random.Random(1).sample(e, len(e)), "line"),
    "doubled": (lambda e: e[:5] + e[3:], "repeats line"),
    "in turn": (lambda e: [x for pair in zip(e[:72], e[72:144]) for x in pair], "--interleaved"),
}


@pytest.mark.parametrize("what", WRONG)
def test_lines_in_the_wrong_order_are_refused_with_line_and_event(archive, what):
    change, word = WRONG[what]
    events = change(of_bearings(history(days=3)))
    lake("import", "-", "--lake", archive, input=lines(events)).refused(65, word, "standard input, line", "event 0")
    assert not archive.exists()


def test_lines_that_are_cut_or_no_event_are_refused(archive, tmp_path):
    events = of_bearings(history(bearings=1, days=1))
    text = lines(events, end=True)
    lake("import", "-", "--lake", archive, input=text[:-200]).refused(65, "line 24")
    lake("import", "-", "--lake", archive, "--whole", input=lines(events)).refused(65, "no last record")
    lake("import", "-", "--lake", archive, input=text + lines(events[:1])).refused(65, "ended on line 25")
    short = lines(events[:-1]) + text.splitlines()[-1] + "\n"
    lake("import", "-", "--lake", archive, input=short).refused(65, "counts 24 events", "read were 23")
    lake("import", "-", "--lake", archive, input="").refused(65, "no event")
    lake("import", "-", "--lake", archive, input="[1,2]\n").refused(65, "line 1", "not an event")
    lake("import", tmp_path / "nope.jsonl", "--lake", archive).refused(66, "nope.jsonl")
    lake("import", "-", "--lake", archive, "--source", "a b", input=text).refused(64, "--source")
    assert not archive.exists()


def test_a_recording_of_another_maker_comes_in_by_the_edge(archive, tmp_path):
    """A CSV with the acceleration over time, as loggers write it, through the reader of the edge."""
    folder = tmp_path / "csv"
    folder.mkdir()
    run(BIN / "pdm-edge", "simulate", "--fault", "outer", "--bearing", "6205", "--rpm", "1480", "--rate", "12800",
        "--snapshot-s", "1", "--out", folder / "a.csv").ok()
    for name in "bcd":
        (folder / f"{name}.csv").write_bytes((folder / "a.csv").read_bytes())
    edge = run(BIN / "pdm-edge", "replay", folder, "--period", "600", "--start", "2025-01-01T23:40:00Z", "--rate", "12800",
               "--rpm", "1480", "--bearing", "6205", "--equipment", "P-9", "--bearing-name", "DE", "--jsonl").ok()
    lake("import", "-", "--lake", archive, "--source", "loggers-2025", input=edge.stdout).ok()
    found = rows(archive, columns=["day", "equipment_id", "rms_g"])
    assert sorted(r["day"].isoformat() for r in found) == ["2025-01-01"] * 2 + ["2025-01-02"] * 2
    assert all(r["equipment_id"] == "P-9" and r["rms_g"] > 0 for r in found)
    assert json.loads((archive / "_pdm/archive.json").read_text())["stores"] == ["loggers-2025"]
