"""Programs, stores and archives for the tests of pdm-lake.

PDM_LAKE_BIN: the folder of pdm-lake. PDM_BIN: the folder of pdm, pdm-agent and pdm-edge.
PDM_LAKE_KILLS: how many kills the kill tests make (8; the long form makes 50).
"""

import json
import os
import sqlite3
import subprocess
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LAKE = Path(os.environ.get("PDM_LAKE_BIN", HERE.parent / "target/debug")) / "pdm-lake"
BIN = Path(os.environ.get("PDM_BIN", ROOT / "target/debug"))
KILLS = int(os.environ.get("PDM_LAKE_KILLS", "8"))
BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)


class Ran(subprocess.CompletedProcess):
    """What a program did; its words in an assertion's message."""

    def ok(self):
        assert self.returncode == 0, f"exit {self.returncode}: {self.stderr[-2000:]}"
        return self

    def refused(self, code, *words):
        told = self.stderr + self.stdout
        assert self.returncode == code, f"exit {self.returncode}, not {code}: {told[-2000:]}"
        for word in words:
            assert word in told, f"{word!r} is not said: {told[-2000:]}"
        return self


def run(program, *args, input=None, env=None, cwd=None, **more):
    done = subprocess.run(
        [str(program), *map(str, args)],
        input=input, capture_output=True, text=True, cwd=cwd, timeout=300,
        env={**os.environ, **(env or {})}, **more,
    )
    return Ran(done.args, done.returncode, done.stdout, done.stderr)


def lake(*args, **more):
    return run(LAKE, *args, **more)


def uuid7(at_ms):
    """An identity as gateways make them: its first 48 bits are the time."""
    bits = (at_ms << 80) | (0x7 << 76) | (uuid.uuid4().int & ((1 << 76) - 1))
    return str(uuid.UUID(int=(bits & ~(0x3 << 62)) | (0x2 << 62)))


def templates():
    """Events of simulated runs, with and without spectra."""
    return [json.loads(line) for line in (HERE / "data/events.jsonl").read_text().splitlines()]


def history(bearings=4, days=3, a_day=24, spectra_each=6, begin=BEGIN):
    """Events of a plant: bearings in turn, as gateways send them. Figures differ from event to event."""
    shapes = templates()
    with_spectra = [e for e in shapes if e.get("spectra")]
    without = [e for e in shapes if not e.get("spectra")]
    epochs = [str(uuid.uuid4()) for _ in range(bearings)]
    events = []
    for window in range(days * a_day):
        at = begin + timedelta(days=1) * window / a_day
        for bearing in range(bearings):
            number = window * bearings + bearing
            shape = with_spectra if number % spectra_each == 0 else without
            event = json.loads(json.dumps(shape[number % len(shape)]))
            at_ms = int(at.timestamp() * 1000) + bearing
            event.update(
                event_id=uuid7(at_ms), gateway_id=f"gw{bearing}", sequence=window + 1,
                epoch=epochs[bearing], site="ulsan-1", equipment_id=f"P-{bearing // 2}",
                bearing_id=("DE", "NDE")[bearing % 2],
                measured_at=datetime.fromtimestamp(at_ms / 1000, timezone.utc)
                .isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            )
            event["time_domain"]["rms_g"] = 0.02 + number / 7919 + bearing / 3
            events.append(event)
    return events


def of_bearings(events):
    """The events of each bearing in one run (pdm.slice/1)."""
    key = lambda e: (e["site"], e["equipment_id"], e["bearing_id"])
    return sorted(events, key=lambda e: (*key(e), e["sequence"]))


def lines(events, end=False):
    text = "".join(json.dumps(e, separators=(",", ":")) + "\n" for e in events)
    if end:
        bearings = {(e["site"], e["equipment_id"], e["bearing_id"]) for e in events}
        text += json.dumps({"schema": "pdm.slice-end/1", "events": len(events), "bearings": len(bearings)}) + "\n"
    return text


def ms(text):
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


class Store:
    """A SQLite store of pdm-agent: its tables are made by the program, its rows by the test."""

    def __init__(self, folder):
        self.file = folder / "agent.db"
        (folder / "agent.toml").write_text('[store]\nsqlite = "agent.db"\n')
        run(BIN / "pdm-agent", "migrate", "--config", "agent.toml", cwd=folder).ok()

    def execute(self, sql, rows):
        with sqlite3.connect(self.file) as database:
            database.executemany(sql, rows)
        database.close()

    def put(self, events, judged=True):
        self.execute(
            "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id, measured_at_ms,"
            " received_at_ms, payload) VALUES (?,?,?,?,?,?,?,?,?)",
            [(uuid.UUID(e["event_id"]).bytes, e["gateway_id"], e["sequence"], e["site"], e["equipment_id"],
              e["bearing_id"], ms(e["measured_at"]), ms(e["measured_at"]) + 500,
              json.dumps(e, separators=(",", ":"))) for e in events],
        )
        if judged:
            self.execute(
                "INSERT INTO pdm_agent_memory (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms,"
                " late, fault_type, fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment,"
                " recommendation_ko, recommendation_en, uncertainty, tool_use, diagnosis)"
                " VALUES (?,?,?,?,?,?,0,'outer_race',2,'Watch','slow',1200.5,'{}','살펴본다','Look at it','{}','[]',?)",
                [(uuid.UUID(e["event_id"]).bytes, e["site"], e["equipment_id"], e["bearing_id"],
                  ms(e["measured_at"]), ms(e["measured_at"]) + 900,
                  json.dumps({"schema": "pdm.diagnosis/1", "event_id": e["event_id"]})) for e in events],
            )

    def put_episode(self, closed_at):
        self.execute(
            "INSERT INTO episodes (episode_id, site, equipment_id, bearing_id, sequence, opened_at_ms, changed_at_ms,"
            " closed_at_ms, transition, acknowledgement, suppression, state, risk_level, since_ms)"
            " VALUES (?,'ulsan-1','P-0','DE',3,?,?,?,'closed','{}','{}','normal','Watch',?)",
            [(uuid.uuid4().bytes, ms(closed_at) - 86_400_000, ms(closed_at), ms(closed_at), ms(closed_at) - 3_600_000)],
        )

    def put_follow_up(self, event, number, at):
        self.execute(
            "INSERT INTO follow_ups (event_id, number, site, equipment_id, bearing_id, asked_at_ms, action_ko, action_en,"
            " state, by_whom, at_ms, repaired, verdict) VALUES (?,?,'ulsan-1','P-0','DE',?,'본다','Look','done','kim',?,1,'right')"
            " ON CONFLICT DO UPDATE SET at_ms = excluded.at_ms",
            [(uuid.UUID(event["event_id"]).bytes, number, ms(event["measured_at"]), ms(at))],
        )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "archive"


def not_run(why):
    """Leaves a test out, and says so in the lane's list."""
    if file := os.environ.get("PDM_NOT_RUN"):
        with open(file, "a") as out:
            out.write(f"lake: {why}\n")
    pytest.skip(why)


def rows(archive, table="events", columns=None, options=None):
    """The rows of a table, by a reader of Delta Lake that is not this program."""
    from deltalake import DeltaTable

    return DeltaTable(f"{archive}/{table}", storage_options=options).to_pyarrow_table(columns=columns).to_pylist()


def exactly_once(archive, events, options=None):
    """0 lost, 0 twice."""
    found = [row["event_id"] for row in rows(archive, columns=["event_id"], options=options)]
    assert len(found) == len(set(found)), f"{len(found) - len(set(found))} come twice"
    assert set(found) == {e["event_id"] for e in events}, f"{len(found)} of {len(events)}"


def plain(json_value):
    """An event without what says nothing: null and absent are the same in pdm.event/1."""
    if isinstance(json_value, dict):
        cleaned = {k: plain(v) for k, v in json_value.items()}
        return {k: v for k, v in cleaned.items() if v is not None and v != {}}
    if isinstance(json_value, list):
        return [plain(v) for v in json_value]
    return json_value
