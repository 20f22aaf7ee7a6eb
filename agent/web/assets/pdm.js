// Every page: times in the viewer's zone, the filter of long tables, live updates.

/** Shows the times of `root` in the viewer's zone; the plant's own (UTC) stays in the title. */
function localTimes(root) {
  const form = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'short', timeStyle: 'medium' });
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.title = element.dateTime;
    element.textContent = form.format(at);
  }
}

/** Hides the rows that do not hold the text of a filter. */
function filters(root) {
  for (const input of root.querySelectorAll('input[data-filter]')) {
    input.closest('[hidden]')?.removeAttribute('hidden');
    const apply = () => {
      const text = input.value.trim().toLowerCase();
      sessionStorage.setItem('filter', text);
      for (const row of document.querySelectorAll(`${input.dataset.filter} tbody tr`)) {
        row.hidden = text !== '' && !row.textContent.toLowerCase().includes(text);
      }
    };
    input.value = sessionStorage.getItem('filter') ?? '';
    input.addEventListener('input', apply);
    apply();
  }
}

/** Fetches this page again and puts its content in place, unless somebody is typing in it. */
async function refresh() {
  const main = document.querySelector('main[data-live]');
  if (!main || document.hidden || main.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!answer.ok || answer.redirected) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = page.querySelector('main');
  if (!next) return;
  main.replaceChildren(...next.childNodes);
  localTimes(main);
  filters(main);
}

const REFRESH_MS = 2000;
let waiting = false;
/** At most one refresh in two seconds, the last change included. */
function changed() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => { waiting = false; refresh().catch(() => {}); }, REFRESH_MS);
}

/** One stream for all tabs of a browser: the tab that holds the lock has it and tells the others. */
function live() {
  const told = document.querySelector('#live');
  const channel = new BroadcastChannel('pdm-live');
  const show = (on) => { told.textContent = on ? told.dataset.on : told.dataset.off; };
  const take = (what) => { if (what === 'changed') changed(); else show(what === 'on'); };
  channel.addEventListener('message', (message) => take(message.data));
  const tell = (what) => { take(what); channel.postMessage(what); };
  const lead = () => new Promise(() => {
    const stream = new EventSource('/live');
    stream.addEventListener('open', () => tell('on'));
    stream.addEventListener('error', () => tell('off'));
    stream.addEventListener('changed', () => tell('changed'));
  });
  if (navigator.locks) navigator.locks.request('pdm-live', lead);
  else lead();
}

localTimes(document);
filters(document);
if (document.querySelector('main[data-live]')) live();
