// Times on the plant's clock, whose zone the page states: the browser's own zone does not matter.

const zone = document.documentElement.dataset.zone;
// Swedish writes a time as the pages do: 2026-11-27 17:30:05
const form = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });

/** The height of a plot: on a wide screen it has the room. */
export const height = () => (innerWidth >= 1920 ? 416 : 288);

/** A time as people of the plant read it. */
export const plantTime = (at) => form.format(new Date(at));

/** The same instant as a date whose own parts are those of the plant's clock, for the axis of a plot. */
export const plantDate = (seconds) => new Date(plantTime(seconds * 1000).replace(' ', 'T'));
