"""Killed anywhere, stopped over a take-over: 0 lost, 0 twice."""

import os
import random
import signal
import subprocess
import time
from datetime import timedelta

import pytest
from conftest import BEGIN, KILLS, LAKE, exactly_once, history, lake


def killed(kills, command, whole_s, env=None, seed=38):
    """Runs a command until it ends by itself, and kills it so often before. The times of the kills are random over
    the time that a whole run takes."""
    generator = random.Random(seed)
    for done in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        try:
            process.wait(timeout=generator.uniform(0.02, whole_s))
            assert process.returncode == 0, process.stderr.read()[-2000:]
            return done  # everything was archived before the kill
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    return kills


def kill_until(kills, store, where, env=None):
    """Kills archivers of days that come and of late events of days before, until there were enough kills."""
    events, done, day = [], 0, 0
    began = time.monotonic()
    store.put(history(bearings=12, days=4, begin=BEGIN - timedelta(days=100)))
    lake("export", "--store", store.file, "--lake", f"{where}-whole", env=env).ok()
    whole_s = time.monotonic() - began
    store.execute("DELETE FROM events WHERE measured_at_ms < ?", [(int(BEGIN.timestamp() * 1000),)])
    while done < kills:
        more = history(bearings=12, days=4, begin=BEGIN + timedelta(days=day))
        day += 3
        store.put(more)
        events += more
        command = [str(LAKE), "export", "--store", str(store.file), "--lake", str(where), "--take-over"]
        done += killed(kills - done, command, whole_s, env, seed=38 + day)
    lake("export", "--store", store.file, "--lake", where, "--take-over", env=env).ok()
    verified = lake("verify", "--lake", where, env=env).ok().stdout
    print(f"{done} kills, {len(events)} events: 0 lost, 0 twice;", " ".join(verified.splitlines()[-2:]))
    assert "whole" in verified
    return events


def test_kills_lose_nothing_and_repeat_nothing(store, archive):
    exactly_once(archive, kill_until(KILLS, store, archive))


@pytest.mark.parametrize("pause_s", [0.05, 0.1, 0.2, 0.35, 0.5, 0.8])
def test_an_archiver_that_was_stopped_over_a_take_over_repeats_nothing(store, archive, pause_s):
    events = history(bearings=20, days=4)
    store.put(events)
    export = ["export", "--store", str(store.file), "--lake", str(archive)]
    first = subprocess.Popen([str(LAKE), *export], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(pause_s)
    first.send_signal(signal.SIGSTOP)
    if (archive / "_pdm/turns").exists() and first.poll() is None:
        beside = lake(*export)
        if beside.returncode:
            beside.refused(69, "archives here", "--take-over")
    lake(*export, "--take-over").ok()
    first.send_signal(signal.SIGCONT)
    _, told = first.communicate(timeout=120)
    # it had ended before it was stopped, or it finds that another one has taken over
    assert first.returncode == 0 or (first.returncode == 69 and "taken over" in told), told
    exactly_once(archive, events)
    lake(*export).ok()
    exactly_once(archive, events)
    assert "whole" in lake("verify", "--lake", archive).ok().stdout


def test_two_archivers_at_once_repeat_nothing(store, archive):
    events = history(bearings=12, days=4)
    store.put(events)
    command = [str(LAKE), "export", "--store", str(store.file), "--lake", str(archive), "--take-over"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    told = [one.communicate(timeout=120)[1] for one in both]
    assert all(one.returncode in (0, 69) for one in both), told
    lake("export", "--store", store.file, "--lake", archive, "--take-over").ok()
    exactly_once(archive, events)


def test_a_running_archiver_ends_cleanly_and_tells_its_figures(store, archive, tmp_path):
    events = history(days=3)
    store.put(events)
    figures = tmp_path / "pdm_lake.prom"
    process = subprocess.Popen(
        [str(LAKE), "--log", "json", "run", "--store", str(store.file), "--lake", str(archive), "--every-s", "1",
         "--metrics-file", str(figures)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(300):
        if figures.exists() and "pdm_lake_days_total 3" in figures.read_text():
            break
        time.sleep(0.1)
    late = history(bearings=1, days=1)
    store.put(late)
    for _ in range(300):
        if f'pdm_lake_rows_total{{table="events"}} {len(events) + len(late)}' in figures.read_text():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0, told
    import json

    assert all(json.loads(line)["level"] for line in told.splitlines())
    exactly_once(archive, events + late)
    assert "ended" in lake("status", "--lake", archive).ok().stdout
