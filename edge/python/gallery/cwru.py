"""CWRU: four recordings whose truth is known, read as they are stored (16-bit counts with a scale)."""

from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import not_run, picture, recordings

FILES = {
    "12k_Drive_End_OR007@6_0_130.npy": "outer_race",
    "12k_Drive_End_IR007_0_105.npy": "inner_race",
    "12k_Drive_End_IR021_0_209.npy": "inner_race",
    "12k_Drive_End_B007_0_118.npy": "ball (no published method names it)",
}
known = recordings()
if not all(name in known for name in FILES):
    not_run("the four CWRU files are not there")

figure = Figure(figsize=(10, 10), layout="constrained")
for axes, (name, truth) in zip(figure.subplots(len(FILES)), FILES.items(), strict=True):
    entry = known[name]
    rec = pb.read(entry["path"], rate=entry["fs_hz"], unit="g", scale=entry["scale_g"][0], channel=0)
    found = pb.diagnose(rec, rpm=entry["rpm"], bearing="6205")
    print(f"{name}: truth {truth}; {found.verdict}")
    found.envelope_spectrum.plot(axes, limit=400, marks=found.defect_frequencies_hz())
    axes.set_title(f"{name}\n{found.verdict}", fontsize="small")
picture(figure, __file__)
