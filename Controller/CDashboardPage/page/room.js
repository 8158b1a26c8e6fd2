// The form that moves a plug to a room.

import { attempt, plugPath, post, remove } from "./api.js";
import { make } from "./dom.js";
import { plugs } from "./house.js";
import { phrase } from "./language.js";

const LONGEST = 64;

/**
 * @param {string} name of the plug.
 * @param {(fault?: string, words?: string) => void} say
 */
export function roomForm(name, say) {
  const rooms = new Set([...plugs.values()].map(({ record }) => record.room).filter((room) => room !== undefined));
  const list = make("datalist", { id: "rooms" }, ...[...rooms].sort().map((value) => make("option", { value })));
  const field = make("input", { value: plugs.get(name).record.room ?? "", list: "rooms", maxlength: String(LONGEST), autocomplete: "off", placeholder: phrase("none") });
  return make("form", { "aria-label": phrase("Room"), onsubmit: submit }, list,
    make("label", {}, make("span", { text: phrase("Room") }), make("div", { class: "row" }, field, make("button", { type: "submit", text: phrase("Move") }))));

  async function submit(event) {
    event.preventDefault();
    say();
    const room = field.value.trim();
    await attempt(say, async () => {
      await (room === "" ? remove(plugPath(name, "room")) : post(plugPath(name, "room"), { room }));
      say("", room === "" ? phrase("In no room.") : phrase("In {room}.", { room }));
    });
  }
}
