"""Recordings as sound."""

from __future__ import annotations

import os
import wave

import numpy as np

from ._recording import Recording, _number
from ._spectra import _channel
from .errors import InputError

__all__ = ["listen"]


def listen(
    rec: Recording,
    path: str | os.PathLike[str],
    *,
    channel: int | str = 0,
    band: tuple[float, float] | None = None,
    slower: float = 1.0,
    least_s: float = 0.0,
) -> float:
    """Write one channel as a WAV that any player plays (16 bit, mono).

    The sound is for ears: its loudness is set by its own highest sample, so it states no acceleration.

    Parameters
    ----------
    rec : Recording
    path : path-like
    channel : int or str, default 0
    band : (low, high) in Hz, optional
        Keep only this band, such as the demodulated one of a diagnosis, where the strikes ring.
    slower : float, default 1
        Play so many times slower, which lowers the pitch by as much.
    least_s : float, default 0
        Repeat a short recording until the sound is so long.

    Returns
    -------
    float
        Acceleration (g) of full scale.
    """
    at = _channel(rec, channel)
    samples = rec.channel(at, "g")
    samples = samples - samples.mean()
    if band is not None:
        low, high = (_number("band", edge) for edge in band)
        if not 0.0 <= low < high <= rec.rate_hz / 2:
            raise InputError(f"band={band}, allowed are 0 ≤ low < high ≤ {rec.rate_hz / 2:g} Hz")
        lines = np.fft.rfft(samples)
        hz = np.fft.rfftfreq(samples.size, 1.0 / rec.rate_hz)
        lines[(hz < low) | (hz > high)] = 0.0
        samples = np.fft.irfft(lines, samples.size)
    factor = _number("slower", slower)
    rate = round(rec.rate_hz / factor) if factor > 0 else 0
    if not 100 <= rate <= 384_000:
        raise InputError(f"slower={slower} plays {rec.rate_hz:g} Hz at {rate} Hz; allowed is 100 to 384000")
    times = max(1, int(np.ceil(least_s * rate / samples.size)))
    highest = float(np.abs(samples).max()) or 1.0
    counts = np.round(np.tile(samples, times) / highest * 32767.0).astype("<i2")
    with wave.open(os.fspath(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(counts.tobytes())
    return highest
