// A service worker: what is asked of the network is kept for when there is none. The rest of the page is kept at once.

/** @type {string[]} */
const FILES = []; // filled in when the page is bundled
const KEPT = 'teewire';

const worker = /** @type {import('./types.js').OfflineWorker} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', (event) => {
  // A site may lack one, such as view.html where index.html is the viewer.
  event.waitUntil(
    caches
      .open(KEPT)
      .then((kept) => Promise.allSettled(FILES.map((name) => kept.add(name))))
      .then(() => worker.skipWaiting()),
  );
});
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const folder = new URL('./', worker.location.href).href;
  const name = request.url.startsWith(folder) ? request.url.slice(folder.length).replace(/[?#].*/, '') || 'index.html' : '';
  if (request.method !== 'GET' || !FILES.includes(name)) return;
  event.respondWith(
    fetch(request).then(
      async (answer) => {
        if (answer.ok && answer.status === 200) await (await caches.open(KEPT)).put(name, answer.clone());
        return answer;
      },
      async (error) => {
        const kept = await caches.match(name);
        if (kept === undefined) throw error;
        return kept;
      },
    ),
  );
});
