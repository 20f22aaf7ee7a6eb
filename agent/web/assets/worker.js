// Answers for the server while it cannot be reached: one page that says so. Nothing of the plant is kept.
const KEPT = 'pdm-offline-1';
const PAGE = '/offline';

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(KEPT).then((cache) => cache.add(PAGE)).then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== KEPT).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => self.clients.claim()));
});
self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return; // the browser asks for everything else itself
  event.respondWith(fetch(event.request).catch(() => caches.match(PAGE)));
});
