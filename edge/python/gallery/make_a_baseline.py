"""A baseline: what stood in a sound recording is taken off, so that the verdict rests on what is new."""

import numpy as np
from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import picture

sound = pb.simulate(fault=None, duration_s=2.0, seed=11)
worn = pb.simulate(fault="inner_race", severity=0.5, duration_s=2.0, seed=12)

alone = pb.diagnose(worn, rpm=1797, bearing="6205")
against = pb.diagnose(worn, rpm=1797, bearing="6205", baseline=sound)
print("alone:           ", alone.verdict)
print("against baseline:", against.verdict)
for note in against.notes:
    print(note)

# a person's check of it: by how much each octave rose
figure = Figure(figsize=(10, 4), layout="constrained")
axes = figure.subplots()
for name, rec in (("baseline", sound), ("now", worn)):
    lines = pb.spectrum(rec, df_hz=20)
    axes.semilogy(lines.frequency[1:], lines.amplitude[1:], linewidth=0.8, label=name)
rise_db = 20 * np.log10(worn.channel(0).std() / sound.channel(0).std())
axes.set_title(f"{against.verdict}; the whole level rose by {rise_db:.1f} dB")
axes.set_xlabel("Hz")
axes.set_ylabel("g")
axes.legend()
picture(figure, __file__)
