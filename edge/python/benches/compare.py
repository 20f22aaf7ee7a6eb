"""Times on the machine at hand: threads of `diagnose_many`, and one chain here and in SciPy.

The chain: kurtogram over the 1/3-binary tree, envelope of its best band, spectrum of the squared envelope. In SciPy
it is written as people write it (band by exact lines, analytic signal, kurtosis); both must find the same band and
the same line. Processor seconds are compared, wall seconds only between one thread and two: that ratio says something
on an idle machine alone, so the load is printed beside it.

    python benches/compare.py [RECORDS]
"""

import os
import sys
import time

import numpy as np
from scipy import fft

import pdm_bearings as pb

RATE = 25_600


def scipy_chain(samples: np.ndarray) -> tuple[tuple[float, float], float]:
    """Band and strongest line between 20 and 400 Hz."""
    count, nyquist = samples.size, RATE / 2
    lines = fft.rfft(samples - samples.mean())
    best = (-np.inf, (0.0, 0.0), np.empty(0))
    divisions = [
        n for level in range(1, 6) for n in ((2**level, 3 * 2 ** (level - 1)) if level < 5 else (2**level,))
    ]
    for division in divisions:
        for j in range(division):
            low, high = j * nyquist / division, (j + 1) * nyquist / division
            first, last = max(1, int(np.ceil(low * count / RATE))), int(high * count / RATE)
            analytic = np.zeros(count, dtype=complex)
            analytic[first : last + 1] = 2 * lines[first : last + 1]
            squared = np.abs(fft.ifft(analytic)) ** 2
            kurtosis = (squared**2).mean() / squared.mean() ** 2 - 2
            best = max(best, (kurtosis, (low, high), squared), key=lambda b: b[0])
    _, band, squared = best
    taper = np.hanning(count)
    spectrum = np.abs(fft.rfft((squared - squared.mean()) * taper))
    hz = fft.rfftfreq(count, 1 / RATE)
    inside = (hz > 20) & (hz < 400)
    return band, float(hz[inside][np.argmax(spectrum[inside])])


def our_chain(rec: pb.Recording) -> tuple[tuple[float, float], float]:
    """The same by this package."""
    lines = pb.envelope_spectrum(rec, band="kurtogram", limit_hz=400)
    inside = lines.frequency > 20
    return lines.band_hz, float(lines.frequency[inside][np.argmax(lines.amplitude[inside])])


def main() -> None:
    """Print both comparisons."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    made = [pb.simulate(fault="outer_race", severity=0.5, seed=seed) for seed in range(8)]
    recordings = [made[k % 8] for k in range(count)]

    took = {}
    for threads in (1, 2):
        began = time.perf_counter()
        pb.diagnose_many(recordings, threads=threads, rpm=1797, bearing="6205")
        took[threads] = time.perf_counter() - began
        print(f"diagnose, {threads} thread(s): {1000 * took[threads] / count:.2f} ms a record")
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(f"two threads do {took[1] / took[2]:.2f} times the work of one (load {load:.1f} on {cores} cores)")

    rows = [rec.channel(0) for rec in recordings]
    began = time.process_time()
    theirs = [scipy_chain(row) for row in rows]
    of_scipy = time.process_time() - began
    began = time.process_time()
    ours = [our_chain(rec) for rec in recordings]
    of_ours = time.process_time() - began
    for (band, hz), (their_band, their_hz) in zip(ours, theirs):
        assert np.allclose(band, their_band) and abs(hz - their_hz) < 1.5, (band, hz, their_band, their_hz)
    print(
        f"chain: {1000 * of_ours / count:.2f} ms here, {1000 * of_scipy / count:.2f} ms in SciPy (processor)"
    )
    print(f"{of_scipy / of_ours:.1f} times as fast, with the same bands and lines")


if __name__ == "__main__":
    main()
