"""A back-test: the events of a run, judged by the agent's rules as they would have been at the time.

The judgement is the agent's, so the program is called (`pdm-agent judge`), not imitated.
"""

from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import not_run, picture

if pb.programs.find_program("pdm-agent") is None:
    not_run("pdm-agent is neither in PDM_BIN nor on the search path")

LEVELS = ["Normal", "Watch", "Warning", "Critical"]
events = []
run = pb.simulate_run(snapshots=150, period_s=600, rate=12_800, seed=3)
pb.monitor(run, rpm=1797, bearing="6205", events=events)
judged = pb.programs.judge(events)
levels = [diagnosis["risk_level"] for diagnosis in judged]
for level in LEVELS:
    first = levels.index(level) if level in levels else None
    told = "never" if first is None else f"first after {first * 600 / 3600:.1f} h"
    print(f"{level:8} {levels.count(level):4} of {len(levels)}, {told}")

figure = Figure(figsize=(10, 3), layout="constrained")
axes = figure.subplots()
hours = [index * 600 / 3600 for index in range(len(levels))]
axes.step(hours, [LEVELS.index(level) for level in levels], where="post")
axes.set_yticks(range(len(LEVELS)), LEVELS)
axes.set_xlabel("h")
picture(figure, __file__)
