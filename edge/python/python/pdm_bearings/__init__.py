"""Bearing diagnosis on vibration recordings: a verdict with a calibrated confidence and its reasons.

>>> from pdm_bearings import read, diagnose
>>> rec = read("motor.wav", scale=0.000305, unit="g")                     # doctest: +SKIP
>>> diagnose(rec, rpm=1480, bearing="6205")                              # doctest: +SKIP
<Diagnosis of 'motor.wav', channel 0: outer race fault, confidence 99 %>

The figures are those of ``pdm-edge analyze``: the same code computes them.
"""

from . import errors, programs
from ._archive import Archive
from ._backtest import Backtest, backtest
from ._bearing import Bearing, bearings
from ._captured import Capture
from ._core import __version__
from ._diagnosis import DefectLine, Diagnosis, diagnose, diagnose_many, speed
from ._features import FEATURES, features
from ._listen import listen
from ._monitor import Monitor, monitor
from ._recording import M_S2_PER_G, Recording, read, read_all
from ._simulate import simulate, simulate_run
from ._spectra import (
    OrderTrack,
    Spectrum,
    Speed,
    envelope_spectrum,
    kurtogram,
    order_track,
    spectrum,
)
from .errors import (
    DtypeError,
    InputError,
    PdmError,
    ProgramError,
    ReadError,
    SignalWarning,
    UnknownBearingError,
)

__all__ = [
    "FEATURES",
    "M_S2_PER_G",
    "Archive",
    "Backtest",
    "Bearing",
    "Capture",
    "DefectLine",
    "Diagnosis",
    "DtypeError",
    "FaultNamer",
    "FeatureExtractor",
    "InputError",
    "Monitor",
    "OrderTrack",
    "PdmError",
    "ProgramError",
    "ReadError",
    "Recording",
    "SignalWarning",
    "Spectrum",
    "Speed",
    "UnknownBearingError",
    "__version__",
    "backtest",
    "bearings",
    "diagnose",
    "diagnose_many",
    "envelope_spectrum",
    "errors",
    "features",
    "kurtogram",
    "listen",
    "monitor",
    "order_track",
    "programs",
    "read",
    "read_all",
    "simulate",
    "simulate_run",
    "spectrum",
    "speed",
]


def __getattr__(name: str) -> object:
    # scikit-learn is imported only by those who use it
    if name in ("FaultNamer", "FeatureExtractor"):
        from . import learn

        return getattr(learn, name)
    raise AttributeError(f"module 'pdm_bearings' has no attribute {name!r}")
