"""From what people have to an array of channel × sample.

pandas, polars and xarray objects are recognised by the module of their type and never imported.
Nothing is guessed: what contradicts or is ambiguous is refused, with the argument that decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import DtypeError, InputError

#: Names by which a dimension of an xarray object is known to be time.
TIME_DIMENSIONS = ("time", "t", "sample", "samples", "time_s", "index")

#: Whole numbers above this are counts of a converter, not acceleration: the limit of the readers.
COUNTS_ABOVE = 50.0

#: Samples from which on whole numbers, or a straight line, are no chance.
LEAST_WHOLE = 64

#: How far the rate of a time axis may be from the stated one, ratio. Times with few digits scatter
#: by less, a wrong unit (ms for s) is off by 1,000.
RATE_AGREES = 0.01


@dataclass
class Given:
    """An array with what its container states."""

    data: np.ndarray
    #: Axis of time, where the container states it.
    time_axis: int | None = None
    names: list[str | None] | None = None
    #: Rate of the container's time axis, Hz, and the name of that axis.
    axis_rate: tuple[float, str] | None = None
    #: Unit that the container states.
    unit: str | None = None
    notes: list[str] = field(default_factory=list)


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def given(data: Any) -> Given:
    """Unpack ``data``: a list, a NumPy array, or an object of pandas, polars or xarray."""
    library = _library(data)
    if library == "pandas" and hasattr(data, "index"):
        return _of_pandas(data)
    if library == "xarray" and hasattr(data, "dims"):
        return _of_xarray(data)
    if library == "polars" and hasattr(data, "to_numpy"):
        is_table = hasattr(data, "columns")
        names: list[str | None] = list(data.columns) if is_table else [data.name or None]
        return Given(np.asarray(data.to_numpy()), 0 if is_table else None, names)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        masked = int(np.ma.getmaskarray(data).sum())
        raise InputError(
            f"{masked} samples are masked; a spectrum needs every sample: cut the recording, or fill "
            "the gaps with data.filled(value)"
        )
    if isinstance(data, (str, bytes)) or hasattr(data, "__fspath__"):
        raise DtypeError(f"{data!r} is no array; read a file with pdm_bearings.read(path)")
    if isinstance(data, tuple) and len(data) == 2 and np.ndim(data[0]) == 0 and np.ndim(data[1]) > 0:
        raise InputError(
            f"a pair of {data[0]!r} and an array, as scipy.io.wavfile.read gives it: write "
            "rate, data = … and Recording(data.T, rate=rate, unit=…, scale=…)"
        )
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise InputError(f"the channels have unequal lengths: {error}") from error
    return Given(array)


def _column(column: Any, name: str) -> np.ndarray:
    """One pandas column as floats or as the integers that it is."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind == "O":
            wrong = next((x for x in column if not isinstance(x, (int, float, np.number))), None)
            raise DtypeError(
                f"{name} has dtype object; its first value that is no number is {wrong!r}: convert "
                "it with pandas.to_numeric"
            )
        return np.asarray(column.to_numpy())
    kind = getattr(dtype, "kind", "O")
    if kind in "iu" and not column.isna().any():
        return np.asarray(column.to_numpy(dtype=np.int64))
    if kind in "iuf":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    raise DtypeError(f"{name} has dtype {dtype}; allowed are floats and integers")


def _of_pandas(data: Any) -> Given:
    axis_rate = _axis_rate(data.index, "the index")
    if not hasattr(data, "columns"):
        name = None if data.name is None else str(data.name)
        shown = "the series" if name is None else f"the series {name!r}"
        return Given(_column(data, shown), 0, [name], axis_rate)
    columns = [_column(data.iloc[:, i], f"column {str(c)!r}") for i, c in enumerate(data.columns)]
    if not columns:
        raise InputError("the frame has no columns")
    return Given(np.stack(columns, axis=1), 0, [str(c) for c in data.columns], axis_rate)


def _of_xarray(data: Any) -> Given:
    if not hasattr(data, "values") or callable(data.values):
        raise InputError(
            f"a Dataset with the variables {', '.join(map(str, data.data_vars))}: name one, such as "
            f"dataset[{str(next(iter(data.data_vars), 'accel'))!r}]"
        )
    dims = [str(dim) for dim in data.dims]
    time = next((i for i, dim in enumerate(dims) if dim.lower() in TIME_DIMENSIONS), None)
    axis_rate = None
    if time is not None and dims[time] in data.coords:
        axis_rate = _axis_rate(data.coords[dims[time]].values, f"the coordinate {dims[time]!r}")
    names: list[str | None] | None = None
    if time is not None and data.ndim == 2:
        other = dims[1 - time]
        if other in data.coords:
            names = [str(name) for name in data.coords[other].values]
    unit = data.attrs.get("units", data.attrs.get("unit"))
    return Given(np.asarray(data.values), time, names, axis_rate, None if unit is None else str(unit))


def _axis_rate(axis: Any, what: str) -> tuple[float, str] | None:
    """Rate of an axis that holds seconds, dates or durations; ``None`` for one that only counts."""
    if type(axis).__name__ in ("RangeIndex", "MultiIndex"):
        return None
    values = np.asarray(axis)
    if values.dtype.kind in "mM":
        steps = np.diff(values.astype(f"{values.dtype.kind}8[ns]").astype(np.int64)) / 1e9
    elif values.dtype.kind == "f":
        steps = np.diff(values)
    else:
        return None
    if steps.size == 0:
        return None
    step = float(np.median(steps))
    if not np.isfinite(step) or step <= 0.0:
        return None
    return 1.0 / step, what


def channel_by_sample(got: Given, time_axis: int | None) -> np.ndarray:
    """The array as channel × sample, after checks of kind and shape."""
    data = got.data
    _check_kind(data)
    if data.ndim == 1:
        data = data[np.newaxis, :]
    elif data.ndim == 2:
        axis = got.time_axis if time_axis is None else time_axis
        if axis is None:
            if data.shape[0] > data.shape[1]:
                raise InputError(
                    f"the shape {data.shape} is {data.shape[0]} channels of {data.shape[1]} samples: an "
                    "array is channel × sample; pass data.T, or time_axis=0 if time runs down the rows"
                )
            axis = 1
        if axis not in (0, 1, -1, -2):
            raise InputError(f"time_axis={axis}, allowed are 0 and 1")
        data = data.T if axis in (0, -2) else data
    else:
        hint = (
            "one Recording is channel × sample: make one of each snapshot, [Recording(x, …) for x in data]"
            if data.ndim == 3
            else "allowed are one dimension (samples) and two (channel × sample)"
        )
        raise InputError(f"the array has {data.ndim} dimensions, shape {data.shape}; {hint}")
    if data.size == 0:
        raise InputError(f"the array is empty, shape {got.data.shape}")
    return data


def _check_kind(data: np.ndarray) -> None:
    kind = data.dtype.kind
    if kind in "fiu":
        return
    said = {
        "c": "complex numbers are no samples; a spectrum cannot be diagnosed, pass the waveform",
        "b": "booleans are no samples",
        "O": "lists of unequal length, or values that are no numbers",
        "U": "texts are no samples: convert them with astype(float)",
        "S": "texts are no samples: convert them with astype(float)",
        "M": "dates are no samples: they belong into the index",
        "m": "durations are no samples: they belong into the index",
        "V": "a structured array: pass one field, such as data['x']",
    }
    why = said.get(kind, f"allowed are floats and integers, not kind {kind!r}")
    raise DtypeError(f"dtype {data.dtype}: {why}")


def check_counts(data: np.ndarray, scale: float | None) -> None:
    """Refuse counts of a converter without a scale, of whatever type."""
    if scale is not None:
        return
    if data.dtype.kind in "iu":
        raise InputError(
            f"scale= is missing: dtype {data.dtype} holds counts of a converter; pass what one count is "
            f"in the unit, such as scale=full_scale / {np.iinfo(data.dtype).max}"
        )
    for channel, samples in enumerate(data):
        finite = samples[np.isfinite(samples)]
        if finite.size < LEAST_WHOLE:
            continue
        highest = float(np.abs(finite).max())
        if highest > COUNTS_ABOVE and bool((finite == np.trunc(finite)).all()):
            raise InputError(
                f"scale= is missing: channel {channel} holds only whole numbers up to {highest:.6g}, "
                "which are counts of a converter; pass what one count is in the unit (scale=1 if they "
                "are acceleration)"
            )


def check_no_time(data: np.ndarray, names: list[str | None] | None) -> None:
    """Refuse a column of times among the channels."""
    for channel, samples in enumerate(data):
        if samples.size < LEAST_WHOLE:
            continue
        with np.errstate(invalid="ignore"):
            steps = np.diff(samples.astype(np.float64))
            mean = float(steps.mean())
        if mean <= 0.0 or not np.isfinite(mean):
            continue
        if float(np.abs(steps - mean).max()) < 0.01 * mean:
            name = names[channel] if names else None
            shown = f"channel {channel}" if name is None else f"channel {channel} ({name!r})"
            raise InputError(
                f"{shown} rises evenly by {mean:.6g} a sample: it is a time axis and no vibration; leave "
                f"it out (if it holds seconds, the rate is {1.0 / mean:.6g} Hz)"
            )


def check_rate(rate_hz: float, axis_rate: tuple[float, str] | None) -> None:
    """Refuse a rate that the container's own axis contradicts."""
    if axis_rate is None:
        return
    by_axis, what = axis_rate
    if abs(by_axis / rate_hz - 1.0) > RATE_AGREES:
        raise InputError(
            f"rate={rate_hz:g} contradicts {what}, whose steps give {by_axis:.6g} Hz if they are "
            "seconds: correct one, or drop the axis (pass the values alone)"
        )
