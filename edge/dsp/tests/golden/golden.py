"""Golden values of the signal crate's formulas, by SciPy.

    python3 golden.py > golden.csv

The signal is written in closed form, so that the test makes the same samples.
"""
import numpy as np
import scipy
from scipy import signal, stats

RATE, N = 12000.0, 12000
t = np.arange(N) / RATE
since = t - np.floor(t * 107.36) / 107.36
x = (
    0.7 * np.sin(2 * np.pi * 29.95 * t)
    + 3.0 * np.exp(-600 * since) * np.sin(2 * np.pi * 3300 * since)
    + 0.2 * np.sin(2 * np.pi * 1234.5 * t + 0.3)
)
c = x - x.mean()
out = {"scipy": scipy.__version__, "numpy": np.__version__}
out["rms"] = np.sqrt(np.mean(c**2))
out["kurtosis"] = stats.kurtosis(x, fisher=False)
out["skewness"] = stats.skew(x)

w = signal.windows.hann(N, sym=False)
X = np.fft.rfft(c * w)
f = np.fft.rfftfreq(N, 1 / RATE)
out["amplitude_30"] = 2 * np.abs(X[30]) / w.sum()
inside = (f >= 10) & (f <= 1000)
v2 = 2 * np.sum((np.abs(X[inside]) / (2 * np.pi * f[inside])) ** 2) / (N * np.sum(w**2))
out["velocity_rms_mm_s"] = 1000 * np.sqrt(v2)

# Band by brick wall, analytic signal by Hilbert transform: the long way round.
F = np.fft.fft(c)
g = np.fft.fftfreq(N, 1 / RATE)
F[(np.abs(g) < 2400) | (np.abs(g) > 4200)] = 0
band = np.fft.ifft(F).real
envelope2 = np.abs(signal.hilbert(band)) ** 2
out["envelope2_mean"] = envelope2.mean()
out["spectral_kurtosis"] = np.mean(envelope2**2) / np.mean(envelope2) ** 2 - 2
_, P = signal.welch(envelope2, RATE, window=signal.windows.hann(N, sym=False), nperseg=N,
                    scaling="spectrum", detrend="constant")
for k in (107, 215, 322):
    out[f"envelope2_line_{k}"] = np.sqrt(2 * P[k])

y = np.array([(i * 37 % 101) / 10 + 0.05 * i for i in range(40)])
s, b, lo, hi = stats.theilslopes(y, np.arange(40.0), 0.95)
out.update(theil_slope=s, theil_intercept=b, theil_low=lo, theil_high=hi)
out["median_abs_deviation"] = stats.median_abs_deviation(y)
tau = stats.kendalltau(np.arange(40.0), y, method="asymptotic")
out["kendall_tau"] = tau.statistic
from scipy.ndimage import median_filter
out["running_median_20"] = median_filter(y, 9, mode="nearest")[20]
for name, value in out.items():
    print(f"{name},{value!r}" if isinstance(value, str) else f"{name},{float(value)!r}")
