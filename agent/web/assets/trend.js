// The trend of a bearing: one feature over time with its baseline and limit, read by mouse or keys.
/* global uPlot */

import { height, plantDate, plantTime } from './times.js';

const figure = document.querySelector('#trend');
const canvas = figure.querySelector('.canvas');
const readout = figure.querySelector('.readout');
const words = JSON.parse(figure.dataset.words);
const choice = figure.querySelector('select[name=feature]');
const range = figure.querySelector('select[name=range]');
const caption = figure.querySelector('figcaption');
const [told, label] = [caption.textContent, canvas.getAttribute('aria-label')];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

let windows = [];
let plot = null;

function columns(feature) {
  const of = (get) => windows.map((window) => get(window) ?? null);
  const fits = (window) => window.feature === feature;
  return [
    of((window) => Date.parse(window.measured_at) / 1000),
    of((window) => (window.valid && window.running ? window[feature] : null)),
    of((window) => (fits(window) ? window.baseline_level : null)),
    of((window) => (fits(window) ? window.baseline_limit : null)),
  ];
}

function say(index) {
  const window = windows[index];
  if (!window) { readout.textContent = ''; return; }
  const value = window[choice.value];
  const at = plantTime(window.measured_at);
  readout.textContent = `${at}: ${value === null ? '–' : Number(value).toPrecision(3)}  ${words.levels[window.risk_level] ?? ''}`;
}

function draw() {
  plot?.destroy();
  const line = (label, stroke, extra) => ({ label, stroke, width: 1.5, spanGaps: false, ...extra });
  const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } };
  plot = new uPlot({
    width: canvas.clientWidth, height: height(), cursor: { drag: { x: true, y: false } }, tzDate: plantDate,
    series: [{ label: words.time }, line(words.value, colour('--link'), { points: { show: windows.length < 200 } }), line(words.baseline, colour('--normal'), { dash: [6, 4] }), line(words.limit, colour('--warning'), { dash: [2, 3] })],
    axes: [axis, axis],
    hooks: { setCursor: [(self) => { if (self.cursor.idx !== null) say(self.cursor.idx); }] },
  }, columns(choice.value), canvas);
}

let at = 0;
canvas.addEventListener('keydown', (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
  if (!step || !plot) return;
  event.preventDefault();
  at = Math.min(Math.max(at + step, 0), windows.length - 1);
  plot.setCursor({ left: plot.valToPos(plot.data[0][at], 'x'), top: 0 });
  say(at);
});
choice.addEventListener('change', () => load().catch(failed));
range.addEventListener('change', () => load().catch(failed));
// range and feature stand in the address: it is sent to a colleague, and survives a reload
const named = new URLSearchParams(location.hash.slice(1));
for (const field of [range, choice]) {
  const value = named.get(field.name);
  if ([...field.options].some((option) => option.value === value)) field.value = value;
  field.addEventListener('change', () => {
    named.set(field.name, field.value);
    history.replaceState(null, '', `#${named}`);
  });
}
addEventListener('resize', () => plot?.setSize({ width: canvas.clientWidth, height: height() }));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

let asked = 0;
/** Says that the range did not arrive: an old plot would stand for another range. */
function failed() {
  windows = [];
  plot?.destroy();
  plot = null;
  readout.textContent = words.failed;
}

/** Asks for the windows of the chosen range; of two questions the later one is drawn. */
async function load(feature = choice.value) {
  const mine = ++asked;
  const query = new URLSearchParams({ range: range.value });
  if (feature) query.set('feature', feature);
  const answer = await fetch(`${figure.dataset.trend}?${query}`);
  if (mine !== asked) return null;
  if (!answer.ok) { failed(); return null; }
  const trend = await answer.json();
  if (mine !== asked) return null;
  windows = trend.items;
  at = windows.length - 1;
  canvas.setAttribute('aria-label', `${label}: ${trend.windows} ${words.told}`);
  const cut = trend.cut_at ? ` ${words.cut} ${plantTime(trend.cut_at)}` : '';
  const thinned = windows.length < trend.windows ? ` ${words.thinned} ${trend.windows}` : '';
  caption.textContent = `${told}${thinned}${cut}`;
  readout.textContent = '';
  draw();
  return trend;
}

const chosen = named.get('feature') === choice.value;
const first = await load(chosen ? choice.value : '').catch(failed);
if (!chosen && first && [...choice.options].some((option) => option.value === first.limited) && choice.value !== first.limited) {
  choice.value = first.limited;
  draw();
}
