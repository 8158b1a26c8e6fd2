// The buttons that move a plug's card among the cards of its room, for all browsers.

import { Fault, post, remove } from "./api.js";
import { make } from "./dom.js";
import { names, plugs } from "./house.js";

/**
 * @param {string} name of the plug.
 * @param {(fault?: string, words?: string) => void} say
 */
export function orderForm(name, say) {
  const button = (text, step) => make("button", { type: "button", text, onclick: () => move(step) });
  const byName = make("button", { type: "button", text: "All by name", onclick: () => attempt(() => remove("order"), "All plugs are in the order of their names.") });
  const buttons = [button("Move earlier", -1), button("Move later", 1), byName];
  return make("div", { class: "row order", role: "group", "aria-label": "Order of the cards" }, ...buttons);

  function move(step) {
    const inOrder = names().filter((one) => plugs.get(one).record.id !== undefined);
    const roomOf = (one) => plugs.get(one)?.record.room;
    const neighbours = inOrder.filter((one) => roomOf(one) === roomOf(name));
    const neighbour = neighbours[neighbours.indexOf(name) + step];
    if (neighbour === undefined) return say("", step < 0 ? "It is the first one of its room." : "It is the last one of its room.");
    const moved = inOrder.filter((one) => one !== name);
    moved.splice(moved.indexOf(neighbour) + (step < 0 ? 0 : 1), 0, name);
    attempt(() => post("order", { plugs: moved.map((one) => plugs.get(one).record.id) }), step < 0 ? `Before ${neighbour}.` : `After ${neighbour}.`);
  }

  async function attempt(request, words) {
    say();
    try {
      await request();
      say("", words);
    } catch (error) {
      say(error instanceof Fault ? error.words : String(error));
    }
  }
}
