"""The archive as input of the back-test: the same result from any number of slices, and as from the store."""

import json

import pytest
from conftest import BIN, history, lake, lines, of_bearings, run


def backtest(*args, **more):
    return run(BIN / "pdm", "backtest", *args, "--json", **more).ok()


def told(text):
    """The result without the name of its input and without its remarks."""
    result = json.loads(text)
    return {key: value for key, value in result.items() if key not in ("remarks", "input")}


@pytest.mark.parametrize("of", [1, 2, 7])
def test_slices_hold_each_machine_once(store, archive, of):
    events = history(bearings=14, days=2)
    store.put(events)
    lake("export", "--store", store.file, "--lake", archive).ok()
    found = []
    for number in range(1, of + 1):
        out = lake("slice", "--lake", archive, "--slice", f"{number}/{of}").ok().stdout.splitlines()
        read = [json.loads(line) for line in out[:-1]]
        assert read == of_bearings(read)
        assert json.loads(out[-1])["events"] == len(read)
        found += [e["event_id"] for e in read]
    assert sorted(found) == sorted(e["event_id"] for e in events)


def test_days_are_chosen(store, archive):
    store.put(history(days=3))
    lake("export", "--store", store.file, "--lake", archive).ok()
    out = lake("slice", "--lake", archive, "--from", "2026-01-02", "--to", "2026-01-02").ok().stdout
    read = [json.loads(line) for line in out.splitlines()[:-1]]
    assert len(read) == 96 and all(e["measured_at"].startswith("2026-01-02") for e in read)


def test_the_back_test_of_the_archive_is_that_of_the_events(store, archive, tmp_path):
    events = history(bearings=6, days=4)
    store.put(events)
    lake("export", "--store", store.file, "--lake", archive).ok()
    direct = backtest("--from", "-", "--whole", input=lines(of_bearings(events), end=True))
    sliced = lake("slice", "--lake", archive).ok().stdout
    assert told(backtest("--from", "-", "--whole", input=sliced).stdout) == told(direct.stdout)
    parts = tmp_path / "parts"
    for number in (1, 2, 3):
        part = lake("slice", "--lake", archive, "--slice", f"{number}/3").ok().stdout
        run(BIN / "pdm", "backtest", "--from", "-", "--whole", "--slice", f"{number}/3", "--parts", parts, input=part).ok()
    assert told(backtest("--merge", "--parts", parts).stdout) == told(direct.stdout)
    # a slice that was cut on its way
    cut = "\n".join(sliced.splitlines()[:-1]) + "\n"
    run(BIN / "pdm", "backtest", "--from", "-", "--whole", input=cut).refused(65, "line")
