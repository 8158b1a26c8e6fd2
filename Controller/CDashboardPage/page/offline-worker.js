// The service worker: answers requests for the page's files from the browser's storage while the daemon cannot be
// reached. Requests to the API always go to the daemon. It also shows notifications.

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

// A notification of the daemon, which the push service delivers also while the page is closed.
addEventListener("push", (event) => {
  const { title, body, path, tag } = event.data.json();
  event.waitUntil(registration.showNotification(title, { body, tag, icon: "/icon.svg", data: path }));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(showPage(event.notification.data));
});

/** Shows the open page, which has the notification, or opens the page at a path. */
async function showPage(path) {
  const [page] = await clients.matchAll({ type: "window", includeUncontrolled: true });
  return page === undefined ? clients.openWindow(path) : page.focus();
}
