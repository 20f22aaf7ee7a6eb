"""As at Paderborn: a 6203 at 64 kHz, two speeds, beside an inverter's tone; names as a scikit-learn model.

`FaultNamer` learns nothing of the signal but which of the caller's labels goes with which name, so two
records of each kind are enough, and they may be of another machine.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import ConfusionMatrixDisplay

import pdm_bearings as pb
from _common import picture

RATE, LABELS = 64_000, {None: "K0 (sound)", "outer_race": "KA (outer)", "inner_race": "KI (inner)"}


def records(seeds, rpm):
    """Rows of two-second records with an inverter's tone, and their labels."""
    t = np.arange(2 * RATE) / RATE
    tone = 0.05 * np.sin(2 * np.pi * 7_350 * t)
    rows, labels = [], []
    for seed in seeds:
        for fault, label in LABELS.items():
            rec = pb.simulate(
                fault=fault, severity=0.6, bearing="6203", rpm=rpm, rate=RATE, duration_s=2.0, seed=seed
            )
            rows.append(rec.channel(0) + tone)
            labels.append(label)
    return np.stack(rows), np.array(labels)


figure = Figure(figsize=(10, 4), layout="constrained")
for axes, rpm in zip(figure.subplots(1, 2), (1500, 900), strict=True):
    namer = pb.FaultNamer(rate=RATE, unit="g", rpm=rpm, bearing="6203", n_jobs=2)
    namer.fit(*records(range(1, 3), rpm))
    X, y = records(range(10, 14), rpm)
    print(f"{rpm} rpm: {namer.score(X, y):.2f} right of {len(y)}")
    ConfusionMatrixDisplay.from_predictions(y, namer.predict(X), ax=axes, colorbar=False)
    axes.set_title(f"{rpm} rpm")
picture(figure, __file__)
