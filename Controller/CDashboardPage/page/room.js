// The form that moves a plug to a room.

import { Fault, plugPath, post, remove } from "./api.js";
import { make } from "./dom.js";
import { plugs } from "./house.js";

const LONGEST = 64;

/**
 * @param {string} name of the plug.
 * @param {(fault?: string, words?: string) => void} say
 */
export function roomForm(name, say) {
  const rooms = new Set([...plugs.values()].map(({ record }) => record.room).filter((room) => room !== undefined));
  const list = make("datalist", { id: "rooms" }, ...[...rooms].sort().map((value) => make("option", { value })));
  const field = make("input", { value: plugs.get(name).record.room ?? "", list: "rooms", maxlength: String(LONGEST), autocomplete: "off", placeholder: "none" });
  return make("form", { "aria-label": "Room", onsubmit: submit }, list,
    make("label", {}, make("span", { text: "Room" }), make("div", { class: "row" }, field, make("button", { type: "submit", text: "Move" }))));

  async function submit(event) {
    event.preventDefault();
    say();
    const room = field.value.trim();
    try {
      await (room === "" ? remove(plugPath(name, "room")) : post(plugPath(name, "room"), { room }));
      say("", room === "" ? "In no room." : `In ${room}.`);
    } catch (error) {
      say(error instanceof Fault ? error.words : String(error));
    }
  }
}
