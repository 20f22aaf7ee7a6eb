"""Where the scripts of the gallery write, and where they find recordings."""

import json
import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

HERE = Path(__file__).resolve().parent
OUT = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "pictures"
DATA = Path(os.environ.get("PDM_DATA_DIR", HERE / ".." / ".." / ".." / ".." / "shared" / "data"))

#: Exit code of a script that lacks what it shows; the tests count it by name as not run.
NOT_RUN = 77


def picture(figure, script):
    """Write the script's picture."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{Path(script).stem}.png"
    figure.savefig(path, dpi=60)
    print(f"picture: {path.name}")


def not_run(why):
    """End the script without a picture."""
    print(f"not run: {why}")
    sys.exit(NOT_RUN)


def recordings():
    """Real recordings by their file name, with what their manifest states."""
    manifest = DATA / "manifest.json"
    if not manifest.is_file():
        not_run(f"no recordings in {DATA}")
    files = json.loads(manifest.read_text())["files"]
    return {Path(entry["file"]).name: dict(entry, path=DATA / entry["file"]) for entry in files}
