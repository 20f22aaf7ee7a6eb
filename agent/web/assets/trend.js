// The trend of a bearing: one feature over time with its baseline and limit, read by mouse or keys.
/* global uPlot */

import { named, remember } from './address.js';
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
let marks = []; // what happened to the bearing: alarms, acknowledgements, reports, notes
let plot = null;

const MARKS = { alarm: ['▲', '--critical'], acknowledged: ['✓', '--soft'], report: ['■', '--normal'], note: ['●', '--link'] };
const secondsOf = (mark) => Date.parse(mark.at) / 1000;

/** Draws each mark as a line with its sign at the top: told by its shape, not by its colour alone. */
function drawMarks(self) {
  const { ctx, bbox } = self;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.font = `${12 * ratio}px sans-serif`;
  ctx.textAlign = 'center';
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  for (const mark of marks) {
    const x = self.valToPos(secondsOf(mark), 'x', true);
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
    const [sign, name] = MARKS[mark.kind];
    ctx.strokeStyle = ctx.fillStyle = colour(name);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + 14 * ratio);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(sign, x, bbox.top + 12 * ratio);
  }
  ctx.restore();
}

/** The mark beside a place of the plot, within the width of a finger. */
function markNear(index) {
  if (!plot || !marks.length) return null;
  const left = (seconds) => plot.valToPos(seconds, 'x');
  const here = left(plot.data[0][index]);
  const [best] = [...marks].sort((a, b) => Math.abs(left(secondsOf(a)) - here) - Math.abs(left(secondsOf(b)) - here));
  return Math.abs(left(secondsOf(best)) - here) <= 12 ? best : null;
}

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
  const mark = markNear(index);
  if (mark) readout.textContent += `  |  ${MARKS[mark.kind][0]} ${words.marks[mark.kind]} ${plantTime(mark.at)}: ${mark.text}`;
}

/** What happened after the last measurement stands in the plot as well. */
function withMarks(self, from, to) {
  const end = self.data[0].at(-1);
  return [from, to >= end ? Math.max(to, ...marks.map(secondsOf)) : to];
}

/** The places of the time axis as the pages write times: the hour, with the day where it begins; days over longer ranges. */
function times(self, splits, axis, space, step) {
  let before = '';
  return splits.map((seconds) => {
    const [day, clock] = plantTime(seconds * 1000).split(' ');
    const isNew = day !== before;
    before = day;
    if (step >= 86400) return splits.at(-1) - splits[0] > 300 * 86400 ? day.slice(0, 7) : day.slice(5);
    return isNew ? `${clock.slice(0, 5)}\n${day.slice(5)}` : clock.slice(0, 5);
  });
}

function draw() {
  plot?.destroy();
  const line = (label, stroke, extra) => ({ label, stroke, width: 1.5, spanGaps: false, ...extra });
  const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } };
  plot = new uPlot({
    width: canvas.clientWidth, height: height(), cursor: { drag: { x: true, y: false } }, tzDate: plantDate, scales: { x: { range: withMarks } },
    series: [{ label: words.time, value: (self, seconds) => (seconds === null ? '–' : plantTime(seconds * 1000)) }, line(words.value, colour('--link'), { points: { show: windows.length < 200 } }), line(words.baseline, colour('--normal'), { dash: [6, 4] }), line(words.limit, colour('--warning'), { dash: [2, 3] })],
    axes: [{ ...axis, values: times }, axis],
    hooks: { draw: [drawMarks], setCursor: [(self) => { if (self.cursor.idx !== null) say(self.cursor.idx); }] },
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
for (const field of [range, choice]) remember(field);
addEventListener('resize', () => plot?.setSize({ width: canvas.clientWidth, height: height() }));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

let asked = 0;
/** Says that the range did not arrive: an old plot would stand for another range. */
function failed() {
  windows = [];
  marks = [];
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
  marks = trend.marks;
  at = windows.length - 1;
  canvas.setAttribute('aria-label', `${label}: ${trend.windows} ${words.told}`);
  const cut = trend.cut_at ? ` ${words.cut} ${plantTime(trend.cut_at)}` : '';
  const thinned = windows.length < trend.windows ? ` ${words.thinned} ${trend.windows}` : '';
  caption.textContent = `${told}${thinned}${cut}`;
  readout.textContent = '';
  draw();
  return trend;
}

const chosen = named('feature') === choice.value;
const first = await load(chosen ? choice.value : '').catch(failed);
if (!chosen && first && [...choice.options].some((option) => option.value === first.limited) && choice.value !== first.limited) {
  choice.value = first.limited;
  draw();
}
