"""What a configuration of the agent would have told of events that lie in the past."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import programs
from ._archive import Archive
from ._spectra import table
from .errors import InputError, ProgramError

__all__ = ["Backtest", "backtest"]


@dataclass(frozen=True)
class Backtest:
    """The result of a back-test, as tables (`pandas.DataFrame`, or dicts of lists without pandas).

    Attributes
    ----------
    figures
        A row a configuration: ``name``, ``episodes_told``, ``episodes_not_told``, ``messages``,
        ``false_per_bearing_year``, ``failures``, ``failures_not_told``. What cannot be said without the
        truth is NaN.
    people
        A row a person and configuration: ``configuration``, ``name``, ``messages``, ``per_week``,
        ``busiest_hour``.
    differences
        A row for every episode in which the two configurations differ: ``bearing``, ``kind``, and of each
        side ``a_told``, ``b_told`` (level), ``a_told_at``, ``b_told_at``, ``a_messages``, ``b_messages``.
    failures
        A row a failure of the truth: ``bearing``, ``failed_at``, ``a_lead_h``, ``b_lead_h``.
    said : str
        What the program printed.
    document : dict
        ``backtest.json`` (``pdm.backtest/1``), whole.
    """

    figures: Any
    people: Any
    differences: Any
    failures: Any
    said: str
    document: dict[str, Any] = field(repr=False)


def backtest(
    events: Iterable[dict[str, Any]] | Archive | str | os.PathLike[str],
    *,
    config: str | os.PathLike[str],
    against: str | os.PathLike[str] | None = None,
    truth: Any = None,
    out: str | os.PathLike[str] | None = None,
    options: Iterable[str] = (),
) -> Backtest:
    """Ask the agent's program what a configuration would have told (``pdm backtest``).

    The program ``pdm`` or ``pdm-agent`` is looked for as in `programs`: in ``PDM_BIN``, then on the search
    path.

    Parameters
    ----------
    events : iterable of dict, Archive, or path
        As `monitor` collects them, of each bearing in the order of time; or a file of one event a line, such
        as ``pdm-edge replay captures/ --jsonl`` makes of a folder of captures; or an agent's ``agent.db``. Of an
        `Archive` everything; a part by ``archive.slice(…)``.
    config : path
        Configuration (``agent.toml``) that is tried.
    against : path, optional
        Configuration that it is compared with. Default: what is shipped.
    truth : pandas.DataFrame or path, optional
        Failures: columns ``site``, ``equipment``, ``bearing``, ``failed_at``; an empty time is a bearing that
        was watched and did not fail.
    out : path, optional
        Folder that keeps the report (``backtest.en.html``, ``backtest.json``). Default: none is kept.
    options : iterable of str
        Further options of the command, such as ``['--horizon-days', '30']``.

    Returns
    -------
    Backtest

    Raises
    ------
    ProgramError
        If neither program is there, or it refuses the events or the configuration: with what it said.
    """
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        source = _source(events, place)
        folder = place / "report" if out is None else Path(out)
        command = [*_program(), "--from", source, "--config", os.fspath(config), "--out", os.fspath(folder)]
        if against is not None:
            command += ["--against", os.fspath(against)]
        if truth is not None:
            command += ["--truth", _truth(truth, place)]
        said = programs.run([*command, *(str(one) for one in options)])
        document = json.loads((folder / "backtest.json").read_text(encoding="utf-8"))
    return _of_document(document, said)


def _program() -> list[str]:
    for name in ("pdm", "pdm-agent"):
        if programs.find_program(name) is not None:
            return [name, "backtest"]
    raise ProgramError("neither pdm nor pdm-agent is in PDM_BIN or on the search path")


def _source(events: Any, place: Path) -> str:
    if isinstance(events, (str, os.PathLike)):
        return os.fspath(events)
    if isinstance(events, Archive):
        events = events.slice()
    path = place / "events.jsonl"
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        for event in events:
            if not isinstance(event, dict):
                raise InputError(f"events holds a {type(event).__name__}; an event is a dict")
            file.write(json.dumps(event) + "\n")
            count += 1
    if count == 0:
        raise InputError("there are no events")
    return str(path)


def _truth(truth: Any, place: Path) -> str:
    if isinstance(truth, (str, os.PathLike)):
        return os.fspath(truth)
    columns = ["site", "equipment", "bearing", "failed_at"]
    missing = [name for name in columns if name not in truth]
    if missing:
        raise InputError(f"truth has no column {', '.join(missing)}; wanted are {', '.join(columns)}")
    path = place / "truth.csv"
    rows = zip(*(list(truth[name]) for name in columns), strict=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(columns) + "\n")
        for *names, failed_at in rows:
            cells = [*(str(name) for name in names), _time(failed_at)]
            if any("," in cell or '"' in cell or "\n" in cell for cell in cells):
                raise InputError(f"truth has a comma, a quote or a line break in {cells}")
            file.write(",".join(cells) + "\n")
    return str(path)


def _time(value: Any) -> str:
    """A time as the program reads it; empty for none (``None``, NaN, NaT)."""
    if value is None or value == "" or value != value:
        return ""
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    # a date without a zone is UTC
    return text if text.endswith("Z") or "+" in text or "T" not in text else text + "Z"


def _of_document(document: dict[str, Any], said: str) -> Backtest:
    nan = float("nan")

    def number(value: Any) -> Any:
        return nan if value is None else value

    sides = document["sides"]
    figures = []
    for side in sides:
        truth = side.get("truth") or {}
        figures.append(
            {
                "name": side["name"],
                "episodes_told": side["episodes_told"],
                "episodes_not_told": side["episodes_not_told"],
                "messages": sum(side["messages"].values()),
                "false_per_bearing_year": number(truth.get("false_per_bearing_year")),
                "failures": number(truth.get("failures")),
                "failures_not_told": number(truth.get("failures_not_told")),
            }
        )
    people = [
        {
            "configuration": side["name"],
            "name": one["name"],
            "messages": one["messages"],
            "per_week": number(one["per_week"]),
            "busiest_hour": one["busiest_hour"],
        }
        for side in sides
        for one in side["people"]
    ]
    differences = []
    for one in document["differences"]:
        row = {"bearing": _name(one["bearing"]), "kind": one["kind"]}
        for side in ("a", "b"):
            told = one.get(side) or {}
            for key in ("told", "told_at", "messages"):
                row[f"{side}_{key}"] = told.get(key)
        differences.append(row)
    failures = [
        {
            "bearing": _name(one["bearing"]),
            "failed_at": one["failed_at"],
            **{f"{side}_lead_h": number(lead) for side, lead in zip("ab", one["lead_h"], strict=False)},
        }
        for one in document["failures"]
    ]
    return Backtest(
        figures=_table(figures, ["name", "episodes_told", "episodes_not_told", "messages"]),
        people=_table(people, ["configuration", "name", "messages", "per_week", "busiest_hour"]),
        differences=_table(differences, ["bearing", "kind", "a_told", "b_told"]),
        failures=_table(failures, ["bearing", "failed_at", "a_lead_h", "b_lead_h"]),
        said=said,
        document=document,
    )


def _name(bearing: Any) -> str:
    if isinstance(bearing, str):
        return bearing
    return "/".join(str(bearing[key]) for key in ("site", "equipment", "bearing"))


def _table(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    names = list(rows[0]) if rows else columns
    return table({name: [row[name] for row in rows] for name in names})
