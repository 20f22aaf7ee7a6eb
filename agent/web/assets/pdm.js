// Every page: times in the viewer's zone, printing, live updates.

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
  let state = null; // of the stream, in the tab that has it
  const take = (what) => { if (what === 'changed') changed(); else show(what === 'on'); };
  const tell = (what) => {
    if (what !== 'changed') state = what;
    take(what);
    channel.postMessage(what);
  };
  channel.addEventListener('message', (message) => {
    // a tab that was opened later asks how the stream is
    if (message.data !== 'ask') take(message.data);
    else if (state !== null) channel.postMessage(state);
  });
  channel.postMessage('ask');
  const lead = () => new Promise(() => {
    const stream = new EventSource('/live');
    stream.addEventListener('open', () => tell('on'));
    stream.addEventListener('error', () => tell('off'));
    stream.addEventListener('changed', () => tell('changed'));
  });
  if (navigator.locks) navigator.locks.request('pdm-live', lead);
  else lead();
}

/** Buttons that print the page, where a script can. */
function printing() {
  for (const button of document.querySelectorAll('button[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }
}

localTimes(document);
printing();
if (document.querySelector('main[data-live]')) live();
