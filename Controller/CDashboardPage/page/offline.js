// Stores the page's files in the browser, so that an installed page opens while the daemon cannot be reached.

/** The time in ms after the start of the page, for requests of the user to come first. */
const REST = 3000;

/** Browsers allow this only over HTTPS and on the daemon's own machine. */
export async function startOffline() {
  if (!window.isSecureContext || !navigator.serviceWorker) return;
  await new Promise((done) => setTimeout(done, REST));
  try {
    await navigator.serviceWorker.register("/offline-worker.js");
    const own = performance.getEntriesByType("resource").map(({ name }) => new URL(name))
      .filter(({ origin, pathname }) => origin === location.origin && !pathname.startsWith("/api/"));
    const paths = new Set(["/", ...own.map(({ pathname }) => pathname)]);
    // The browser has just loaded these files, so it need not request them again.
    await (await caches.open("page")).addAll([...paths].map((path) => new Request(path, { cache: "force-cache" })));
  } catch { /* Without storage, the page opens only while the daemon can be reached. */ }
}
