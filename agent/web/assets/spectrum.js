// The last spectrum of a bearing with harmonic and sideband cursors.
/* global uPlot */

const figure = document.querySelector('#spectrum');
const canvas = figure.querySelector('.canvas');
const readout = figure.querySelector('.readout');
const words = JSON.parse(figure.dataset.words);
const kind = figure.querySelector('select[name=kind]');
const fundamental = figure.querySelector('input[name=fundamental]');
const spacing = figure.querySelector('input[name=spacing]');
const buttons = [...figure.querySelectorAll('button[data-line]')];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const HARMONICS = 10;
const SIDEBANDS = 3;
let event = null;
let plot = null;
let cursor = 0;

const shaftHz = () => (event.operating.shaft_speed_rpm ?? 0) / 60;
const frequencyOf = (line) => (line === 'shaft' ? shaftHz() : event.frequency_domain[line].frequency_hz);
const lines = () => event.spectra[kind.value];
const positive = (input) => { const value = Number(input.value); return value > 0 ? value : null; };

/** The amplitude at a frequency: the highest of the three nearest lines. */
function amplitudeAt(hz) {
  const { df_hz: df, amplitude } = lines();
  const middle = Math.round(hz / df);
  return Math.max(...amplitude.slice(Math.max(middle - 1, 0), middle + 2), 0);
}

/** The cursors: harmonics of the fundamental, and sidebands about each. */
function cursors() {
  const base = positive(fundamental);
  if (!base) return [];
  const apart = positive(spacing);
  const end = lines().df_hz * lines().amplitude.length;
  const found = [];
  for (let n = 1; n <= HARMONICS && n * base < end; n += 1) {
    found.push({ hz: n * base, side: false });
    for (let k = 1; apart && k <= SIDEBANDS; k += 1) {
      for (const hz of [n * base - k * apart, n * base + k * apart]) {
        if (hz > 0 && hz < end) found.push({ hz, side: true });
      }
    }
  }
  return found;
}

function drawCursors(self) {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  for (const { hz, side } of cursors()) {
    const x = self.valToPos(hz, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = colour(side ? '--watch' : '--critical');
    ctx.setLineDash(side ? [2, 4] : [6, 4]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

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
  plot = new uPlot({
    width: canvas.clientWidth, height: 288, scales: { x: { time: false } },
    series: [{ label: 'Hz' }, { label: unit, stroke: colour('--link'), width: 1, points: { show: false } }],
    axes: [{ ...axis, label: 'Hz' }, axis],
    hooks: { draw: [drawCursors], setCursor: [(self) => { if (self.cursor.idx !== null) { cursor = self.cursor.idx; say(cursor); } }] },
  }, [amplitude.map((_, index) => index * df), amplitude], canvas);
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
kind.addEventListener('change', draw);
addEventListener('resize', () => plot?.setSize({ width: canvas.clientWidth, height: 288 }));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);

const answer = await fetch(`${figure.dataset.api}/spectra`);
if (answer.ok) {
  event = await answer.json();
  for (const button of buttons) button.disabled = !frequencyOf(button.dataset.line);
  table();
  draw();
  const named = { outer_race: 'bpfo', inner_race: 'bpfi', ball: 'bsf', cage: 'ftf' }[event.frequency_domain.dominant_fault];
  const button = buttons.find((one) => one.dataset.line === named);
  if (button && !button.disabled) setLine(button);
} else {
  readout.textContent = words.none;
}
