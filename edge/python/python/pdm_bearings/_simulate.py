"""Simulated recordings, for examples and tests."""

from __future__ import annotations

from typing import Any

from . import _core
from ._bearing import chosen
from ._recording import Recording, _number, _rate, _unix_ms
from .errors import InputError

__all__ = ["simulate", "simulate_run"]


def _snapshots(
    severity: float | None,
    *,
    rpm: float,
    bearing: Any,
    orders: Any,
    fault: str | None,
    rate: float,
    duration_s: float,
    snapshots: int,
    period_s: float,
    channels: int,
    seed: int,
    started_at: Any,
) -> list[Recording]:
    if int(snapshots) < 1:
        raise InputError(f"snapshots={snapshots}, allowed is 1 and more")
    if int(channels) < 1:
        raise InputError(f"channels={channels}, allowed is 1 to 64")
    if not 0 <= int(seed) < 2**64:
        raise InputError(f"seed={seed}, allowed is 0 to 2**64 - 1")
    made = _core.simulate(
        (_rate(rate), _number("rpm", rpm), chosen(bearing, orders).orders),
        fault,
        severity,
        (int(snapshots), _number("duration_s", duration_s), _number("period_s", period_s)),
        (int(channels), int(seed), _unix_ms(started_at) or 0),
    )
    return [Recording._of(core) for core in made]


def simulate(
    *,
    rpm: float = 1797.0,
    bearing: Any = "6205",
    orders: Any = None,
    fault: str | None = None,
    severity: float = 0.3,
    rate: float = 25_600.0,
    duration_s: float = 1.0,
    channels: int = 1,
    seed: int = 1,
    started_at: Any = "2026-01-01T00:00:00+00:00",
) -> Recording:
    """One recording of a simulated machine.

    Shaft harmonics, random background and the ringing of the structure under the strikes of a defect,
    with slip and load zone. A model shows how something looks; it proves nothing about real bearings.

    Parameters
    ----------
    rpm : float, default 1797
        Shaft speed, 1/min.
    bearing, orders
        As in `diagnose`.
    fault : {'outer_race', 'inner_race', 'ball', 'cage'} or None
    severity : float, default 0.3
        0 sound … 1 about to fail.
    rate : float, default 25600
        Hz.
    duration_s : float, default 1
    channels : int, default 1
        Sensors; each is farther from the bearing than the one before.
    seed : int, default 1
        The same seed gives the same samples.
    started_at : datetime, str or float

    Notes
    -----
    McFadden & Smith 1984, doi:10.1016/0022-460X(84)90595-9; Antoni & Randall 2003,
    doi:10.1115/1.1569940.
    """
    of_bearing = None if orders is not None else bearing
    return _snapshots(
        _number("severity", severity) if fault is not None else 0.0,
        rpm=rpm,
        bearing=of_bearing,
        orders=orders,
        fault=fault,
        rate=rate,
        duration_s=duration_s,
        snapshots=1,
        period_s=60.0,
        channels=channels,
        seed=seed,
        started_at=started_at,
    )[0]


def simulate_run(
    *,
    rpm: float = 1797.0,
    bearing: Any = "6205",
    orders: Any = None,
    fault: str | None = "outer_race",
    rate: float = 25_600.0,
    duration_s: float = 1.0,
    snapshots: int = 150,
    period_s: float = 600.0,
    channels: int = 1,
    seed: int = 1,
    started_at: Any = "2026-01-01T00:00:00+00:00",
) -> list[Recording]:
    """A run to failure of a simulated machine: sound for a third, then growing damage.

    Parameters
    ----------
    snapshots : int, default 150
    period_s : float, default 600
        Seconds from the beginning of one snapshot to that of the next.
    rpm, bearing, orders, fault, rate, duration_s, channels, seed, started_at
        As in `simulate`.
    """
    of_bearing = None if orders is not None else bearing
    return _snapshots(
        None if fault is not None else 0.0,
        rpm=rpm,
        bearing=of_bearing,
        orders=orders,
        fault=fault,
        rate=rate,
        duration_s=duration_s,
        snapshots=snapshots,
        period_s=period_s,
        channels=channels,
        seed=seed,
        started_at=started_at,
    )
