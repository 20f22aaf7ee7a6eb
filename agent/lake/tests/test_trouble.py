"""What goes wrong is named; nothing is deleted, nothing is lost, nothing comes twice."""

import json
import os
import resource
import subprocess

import pytest
from conftest import Store, exactly_once, history, lake, not_run, of_bearings


def export(store, archive, *more, **how):
    return lake("export", "--store", store.file, "--lake", archive, *more, **how)


def files_of(archive):
    return {p.relative_to(archive): p.read_bytes() for p in archive.rglob("*")
            if p.is_file() and p.relative_to(archive).parts[:2] != ("_pdm", "turns")}


def log(archive, table="events", version=0):
    return archive / table / "_delta_log" / f"{version:020}.json"


def edited(path, change):
    """Changes the actions of a commit."""
    actions = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(change(a) or a) + "\n" for a in actions))


def test_no_store_and_no_archive_are_named(tmp_path, store):
    lake("export", "--store", tmp_path / "nope.db", "--lake", tmp_path / "a").refused(74, "no such file", "nope.db")
    (tmp_path / "text.db").write_text("no database at all, only text\n" * 50)
    lake("export", "--store", tmp_path / "text.db", "--lake", tmp_path / "a").refused(65, "not a store of pdm-agent")
    lake("export", "--store", "mysql://x", "--lake", tmp_path / "a").refused(78, "mysql://")
    for command in (["status"], ["verify"], ["files"], ["slice"], ["vacuum", "--dry-run"]):
        lake(*command, "--lake", tmp_path / "nowhere").refused(66, "no archive")
    lake("export", "--store", store.file, "--lake", "ftp://x/y").refused(78, "ftp://")
    lake("export", "--store", store.file).refused(64, "--lake")
    lake("slice", "--lake", tmp_path, "--slice", "3/2").refused(64, "no slice")


def test_a_denied_folder_is_named(store, tmp_path):
    if os.getuid() != 0:
        not_run("a denied folder needs root, who lends the right to nobody")
    store.put(history(days=1))
    readable = tmp_path
    while str(readable) not in ("/", "/tmp"):
        readable.chmod(readable.stat().st_mode | 0o055)
        readable = readable.parent
    denied = tmp_path / "denied"
    denied.mkdir(mode=0o755)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    store.file.chmod(0o644)
    export(store, denied, **nobody).refused(74, "denied", "as the agent's user", str(store.file))
    for path in (tmp_path, *tmp_path.glob("agent.db*")):
        os.chown(path, 65534, 65534)
    export(store, denied, **nobody).refused(74, "denied", str(denied))
    assert list(denied.iterdir()) == []


def test_a_full_disk_is_named_and_the_next_run_goes_on(store, archive, tmp_path):
    events = history(bearings=20, days=2)
    store.put(events)
    most = 60_000

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    export(store, archive, preexec_fn=small, restore_signals=False).refused(74, "no space is left", str(archive))
    export(store, archive).ok()
    exactly_once(archive, events)
    assert "whole" in lake("verify", "--lake", archive).ok().stdout


def test_a_full_file_system_is_named(store, tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(room)], capture_output=True).returncode:
        not_run("a file system of 200 kB cannot be mounted here")
    try:
        events = history(bearings=20, days=2)
        store.put(events)
        export(store, room / "archive").refused(74, "no space is left")
        subprocess.run(["mount", "-o", "remount,size=50m", str(room)], check=True)
        export(store, room / "archive").ok()
        exactly_once(room / "archive", events)
    finally:
        subprocess.run(["umount", str(room)])


def test_a_file_that_was_cut_or_changed_is_named(store, archive):
    events = history(days=2)
    store.put(events)
    export(store, archive).ok()
    file = next((archive / "events").glob("day=2026-01-01/*.parquet"))
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    lake("verify", "--lake", archive).refused(65, file.name, "broken")
    lake("slice", "--lake", archive).refused(65, file.name)
    changed = bytearray(whole)
    changed[100] ^= 0xFF
    file.write_bytes(bytes(changed))
    lake("verify", "--lake", archive).refused(65, file.name)
    file.unlink()
    lake("verify", "--lake", archive).refused(65, file.name, "not there")
    file.write_bytes(whole)
    assert "whole" in lake("verify", "--lake", archive).ok().stdout


def test_a_commit_that_was_cut_is_named_and_nothing_is_written_beside_it(store, archive):
    store.put(history(days=2))
    export(store, archive, "--day", "2026-01-01").ok()
    path = log(archive, version=1)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    before = files_of(archive)
    export(store, archive).refused(65, path.name, "no JSON")
    lake("verify", "--lake", archive).refused(65, path.name)
    assert {k: v for k, v in files_of(archive).items() if "events" in k.parts} == {
        k: v for k, v in before.items() if "events" in k.parts}
    path.write_bytes(whole)
    export(store, archive).ok()


@pytest.mark.parametrize("protocol", [
    {"minReaderVersion": 9, "minWriterVersion": 99},
    {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["timeTravelPaint"], "writerFeatures": ["timeTravelPaint"]},
])
def test_a_table_of_a_newer_protocol_is_refused_by_its_number(store, archive, protocol):
    store.put(history(days=2))
    export(store, archive, "--day", "2026-01-01").ok()
    edited(log(archive), lambda a: {"protocol": protocol} if "protocol" in a else None)
    before = files_of(archive)
    words = ["newer protocol", "timeTravelPaint" if "readerFeatures" in protocol else "reader 9"]
    export(store, archive).refused(78, *words)
    lake("slice", "--lake", archive).refused(78, *words)
    assert files_of(archive) == before


def test_a_writer_feature_that_is_not_known_is_refused(store, archive):
    store.put(history(days=2))
    export(store, archive, "--day", "2026-01-01").ok()
    new = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["paintedColumns"]}
    edited(log(archive), lambda a: {"protocol": new} if "protocol" in a else None)
    done = export(store, archive)
    assert done.returncode in (74, 78) and "paintedColumns" in done.stderr, done.stderr
    assert len(list((archive / "events/_delta_log").glob("*.json"))) == 2


def test_a_foreign_writer_is_named_and_nothing_is_written_beside_it(store, archive):
    import pyarrow as pa
    from deltalake import DeltaTable, write_deltalake

    events = history(days=2)
    store.put(events)
    export(store, archive, "--day", "2026-01-01").ok()
    table = DeltaTable(str(archive / "events"))
    one = table.to_pyarrow_table().slice(0, 1)
    write_deltalake(str(archive / "events"), one, mode="append")
    export(store, archive).refused(65, "version 2", "not by pdm-lake", "--accept-foreign")
    lake("verify", "--lake", archive).refused(65, "comes twice", "not by pdm-lake")
    export(store, archive, "--accept-foreign").ok()


def test_a_compaction_by_another_program_is_no_harm(store, archive):
    from deltalake import DeltaTable

    events = history(days=2)
    late = events[7:9]
    store.put([e for e in events if e not in late])
    export(store, archive).ok()
    store.put(late)
    export(store, archive).ok()
    DeltaTable(str(archive / "events")).optimize.compact()
    assert export(store, archive).ok().stdout == ""
    exactly_once(archive, events)
    told = lake("verify", "--lake", archive).ok().stdout
    assert "no row changed" in told and "whole" in told
    # what the compaction left is younger than a reader may be
    assert "0 files" in lake("vacuum", "--lake", archive, "--dry-run").ok().stdout
    read = [json.loads(line) for line in lake("slice", "--lake", archive).ok().stdout.splitlines()[:-1]]
    assert [e["event_id"] for e in read] == [e["event_id"] for e in of_bearings(events)]


def test_an_archive_of_another_version_or_store_is_refused(store, archive, tmp_path):
    store.put(history(days=1))
    export(store, archive).ok()
    (tmp_path / "other").mkdir()
    other = Store(tmp_path / "other")
    more = history(days=1)
    other.put(more)
    export(other, archive).refused(78, "takes rows of the store", "--adopt")
    export(other, archive, "--adopt").ok()
    assert "whole" in lake("verify", "--lake", archive).ok().stdout
    record = archive / "_pdm/archive.json"
    record.write_text(record.read_text().replace("pdm.archive/1", "pdm.archive/2"))
    export(store, archive).refused(78, "pdm.archive/2", "pdm.archive/1")
    lake("status", "--lake", archive).refused(78, "pdm.archive/2")


def test_a_new_column_arrives_and_a_changed_type_is_refused_by_name(store, archive):
    events = history(days=2)
    store.put(events)
    export(store, archive, "--day", "2026-01-01").ok()

    def schema(change):
        def of(action):
            if "metaData" not in action:
                return None
            text = json.loads(action["metaData"]["schemaString"])
            text["fields"] = [f for f in map(change, text["fields"]) if f]
            action["metaData"]["schemaString"] = json.dumps(text)
            return action
        return of

    # a table of an earlier version, which did not know kurtosis
    edited(log(archive), schema(lambda f: None if f["name"] == "kurtosis" else f))
    told = export(store, archive, "--day", "2026-01-02").ok()
    assert "columns were added" in told.stderr and "kurtosis" in told.stderr
    from conftest import rows
    of_day = [r for r in rows(archive) if r["day"].isoformat() == "2026-01-02"]
    by_id = {e["event_id"]: e["time_domain"]["kurtosis"] for e in events}
    assert len(of_day) == 96 and all(r["kurtosis"] == by_id[r["event_id"]] for r in of_day)
    late = history(bearings=1, days=1)
    store.put(late)
    for path in sorted((archive / "events/_delta_log").glob("*.json")):
        edited(path, schema(lambda f: {**f, "type": "string"} if f["name"] == "crest_factor" else f))
    export(store, archive).refused(65, "crest_factor", "string", "double")


def test_a_hole_is_told(store, archive):
    events = history(days=4)
    store.put([e for e in events if not e["measured_at"].startswith("2026-01-02")])
    export(store, archive).ok()
    told = lake("verify", "--lake", archive).ok().stdout
    assert "a hole: no events of 2026-01-02" in told
    assert "24 of the numbers 1 to 96 are not in the archive" in told
    assert "2026-01-02" in lake("slice", "--lake", archive).ok().stderr


def test_the_store_s_retention_takes_nothing_out_of_the_archive(store, archive):
    events = history(days=3)
    store.put(events)
    export(store, archive).ok()
    store.execute("DELETE FROM events WHERE measured_at_ms < ?", [(1767312000000,)])
    assert export(store, archive).ok().stdout == ""
    exactly_once(archive, events)


def test_what_a_killed_run_left_is_counted_and_removed_only_when_it_is_old(store, archive):
    store.put(history(days=1))
    export(store, archive).ok()
    orphan = archive / "events/day=2026-01-01/left.parquet"
    orphan.write_bytes(b"half a file")
    half = archive / "events/day=2026-01-01/left.parquet#1"
    half.write_bytes(b"half")
    assert "2 files" in lake("verify", "--lake", archive).ok().stdout
    assert "0 files" in lake("vacuum", "--lake", archive).ok().stdout
    old = 1_700_000_000
    os.utime(orphan, (old, old))
    os.utime(half, (old, old))
    assert "2 files" in lake("vacuum", "--lake", archive, "--dry-run").ok().stdout
    assert orphan.exists()
    assert "removed" in lake("vacuum", "--lake", archive).ok().stdout
    assert not orphan.exists() and not half.exists()
    assert "whole" in lake("verify", "--lake", archive).ok().stdout
