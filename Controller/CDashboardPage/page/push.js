// The switch for notifications of rules and of the budget on this device, which also arrive while the page is closed.

import { Fault, attempt, get, post, remove } from "./api.js";
import { make, setAttribute, setText } from "./dom.js";
import { hear } from "./house.js";
import { phrase } from "./language.js";
import { session } from "./rights.js";

/** Encodes bytes in base64url, as the daemon does. */
const encoded = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Subscribes with the daemon's key, and reports the subscription to the daemon. Returns its id. */
async function subscribe(manager) {
  const { key } = await get("push");
  let subscription = await manager.getSubscription();
  // The daemon has a new key if its files were lost.
  if (subscription !== null && encoded(subscription.options.applicationServerKey) !== key) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys: { p256dh, auth } } = subscription.toJSON();
  return (await post("push/subscriptions", { endpoint, p256dh, auth })).id;
}

/** Ends the subscription, first at the push service, so that it also ends if the daemon cannot be reached. */
async function unsubscribe(manager, id) {
  await (await manager.getSubscription())?.unsubscribe();
  try {
    await remove(`push/subscriptions/${id}`);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
}

/** Returns the push manager of the service worker. Browsers install the worker only with a certificate that they trust. */
async function pushManager() {
  try {
    await navigator.serviceWorker.register("/offline-worker.js");
  } catch {
    throw new Fault(0, phrase("the browser does not install this page"), phrase("The page needs a certificate that the browser trusts"));
  }
  return (await navigator.serviceWorker.ready).pushManager;
}

/** Browsers allow this only over HTTPS and on the daemon's own machine. */
export function startPush() {
  if (!window.isSecureContext || !navigator.serviceWorker || !window.PushManager || !window.Notification) return;
  /** The id of the subscription, and the state that the user has requested; undefined for none. */
  let [id, wanted] = [undefined, undefined];
  const turn = make("button", { type: "button", class: "switch", role: "switch", "aria-labelledby": "push-title", onclick: turnOver });
  const alert = make("p", { class: "alert", role: "alert" });
  const element = make("div", {},
    make("div", { class: "bar" }, make("p", { id: "push-title", text: phrase("Notifications on this device") }), turn), alert);
  document.getElementById("rules").append(element);

  function paint() {
    const isOn = id !== undefined;
    element.hidden = !session.loggedIn;
    setAttribute(turn, "aria-checked", String(isOn));
    setAttribute(turn, "data-shown", String(wanted ?? isOn));
    setAttribute(turn, "aria-busy", wanted !== undefined && "true");
  }

  /** Changes the state. Clicks are ignored until the change has ended. */
  async function change(isOn, work) {
    if (wanted !== undefined) return;
    wanted = isOn;
    setText(alert, "");
    paint();
    await attempt((words) => setText(alert, words), async () => { id = await work(); });
    wanted = undefined;
    paint();
  }

  function turnOver() {
    if (id !== undefined) change(false, async () => unsubscribe(await pushManager(), id));
    else change(true, async () => {
      // Some browsers ask the user only if this is the first step after the click.
      if (await Notification.requestPermission() !== "granted") throw new Fault(0, phrase("the browser does not allow notifications of this page"), phrase("Allow them in the settings of the browser"));
      return subscribe(await pushManager());
    });
  }

  /** Reports the browser's subscription again: the daemon ends it with the session of the user. */
  async function restore() {
    paint();
    if (!session.loggedIn) return;
    try {
      const manager = (await navigator.serviceWorker.getRegistration())?.pushManager;
      if (await manager?.getSubscription()) await change(true, () => subscribe(manager));
    } catch { /* Without storage, the browser has no subscription. */ }
  }
  hear("rights", restore);
  restore();
}
