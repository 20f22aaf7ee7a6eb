"""Two speeds: lines that move with the shaft are the bearing's, lines that stay are not.

Over hertz the two records have nothing in common but a drive's tone; over multiples of the shaft speed the
defect lies at one place.
"""

from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import picture

bearing = pb.Bearing.find("6205")
figure = Figure(figsize=(10, 5), layout="constrained")
by_hz, by_order = figure.subplots(2)
for rpm in (1200.0, 1797.0):
    rec = pb.simulate(fault="outer_race", severity=0.6, rpm=rpm, duration_s=4.0)
    found = pb.speed(rec, rpm=rpm, bearing=bearing)
    lines = pb.envelope_spectrum(rec, limit_hz=7 * rpm / 60)
    amplitude = lines.amplitude / lines.amplitude[1:].max()
    by_hz.plot(lines.frequency, amplitude, linewidth=0.8, label=f"{found.rpm:.0f} rpm")
    by_order.plot(60 * lines.frequency / found.rpm, amplitude, linewidth=0.8)
    at_hz, _ = lines.peak(bearing.bpfo * found.rpm / 60, 3)
    print(
        f"{found.rpm:7.1f} rpm: line at {at_hz:6.1f} Hz, order {60 * at_hz / found.rpm:.3f} (BPFO {bearing.bpfo:.3f})"
    )
by_hz.set_xlabel("Hz")
by_hz.legend()
by_order.axvline(bearing.bpfo, color="C3", linestyle=":", label="BPFO")
by_order.set_xlim(0, 7)
by_order.set_xlabel("order (multiples of the shaft speed)")
by_order.legend()
picture(figure, __file__)
