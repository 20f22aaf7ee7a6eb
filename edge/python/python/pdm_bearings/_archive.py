"""The archive of events: a Delta table, or a folder of Parquet files of the same columns."""

from __future__ import annotations

import difflib
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ._event_rows import event_of
from .errors import InputError, ReadError, SignalWarning

__all__ = ["Archive"]

#: Columns by which rows are found and ordered; a table without one of them is no archive of events.
KEYS = ("gateway_id", "site", "equipment_id", "bearing_id", "measured_at", "sequence")

_BEARING = ("site", "equipment_id", "bearing_id")

#: Rows that `Archive.slice` holds at a time, unless one bearing has more.
_ROWS = 100_000

Bearing = tuple[str, str, str]


@dataclass(frozen=True)
class _Span:
    rows: int
    first: Any
    last: Any


class Archive:
    """Events that `pdm-lake` archived, for DataFrames and for `backtest`.

    Reads only; nothing is ever written. A Delta table is read by its log, so files that a killed writer left behind
    and files that were compacted are not read twice; a folder of Parquet files has no log and is taken whole.

    Parameters
    ----------
    uri : str or path
        The table ``events``, or the archive's folder that holds it: a path, ``file://…``, ``s3://…``.
    version : int, optional
        Version of a Delta table. Default: the newest; an archive that is open stays at its version.
    storage_options : dict of str, optional
        Of `deltalake`, such as ``{'AWS_ENDPOINT_URL': …, 'AWS_REGION': …}``.

    Raises
    ------
    ReadError
        If there is no table, it needs a newer reader, or it is one of something else: the columns that an archive of
        events has and this one lacks are named.

    Notes
    -----
    Needs ``pip install 'pdm-bearings[archive]'`` (`deltalake`, `pyarrow`, `pandas`).

    Examples
    --------
    >>> archive = Archive("s3://plant/archive")                              # doctest: +SKIP
    >>> archive.bearings()                                                   # doctest: +SKIP
    >>> archive.history("ulsan-1/P-101/DE").plot(x="measured_at", y="rms_g")  # doctest: +SKIP
    >>> backtest(archive, config="agent.toml").figures                       # doctest: +SKIP
    """

    def __init__(
        self,
        uri: str | os.PathLike[str],
        *,
        version: int | None = None,
        storage_options: dict[str, str] | None = None,
    ) -> None:
        self.uri = os.fspath(uri)
        try:
            self._dataset, self.uri, self.version = _opened(self.uri, version, storage_options)
        except ImportError as error:
            raise InputError(f"{error}: install pdm-bearings[archive], which reads archives") from error
        self.columns: list[str] = list(self._dataset.schema.names)
        missing = [name for name in KEYS if name not in self.columns]
        if missing:
            raise ReadError(
                f"{self.uri} is no archive of events: it has no column {', '.join(missing)}; its columns are "
                f"{', '.join(self.columns[:12])}"
            )
        self._check_types()
        self._spans: dict[Bearing, _Span] | None = None

    def __repr__(self) -> str:
        at = "" if self.version is None else f", version {self.version}"
        return f"<Archive {self.uri}{at}>"

    def _check_types(self) -> None:
        import pyarrow.types as types

        schema = self._dataset.schema
        for name, is_right, wanted in (
            ("measured_at", types.is_timestamp, "timestamp"),
            ("sequence", types.is_integer, "integer"),
            *((name, _is_text, "text") for name in ("gateway_id", *_BEARING)),
        ):
            kind = schema.field(name).type
            if not is_right(kind):
                raise ReadError(
                    f"{self.uri} is no archive of events: its column {name} is {kind}, wanted is {wanted}"
                )

    def bearings(self) -> Any:
        """The bearings of the archive.

        Returns
        -------
        pandas.DataFrame
            A row a bearing: ``site``, ``equipment_id``, ``bearing_id``, ``events``, ``first``, ``last`` (UTC).
        """
        import pandas as pd

        rows = [(*key, span.rows, span.first, span.last) for key, span in sorted(self._keys().items())]
        frame = pd.DataFrame(rows, columns=[*_BEARING, "events", "first", "last"])
        for name in ("first", "last"):
            frame[name] = pd.to_datetime(frame[name], utc=True)
        return frame

    def events(
        self,
        bearing: str | Bearing | None = None,
        *,
        start: Any = None,
        end: Any = None,
        columns: list[str] | None = None,
    ) -> Any:
        """Rows of the table as they are archived, in no certain order.

        Parameters
        ----------
        bearing : str or tuple, optional
            ``'SITE/EQUIPMENT/BEARING'``, or ``'EQUIPMENT/BEARING'`` where one site has it. Default: all.
        start, end : datetime or str, optional
            Measured at ``start`` or later, and before ``end``; with a time zone.
        columns : list of str, optional
            Default: all columns.

        Returns
        -------
        pandas.DataFrame
        """
        unknown = [name for name in columns or [] if name not in self.columns]
        if unknown:
            raise InputError(f"columns={unknown[0]!r} is none of {', '.join(self.columns)}")
        keys = None if bearing is None else [self._found(bearing)]
        return self._table(keys, start, end, columns).to_pandas()

    def history(
        self, bearing: str | Bearing, *, start: Any = None, end: Any = None, columns: list[str] | None = None
    ) -> Any:
        """One bearing's rows in the order of time, each event once.

        Parameters
        ----------
        bearing, start, end, columns
            As in `events`.

        Returns
        -------
        pandas.DataFrame
        """
        wanted = None
        if columns is not None:
            more = [name for name in ("measured_at", "sequence", "event_id") if name in self.columns]
            wanted = [*columns, *(name for name in more if name not in columns)]
        frame = self.events(bearing, start=start, end=end, columns=wanted)
        frame = frame.sort_values(["measured_at", "sequence"], ignore_index=True)
        if "event_id" in frame:
            once = frame.drop_duplicates("event_id", ignore_index=True)
            self._warn_of(len(frame) - len(once))
            frame = once
        return frame if columns is None else frame[columns]

    def slice(
        self, bearings: list[str | Bearing] | None = None, *, start: Any = None, end: Any = None
    ) -> Iterator[dict[str, Any]]:
        """Whole events of whole bearings, in the order in which they are judged (``pdm.slice/1``).

        Bearing after bearing, those of a machine one behind the other; the events of a bearing by their number within
        each count of its gateway, the counts as they began. An event that is archived twice comes once, which a
        `SignalWarning` says. `backtest` takes an archive and does this by itself.

        Parameters
        ----------
        bearings : list, optional
            Default: all.
        start, end : datetime or str, optional
            As in `events`. A bearing that is cut at its beginning learns its baseline anew.

        Yields
        ------
        dict
            ``pdm.event/1``. Spectra, which `pdm-lake` archives in a table of their own, are not in it.
        """
        known = self._keys()
        keys = sorted(known) if bearings is None else sorted({self._found(one) for one in bearings})
        event = event_of(self.columns, self.uri)
        repeated = 0
        for some in _groups(keys, known):
            of_bearing: dict[Bearing, list[dict[str, Any]]] = {key: [] for key in some}
            for row in self._table(some, start, end, None).to_pylist():
                key = (row["site"], row["equipment_id"], row["bearing_id"])
                if key in of_bearing:
                    of_bearing[key].append(event(row))
            for events in of_bearing.values():
                once = list({one["event_id"]: one for one in _in_order(events)}.values())
                repeated += len(events) - len(once)
                yield from once
        self._warn_of(repeated)

    def _warn_of(self, repeated: int) -> None:
        if repeated:
            text = f"{self.uri}: {repeated} events are archived more than once; each is taken once"
            warnings.warn(text, SignalWarning, stacklevel=3)

    def _keys(self) -> dict[Bearing, _Span]:
        """Rows and times of each bearing; read once, batch by batch."""
        if self._spans is None:
            import pyarrow as pa

            spans: dict[Bearing, _Span] = {}
            for batch in self._dataset.to_batches(columns=[*_BEARING, "measured_at"]):
                of_keys = pa.Table.from_batches([batch]).group_by(list(_BEARING))
                found = of_keys.aggregate([("measured_at", how) for how in ("count", "min", "max")])
                for row in found.to_pylist():
                    key = (row["site"], row["equipment_id"], row["bearing_id"])
                    rows, first, last = (row[f"measured_at_{how}"] for how in ("count", "min", "max"))
                    if None in key or first is None:
                        raise ReadError(
                            f"{self.uri} is no archive of events: {key} has rows without a name or time"
                        )
                    if (span := spans.get(key)) is not None:
                        rows, first, last = rows + span.rows, min(first, span.first), max(last, span.last)
                    spans[key] = _Span(rows, first, last)
            self._spans = spans
        return self._spans

    def _found(self, bearing: str | Bearing) -> Bearing:
        parts = tuple(bearing.split("/")) if isinstance(bearing, str) else tuple(bearing)
        if len(parts) not in (2, 3) or not all(isinstance(part, str) and part for part in parts):
            raise InputError(f"bearing={bearing!r}, wanted is 'SITE/EQUIPMENT/BEARING'")
        found = sorted(key for key in self._keys() if key[-len(parts) :] == parts)
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join("/".join(key) for key in found)
            raise InputError(f"bearing={bearing!r} is at several sites: {names}")
        known = ["/".join(key[-len(parts) :]) for key in self._keys()]
        near = difflib.get_close_matches("/".join(parts), known, 3, 0.4) or known[:3]
        raise InputError(f"bearing={bearing!r} is not in the archive; near are {', '.join(near) or 'none'}")

    def _table(self, keys: list[Bearing] | None, start: Any, end: Any, columns: list[str] | None) -> Any:
        import pyarrow.compute as pc

        wanted = []
        if keys is not None:
            # a product of names, which may hold more bearings than were asked for; files are chosen by it
            for at, name in enumerate(_BEARING):
                wanted.append(pc.field(name).isin(sorted({key[at] for key in keys})))
        kind = self._dataset.schema.field("measured_at").type
        if start is not None:
            wanted.append(pc.field("measured_at") >= _instant("start", start, kind))
        if end is not None:
            wanted.append(pc.field("measured_at") < _instant("end", end, kind))
        chosen = None
        for one in wanted:
            chosen = one if chosen is None else chosen & one
        return self._dataset.to_table(columns=columns, filter=chosen)


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _opened(uri: str, version: int | None, options: dict[str, str] | None) -> tuple[Any, str, int | None]:
    """The dataset, where it is, and its version."""
    import pyarrow.dataset
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    uri = uri.rstrip("/")
    try:
        for place in (uri, f"{uri}/events"):
            if DeltaTable.is_deltatable(place, storage_options=options):
                table = DeltaTable(place, version=version, storage_options=options)
                return table.to_pyarrow_dataset(), place, table.version()
    except (DeltaError, OSError, ValueError, NotImplementedError) as error:
        raise ReadError(f"{uri} cannot be read: {_said(error)}") from error
    if version is not None:
        raise InputError(f"version={version}: {uri} is no Delta table, which alone has versions")
    folder = _folder(uri)
    for within in (folder, folder / "events"):
        names = sorted(str(file) for file in _parquet(within))
        if names:
            try:
                parts = pyarrow.dataset.partitioning(flavor="hive")
                dataset = pyarrow.dataset.dataset(
                    names, format="parquet", partitioning=parts, partition_base_dir=str(within)
                )
                return dataset, str(within), None
            except (OSError, ValueError) as error:
                raise ReadError(f"{within} cannot be read: {_said(error)}") from error
    raise ReadError(
        f"{uri} is neither a Delta table nor a folder of Parquet files, nor has it one named events"
    )


def _said(error: Exception) -> str:
    """The text of an error in one line; `deltalake` draws a coloured tree."""
    return " ".join(re.sub(r"\x1b\[\d*m|↳", " ", str(error)).split())


def _folder(uri: str) -> Path:
    parts = urlsplit(uri)
    if parts.scheme in ("", "file") or len(parts.scheme) == 1:
        return Path(unquote(parts.path)) if parts.scheme == "file" else Path(uri)
    raise ReadError(f"{uri} is no Delta table; a folder of Parquet files is read from a disk alone")


def _parquet(folder: Path) -> list[Path]:
    """Files of a folder and those below it; not those of other tables' logs, hidden and temporary ones."""
    return [
        path
        for path in folder.rglob("*.parquet")
        if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    ]


def _instant(name: str, value: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        at = (
            value
            if isinstance(value, datetime)
            else datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        )
    except ValueError as error:
        raise InputError(f"{name}={value!r} is no time such as '2026-03-01T00:00:00Z'") from error
    if at.tzinfo is None:
        raise InputError(f"{name}={value!r} has no time zone: write 2026-03-01T00:00:00Z")
    utc = at.astimezone(timezone.utc)
    return pa.scalar(utc if kind.tz is not None else utc.replace(tzinfo=None), type=kind)


def _groups(keys: list[Bearing], known: dict[Bearing, _Span]) -> Iterator[list[Bearing]]:
    """Bearings whose rows are read together."""
    some: list[Bearing] = []
    rows = 0
    for key in keys:
        if some and rows + known[key].rows > _ROWS:
            yield some
            some, rows = [], 0
        some.append(key)
        rows += known[key].rows
    if some:
        yield some


def _in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By number within each count of a gateway, the counts one after the other as they began; without a count's
    identity by time."""
    began: dict[tuple[str, Any], str] = {}
    for event in events:
        count = (event["gateway_id"], event.get("epoch"))
        began[count] = min(began.get(count, event["measured_at"]), event["measured_at"])

    def place(event: dict[str, Any]) -> tuple[Any, ...]:
        count = (event["gateway_id"], event.get("epoch"))
        if event.get("epoch") is None:
            return (event["measured_at"], "", event["sequence"])
        return (began[count], str(event["epoch"]), event["sequence"])

    return sorted(events, key=place)
