"""What the tests share: real recordings, the programs, and what is counted as not run."""

import json
import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("PDM_DATA_DIR", ROOT / ".." / "shared" / "data"))


def left_out(what):
    """Name a part that a test, which goes on, could not do."""
    path = os.environ.get("PDM_NOT_RUN")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"python: {what}\n")


def not_run(what):
    """Count `what` as not run, as the tests of the other crates do; fail where everything is required."""
    if os.environ.get("PDM_REQUIRE_ALL") == "1":
        pytest.fail(f"not run: {what}")
    left_out(what)
    pytest.skip(what)


def recordings_of(folder):
    """Files of a manifest with what it states of them."""
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return []
    return [dict(entry, path=folder / entry["file"]) for entry in json.loads(manifest.read_text())["files"]]


@pytest.fixture(scope="session")
def data_files():
    """Entries of the manifest; the test is not run without the recordings."""
    found = [entry for entry in recordings_of(DATA) if entry["path"].is_file()]
    if not found:
        not_run(f"real recordings are not in {DATA}")
    return found


@pytest.fixture(scope="session")
def pdm_edge():
    """Path of the gateway's program; the test is not run without it."""
    named = os.environ.get("PDM_BIN")
    places = [Path(named)] if named else [ROOT / "target" / "debug", ROOT / "target" / "release"]
    for place in places:
        if (place / "pdm-edge").is_file():
            return str(place / "pdm-edge")
    on_path = shutil.which("pdm-edge")
    if on_path is None:
        not_run("pdm-edge is not built (cargo build --bin pdm-edge)")
    return on_path


@pytest.fixture(scope="session")
def outer():
    """A second of a damaged outer race of a 6205 at 1797 rpm."""
    import pdm_bearings as pb

    return pb.simulate(fault="outer_race", severity=0.5)
