"""Each script of the gallery runs to its end and makes its picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import DATA, left_out, not_run

GALLERY = Path(__file__).resolve().parents[1] / "gallery"
SCRIPTS = sorted(path for path in GALLERY.glob("*.py") if not path.name.startswith("_"))

#: Exit code of a script that lacks what it shows.
NOT_RUN = 77


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_makes_its_picture(script, tmp_path):
    out = Path(os.environ.get("PDM_GALLERY_OUT", tmp_path))
    env = {**os.environ, "PDM_DATA_DIR": str(DATA)}
    done = subprocess.run(
        [sys.executable, str(script), str(out)], capture_output=True, text=True, env=env, check=False
    )
    if done.returncode == NOT_RUN:
        not_run(f"gallery {script.stem}: {done.stdout.strip().splitlines()[-1].removeprefix('not run: ')}")
    assert done.returncode == 0, done.stdout + done.stderr
    picture = out / f"{script.stem}.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 200_000
    assert done.stdout.strip(), "a script prints what it found"
    if "pyspark is not installed" in done.stdout:
        left_out(f"gallery {script.stem}: the half by Spark (pyspark is not installed)")


def test_there_are_ten_scripts_and_the_page_lists_each():
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    assert len(SCRIPTS) == 10
    assert all(script.name in page for script in SCRIPTS)
