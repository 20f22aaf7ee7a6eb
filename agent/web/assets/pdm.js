// Every page: printing, live updates.

import './kept.js';

/** The lists of a part of the page that stand in no other list: their entries change, the rest seldom does. */
const listsOf = (root) => [...root.querySelectorAll('tbody, ul')].filter((list) => !list.parentElement.closest('tbody, ul'));

const told = new WeakMap(); // of each entry, the text that the server told it in
let around = ''; // the text of the page without the entries of its lists

/** Takes the entries out of the lists of `root`, and notes what the server told. */
function taken(root) {
  const lists = listsOf(root).map((list) => {
    const entries = [...list.children];
    for (const entry of entries) told.set(entry, entry.outerHTML);
    list.replaceChildren();
    return entries;
  });
  return { lists, rest: root.innerHTML };
}

/** Makes the entries of `list` those of `fresh`. One that the server tells as before stays the element that it
 *  is: it is not laid out again, and a selection, an opened detail and a reader's place in it stay. */
function exchange(list, fresh) {
  const known = new Map([...list.children].map((entry) => [told.get(entry), entry]));
  const wanted = fresh.map((entry) => {
    const text = told.get(entry);
    const same = known.get(text) ?? entry;
    known.delete(text); // an entry stands once, however often it is told
    return same;
  });
  const kept = new Set(wanted);
  for (const entry of [...list.children]) if (!kept.has(entry)) entry.remove();
  let at = list.firstElementChild;
  for (const entry of wanted) {
    if (entry === at) at = at.nextElementSibling;
    else list.insertBefore(entry, at);
  }
}

/** Notes what the server told of the page as it was loaded. */
function learn(main) {
  for (const list of listsOf(main)) for (const entry of list.children) told.set(entry, entry.outerHTML);
  around = taken(main.cloneNode(true)).rest;
}

/** Fetches this page again and puts what has changed in place, unless somebody is typing in it. */
async function refresh() {
  const main = document.querySelector('main[data-live]');
  const isBusy = () => document.hidden || main.contains(document.activeElement);
  if (!main || isBusy()) return;
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!answer.ok || answer.redirected) return;
  const text = await answer.text();
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  if (!next || isBusy()) return;
  const { lists, rest } = taken(next);
  if (rest === around) {
    listsOf(main).forEach((list, number) => exchange(list, lists[number]));
    return;
  }
  around = rest;
  listsOf(next).forEach((list, number) => list.append(...lists[number]));
  const isFinding = main.querySelector('details.find')?.open;
  main.replaceChildren(...next.childNodes);
  unfold();
  if (isFinding) main.querySelector('details.find')?.setAttribute('open', '');
}

/** Where there is room, search and further filters stand open. */
function unfold() {
  if (innerWidth > 640 && innerHeight > 480) for (const fold of document.querySelectorAll('details.fold, details.find')) fold.open = true;
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

/** Ticks of a list stay on this phone until the list is done elsewhere: a dark pocket does not lose them. */
function ticking() {
  for (const list of document.querySelectorAll('[data-ticks]')) {
    const name = `pdm-ticks-${list.dataset.ticks}`;
    const boxes = [...list.querySelectorAll('input[type=checkbox]')];
    const kept = new Set((localStorage.getItem(name) ?? '').split(','));
    boxes.forEach((box, number) => { box.checked = kept.has(String(number)); });
    list.addEventListener('change', () => {
      localStorage.setItem(name, boxes.flatMap((box, number) => (box.checked ? [number] : [])).join(','));
    });
  }
}

const MOST_PHOTO = 12 * 1024 * 1024;
const MOST_PHOTOS = 40 * 1024 * 1024;
/** Says that photos are too large before they are sent over a slow line. */
function sizing() {
  for (const form of document.querySelectorAll('form[data-too-large]')) {
    form.addEventListener('submit', (event) => {
      const sizes = [...form.querySelector('input[type=file]').files].map((file) => file.size);
      const most = form.dataset.most ? form.dataset.most * 1024 * 1024 : MOST_PHOTO;
      const fits = sizes.every((size) => size <= most) && sizes.reduce((sum, size) => sum + size, 0) <= Math.max(most, MOST_PHOTOS);
      form.querySelector('output').textContent = fits ? '' : form.dataset.tooLarge;
      if (!fits) event.preventDefault();
    });
  }
}

/** A button that chooses every entry of a list's form, and none where all are chosen. */
function choosing() {
  for (const button of document.querySelectorAll('button[data-choose-all]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const boxes = [...document.querySelectorAll(`input[type=checkbox][form=${button.dataset.chooseAll}]`)];
      const all = boxes.every((box) => box.checked);
      for (const box of boxes) box.checked = !all;
    });
  }
}

printing();
choosing();
ticking();
sizing();
const main = document.querySelector('main[data-live]');
if (main) {
  live();
  setTimeout(learn, 0, main); // in a task of its own, after the page is shown
}
setTimeout(unfold, 0); // after it was learned what the server told

/** What waits for a gateway is asked after every three seconds; the part of the page that shows it changes with it. */
async function awaitAnswers() {
  const waiting = document.hidden ? [] : [...document.querySelectorAll('[data-waits]')];
  for (const one of waiting) await awaitAnswer(one, one.closest('section'));
  if (document.hidden || waiting.length > 0) setTimeout(awaitAnswers, 3000);
}

async function awaitAnswer(waiting, part) {
  const answer = part ? await fetch(waiting.dataset.waits).catch(() => null) : null;
  const told = answer?.ok ? await answer.json() : null;
  if (!told || told.state === waiting.dataset.state || part.contains(document.activeElement)) return;
  const page = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => null);
  const text = page?.ok ? await page.text() : '';
  const fresh = new DOMParser().parseFromString(text, 'text/html').getElementById(part.id);
  if (fresh) part.replaceChildren(...fresh.childNodes);
}
awaitAnswers();
