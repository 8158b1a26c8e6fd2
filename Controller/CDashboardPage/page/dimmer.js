// The dimmer of a card. While the user moves the dimmer, the page sends at most eight commands per second. It always
// sends the last value.

import { faultWords, plugPath, post } from "./api.js";
import { make, setText } from "./dom.js";
import { phrase } from "./language.js";

/** The minimum interval between commands in ms: at most eight per second. */
const INTERVAL = 125;
/** The time in ms after the last move before the plug's own levels are shown again. */
const REST = 1200;

/** @param {(fault?: string) => void} say */
export function dimmer(name, say) {
  const shown = make("output", { class: "number" });
  const input = make("input", { type: "range", min: "0", max: "100", step: "1", value: "100", "aria-label": phrase("Brightness of {plug}", { plug: name }), oninput: move, onchange: move });
  const element = make("label", { class: "dimmer" }, make("span", { text: phrase("Dim") }), input, shown);
  let [level, next, sent, timer, busy, held, moved] = [undefined, undefined, 0, 0, false, false, -REST];
  input.addEventListener("pointerdown", () => { held = true; });
  for (const end of ["pointerup", "pointercancel", "blur"]) input.addEventListener(end, () => { held = false; settleLater(); });

  function paint(value) {
    if (Number(input.value) !== value) input.value = value;
    input.setAttribute("aria-valuetext", `${value} %`);
    setText(shown, `${value} %`);
  }

  function move() {
    moved = performance.now();
    paint(Number(input.value));
    next = Number(input.value);
    plan();
    settleLater();
  }

  function plan() {
    if (busy || timer !== 0) return;
    timer = setTimeout(send, Math.max(0, sent + INTERVAL - performance.now()));
  }

  async function send() {
    timer = 0;
    const value = next;
    next = undefined;
    if (value === undefined) return;
    [busy, sent] = [true, performance.now()];
    try {
      await post(plugPath(name, "level"), { level: value });
      say();
    } catch (error) {
      say(faultWords(error));
      moved = -REST;
    }
    busy = false;
    if (next !== undefined) plan(); else follow(level);
  }

  let settling = 0;
  function settleLater() {
    clearTimeout(settling);
    settling = setTimeout(() => follow(level), REST + 50);
  }

  /** Shows the level that the plug reported, in percent. While the user moves the control, it is not changed. */
  function follow(value) {
    level = value;
    if (value === undefined || held || busy || next !== undefined || performance.now() - moved < REST) return;
    paint(Math.round(value));
  }
  return { element, follow, enable(able) { input.disabled = !able; } };
}
