"""A report: one page of HTML with verdict, evidence, figures and picture, that a browser prints."""

import base64
import html
import io
from pathlib import Path

import pdm_bearings as pb
from _common import OUT, picture

rec = pb.simulate(fault="inner_race", severity=0.6, duration_s=2.0)
found = pb.diagnose(rec, rpm=1797, bearing="6205")
figure = found.plot()
image = io.BytesIO()
figure.savefig(image, format="png", dpi=80)

rows = "".join(
    f"<tr><td>{html.escape(part.replace('_', ' '))}<td>{line.frequency_hz:.2f} Hz<td>{line.snr_db:.1f} dB"
    f"<td>{line.score:.2f}<td>{', '.join(f'{n}×' for n in line.harmonics) or 'none'}"
    for part, line in found.lines.items()
)
figures = "".join(
    f"<tr><td>{html.escape(name)}<td>{value:.4g}"
    for name, value in found.time_domain.items()
    if isinstance(value, float)
)
page = f"""<!doctype html><meta charset="utf-8"><title>{html.escape(rec.name)}</title>
<h1>{html.escape(found.verdict)}</h1>
<p>{html.escape(rec.name)}, {rec.duration_s:.1f} s at {rec.rate_hz:g} Hz, {found.speed.rpm:.1f} rpm,
bearing {found.bearing.name} ({html.escape(found.bearing.source)})
<img alt="waveform, spectrum, envelope spectrum" src="data:image/png;base64,{base64.b64encode(image.getvalue()).decode()}">
<h2>Defect lines</h2><table><tr><th>part<th>frequency<th>above the floor<th>score<th>harmonics{rows}</table>
<h2>Waveform</h2><table>{figures}</table>
"""
OUT.mkdir(parents=True, exist_ok=True)
target = Path(OUT) / "report.html"
target.write_text(page, encoding="utf-8")
print(f"{target.name}: {target.stat().st_size // 1024} kB; {found.verdict}")
picture(figure, __file__)
