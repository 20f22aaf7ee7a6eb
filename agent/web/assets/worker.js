// Answers for the server while it cannot be reached. It keeps the work orders that were opened last, and reports
// that could not be sent; the log-out takes the work orders away. Everything else is said to be lost.
const PAGE = '/offline';
const SHELL = `pdm-offline-${FOLDER}`; // FOLDER is the first line, put before this file: the assets of the version
const ASSETS = 'pdm-assets';
const WORK = 'pdm-work';
const MOST_ORDERS = 20;
const MOST_ASSETS = 40;
const LONGEST_MS = 30 * 86_400_000;
const ORDER = /^\/work(\/[0-9a-f-]{36})?$/;
const REPORT = /^\/work\/[0-9a-f-]{36}$|^\/(bearings|episodes)\/.+\/found$/;
// a proxy answers for a server that is away; 503 is the agent's own, whose page tells more
const AWAY = [502, 504];

self.addEventListener('install', (event) => {
  const files = [PAGE, ...['pdm.css', 'pdm.js', 'kept.js', 'times.js'].map((name) => `${FOLDER}/${name}`)];
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(files)).then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => {
  const ours = [SHELL, ASSETS, WORK];
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => !ours.includes(name)).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => self.clients.claim()));
});
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.mode === 'navigate') event.respondWith(request.method === 'GET' ? opened(event, url) : sent(request, url));
  else if (url.pathname.startsWith('/assets/')) event.respondWith(asset(request));
});

/** An asset never changes under its address. */
async function asset(request) {
  const kept = await caches.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await bounded(ASSETS, MOST_ASSETS, request, answer.clone()).catch(() => {});
  return answer;
}

/** Puts an answer into a cache and takes the oldest out. */
async function bounded(name, most, key, answer) {
  const cache = await caches.open(name);
  await cache.delete(key); // the order of the keys is that of their writing
  await cache.put(key, answer);
  const keys = await cache.keys();
  await Promise.all(keys.slice(0, Math.max(0, keys.length - most)).map((old) => cache.delete(old)));
}

async function opened(event, url) {
  const answer = await fetch(event.request).catch(() => null);
  if (answer && !AWAY.includes(answer.status)) {
    if (answer.ok && url.search === '' && ORDER.test(url.pathname)) event.waitUntil(keep(url.pathname, answer.clone()));
    return answer;
  }
  return (await keptPage(url.pathname)) ?? offline('');
}

async function keep(path, answer) {
  const headers = new Headers(answer.headers);
  for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  headers.set('pdm-kept-at', new Date().toISOString());
  await bounded(WORK, MOST_ORDERS + 1, path, new Response(await answer.text(), { headers })).catch(() => {});
}

/** The kept work orders that are not too old, the list first. */
async function orders() {
  const cache = await caches.open(WORK);
  const all = await Promise.all((await cache.keys()).map(async (key) => ({ path: new URL(key.url).pathname, answer: await cache.match(key) })));
  const found = all.map((one) => ({ ...one, at: one.answer.headers.get('pdm-kept-at') })).filter((one) => Date.now() - Date.parse(one.at) < LONGEST_MS);
  return found.sort((a, b) => a.path.length - b.path.length || b.at.localeCompare(a.at));
}

/** A kept page, which says since when it is kept. */
async function keptPage(path) {
  const one = (await orders()).find((order) => order.path === path);
  if (!one) return null;
  const text = (await one.answer.text()).replace('hidden data-kept', `data-kept="${one.at}"`);
  return new Response(text, { headers: one.answer.headers });
}

/** The page without a network: which work orders are kept, and what became of what was sent. */
async function offline(what) {
  const page = await (await caches.match(PAGE)).text();
  const links = await Promise.all((await orders()).map(async (one) => {
    const head = /<h1>(.*?)<\/h1>/s.exec(await one.answer.text())?.[1].replace(/<[^>]*>/g, ' ') ?? one.path; // the page's own text, escaped there
    return `<li><a class="tap" href="${one.path}">${head}</a></li>`;
  }));
  let text = page.replace('<!--orders-->', links.join(''));
  if (links.length > 0) text = text.replaceAll('hidden data-when="orders"', '');
  else text = text.replaceAll('hidden data-when="nothing"', '');
  if (what !== '') text = text.replaceAll(`hidden data-when="${what}"`, '');
  return new Response(text, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

async function sent(request, url) {
  const body = REPORT.test(url.pathname) ? await request.clone().text() : null;
  const answer = await fetch(request).catch(() => null);
  const isTaken = answer && !AWAY.includes(answer.status) && !(body !== null && answer.status === 503);
  if (isTaken) {
    if (['/login', '/logout'].includes(url.pathname)) await caches.delete(WORK);
    return answer;
  }
  if (body === null) return offline('lost');
  const report = { id: crypto.randomUUID(), path: url.pathname, body, at: new Date().toISOString() };
  return reports('readwrite', (store) => store.put(report)).then(() => offline('kept'), () => offline('lost'));
}

/** Reports that wait, in the browser's database. */
function reports(mode, act) {
  return new Promise((resolve, reject) => {
    const open = indexedDB.open('pdm-reports', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('reports', { keyPath: 'id' });
    open.onerror = () => reject(open.error);
    open.onsuccess = () => {
      const change = open.result.transaction('reports', mode);
      const asked = act(change.objectStore('reports'));
      change.oncomplete = () => { open.result.close(); resolve(asked.result); };
      change.onabort = () => { open.result.close(); reject(change.error); };
    };
  });
}

self.addEventListener('message', (event) => event.waitUntil(told(event.data, event.source)));

/** What a page asks for: to send what waits under its own login, to take a report out, to keep work orders. */
async function told(asked, page) {
  if (asked.keep) await keepAll(asked.keep);
  if (asked.drop) await reports('readwrite', (store) => store.delete(asked.drop));
  let count = 0;
  const waiting = (await reports('readonly', (store) => store.getAll())).sort((a, b) => a.at.localeCompare(b.at));
  for (const report of asked.send ? waiting : []) {
    const end = await send(report, asked.formKey);
    if (end === 'away') break;
    if (end === 'sent') count += 1;
    const changed = end === 'sent' ? (store) => store.delete(report.id) : (store) => store.put({ ...report, refused: end });
    await reports('readwrite', changed);
  }
  const left = (await reports('readonly', (store) => store.getAll())).sort((a, b) => a.at.localeCompare(b.at));
  page?.postMessage({ sent: count, left: left.map(({ id, path, body, at, refused }) => ({ id, path, body, at, refused })) });
}

/** Sends a report with the key of the login of now; a report that has come already has the same identity. */
async function send(report, formKey) {
  const body = new URLSearchParams(report.body);
  body.set('form_key', formKey);
  body.set('written_at', report.at);
  const answer = await fetch(report.path, { method: 'POST', body }).catch(() => null);
  if (!answer || answer.status >= 500) return 'away';
  const to = new URL(answer.url);
  if (to.searchParams.has('recorded')) return 'sent';
  if (to.pathname === '/login' || answer.status === 401) return 'away';
  const detail = /<p data-detail[^>]*>(.*?)<\/p>/s.exec(await answer.text())?.[1];
  return detail ?? String(answer.status);
}

/** Keeps work orders before they are needed; one that was kept in the last ten minutes is new enough. */
async function keepAll(paths) {
  const fresh = (await orders()).filter((one) => Date.now() - Date.parse(one.at) < 600_000).map((one) => one.path);
  for (const path of paths.filter((one) => ORDER.test(one) && !fresh.includes(one)).slice(0, MOST_ORDERS)) {
    const answer = await fetch(path).catch(() => null);
    if (!answer) return;
    if (answer.ok && !answer.redirected) await keep(path, answer);
  }
}
