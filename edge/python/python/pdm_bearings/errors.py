"""Exceptions and the warning of this package.

Every message names the argument, its value and what is allowed.
"""

__all__ = [
    "DtypeError",
    "InputError",
    "PdmError",
    "ProgramError",
    "ReadError",
    "SignalWarning",
    "UnknownBearingError",
]


class PdmError(Exception):
    """Any error of this package."""


class InputError(PdmError, ValueError):
    """An argument or a recording that cannot be used: no rate, NaN, too few samples, …"""


class DtypeError(InputError, TypeError):
    """Numbers of a kind that no vibration has: complex, objects, texts, booleans, dates."""


class UnknownBearingError(InputError):
    """A bearing that the catalogue does not have; the message names the nearest ones."""


class ReadError(PdmError, ValueError):
    """A file that is damaged or of a form that is not read."""


class ProgramError(PdmError, RuntimeError):
    """A program of PdM that is missing or ended with an error."""


class SignalWarning(UserWarning):
    """Something about a recording that a person should know before believing a figure."""
