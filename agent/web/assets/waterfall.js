// The last envelope spectra of a bearing beside each other: time downwards, frequency to the right, the
// amplitude as strength of the colour (dB below the highest line).

import { plantTime } from './times.js';

const figure = document.querySelector('#waterfall');
const canvas = figure.querySelector('canvas');
const box = figure.querySelector('.canvas');
const readout = figure.querySelector('.readout');
const words = JSON.parse(figure.dataset.words);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What is weaker than the highest line by more than this has the colour of the paper, dB. */
const RANGE_DB = 40;
let rows = [];
let at = { row: 0, line: 0 };

/** The highest frequency that every spectrum has. */
const end = () => Math.min(...rows.map(({ envelope: { df_hz: df, amplitude } }) => df * amplitude.length));
const amplitudeAt = ({ envelope: { df_hz: df, amplitude } }, hz) => amplitude[Math.min(Math.round(hz / df), amplitude.length - 1)];

/** The parts of a colour of the theme, 0–255. */
function parts(name) {
  const one = document.createElement('canvas').getContext('2d');
  one.fillStyle = colour(name);
  one.fillRect(0, 0, 1, 1);
  return one.getImageData(0, 0, 1, 1).data;
}

function draw() {
  const width = Math.max(...rows.map(({ envelope }) => envelope.amplitude.length));
  canvas.width = width;
  canvas.height = rows.length;
  const context = canvas.getContext('2d');
  const image = context.createImageData(width, rows.length);
  const highestHz = end();
  const [weak, strong] = [parts('--raised'), parts('--link')];
  const highest = Math.max(...rows.flatMap(({ envelope }) => envelope.amplitude.slice(1)), Number.MIN_VALUE);
  rows.forEach((row, y) => {
    for (let x = 0; x < width; x += 1) {
      const value = amplitudeAt(row, (x * highestHz) / width);
      const db = 20 * Math.log10(Math.max(value, 1e-12) / highest);
      const share = Math.min(Math.max(1 + db / RANGE_DB, 0), 1);
      for (let part = 0; part < 3; part += 1) {
        image.data[4 * (y * width + x) + part] = weak[part] + share * (strong[part] - weak[part]);
      }
      image.data[4 * (y * width + x) + 3] = 255;
    }
  });
  context.putImageData(image, 0, 0);
}

function say() {
  const row = rows[at.row];
  if (!row) return;
  const hz = at.line * row.envelope.df_hz;
  const time = plantTime(row.measured_at);
  const value = row.envelope.amplitude[at.line];
  readout.textContent = `${time}: ${hz.toFixed(1)} Hz, ${(value ?? 0).toPrecision(3)} ${row.envelope.unit}`;
}

function table() {
  const lines = rows.map((row) => {
    const { df_hz: df, amplitude } = row.envelope;
    let line = 1;
    amplitude.forEach((value, index) => { if (index > 0 && value > amplitude[line]) line = index; });
    const shown = document.createElement('tr');
    const head = document.createElement('th');
    head.scope = 'row';
    head.textContent = plantTime(row.measured_at);
    shown.append(head);
    for (const text of [(line * df).toFixed(1), (amplitude[line] ?? 0).toPrecision(3)]) {
      const cell = shown.insertCell();
      cell.className = 'n';
      cell.textContent = text;
    }
    return shown;
  });
  figure.querySelector('tbody').replaceChildren(...lines);
}

box.addEventListener('keydown', (key) => {
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [0, -20], PageDown: [0, 20] }[key.key] ?? [0, 0];
  if (rows.length === 0 || (down === 0 && right === 0)) return;
  key.preventDefault();
  at.row = Math.min(Math.max(at.row + down, 0), rows.length - 1);
  at.line = Math.min(Math.max(at.line + right, 0), rows[at.row].envelope.amplitude.length - 1);
  say();
});
canvas.addEventListener('pointermove', (event) => {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  if (rows.length === 0) return;
  at.row = Math.min(Math.max(Math.floor(((event.clientY - top) / height) * rows.length), 0), rows.length - 1);
  at.line = Math.max(Math.round(((event.clientX - left) / width) * (end() / rows[at.row].envelope.df_hz)), 0);
  say();
});

const answer = await fetch(`${figure.dataset.api}/waterfall`);
if (answer.ok) rows = (await answer.json()).items;
if (rows.length > 0) {
  const [from, to] = [rows.at(-1), rows[0]].map((row) => plantTime(row.measured_at));
  box.setAttribute('aria-label', `${box.getAttribute('aria-label')}: ${rows.length}, 0–${end().toFixed(0)} Hz, ${to} – ${from}`);
  table();
  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
} else {
  readout.textContent = words.none;
}
