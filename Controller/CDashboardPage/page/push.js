// The switch for notifications of rules and of the budget on this device, which also arrive while the page is closed.

import { Fault, get, post, remove } from "./api.js";
import { make, setAttribute, setText } from "./dom.js";
import { hear } from "./house.js";
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

/** Browsers allow this only over HTTPS and on the daemon's own machine, with a certificate that they trust. */
export async function startPush() {
  if (!window.isSecureContext || !navigator.serviceWorker || !window.PushManager || !window.Notification) return;
  const manager = (await navigator.serviceWorker.ready).pushManager;
  /** The id of the subscription, and the state that the user has requested; undefined for none. */
  let [id, wanted] = [undefined, undefined];
  const turn = make("button", { type: "button", class: "switch", role: "switch", "aria-labelledby": "push-title", onclick: turnOver });
  const alert = make("p", { class: "alert", role: "alert" });
  const element = make("div", {},
    make("div", { class: "bar" }, make("p", { id: "push-title", text: "Notifications on this device" }), turn), alert);
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
    try {
      id = await work();
    } catch (error) {
      setText(alert, error instanceof Fault ? error.words : String(error));
    }
    wanted = undefined;
    paint();
  }

  function turnOver() {
    if (id !== undefined) change(false, () => unsubscribe(manager, id));
    else change(true, async () => {
      // Some browsers ask the user only if this is the first step after the click.
      if (await Notification.requestPermission() !== "granted") throw new Fault(0, "the browser does not allow notifications of this page", "Allow them in the settings of the browser");
      return subscribe(manager);
    });
  }

  /** Reports the browser's subscription again: the daemon ends it with the session of the user. */
  async function restore() {
    paint();
    if (session.loggedIn && await manager.getSubscription() !== null) change(true, () => subscribe(manager));
  }
  hear("rights", restore);
  restore();
}
