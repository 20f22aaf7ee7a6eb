#!/usr/bin/env python3
"""Back-test an archive of pdm-lake on Apache Spark: one machine a group, the program itself as the judge.

    spark-submit deploy/spark/backtest.py --lake /archive/pdm --config agent.toml --out parts

Each group is one machine, whole: sorted inside the group, handed to `pdm backtest --from - --whole` as pdm.slice/1
(docs/slice.md), and the part that the program writes comes back as one row. `pdm backtest --merge --parts parts` makes
the report. The program must be on every worker (`--pdm`), and pyarrow and pandas in the Python that the workers run
(PYSPARK_PYTHON).

A sort before a map over partitions (`sortWithinPartitions` + `mapInArrow`, `orderBy`) is no promise: Sail drops it, and
a bearing that is read in another order is judged otherwise. So rows are grouped, and sorted in the group.

The files are those of `pdm-lake files`, so that no reader of Delta Lake has to be installed in Spark; `--delta` reads
the table by Spark's own reader where there is one.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lake", required=True, help="the archive: a folder, or s3://BUCKET/PREFIX")
    parser.add_argument("--config", help="a configuration of the agent, readable on every worker")
    parser.add_argument("--against", help="the configuration to compare it with")
    parser.add_argument("--out", required=True, help="folder of parts")
    parser.add_argument("--pdm", default="pdm", help="the program pdm on the workers")
    parser.add_argument("--pdm-lake", default="pdm-lake", help="the program pdm-lake on the driver")
    parser.add_argument("--delta", action="store_true", help="read by Spark's reader of Delta Lake")
    parser.add_argument("--connect", help="address of a Spark Connect server, such as sc://127.0.0.1:50051")
    return parser.parse_args()


def event_of(columns, row):
    """The event of a row: paths of the columns, what has no column from `rest`. As pdm-lake slice makes it."""
    event = json.loads(row["rest"]) if row.get("rest") else {}
    event.setdefault("schema", "pdm.event/1")
    for name, path in columns:
        value = row.get(name)
        if value is None or not path:
            continue
        if hasattr(value, "isoformat"):
            value = (value.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z").replace("000Z", "Z")
        if hasattr(value, "tolist"):
            value = value.tolist()
        at, (*before, last) = event, path.split(".")
        if "[]" in path:
            *before, held = path.split("[]")[0].split(".")
            for step in before:
                at = at.setdefault(step, {})
            items = at.setdefault(held, [])
            items.extend({} for _ in range(len(value) - len(items)))
            for item, one in zip(items, value):
                item[last] = one
            continue
        for step in before:
            at = at.setdefault(step, {})
        at[last] = value
    return event


def in_order(events):
    """The order of pdm.slice/1: bearing by bearing, count by count as they began, by number within."""
    began = {}
    for event in events:
        count = (event["equipment_id"], event["bearing_id"], event["gateway_id"], event.get("epoch"))
        began[count] = min(began.get(count, "9"), event["measured_at"])

    def place(event):
        count = (event["equipment_id"], event["bearing_id"], event["gateway_id"], event.get("epoch"))
        by_number = (event["sequence"], "") if event.get("epoch") else (0, event["measured_at"])
        return (event["bearing_id"], began[count], str(count), by_number, event["sequence"])

    return sorted(events, key=place)


def judge_with(pdm, columns, config, against):
    """The function of a group. It starts the program, so a worker needs no package of ours."""

    def judge(table):
        import pyarrow as pa

        events = in_order([event_of(columns, row) for row in table.to_pylist()])
        bearings = {(e["equipment_id"], e["bearing_id"]) for e in events}
        end = {"schema": "pdm.slice-end/1", "events": len(events), "bearings": len(bearings)}
        text = "".join(json.dumps(e, separators=(",", ":")) + "\n" for e in [*events, end])
        with tempfile.TemporaryDirectory() as folder:
            command = [pdm, "backtest", "--from", "-", "--whole", "--jobs", "1", "--slice", "1/1", "--parts", folder]
            command += ["--config", config] if config else []
            command += ["--against", against] if against else []
            done = subprocess.run([*command, "--json"], input=text, capture_output=True, text=True)
            if done.returncode:
                machine = f"{events[0]['site']}/{events[0]['equipment_id']}"
                raise RuntimeError(f"{pdm} ended with {done.returncode} for {machine}: {done.stderr[-500:]}")
            (part,) = Path(folder).iterdir()
            kept = part.read_text()
        return pa.table({
            "site": [events[0]["site"]], "equipment_id": [events[0]["equipment_id"]], "events": [len(events)], "part": [kept],
        })

    return judge


def write_parts(rows, out):
    """The parts of all machines as one part: head, machines, end."""
    head, machines, remarks = None, [], []
    for row in sorted(rows, key=lambda row: (row["site"], row["equipment_id"])):
        first, *body, last = row["part"].splitlines()
        if head not in (None, first):
            raise RuntimeError("two workers have another program or another configuration: their parts do not fit together")
        head = first
        machines += body
        remarks += json.loads(last)["remarks"]
    if head is None:
        raise RuntimeError("the archive has no event")
    end = json.dumps({"record": "end", "machines": len(machines), "remarks": sorted(set(remarks))})
    out.mkdir(parents=True, exist_ok=True)
    (out / "part-1-of-1.jsonl").write_text("\n".join([head, *machines, end]) + "\n")


def main():
    options = arguments()
    told = subprocess.run([options.pdm_lake, "columns", "--table", "events"], capture_output=True, text=True, check=True)
    columns = [tuple(line.split("\t")) for line in told.stdout.splitlines()]
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("pdm backtest")
    spark = (builder.remote(options.connect) if options.connect else builder).getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    if options.delta:
        frame = spark.read.format("delta").load(f"{options.lake}/events")
    else:
        files = subprocess.run([options.pdm_lake, "files", "--lake", options.lake], capture_output=True, text=True, check=True)
        frame = spark.read.option("mergeSchema", "true").parquet(*files.stdout.split("\n")[:-1])
    judge = judge_with(options.pdm, columns, options.config, options.against)
    schema = "site string, equipment_id string, events long, part string"
    rows = [row.asDict() for row in frame.groupBy("site", "equipment_id").applyInArrow(judge, schema).collect()]
    write_parts(rows, Path(options.out))
    print(f"{len(rows)} machines, {sum(row['events'] for row in rows)} events: pdm backtest --merge --parts {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
