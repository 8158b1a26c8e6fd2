// The service worker: answers requests for the page's files from the browser's storage while the daemon cannot be
// reached. Requests to the API always go to the daemon.

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || pathname.startsWith("/api/")) return;
  event.respondWith(fetch(request).catch(async (error) => {
    const stored = await caches.match(request, { ignoreSearch: true, ignoreVary: true });
    if (stored) return stored;
    throw error;
  }));
});
