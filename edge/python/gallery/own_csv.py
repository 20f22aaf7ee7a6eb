"""An own CSV: a table with a column of times and two sensors becomes a verdict.

The rate comes from the time column and the unit from the header; what was taken for what is printed.
A European table (``;`` and decimal commas) is read by the same call.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import pdm_bearings as pb
from _common import picture

# somebody's logger: time, drive end, non-drive end, and a temperature that is no vibration
machine = pb.simulate(fault="outer_race", severity=0.6, rate=12_800, duration_s=2.0, channels=2)
table = pd.DataFrame(
    {
        "Zeit [s]": np.arange(machine.samples) / machine.rate_hz,
        "AS [g]": machine.channel(0).round(5),
        "BS [g]": machine.channel(1).round(5),
        "Temp [°C]": 41.5,
    }
)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "logger.csv"
    table.to_csv(path, sep=";", decimal=",", index=False)
    rec = pb.read(path)

print(rec)
print(rec.interpretation)
for channel in range(rec.channels):
    print(pb.diagnose(rec, rpm=1797, bearing="6205", channel=channel))
print(pb.features(rec).T)

picture(pb.diagnose(rec, rpm=1797, bearing="6205").plot(), __file__)
