"""A PostgreSQL store gives the archive that a SQLite store gives."""

import glob
import json
import os
import shutil
import subprocess
import uuid

import pytest
from conftest import BIN, exactly_once, history, lake, ms, not_run, rows, run


def program(name):
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found[-1] if found else shutil.which(name)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not program("initdb") or not program("postgres"):
        not_run("PostgreSQL is not installed")
    folder = tmp_path_factory.mktemp("pg")
    as_user = {}
    if os.getuid() == 0:
        as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
        for parent in folder.parents:
            if str(parent) not in ("/", "/tmp"):
                parent.chmod(parent.stat().st_mode | 0o055)
    from test_s3 import free_port

    port = free_port()
    run(program("initdb"), "-D", folder / "data", "-A", "trust", "-U", "pdm", "--no-sync", cwd="/tmp", **as_user).ok()
    process = subprocess.Popen(
        [program("postgres"), "-D", str(folder / "data"), "-p", str(port), "-c", "listen_addresses=127.0.0.1",
         "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"],
        cwd="/tmp", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user)
    for _ in range(200):
        if subprocess.run([program("psql"), "-h", "127.0.0.1", "-p", str(port), "-U", "pdm", "-d", "postgres", "-c", "SELECT 1"],
                          capture_output=True).returncode == 0:
            break
        __import__("time").sleep(0.1)
    yield port
    process.terminate()
    process.wait(timeout=30)


def psql(port, sql):
    return run(program("psql"), "-h", "127.0.0.1", "-p", port, "-U", "pdm", "-d", "postgres", "-v", "ON_ERROR_STOP=1",
               "-q", "-f", "-", input=sql).ok()


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def put(port, events):
    values = ",\n".join(
        f"({quoted(e['event_id'])}, {quoted(e['gateway_id'])}, {e['sequence']}, {quoted(e['site'])}, {quoted(e['equipment_id'])},"
        f" {quoted(e['bearing_id'])}, {ms(e['measured_at'])}, {ms(e['measured_at']) + 500}, {quoted(json.dumps(e, separators=(',', ':')))})"
        for e in events)
    psql(port, "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id, measured_at_ms,"
               f" received_at_ms, payload) VALUES {values};")
    psql(port, "INSERT INTO pdm_agent_memory (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,"
               " fault_type, fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment, recommendation_ko,"
               " recommendation_en, uncertainty, tool_use, diagnosis)"
               " SELECT event_id, site, equipment_id, bearing_id, measured_at_ms, received_at_ms, TRUE, NULL, 1, 'Normal', 'none',"
               " 12.5, '{}', '본다', 'Look', '{}', '[]', '{}' FROM events ON CONFLICT DO NOTHING;")


def test_a_server_is_archived_as_a_file_is(server, tmp_path, archive):
    address = f"postgres://pdm@127.0.0.1:{server}/postgres"
    lake("export", "--store", address, "--lake", archive).refused(65, "not a store of pdm-agent")
    (tmp_path / "agent.toml").write_text(f'[store.postgres]\nurl = "{address}"\n[knowledge]\nstore = {{ sqlite = "knowledge.db" }}\n')
    run(BIN / "pdm-agent", "migrate", "--config", tmp_path / "agent.toml").ok()
    events = history(days=2)
    late = events[10:12]
    put(server, [e for e in events if e not in late])
    psql(server, "INSERT INTO episodes (episode_id, site, equipment_id, bearing_id, sequence, opened_at_ms, changed_at_ms,"
                 " closed_at_ms, transition, acknowledgement, suppression, state, since_ms)"
                 f" VALUES ('{uuid.uuid4()}', 'ulsan-1', 'P-0', 'DE', 3, 1767225600000, 1767229200000, 1767229200000, 'closed', '{{}}', '{{}}', 'normal', 0);"
                 "INSERT INTO follow_ups (event_id, number, site, equipment_id, bearing_id, asked_at_ms, action_ko, action_en, state, at_ms, repaired)"
                 " SELECT event_id, 0, site, equipment_id, bearing_id, measured_at_ms, '본다', 'Look', 'done', measured_at_ms + 60000, 1 FROM events LIMIT 1;")
    lake("export", "--store", address, "--lake", archive).ok()
    exactly_once(archive, [e for e in events if e not in late])
    put(server, late)
    done = json.loads(lake("export", "--store", address, "--lake", archive, "--json").ok().stdout)
    assert done["rows"]["events"] == 2 and done["rows"]["judgements"] == 2
    exactly_once(archive, events)
    assert lake("export", "--store", address, "--lake", archive).ok().stdout == ""
    judged = rows(archive, "judgements")
    assert len(judged) == len(events) and all(j["late"] is True and j["rul_hours"] == 12.5 for j in judged)
    (episode,) = rows(archive, "episodes")
    assert episode["told_since"] is None and episode["day"].isoformat() == "2026-01-01"
    (work,) = rows(archive, "follow_ups")
    assert work["repaired"] is True and len(work["event_id"]) == 36
    assert "whole" in lake("verify", "--lake", archive).ok().stdout


def test_a_server_that_is_away_or_refuses_is_named_without_its_password(server, archive):
    from test_s3 import free_port

    lake("export", "--store", f"postgres://pdm:geheim@127.0.0.1:{free_port()}/pdm", "--lake", archive).refused(69, "not reachable")
    refused = lake("export", "--store", f"postgres://pdm:geheim@127.0.0.1:{server}/nowhere", "--lake", archive)
    assert refused.returncode in (69, 74) and "nowhere" in refused.stderr
    assert "geheim" not in refused.stderr
