"""Listen: the whole recording, then the band in which the strikes ring, four times slower."""

import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import picture

rec = pb.simulate(fault="outer_race", severity=0.4, duration_s=2.0)
found = pb.diagnose(rec, rpm=1797, bearing="6205")
folder = Path(tempfile.mkdtemp(prefix="pdm-listen-"))
whole = pb.listen(rec, folder / "whole.wav")
ringing = pb.listen(rec, folder / "ringing.wav", band=found.band_hz, slower=4.0)
print(f"{found.verdict}; band {found.band_hz[0]:.0f} to {found.band_hz[1]:.0f} Hz")
print(f"{folder}: whole.wav (full scale {whole:.2f} g), ringing.wav ({ringing:.2f} g)")

figure = Figure(figsize=(10, 4), layout="constrained")
upper, lower = figure.subplots(2, sharex=True)
heard = pb.read(folder / "ringing.wav", unit="g", scale=ringing / 32767)
upper.plot(rec.time_s()[:5120], rec.channel(0)[:5120], linewidth=0.6)
upper.set_title("whole, g")
lower.plot(heard.time_s()[:5120] / 4, heard.channel(0)[:5120], linewidth=0.6)
lower.set_title("the demodulated band alone, g: a strike each 9.3 ms")
lower.set_xlabel("s")
picture(figure, __file__)
