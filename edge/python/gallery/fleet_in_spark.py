"""A fleet: one function of one bearing's rows, which Spark spreads over machines.

`groupBy(…).applyInPandas(f, schema)` hands every bearing's rows to the function whole and in one piece; the sort
by time is inside it, because an engine may ignore a sort before it. Without Spark the same function runs by
pandas, which this script does in any case and compares with.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import pdm_bearings as pb
from _common import picture

RATE, RPM, BEARING = 12_800, 1797.0, "6205"
SCHEMA = "bearing string, at long, rms_g double, anomaly boolean, fault string, confidence double"


def judge(rows: pd.DataFrame) -> pd.DataFrame:
    """The course of one bearing: rows with `at` (s) and `samples` (g) in any order."""
    rows = rows.sort_values("at")
    point = pb.Monitor(rpm=RPM, bearing=BEARING)
    out = []
    for at, samples in zip(rows["at"], rows["samples"], strict=True):
        event = point.observe(pb.Recording(np.asarray(samples), rate=RATE, unit="g"), at=float(at))
        found = event["frequency_domain"]
        out.append(
            (rows["bearing"].iloc[0], int(at), event["time_domain"]["rms_g"], event["anomaly_detected"],
             found["dominant_fault"], found["confidence"])
        )  # fmt: skip
    return pd.DataFrame(out, columns=[word.split()[0] for word in SCHEMA.split(", ")])


def fleet() -> pd.DataFrame:
    """Rows of four bearings, shuffled as an archive delivers them."""
    rows = []
    for number, fault in enumerate(["outer_race", "inner_race", None, None]):
        run = pb.simulate_run(fault=fault, snapshots=70, rate=RATE, duration_s=0.25, seed=number + 1)
        rows += [(f"M{number}/DE", 600 * k, rec.channel(0).tolist()) for k, rec in enumerate(run)]
    return pd.DataFrame(rows, columns=["bearing", "at", "samples"]).sample(frac=1, random_state=1)


def main() -> None:
    """Judge by pandas, and by Spark where it is installed."""
    rows = fleet()
    course = pd.concat([judge(of_bearing) for _, of_bearing in rows.groupby("bearing")], ignore_index=True)
    print(course.groupby("bearing")["anomaly"].sum().rename("windows with an anomaly, of 70"))
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("pyspark is not installed: the same function was run by pandas alone")
    else:
        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        by_spark = spark.createDataFrame(rows).groupBy("bearing").applyInPandas(judge, SCHEMA).toPandas()
        order = ["bearing", "at"]
        same = by_spark.sort_values(order, ignore_index=True).equals(
            course.sort_values(order, ignore_index=True)
        )
        print(f"Spark and pandas agree: {same}")
        spark.stop()

    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    for name, of_bearing in course.groupby("bearing"):
        line = axes.plot(of_bearing["at"] / 3600, of_bearing["rms_g"], linewidth=1, label=name)[0]
        alarms = of_bearing[of_bearing["anomaly"]]
        axes.plot(alarms["at"] / 3600, alarms["rms_g"], "o", markersize=3, color=line.get_color())
    axes.set_xlabel("h")
    axes.set_ylabel("RMS, g (dots: anomaly)")
    axes.set_yscale("log")
    axes.legend()
    picture(figure, __file__)


if __name__ == "__main__":
    main()
