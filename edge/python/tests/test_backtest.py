"""The back-test is the program's own; its answer comes as tables."""

import json
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pdm_bearings as pb
from conftest import ROOT, not_run

#: An answer as ``pdm.backtest/1`` has it, in what is read of it.
ANSWER = {
    "schema": "pdm.backtest/1",
    "sides": [
        {
            "name": "shipped",
            "episodes_told": 3,
            "episodes_not_told": 1,
            "messages": {"raised": 4, "cleared": 2},
            "people": [{"name": "kim", "messages": 6, "per_week": 1.5, "busiest_hour": 2}],
            "truth": None,
        },
        {
            "name": "agent.toml",
            "episodes_told": 2,
            "episodes_not_told": 0,
            "messages": {"raised": 2},
            "people": [],
            "truth": {"false_per_bearing_year": None, "failures": 1, "failures_not_told": 0},
        },
    ],
    "differences": [
        {
            "bearing": {"site": "u", "equipment": "P", "bearing": "DE"},
            "kind": "only_a",
            "a": {"told": "warning", "told_at": "2026-03-01T00:00:00.000Z", "messages": 2},
            "b": None,
        }
    ],
    "failures": [
        {
            "bearing": {"site": "u", "equipment": "P", "bearing": "DE"},
            "failed_at": "2026-03-04T06:00:00.000Z",
            "lead_h": [78.0, None],
        }
    ],
}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A stand-in for pdm-agent that keeps what it was given and answers as written; where it keeps it."""
    folder, kept = tmp_path / "bin", tmp_path / "kept"
    folder.mkdir()
    kept.mkdir()
    (kept / "answer.json").write_text(json.dumps(ANSWER))
    path = folder / "pdm-agent"
    path.write_text(
        f"""#!/bin/sh
printf '%s\\n' "$@" >{kept}/arguments
while [ $# -gt 0 ]; do
  case $1 in
    --from) cp "$2" {kept}/events ;;
    --truth) cp "$2" {kept}/truth ;;
    --out) mkdir -p "$2" && cp {kept}/answer.json "$2/backtest.json" ;;
  esac
  shift
done
echo said
"""
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PDM_BIN", str(folder))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return kept


def test_events_and_truth_go_to_the_program_and_tables_come_back(program):
    truth = pd.DataFrame(
        {
            "site": ["u", "u"],
            "equipment": ["P", "P"],
            "bearing": ["DE", "NDE"],
            "failed_at": [pd.Timestamp("2026-03-04T06:00:00Z"), pd.NaT],
        }
    )
    events = [{"event_id": "1"}, {"event_id": "2"}]
    done = pb.backtest(events, config="agent.toml", truth=truth, options=["--horizon-days", "30"])
    arguments = (program / "arguments").read_text().splitlines()
    assert arguments[0] == "backtest" and arguments[-2:] == ["--horizon-days", "30"]
    assert [json.loads(line) for line in (program / "events").read_text().splitlines()] == events
    rows = (program / "truth").read_text().splitlines()
    assert rows == ["site,equipment,bearing,failed_at", "u,P,DE,2026-03-04T06:00:00+00:00", "u,P,NDE,"]
    assert list(done.figures["messages"]) == [6, 2] and done.said == "said\n"
    assert np.isnan(done.figures["failures"][0]) and done.figures["failures"][1] == 1
    assert done.people.loc[0, "name"] == "kim" and len(done.people) == 1
    assert done.differences.loc[0, "bearing"] == "u/P/DE" and done.differences.loc[0, "a_told"] == "warning"
    assert done.differences.loc[0, "b_told"] is None
    assert done.failures.loc[0, "a_lead_h"] == 78.0 and np.isnan(done.failures.loc[0, "b_lead_h"])


def test_what_is_wrong_is_said_by_name(program, tmp_path, monkeypatch):
    with pytest.raises(pb.InputError, match="no events"):
        pb.backtest([], config="agent.toml")
    with pytest.raises(pb.InputError, match="str"):
        pb.backtest(["event"], config="agent.toml")
    with pytest.raises(pb.InputError, match="failed_at"):
        pb.backtest([{}], config="agent.toml", truth=pd.DataFrame({"site": ["u"]}))
    comma = pd.DataFrame({"site": ["u,v"], "equipment": ["P"], "bearing": ["DE"], "failed_at": [None]})
    with pytest.raises(pb.InputError, match="comma"):
        pb.backtest([{}], config="agent.toml", truth=comma)
    monkeypatch.setenv("PDM_BIN", str(tmp_path))
    with pytest.raises(pb.ProgramError, match="neither pdm nor pdm-agent"):
        pb.backtest([{}], config="agent.toml")


def test_the_real_program_is_asked(tmp_path, monkeypatch):
    """Events of the monitor through the agent's own back-test."""
    places = [Path(os.environ["PDM_BIN"])] if "PDM_BIN" in os.environ else []
    places += [ROOT / "target" / "debug", ROOT / "target" / "release"]
    there = next((place for place in places if (place / "pdm-agent").is_file()), None)
    if there is None and shutil.which("pdm-agent") is None:
        not_run("pdm-agent is not built (cargo build --bin pdm-agent)")
    if there is not None:
        monkeypatch.setenv("PDM_BIN", str(there))
    run = pb.simulate_run(snapshots=40, seed=1)
    events = []
    pb.monitor(run, rpm=1797.0, bearing="6205", baseline_windows=10, period_s=3600.0, events=events)
    (tmp_path / "agent.toml").write_text('[store]\nsqlite = "agent.db"\n')
    out = tmp_path / "report"
    done = pb.backtest(events, config=tmp_path / "agent.toml", out=out)
    assert done.document["windows"] == 40 and len(done.figures) == 2
    assert (out / "backtest.en.html").is_file() and "40 windows" in done.said
