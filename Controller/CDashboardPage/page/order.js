// The buttons that move a plug's card among the cards of its room, for all browsers.

import { attempt, post, remove } from "./api.js";
import { make } from "./dom.js";
import { names, plugs } from "./house.js";
import { phrase } from "./language.js";

/**
 * @param {string} name of the plug.
 * @param {(fault?: string, words?: string) => void} say
 */
export function orderForm(name, say) {
  const button = (text, step) => make("button", { type: "button", text, onclick: () => move(step) });
  const byName = make("button", { type: "button", text: phrase("All by name"), onclick: () => change(() => remove("order"), phrase("All plugs are in the order of their names.")) });
  const buttons = [button(phrase("Move earlier"), -1), button(phrase("Move later"), 1), byName];
  return make("div", { class: "row order", role: "group", "aria-label": phrase("Order of the cards") }, ...buttons);

  function move(step) {
    const inOrder = names().filter((one) => plugs.get(one).record.id !== undefined);
    const roomOf = (one) => plugs.get(one)?.record.room;
    const neighbours = inOrder.filter((one) => roomOf(one) === roomOf(name));
    const neighbour = neighbours[neighbours.indexOf(name) + step];
    if (neighbour === undefined) return say("", step < 0 ? phrase("It is the first one of its room.") : phrase("It is the last one of its room."));
    const moved = inOrder.filter((one) => one !== name);
    moved.splice(moved.indexOf(neighbour) + (step < 0 ? 0 : 1), 0, name);
    const words = step < 0 ? phrase("Before {plug}.", { plug: neighbour }) : phrase("After {plug}.", { plug: neighbour });
    change(() => post("order", { plugs: moved.map((one) => plugs.get(one).record.id) }), words);
  }

  function change(request, words) {
    say();
    return attempt(say, async () => {
      await request();
      say("", words);
    });
  }
}
