// What a browser keeps of its person's work: drafts of reports, reports that could not be sent, work orders.

import { plantTime } from './times.js';

/** Without a network the worker answers: it keeps work orders and reports. A browser without a secure connection
 *  has no such thing. */
async function keeping() {
  const kept = document.querySelector('[data-kept]:not([hidden])');
  if (kept) kept.querySelector('time').textContent = plantTime(kept.dataset.kept);
  const workers = navigator.serviceWorker;
  if (!workers) return;
  const { active } = await workers.register('/worker.js').then(() => workers.ready);
  const place = document.querySelector('#unsent');
  if (!place) return;
  const ask = (what) => active.postMessage({ formKey: place.dataset.key, ...what });
  workers.addEventListener('message', ({ data }) => showUnsent(place, data, ask));
  ask({ send: true });
  addEventListener('online', () => ask({ send: true }));
  setInterval(() => { if (!place.hidden) ask({ send: true }); }, 30_000);
  const orders = [...document.querySelectorAll('.card > .choices a[href^="/work/"]')].map((link) => link.pathname);
  if (orders.length > 0 && !kept && !navigator.connection?.saveData) ask({ keep: ['/work', ...new Set(orders)].slice(0, 11) });
}

/** The reports that wait on this phone, each with what it says and why it was refused. */
function showUnsent(place, { sent, left }, ask) {
  place.hidden = sent === 0 && left.length === 0;
  place.querySelector('p').textContent = [sent > 0 ? `${place.dataset.sent} ${sent}` : '', left.length > 0 ? `${place.dataset.waiting} ${left.length}` : ''].join(' ').trim();
  place.querySelector('ul').replaceChildren(...left.map((report) => {
    const fields = new URLSearchParams(report.body);
    for (const form of document.querySelectorAll('form.act:has([name=about])')) {
      if (form.getAttribute('action') === report.path) forget(form); // it waits, and is no draft any more
    }
    const entry = document.createElement('li');
    const line = document.createElement('p');
    line.textContent = [fields.get('about'), plantTime(report.at), fields.get('note')].filter(Boolean).join(' · ');
    entry.append(line);
    if (report.refused) {
      const why = document.createElement('p');
      why.className = 'bad';
      why.textContent = `${place.dataset.refused} ${new DOMParser().parseFromString(report.refused, 'text/html').body.textContent}`;
      entry.append(why);
    }
    const drop = document.createElement('button');
    drop.textContent = place.dataset.drop;
    drop.addEventListener('click', () => { if (confirm(place.dataset.sure)) ask({ drop: report.id }); });
    entry.append(drop);
    return entry;
  }));
}

const DRAFT = 'pdm-draft-';
const LONGEST_DRAFT_MS = 7 * 86_400_000;
/** A form whose words are not to be lost: where it goes to, and who writes. */
const draftOf = (form) => `${DRAFT}${form.querySelector('[name=written_by]')?.value}-${form.getAttribute('action')}-${form.querySelector('[name=number]')?.value ?? ''}`;

/** What is written in a report stays over a reload and a login, until it is recorded or taken out. */
function drafting() {
  const recorded = document.querySelector('#recorded')?.dataset.about;
  for (const name of Object.keys(localStorage).filter((one) => one.startsWith(DRAFT))) {
    const { about, at } = JSON.parse(localStorage.getItem(name));
    if (about.split(':')[0] === recorded || Date.now() - at > LONGEST_DRAFT_MS) localStorage.removeItem(name);
  }
  for (const form of document.querySelectorAll('form.act:has([name=about])')) {
    const fields = () => [...form.querySelectorAll('input:not([type=hidden]), select, textarea')];
    const value = (field) => (['radio', 'checkbox'].includes(field.type) ? field.checked : field.value);
    const kept = JSON.parse(localStorage.getItem(draftOf(form)));
    if (kept) restore(form, fields(), kept.values);
    form.addEventListener('input', () => {
      const draft = { about: form.querySelector('[name=about]').value, at: Date.now(), values: fields().map(value) };
      localStorage.setItem(draftOf(form), JSON.stringify(draft));
    });
  }
}

/** Puts a draft into its form and says so. */
function restore(form, fields, values) {
  if (fields.length !== values.length) return; // a form of another version
  fields.forEach((field, at) => {
    if (typeof values[at] === 'boolean') field.checked = values[at];
    else field.value = values[at];
  });
  const note = form.querySelector('[data-draft]');
  note.hidden = false;
  form.closest('details')?.setAttribute('open', '');
  note.querySelector('button').addEventListener('click', () => forget(form));
}

function forget(form) {
  localStorage.removeItem(draftOf(form));
  form.reset();
  form.querySelector('[data-draft]').hidden = true;
}

drafting();
keeping().catch(() => {});
