// Harmonic and sideband cursors of a spectrum.

const HARMONICS = 10;
const SIDEBANDS = 3;

/** A colour of the style. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The number of a field, if it is above 0. */
export const positive = (input) => { const value = Number(input.value); return value > 0 ? value : null; };

/** The cursors up to an end: harmonics of a fundamental, and sidebands about each. */
export function cursorsOf(base, apart, end) {
  if (!base) return [];
  const found = [];
  for (let n = 1; n <= HARMONICS && n * base < end; n += 1) {
    found.push({ at: n * base, side: false });
    for (let k = 1; apart && k <= SIDEBANDS; k += 1) {
      for (const at of [n * base - k * apart, n * base + k * apart]) {
        if (at > 0 && at < end) found.push({ at, side: true });
      }
    }
  }
  return found;
}

/** Draws cursors over a plot. */
export function drawCursors(self, cursors) {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  for (const { at, side } of cursors) {
    const x = self.valToPos(at, 'x', true);
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
