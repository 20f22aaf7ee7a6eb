"""The compiled half: numbers in, numbers as bytes and events as JSON out."""

from typing import Any, TypeAlias

__version__: str

Orders: TypeAlias = tuple[float, float, float, float]
Machine: TypeAlias = tuple[float, float | None, Orders, float | None]
Meaning: TypeAlias = tuple[str | None, float | None, float | None, float]
Lines: TypeAlias = tuple[float, bytes]

class Samples:
    @staticmethod
    def of_raw(
        raw: bytes,
        channels: int,
        rate_hz: float,
        meaning: Meaning,
        name: str,
        measured_at_ms: int,
    ) -> Samples: ...
    @property
    def channels(self) -> int: ...
    @property
    def samples(self) -> int: ...
    @property
    def rate_hz(self) -> float: ...
    @property
    def name(self) -> str: ...
    @property
    def measured_at_ms(self) -> int: ...
    @property
    def interpretation(self) -> str | None: ...
    @property
    def unit_is_assumed(self) -> bool: ...
    @property
    def channel_names(self) -> list[str | None]: ...
    def accel_m_s2(self, channel: int) -> bytes: ...
    def not_finite(self, channel: int) -> tuple[int, int | None]: ...

class Verdict:
    @property
    def json(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def envelope_spectrum(self) -> Lines | None: ...
    @property
    def acceleration_spectrum(self) -> Lines | None: ...

class PointMonitor:
    def __init__(
        self,
        machine_given: Machine,
        rate_hz: float,
        names: tuple[str, str, str],
        baseline_windows: int | None,
    ) -> None: ...
    def observe(self, samples: Samples, channel: int, at_ms: int) -> str: ...
    def relearn(self) -> None: ...

def catalogue() -> list[tuple[str, list[str], Orders, str]]: ...
def orders_of_name(name: str) -> tuple[str, list[str], Orders, str] | None: ...
def orders_of_geometry(elements: int, element_mm: float, pitch_mm: float, contact_deg: float) -> Orders: ...
def read(path: str, options: dict[str, Any], snapshot: int) -> Samples: ...
def read_sequence(paths: list[str], options: dict[str, Any], most: int | None) -> list[Samples]: ...
def simulate(
    machine: tuple[float, float, Orders],
    fault: str | None,
    severity: float | None,
    course: tuple[int, float, float],
    more: tuple[int, int, int],
) -> list[Samples]: ...
def diagnose(
    samples: Samples,
    channel: int,
    machine_given: Machine,
    bearing: str | None,
    sound: tuple[Samples, int] | None,
) -> Verdict: ...
def features(
    samples: Samples,
    channel: int,
    rpm: float | None,
    of_bearing: Orders | None,
    band: tuple[float, float] | None,
) -> str: ...
def searched_speed(
    samples: Samples, channel: int, rpm: float, tolerance_ratio: float
) -> tuple[float, bool]: ...
def spectrum(samples: Samples, channel: int, block: int | None) -> Lines: ...
def envelope_spectrum(
    samples: Samples,
    channel: int,
    band: tuple[float, float] | None,
    search: tuple[int, float] | None,
    limit_hz: float,
) -> tuple[Lines, tuple[float, float]]: ...
def kurtogram(
    samples: Samples, channel: int, levels: int, least_width_hz: float
) -> list[tuple[float, float, float]]: ...
def order_track(
    samples: Samples, channel: int, angle: tuple[Any, ...], samples_per_turn: int
) -> tuple[bytes, float, float, float, Lines]: ...
