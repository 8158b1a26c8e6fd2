// The switch of a card. It shows the requested state until the plug confirms it.

import { faultWords, plugPath, post } from "./api.js";
import { make, setAttribute } from "./dom.js";
import { phrase } from "./language.js";

/** The time limit in ms. The daemon answers after five seconds at the latest. */
const PATIENCE = 8000;

/**
 * @param {string} name of the plug.
 * @param {(fault?: string, wanted?: boolean) => void} say Receives a fault, or the requested state.
 */
export function relaySwitch(name, say) {
  let [wanted, known, isUnknown, timer] = [undefined, false, false, 0];
  let [turns, sending] = [0, Promise.resolve()];
  const element = make("button", { type: "button", class: "switch", role: "switch", "aria-checked": "false", "aria-label": name, onclick: turn });

  function paint() {
    setAttribute(element, "aria-checked", String(known));
    setAttribute(element, "data-shown", isUnknown && wanted === undefined ? "unknown" : String(wanted ?? known));
    setAttribute(element, "aria-busy", wanted !== undefined && "true");
  }

  function settle(fault) {
    clearTimeout(timer);
    wanted = undefined;
    paint();
    say(fault);
  }

  /** Sends the changes one after another, because the daemon could handle two concurrent requests in either order. A
   * waiting change is skipped if the user has requested a newer one. */
  function turn() {
    const asked = wanted = !(wanted ?? known);
    const own = ++turns;
    clearTimeout(timer);
    paint();
    say(undefined, asked);
    sending = sending.then(() => own === turns && send(asked, own));
  }

  async function send(asked, own) {
    timer = setTimeout(() => wanted !== undefined && settle(phrase("The plug has not confirmed the change. Try again, or check the plug.")), PATIENCE);
    try {
      const done = await post(plugPath(name, "relay"), { on: asked });
      // Without a change the plug sends no event. If the plug's event arrived before this answer, the state is already
      // known.
      if (own === turns && (done.seq === undefined || known === asked)) settle();
    } catch (error) {
      if (own === turns) settle(faultWords(error));
    }
  }

  /** Shows the state that the plug reported. @param {boolean} on */
  function confirm(on) {
    const changed = known !== on || isUnknown;
    [known, isUnknown] = [on, false];
    if (wanted === on && changed) settle(); else paint();
  }

  /** Shows neither on nor off, because the plug is away. */
  function forget() {
    [known, isUnknown] = [false, true];
    paint();
  }
  return { element, confirm, forget, get wanted() { return wanted; } };
}
