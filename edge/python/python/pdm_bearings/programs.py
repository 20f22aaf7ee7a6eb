"""Calls of PdM's programs, for what the package itself does not compute.

The agent judges events by its rules; this module hands it events and reads its judgements. Programs are
looked for in the folder of the environment variable ``PDM_BIN``, then on the search path.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import ProgramError

__all__ = ["find_program", "judge", "run"]


def find_program(name: str) -> str | None:
    """Path of a program such as ``'pdm-agent'``; ``None`` if it is not there."""
    folder = os.environ.get("PDM_BIN")
    if folder:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return shutil.which(name)


def run(arguments: Sequence[str | os.PathLike[str]], given: str = "") -> str:
    """Run a program with ``given`` on its standard input; returns its standard output.

    Raises
    ------
    ProgramError
        If the program is missing, or ends with an error: with its exit code and what it said.
    """
    name = os.fspath(arguments[0])
    path = name if os.path.dirname(name) else find_program(name)
    if path is None:
        raise ProgramError(f"{name} is neither in PDM_BIN nor on the search path")
    command = [path, *(os.fspath(one) for one in arguments[1:])]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-3:]
        raise ProgramError(f"{name} ended with {done.returncode}: {' / '.join(said)}")
    return done.stdout


def judge(events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Judge events by the agent's rules (``pdm-agent judge``), without side effects.

    Parameters
    ----------
    events : iterable of dict
        As `monitor` collects them: of each bearing in the order of time.

    Returns
    -------
    list of dict
        One diagnosis an event.
    """
    lines = "".join(json.dumps(event) + "\n" for event in events)
    told = run(["pdm-agent", "judge", "--jsonl", "--json", "-"], lines)
    return [json.loads(line) for line in told.splitlines() if line.strip()]
