// The last spectrum of a bearing with harmonic and sideband cursors.
/* global uPlot */

import { remember } from './address.js';
import { colour, cursorsOf, drawCursors, positive } from './cursors.js';
import { height, plantTime } from './times.js';

const figure = document.querySelector('#spectrum');
const canvas = figure.querySelector('.canvas');
const readout = figure.querySelector('.readout');
const words = JSON.parse(figure.dataset.words);
const kind = figure.querySelector('select[name=kind]');
const fundamental = figure.querySelector('input[name=fundamental]');
const spacing = figure.querySelector('input[name=spacing]');
const buttons = [...figure.querySelectorAll('button[data-line]')];

const beside = figure.querySelector('select[name=beside]');
const besideAt = figure.querySelector('input[name=beside_at]');
const besideBearing = figure.querySelector('select[name=beside_bearing]');
const besideTold = figure.querySelector('.beside');
const own = figure.dataset.api.replace('/api/v1', '');

for (const field of [kind, beside, besideAt, besideBearing]) if (field) remember(field);

let event = null;
let plot = null;
let cursor = 0;
let over = null; // the spectrum that lies over the last one

const shaftHz = () => (event.operating.shaft_speed_rpm ?? 0) / 60;
const frequencyOf = (line) => (line === 'shaft' ? shaftHz() : event.frequency_domain[line].frequency_hz);
const lines = () => event.spectra[kind.value];

/** The amplitude at a frequency: the highest of the three nearest lines. */
function amplitudeAt(hz) {
  const { df_hz: df, amplitude } = lines();
  const middle = Math.round(hz / df);
  return Math.max(...amplitude.slice(Math.max(middle - 1, 0), middle + 2), 0);
}

/** The other spectrum on the lines of the last one: of its lines that fall on one, the highest. */
function overLines() {
  const mine = lines();
  const other = over?.[kind.value];
  if (!other || other.unit !== mine.unit) return null;
  const half = Math.max(mine.df_hz / other.df_hz / 2, 0.5);
  return mine.amplitude.map((_, index) => {
    const middle = (index * mine.df_hz) / other.df_hz;
    const near = other.amplitude.slice(Math.max(Math.ceil(middle - half), 0), Math.floor(middle + half) + 1);
    return near.length ? Math.max(...near) : null;
  });
}

/** Says which spectrum lies over the last one, or why none does. */
function tellOver() {
  if (!over) return;
  if (!overLines()) { besideTold.textContent = words.units; return; }
  const speed = (rpm) => (rpm ? `, ${Math.round(rpm)} rpm` : '');
  besideTold.textContent = `${words.beside}: ${over.name}, ${plantTime(over.measured_at)}${speed(over.shaft_speed_rpm)}. ${words.now}: ${plantTime(event.measured_at)}${speed(event.operating.shaft_speed_rpm)}`;
}

let asked = 0;
/** Asks for the spectrum that was chosen; of two questions the later one is drawn. */
async function layOver() {
  const mine = ++asked;
  besideAt.parentElement.hidden = beside.value !== 'date';
  if (besideBearing) besideBearing.parentElement.hidden = beside.value !== 'bearing';
  over = null;
  besideTold.textContent = '';
  const at = besideAt.value.slice(0, 16);
  const address = { baseline: `${own}/spectrum.json?of=baseline`, date: at && `${own}/spectrum.json?at=${encodeURIComponent(at)}`, bearing: besideBearing && `${besideBearing.value}/spectrum.json` }[beside.value];
  if (address) {
    const answer = await fetch(address).catch(() => null);
    const found = answer?.ok ? await answer.json() : null;
    if (mine !== asked) return;
    over = found;
    if (!over) besideTold.textContent = words.missing;
  }
  draw();
  tellOver();
}

/** The cursors of the fields. */
const cursors = () => cursorsOf(positive(fundamental), positive(spacing), lines().df_hz * lines().amplitude.length);

function say(index) {
  const hz = index * lines().df_hz;
  const order = shaftHz() > 0 ? `, ${words.order} ${(hz / shaftHz()).toFixed(2)}` : '';
  const value = lines().amplitude[index];
  if (value === undefined) return;
  const base = positive(fundamental);
  const held = base ? `  |  ${words.harmonics}: ${[1, 2, 3, 4].map((n) => `${n}× ${amplitudeAt(n * base).toPrecision(2)}`).join(', ')}` : '';
  readout.textContent = `${hz.toFixed(1)} Hz${order}: ${value.toPrecision(3)} ${lines().unit}${held}`;
}

function draw() {
  plot?.destroy();
  const { df_hz: df, amplitude, unit } = lines();
  const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } };
  const other = overLines();
  plot = new uPlot({
    width: canvas.clientWidth, height: height(), scales: { x: { time: false } },
    series: [{ label: 'Hz' }, { label: unit, stroke: colour('--link'), width: 1, points: { show: false } }, ...(other ? [{ label: words.beside, stroke: colour('--warning'), width: 1, points: { show: false } }] : [])],
    axes: [{ ...axis, label: 'Hz' }, axis],
    hooks: { draw: [(self) => drawCursors(self, cursors())], setCursor: [(self) => { if (self.cursor.idx !== null) { cursor = self.cursor.idx; say(cursor); } }] },
  }, [amplitude.map((_, index) => index * df), amplitude, ...(other ? [other] : [])], canvas);
  plot.over.addEventListener('click', () => set(cursor * df));
}

function set(hz, pressed = null) {
  fundamental.value = hz ? hz.toFixed(2) : '';
  for (const button of buttons) button.setAttribute('aria-pressed', String(button === pressed));
  // false: the lines stay, the cursors alone are drawn again
  plot?.redraw(false);
  say(Math.round(hz / lines().df_hz));
}

/** A line's own sidebands: the shaft about BPFI, the cage about BSF (Randall and Antoni 2011). */
function setLine(button) {
  const line = button.dataset.line;
  const about = { bpfi: shaftHz(), bsf: event.frequency_domain.ftf.frequency_hz }[line];
  spacing.value = about ? about.toFixed(2) : '';
  set(frequencyOf(line) ?? 0, button);
}

function table() {
  const rows = ['bpfo', 'bpfi', 'bsf', 'ftf'].map((line) => {
    const { frequency_hz: hz, order, snr_db: snr, score } = event.frequency_domain[line];
    const row = document.createElement('tr');
    const head = document.createElement('th');
    head.scope = 'row';
    head.textContent = line.toUpperCase();
    row.append(head);
    for (const [value, digits] of [[hz, 1], [order, 2], [snr, 1], [score, 2]]) {
      const cell = row.insertCell();
      cell.className = 'n';
      cell.textContent = value === null || value === undefined ? '–' : value.toFixed(digits);
    }
    return row;
  });
  figure.querySelector('#lines tbody').replaceChildren(...rows);
}

canvas.addEventListener('keydown', (key) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[key.key];
  if (!plot || (!step && key.key !== 'Enter')) return;
  key.preventDefault();
  if (key.key === 'Enter') { set(cursor * lines().df_hz); return; }
  cursor = Math.min(Math.max(cursor + step, 0), lines().amplitude.length - 1);
  plot.setCursor({ left: plot.valToPos(cursor * lines().df_hz, 'x'), top: 0 });
  say(cursor);
});
for (const button of buttons) button.addEventListener('click', () => setLine(button));
for (const input of [fundamental, spacing]) input.addEventListener('input', () => plot?.redraw(false));
kind.addEventListener('change', () => { draw(); tellOver(); });
for (const input of [beside, besideAt, besideBearing]) input?.addEventListener('change', () => { if (event) layOver(); });
addEventListener('resize', () => plot?.setSize({ width: canvas.clientWidth, height: height() }));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

const answer = await fetch(`${figure.dataset.api}/spectra`);
if (answer.ok) {
  event = await answer.json();
  for (const button of buttons) button.disabled = !frequencyOf(button.dataset.line);
  table();
  draw();
  if (beside.value) layOver();
  const named = { outer_race: 'bpfo', inner_race: 'bpfi', ball: 'bsf', cage: 'ftf' }[event.frequency_domain.dominant_fault];
  const button = buttons.find((one) => one.dataset.line === named);
  if (button && !button.disabled) setLine(button);
} else {
  readout.textContent = words.none;
  beside.disabled = true;
}
