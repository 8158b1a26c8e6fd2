// The choice of a time for which a plug is turned on.

import { attempt, plugPath, post } from "./api.js";
import { make, setText } from "./dom.js";
import { span } from "./format.js";
import { phrase } from "./language.js";

/** The offered times in seconds. */
const TIMES = [300, 900, 1800, 3600, 7200, 14_400, 28_800];

/**
 * @param {string} name of the plug.
 * @param {(fault?: string, words?: string) => void} say Receives a fault, or what will happen.
 */
export function timerChoice(name, say) {
  const title = make("option", { value: "", text: phrase("Timer") });
  const options = TIMES.map((seconds) => make("option", { value: String(seconds), text: span(seconds * 1000) }));
  const element = make("select", { class: "quiet", "aria-label": phrase("Turn {plug} on for a time", { plug: name }), onchange: start }, title, ...options);
  let shown = 0;

  async function start() {
    const seconds = Number(element.value);
    element.value = "";
    say();
    await attempt(say, async () => {
      await post(plugPath(name, "relay"), { on: true, autoOff: seconds });
      const words = phrase("Off in {time}", { time: span(seconds * 1000) });
      say(undefined, words);
      setText(title, words);
      clearTimeout(shown);
      shown = setTimeout(() => { setText(title, phrase("Timer")); say(); }, 2500);
    });
  }
  return element;
}
