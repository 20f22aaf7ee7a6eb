"""The files of deploy/ that play an archive: their shell parts run here as the schedulers run them."""

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import BIN, LAKE, ROOT, history, lake, lines, not_run, of_bearings, run


@pytest.fixture
def filled(store, archive):
    store.put(history(bearings=14, days=2))
    lake("export", "--store", store.file, "--lake", archive).ok()
    return archive


def path():
    return {"PATH": f"{LAKE.parent}:{BIN}:{os.environ['PATH']}"}


def result(*args, **more):
    read = json.loads(run(BIN / "pdm", "backtest", *args, "--json", **more).ok().stdout)
    return {key: value for key, value in read.items() if key not in ("remarks", "input")}


def direct(archive):
    return result("--from", "-", "--whole", input=lake("slice", "--lake", archive).ok().stdout)


def test_the_array_of_slurm_gives_the_whole(filled, tmp_path):
    script = ROOT / "deploy/slurm/backtest.sbatch"
    parts = tmp_path / "parts"
    for task in (1, 2, 3):
        env = {**path(), "LAKE": str(filled), "PARTS": str(parts), "SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": "3"}
        run("bash", script, env=env).ok()
    assert result("--merge", "--parts", parts) == direct(filled)
    run("bash", script, env={**path(), "LAKE": str(filled), "PARTS": str(parts)}).refused(1, "--array")
    gone = {**env, "LAKE": str(tmp_path / "gone"), "PARTS": str(tmp_path / "other")}
    assert run("bash", script, env=gone).returncode != 0, "an archive that is not there fails the task"


def test_the_indexed_job_gives_the_whole(filled, tmp_path):
    text = (ROOT / "deploy/k8s/backtest-job.yaml").read_text()
    command = re.search(r"args:\n +- \|\n(.*?)\n +env:", text, re.S).group(1)
    command = command.replace("--config /etc/pdm/agent.toml", "").replace("/parts", str(tmp_path / "parts"))
    for index in range(4):
        env = {**path(), "JOB_COMPLETION_INDEX": str(index), "SLICES": "4", "PDM_LAKE": str(filled)}
        run("sh", "-c", command, env=env).ok()
    assert result("--merge", "--parts", tmp_path / "parts") == direct(filled)
    assert run("sh", "-c", command, env={**env, "PDM_LAKE": str(tmp_path / "gone"), "SLICES": "5"}).returncode != 0


def test_the_clusters_own_schemas_accept_the_job():
    try:
        import kubernetes_validate  # noqa: F401
    except ImportError:
        not_run("the Job's schema: kubernetes-validate is not installed")
    file = ROOT / "deploy/k8s/backtest-job.yaml"
    for version in ("1.30", "1.37"):
        done = run(sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, file)
        assert done.returncode == 0 and (done.stdout + done.stderr).count(" passed ") == 2, done.stdout + done.stderr


def test_spark_gives_the_whole(filled, tmp_path):
    try:
        import pyspark  # noqa: F401
    except ImportError:
        not_run("Apache Spark: pyspark is not installed (tests/run lake --spark installs it)")
    workers = {"PYSPARK_PYTHON": sys.executable}
    done = run(sys.executable, ROOT / "deploy/spark/backtest.py", "--lake", filled, "--out", tmp_path / "parts",
               "--pdm", BIN / "pdm", "--pdm-lake", LAKE, env=workers)
    done.ok()
    assert result("--merge", "--parts", tmp_path / "parts") == direct(filled)
    failing = run(sys.executable, ROOT / "deploy/spark/backtest.py", "--lake", filled, "--out", tmp_path / "none",
                  "--pdm", "/nowhere/pdm", "--pdm-lake", LAKE, env=workers)
    assert failing.returncode != 0 and "/nowhere/pdm" in failing.stderr, "an engine without the program is told"


def test_the_function_of_a_group_puts_events_together_as_the_program_does(filled):
    """Without an engine: a table of one machine, in any order, gives the lines of `pdm-lake slice`."""
    import importlib.util

    from deltalake import DeltaTable

    spec = importlib.util.spec_from_file_location("spark_backtest", ROOT / "deploy/spark/backtest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    columns = [tuple(line.split("\t")) for line in lake("columns").ok().stdout.splitlines()]
    rows = DeltaTable(f"{filled}/events").to_pyarrow_table().to_pylist()
    mine = [r for r in rows if r["equipment_id"] == "P-3"][::-1]
    made = module.in_order([module.event_of(columns, row) for row in mine])
    sliced = [json.loads(line) for line in lake("slice", "--lake", filled).ok().stdout.splitlines()]
    expected = [e for e in sliced if e.get("equipment_id") == "P-3"]
    assert made == expected
    assert lines(of_bearings(made)) == lines(made)
