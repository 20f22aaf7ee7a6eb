// The curves of a capture with cursors, zoom and read-out. Without this script the drawings of the page stay.
/* global uPlot */

import { colour, cursorsOf, drawCursors, positive } from './cursors.js';

const root = document.querySelector('#plots');
const words = JSON.parse(root.dataset.words);
const tools = root.querySelector('.tools');
const fundamental = tools.querySelector('input[name=fundamental]');
const spacing = tools.querySelector('input[name=spacing]');
const buttons = [...tools.querySelectorAll('button[data-hz]')];
const HEIGHT = 240;
let shaftHz = 0;
const plots = [];

/** The cursors of a plot, on its own axis: in the cepstrum the multiples of the period. */
function cursorsIn(kind, end) {
  const base = positive(fundamental);
  const apart = positive(spacing);
  if (!base) return [];
  if (kind === 'cepstrum') return cursorsOf(1000 / base, null, end);
  if (kind === 'orders') return cursorsOf(base / shaftHz, apart && apart / shaftHz, end);
  return kind === 'waveform' ? [] : cursorsOf(base, apart, end);
}

/** A place on the axis of a plot as a frequency; none in the waveform. */
const toHz = (kind, x) => ({ spectrum: x, envelope: x, orders: x * shaftHz, cepstrum: 1000 / x })[kind] ?? null;

class Plot {
  constructor(curve) {
    this.kind = curve.plot;
    this.figure = root.querySelector(`#${this.kind}`);
    this.canvas = this.figure.querySelector('.canvas');
    this.readout = this.figure.querySelector('.readout');
    this.factor = Number(this.figure.dataset.factor);
    this.unitX = this.figure.dataset.unitX;
    this.unitY = this.figure.dataset.unitY;
    this.isTwoSided = this.figure.dataset.twoSided === 'true';
    this.whole = curve;
    this.at = 0;
    this.asked = 0;
    this.canvas.hidden = false;
    this.figure.querySelector('.server').hidden = true;
    this.draw(curve);
    this.canvas.addEventListener('keydown', (key) => this.key(key));
  }

  /** The points as uPlot takes them: one axis for both captures. */
  table(curve) {
    const columns = (points) => {
      const x = points.map((point) => point[0] * this.factor);
      const high = points.map((point) => point[2]);
      return this.isTwoSided ? [x, high, points.map((point) => point[1])] : [x, high];
    };
    return curve.over ? uPlot.join([columns(curve.points), columns(curve.over)]) : columns(curve.points);
  }

  draw(curve) {
    this.data = this.table(curve);
    const line = (name, stroke) => ({ label: name, stroke: colour(stroke), width: 1, points: { show: false }, spanGaps: true });
    const own = this.isTwoSided ? [line('', '--link'), line('', '--link')] : [line('', '--link')];
    const over = curve.over ? own.map(() => line('', '--warning')) : [];
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } };
    this.plot?.destroy();
    this.plot = new uPlot({
      width: this.canvas.clientWidth, height: HEIGHT, legend: { show: false }, scales: { x: { time: false } },
      series: [{ label: this.unitX }, ...own, ...over],
      axes: [{ ...axis, label: this.unitX }, axis],
      hooks: {
        draw: [(self) => drawCursors(self, cursorsIn(this.kind, self.scales.x.max))],
        setCursor: [(self) => { if (self.cursor.idx !== null) this.say(self.cursor.idx); }],
        setSelect: [(self) => { if (self.select.width > 0) this.zoom(self.posToVal(self.select.left, 'x'), self.posToVal(self.select.left + self.select.width, 'x')); }],
      },
      cursor: { drag: { x: true, y: false, setScale: false } },
    }, this.data, this.canvas);
    this.plot.over.addEventListener('dblclick', () => this.draw(this.whole));
    this.plot.over.addEventListener('click', () => { const hz = toHz(this.kind, this.data[0][this.at]); if (hz) setCursor(hz); });
  }

  /** A part of the axis, drawn anew from the samples. */
  async zoom(from, to) {
    const mine = ++this.asked;
    const part = `plot=${this.kind}&from=${from / this.factor}&to=${to / this.factor}`;
    const answer = await fetch(`${root.dataset.curves}&${part}`).catch(() => null);
    if (!answer?.ok || mine !== this.asked) return;
    const { curves } = await answer.json();
    if (curves[0]?.points.length > 1) this.draw(curves[0]);
  }

  /** The value at a column, of the capture itself: the nearest one that has it. */
  say(index) {
    const high = this.data[1];
    let at = index;
    for (let away = 0; away < high.length && (high[at] ?? null) === null; away += 1) at = index + (away % 2 ? -1 : 1) * Math.ceil(away / 2);
    const [x, y] = [this.data[0][at], high[at]];
    if (x === undefined || y === undefined || y === null) return;
    this.at = at;
    const hz = toHz(this.kind, x);
    const also = { spectrum: () => `, ${words.order} ${(x / shaftHz).toFixed(2)}`, envelope: () => `, ${words.order} ${(x / shaftHz).toFixed(2)}`, orders: () => `, ${hz.toFixed(1)} Hz`, cepstrum: () => `, ${hz.toFixed(1)} Hz` }[this.kind];
    const low = this.isTwoSided && this.data[2][at] !== y ? `${this.data[2][at].toPrecision(3)} … ` : '';
    this.readout.textContent = `${x.toPrecision(5)} ${this.unitX.split(' ')[0]}${also ? also() : ''}: ${low}${y.toPrecision(3)} ${this.unitY}`;
  }

  key(key) {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[key.key];
    const span = this.data[0].at(-1) - this.data[0][0];
    const middle = this.data[0][this.at] ?? this.data[0][0];
    if (step) {
      this.at = Math.min(Math.max(this.at + step, 0), this.data[0].length - 1);
      this.plot.setCursor({ left: this.plot.valToPos(this.data[0][this.at], 'x'), top: 0 });
      this.say(this.at);
    } else if (key.key === 'Enter') { const hz = toHz(this.kind, middle); if (hz) setCursor(hz); }
    else if (key.key === '+') this.zoom(middle - span / 4, middle + span / 4);
    else if (key.key === '-' || key.key === 'Escape') this.draw(this.whole);
    else return;
    key.preventDefault();
  }
}

function setCursor(hz, pressed = null) {
  fundamental.value = hz.toFixed(2);
  for (const button of buttons) button.setAttribute('aria-pressed', String(button === pressed));
  for (const one of plots) one.plot.redraw(false);
}

for (const button of buttons) button.addEventListener('click', () => setCursor(Number(button.dataset.hz), button));
for (const input of [fundamental, spacing]) input.addEventListener('input', () => plots.forEach((one) => one.plot.redraw(false)));
addEventListener('resize', () => plots.forEach((one) => one.plot.setSize({ width: one.canvas.clientWidth, height: HEIGHT })));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => plots.forEach((one) => one.draw(one.whole)));

const answer = await fetch(root.dataset.curves).catch(() => null);
if (answer?.ok) {
  const told = await answer.json();
  shaftHz = told.shaft_hz;
  tools.hidden = false;
  plots.push(...told.curves.filter((curve) => curve.points.length > 1).map((curve) => new Plot(curve)));
}
