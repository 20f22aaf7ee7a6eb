"""An archive of events: Delta tables and folders of Parquet files, as people find them."""

import datetime as dt
import json
import re
import shutil

import pytest

import pdm_bearings as pb
from conftest import ROOT
from pdm_bearings._event_rows import BLOCKS, COLUMNS, FIELDS, REQUIRED, path_of

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
deltalake = pytest.importorskip("deltalake")

#: Fields that have a column in the tables of these tests, by the block they are of.
TYPED = {
    "window": ("samples", "sampling_rate_hz", "duration_s"),
    "operating": ("running", "shaft_speed_rpm", "speed_source", "state"),
    "signal_quality": ("valid", "flags"),
    "anomaly": ("score", "contributors"),
    "time_domain": ("rms_g", "kurtosis", "envelope_rms_g", "velocity_rms_mm_s", "iso_zone"),
    "frequency_domain": ("method", "dominant_fault", "confidence"),
    "rul": ("hours",),
}


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def row_of(event, separator):
    """Typed columns of an event, and the rest as JSON."""
    rest = json.loads(json.dumps(event))
    row = {}
    for name in FIELDS:
        if name in rest and name != "schema":
            row[name] = rest.pop(name)
    row["measured_at"] = dt.datetime.fromisoformat(row["measured_at"])
    row["day"] = row["measured_at"].date().isoformat()
    for block, fields in TYPED.items():
        for field in fields:
            if field in rest[block]:
                row[f"{block}{separator}{field}"] = rest[block].pop(field)
    return {**row, "rest": json.dumps(rest)}


def table_of(events, separator="_"):
    rows = [row_of(event, separator) for event in events]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        whole = {
            "measured_at": pa.timestamp("us", "UTC"),
            "sequence": pa.int64(),
            "measuring_point": pa.string(),
        }
        kind = whole.get(name)
        if any(isinstance(value, list) for value in values):
            kind = pa.list_(pa.string())
        elif kind is None and all(value is None for value in values):
            kind = pa.string()
        columns[name] = pa.array(values, kind)
    return pa.table(columns)


def put(folder, events, separator="_", **more):
    deltalake.write_deltalake(
        folder, table_of(events, separator), mode="append", partition_by=["day"], **more
    )
    return folder


def course(equipment, seed, fault="outer_race"):
    events = []
    run = pb.simulate_run(fault=fault, snapshots=30, rate=12_800, seed=seed)
    pb.monitor(
        run, rpm=1797, bearing="6205", period_s=3600.0, baseline_windows=10, events=events,
        equipment=equipment, bearing_name="DE",
    )  # fmt: skip
    for number, event in enumerate(events):
        # each event of a monitor is its own; names of a plant make them rows of one archive
        event["epoch"] = "01936f3e-0000-7000-8000-000000000001"
        event["sequence"] = number + 1
    return events


@pytest.fixture(scope="module")
def events():
    """Two bearings, thirty hours each."""
    return [*course("P-101", 1), *course("P-102", 2, fault=None)]


@pytest.fixture(scope="module")
def archive(events, tmp_path_factory):
    """Both, shuffled over two commits, in a folder as `pdm-lake` lays it."""
    folder = tmp_path_factory.mktemp("archive")
    mixed = events[::-3] + events[::-1][1::3] + events[::-1][2::3]
    put(folder / "events", mixed[:25])
    put(folder / "events", mixed[25:])
    return pb.Archive(folder)


@pytest.mark.parametrize("separator", ["_", "__", "."])
def test_events_come_back_as_they_were(events, tmp_path, separator):
    put(tmp_path / "t", events[::-1], separator)
    again = list(pb.Archive(tmp_path / "t").slice())
    assert [without_nulls(one) for one in again] == [without_nulls(one) for one in events]


def test_a_table_with_the_columns_of_the_lake_gives_its_events(events, tmp_path):
    """Every field that has a column in it, lists of objects as lists of their fields; the rest as JSON."""
    fields = {
        **{name: name for name in FIELDS if name != "schema"},
        **COLUMNS,
        "window_samples": "window.samples",
    }
    rows = []
    for event in events:
        rest = json.loads(json.dumps(event))
        row = {"day": dt.date.fromisoformat(event["measured_at"][:10])}
        for column, path in fields.items():
            *blocks, last = path.split(".")
            at = rest
            for block in blocks:
                at = at.get(block.removesuffix("[]")) or {}
            if isinstance(at, list):
                row[column] = [one.pop(last) for one in at if last in one] or None
            elif at.get(last) is not None:
                row[column] = at.pop(last)
        row["measured_at"] = dt.datetime.fromisoformat(row["measured_at"])
        rows.append({**row, "rest": json.dumps(rest)})
    names = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    assert {"bpfo_harmonic_snr_db", "rms_g", "signal_flags", "dominant_fault"} <= set(names)
    deltalake.write_deltalake(tmp_path / "events", table, partition_by=["day"])
    again = list(pb.Archive(tmp_path).slice())
    assert [without_nulls(one) for one in again] == [without_nulls(one) for one in events]


def test_a_struct_and_a_whole_event_in_rest_are_read_too(events, tmp_path):
    rows = [
        {
            **{
                name: event[name] for name in ("gateway_id", "site", "equipment_id", "bearing_id", "sequence")
            },
            "measured_at": dt.datetime.fromisoformat(event["measured_at"]),
            "time_domain": {"rms_g": event["time_domain"]["rms_g"]},
            "rest": json.dumps(event),
        }
        for event in events
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "one.parquet")
    again = list(pb.Archive(tmp_path).slice())
    assert [without_nulls(one) for one in again] == [without_nulls(one) for one in events]


def test_the_bearings_and_a_history_are_tables(archive, events):
    bearings = archive.bearings()
    assert list(bearings["equipment_id"]) == ["P-101", "P-102"] and list(bearings["events"]) == [30, 30]
    assert bearings["first"][0].isoformat().replace("+00:00", ".000Z") == events[0]["measured_at"]
    history = archive.history("local/P-101/DE")
    assert history["measured_at"].is_monotonic_increasing and len(history) == 30
    assert list(history["time_domain_rms_g"]) == [one["time_domain"]["rms_g"] for one in events[:30]]
    first, last = events[10]["measured_at"], events[20]["measured_at"]
    part = archive.history("P-101/DE", start=first, end=last, columns=["sequence", "time_domain_rms_g"])
    assert list(part) == ["sequence", "time_domain_rms_g"] and list(part["sequence"]) == list(range(11, 21))
    assert len(archive.events()) == 60 and len(archive.events(("local", "P-102", "DE"))) == 30
    assert archive.version == 1 and "version 1" in repr(archive)


def test_a_slice_is_handed_to_the_back_test(archive, events, pdm_edge, tmp_path, monkeypatch):
    """The answer is that of the events themselves, in whatever order they lie in the archive."""
    from pathlib import Path

    monkeypatch.setenv("PDM_BIN", str(Path(pdm_edge).parent))
    config = tmp_path / "agent.toml"
    config.write_text('[store]\nsqlite = "agent.db"\n')
    direct = pb.backtest(events, config=config)
    by_archive = pb.backtest(archive, config=config)
    assert by_archive.document["windows"] == 60
    assert by_archive.figures.equals(direct.figures) and by_archive.differences.equals(direct.differences)
    one = pb.backtest(archive.slice(["local/P-101/DE"]), config=config)
    assert one.document["windows"] == 30


def test_rows_that_were_archived_twice_come_once_and_it_is_said(events, tmp_path):
    for _ in range(2):
        put(tmp_path / "events", events[:30])
    archive = pb.Archive(tmp_path)
    with pytest.warns(pb.SignalWarning, match="30 events are archived more than once"):
        assert len(list(archive.slice())) == 30
    with pytest.warns(pb.SignalWarning, match="30 events"):
        assert len(archive.history("P-101/DE")) == 30
    assert len(archive.events()) == 60


def test_what_the_log_does_not_name_is_not_read(events, tmp_path):
    """Files of a killed writer, and those that were compacted, lie beside the table's own."""
    table = tmp_path / "events"
    for begin in range(0, 30, 3):
        put(table, events[begin : begin + 3])
    some = next(table.rglob("*.parquet"))
    shutil.copy(some, some.with_name("part-of-a-killed-writer.parquet"))
    assert len(pb.Archive(table).events()) == 30
    deltalake.DeltaTable(table).optimize.compact()
    assert len(pb.Archive(tmp_path).events()) == 30
    assert len(pb.Archive(tmp_path, version=4).events()) == 15


def test_a_folder_of_parquet_files_is_read_without_hidden_ones(events, tmp_path):
    for day in ("2026-01-01", "2026-01-02"):
        (tmp_path / f"day={day}").mkdir()
    table = table_of(events[:30]).drop_columns(["day"])
    parquet.write_table(table.slice(0, 20), tmp_path / "day=2026-01-01" / "a.parquet")
    parquet.write_table(table.slice(20), tmp_path / "day=2026-01-02" / "b.parquet")
    (tmp_path / "day=2026-01-02" / ".c.parquet").write_bytes(b"half")
    archive = pb.Archive(tmp_path)
    assert archive.version is None and "day" in archive.columns
    assert [one["sequence"] for one in archive.slice()] == list(range(1, 31))


def test_counts_of_a_gateway_follow_each_other_as_they_began(events, tmp_path):
    """A gateway that was set up anew counts from 1; a clock that was set back moves no event."""
    second = "01936f3e-0000-7000-8000-000000000002"
    count = [json.loads(json.dumps(event)) for event in events[:30]]
    for number, event in enumerate(count):
        if number >= 15:
            event.update(epoch=second, sequence=number - 14)
    count[20]["measured_at"] = count[16]["measured_at"]
    put(tmp_path / "events", count[::-1])
    got = [(one["epoch"], one["sequence"]) for one in pb.Archive(tmp_path).slice()]
    assert got == [(one["epoch"], one["sequence"]) for one in count]


def test_a_table_of_something_else_is_refused_by_name(events, tmp_path):
    deltalake.write_deltalake(tmp_path / "other", pa.table({"site": ["a"], "value": [1.0]}))
    with pytest.raises(pb.ReadError, match="no column gateway_id, equipment_id.*its columns are site, value"):
        pb.Archive(tmp_path / "other")
    texts = table_of(events[:3])
    texts = texts.set_column(texts.schema.get_field_index("measured_at"), "measured_at", [["a", "b", "c"]])
    deltalake.write_deltalake(tmp_path / "texts", texts)
    with pytest.raises(pb.ReadError, match="measured_at is .*string.*wanted is timestamp"):
        pb.Archive(tmp_path / "texts")
    put(tmp_path / "newer", events[:3])
    log = tmp_path / "newer" / "_delta_log" / "00000000000000000000.json"
    log.write_text(log.read_text().replace('"minReaderVersion":1', '"minReaderVersion":99'))
    with pytest.raises(pb.ReadError, match="99"):
        pb.Archive(tmp_path / "newer")
    put(tmp_path / "vectors", events[:3], configuration={"delta.enableDeletionVectors": "true"})
    with pytest.raises(pb.ReadError, match="deletionVectors"):
        pb.Archive(tmp_path / "vectors")
    away = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_REGION": "us-east-1",
        "max_retries": "0",
    }
    with pytest.raises(pb.ReadError, match=r"s3://no-bucket/archive cannot be read: .*127.0.0.1:1") as caught:
        pb.Archive("s3://no-bucket/archive", storage_options=away)
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)
    rows = table_of(events[:3]).drop_columns(["replayed", "delayed_s"])
    deltalake.write_deltalake(tmp_path / "short", rows)
    short = pb.Archive(tmp_path / "short")
    assert len(short.history("P-101/DE")) == 3
    with pytest.raises(pb.ReadError, match="lack replayed, delayed_s"):
        list(short.slice())
    torn = table_of(events[:3]).drop_columns(["rest"]).append_column("rest", [["{", "{", "{"]])
    deltalake.write_deltalake(tmp_path / "torn", torn)
    with pytest.raises(pb.ReadError, match="rest of event .* is no JSON"):
        list(pb.Archive(tmp_path / "torn").slice())
    (tmp_path / "empty").mkdir()
    for nothing in (tmp_path / "empty", tmp_path / "no-such-folder"):
        with pytest.raises(pb.ReadError, match="neither a Delta table nor a folder of Parquet"):
            pb.Archive(nothing)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(pb.ReadError, match="cannot be read"):
        pb.Archive(tmp_path / "half")


def test_a_request_of_an_archive_is_refused_by_name(archive, tmp_path):
    with pytest.raises(pb.InputError, match="'P-103/DE' is not in the archive; near are P-10"):
        archive.history("P-103/DE")
    with pytest.raises(pb.InputError, match="wanted is 'SITE/EQUIPMENT/BEARING'"):
        archive.history("P-101")
    with pytest.raises(pb.InputError, match="start=.* has no time zone"):
        archive.events(start="2026-01-01T00:00:00")
    with pytest.raises(pb.InputError, match="end='yesterday' is no time"):
        archive.events(end="yesterday")
    with pytest.raises(pb.InputError, match="columns='rms' is none of"):
        archive.events(columns=["rms"])
    with pytest.raises(pb.ReadError, match="cannot be read"):
        pb.Archive(archive.uri, version=99)
    parquet.write_table(pa.table({"site": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(pb.InputError, match="version=3.*no Delta table"):
        pb.Archive(tmp_path, version=3)


def leaves():
    """Paths of the event's fields by its schema, and what it requires."""
    schema = json.loads((ROOT / "config" / "schemas" / "event.json").read_text(encoding="utf-8"))

    def meant(one):
        if "$ref" in one:
            return meant(schema["$defs"][one["$ref"].split("/")[-1]])
        for choice in one.get("anyOf", []) + one.get("allOf", []):
            if choice.get("type") != "null":
                return meant(choice)
        return one

    def walk(one, path):
        one = meant(one)
        if "properties" not in one:
            yield path
        for name, inner in one.get("properties", {}).items():
            yield from walk(inner, (*path, name))

    return list(walk(schema, ())), schema["required"]


def test_every_field_of_the_event_is_found_by_its_column():
    paths, required = leaves()
    assert set(required) == {*REQUIRED, "schema"} and len(paths) > 100
    for path in paths:
        assert path[0] in BLOCKS or path in [(name,) for name in FIELDS]
        for separator in (".", "__", "_"):
            assert path_of(separator.join(path)) == path, (path, separator)
    known = {".".join(path) for path in paths}
    for column, path in COLUMNS.items():
        list_of, _, _ = path.partition("[]")
        assert path in known or (list_of in known and list_of.endswith("harmonics")), column
    for other in ("day", "arrival", "rest", "_file", "anomaly_", "a.b"):
        assert path_of(other) is None


def columns_of_the_lake():
    """Columns of `pdm-lake`'s table `events` with the paths of their fields, as its source has them."""
    source = ROOT / "agent" / "lake" / "src" / "table" / "event_columns.rs"
    if not source.is_file():
        pytest.skip("pdm-lake is not in this tree")
    events = source.read_text(encoding="utf-8").split("SPECTRA_COLUMNS")[0]
    return re.findall(r'column\("(\w+)", \w+, "([^"]+)"\)', events)


def test_every_column_of_the_lake_is_a_field_of_the_event():
    found = columns_of_the_lake()
    assert len(found) > 100
    for column, path in found:
        assert path_of(column) == tuple(path.split(".")), column
