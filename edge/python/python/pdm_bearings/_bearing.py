"""Bearings: names, geometry, defect orders."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from .errors import InputError, UnknownBearingError

__all__ = ["Bearing", "bearings"]


@dataclass(frozen=True)
class Bearing:
    """A bearing by its defect orders.

    Attributes
    ----------
    bpfo, bpfi, bsf, ftf : float
        Defect frequencies as multiples of the shaft speed. ``bsf`` is the spin frequency of a rolling
        element (1×); a defect of it strikes at twice that.
    name : str or None
        Name in the catalogue.
    source : str
        Where the figures come from.
    """

    bpfo: float
    bpfi: float
    bsf: float
    ftf: float
    name: str | None = None
    source: str = "given"

    @classmethod
    def find(cls, name: str) -> Bearing:
        """The bearing of the catalogue that answers to this name; case and hyphens do not matter.

        Raises
        ------
        UnknownBearingError
            With the nearest names.
        """
        entry = _core.orders_of_name(name)
        if entry is None:
            raise UnknownBearingError(_unknown(name))
        known, _, (bpfo, bpfi, bsf, ftf), source = entry
        return cls(bpfo, bpfi, bsf, ftf, known, source)

    @classmethod
    def from_geometry(
        cls,
        elements: int,
        element_diameter_mm: float,
        pitch_diameter_mm: float,
        contact_angle_deg: float = 0.0,
    ) -> Bearing:
        """A bearing from its dimensions.

        Source: Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017, equations 1 to 4.

        Examples
        --------
        >>> round(Bearing.from_geometry(9, 7.938, 39.04).bpfo, 3)
        3.585
        """
        if not 0 < int(elements) < 10_000:
            raise InputError(f"elements={elements}, allowed is 1 to 9999")
        orders = _core.orders_of_geometry(
            int(elements),
            float(element_diameter_mm),
            float(pitch_diameter_mm),
            float(contact_angle_deg),
        )
        return cls(*orders, source="geometry")

    @property
    def orders(self) -> tuple[float, float, float, float]:
        """BPFO, BPFI, BSF (1×), FTF as multiples of the shaft speed."""
        return (self.bpfo, self.bpfi, self.bsf, self.ftf)

    def frequencies_hz(self, rpm: float) -> dict[str, float]:
        """The four defect frequencies at a shaft speed (1/min), Hz."""
        shaft_hz = float(rpm) / 60.0
        names = ("bpfo", "bpfi", "bsf", "ftf")
        return {name: order * shaft_hz for name, order in zip(names, self.orders, strict=True)}


def bearings() -> list[Bearing]:
    """The bearings of the built-in catalogue."""
    return [Bearing(*orders, name, source) for name, _, orders, source in _core.catalogue()]


def _unknown(name: str) -> str:
    names: dict[str, str] = {}
    for known, also, _, _ in _core.catalogue():
        names.update({one.lower(): one for one in (known, *also)})
    near = difflib.get_close_matches(name.lower(), names, n=4, cutoff=0.5)
    hint = f"; near are {', '.join(names[one] for one in near)}" if near else ""
    return (
        f"bearing={name!r} is not in the catalogue{hint}; give orders=(bpfo, bpfi, bsf, ftf) or "
        "bearing=Bearing.from_geometry(…), or see bearings()"
    )


def chosen(bearing: Any, orders: Any) -> Bearing:
    """The bearing of the arguments ``bearing`` and ``orders``."""
    if bearing is not None and orders is not None:
        raise InputError("bearing= and orders= are both given: one is needed")
    if bearing is None and orders is None:
        raise InputError("bearing= or orders=(bpfo, bpfi, bsf, ftf) is missing: one is needed")
    if isinstance(bearing, Bearing):
        return bearing
    if isinstance(bearing, str):
        return Bearing.find(bearing)
    return _of_orders(bearing if orders is None else orders)


def _of_orders(orders: Any) -> Bearing:
    if isinstance(orders, Mapping):
        keys = {str(key).lower(): value for key, value in orders.items()}
        missing = [name for name in ("bpfo", "bpfi", "bsf", "ftf") if name not in keys]
        if missing:
            raise InputError(f"orders has no {', '.join(missing)}")
        orders = [keys[name] for name in ("bpfo", "bpfi", "bsf", "ftf")]
    if isinstance(orders, str) or not isinstance(orders, Sequence) and not hasattr(orders, "__len__"):
        raise InputError(f"orders={orders!r}: allowed are four numbers BPFO, BPFI, BSF (1×), FTF")
    if len(orders) != 4:
        raise InputError(f"orders has {len(orders)} numbers; allowed are BPFO, BPFI, BSF (1×), FTF")
    try:
        bpfo, bpfi, bsf, ftf = (float(order) for order in orders)
    except (TypeError, ValueError) as error:
        raise InputError(f"orders={orders!r}: {error}") from error
    return Bearing(bpfo, bpfi, bsf, ftf)
