"""A run to failure through the gateway's stateful condition: baseline, anomaly, trend, remaining life."""

from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import picture

run = pb.simulate_run(snapshots=150, period_s=600, rate=12_800, seed=3)
course = pb.monitor(run, rpm=1797, bearing="6205")
hours = course.index * 600 / 3600
alarms = course["anomaly_detected"]
print(course[["rms_g", "anomaly_detected", "fault", "confidence", "rul_h"]].iloc[::15])
if alarms.any():
    first = int(alarms.idxmax())
    print(f"alarm at {hours[first]:.1f} h by {course['contributors'][first]}, end at {hours[-1]:.1f} h")

figure = Figure(figsize=(10, 5), layout="constrained")
level, life = figure.subplots(2, sharex=True)
level.plot(hours, course["rms_g"], linewidth=1)
level.fill_between(hours, 0, course["rms_g"].max(), where=alarms, alpha=0.15, color="C3", label="anomaly")
level.set_ylabel("RMS, g")
level.legend(loc="upper left")
life.plot(hours, course["rul_h"], "o", markersize=3, label="told")
life.plot(hours, hours[-1] - hours, linestyle=":", label="truth")
life.set_ylabel("remaining life, h")
life.set_xlabel("h")
life.legend(loc="upper left")
picture(figure, __file__)
