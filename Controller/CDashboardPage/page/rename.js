// The form that renames a plug.

import { attempt, plugPath, post } from "./api.js";
import { make } from "./dom.js";
import { phrase } from "./language.js";

/** The longest name in bytes of UTF-8. */
const LONGEST = 63;

/**
 * @param {string} name of the plug.
 * @param {(fault?: string) => void} say
 * @param {() => void} done Called when the plug has accepted the name. The plug then gets a new card.
 */
export function renameForm(name, say, done) {
  const field = make("input", { value: name, required: true, maxlength: String(LONGEST), autocomplete: "off" });
  const button = make("button", { type: "submit", text: phrase("Rename") });
  return make("form", { "aria-label": phrase("Name"), onsubmit: submit }, make("label", {}, make("span", { text: phrase("Name") }), make("div", { class: "row" }, field, button)));

  async function submit(event) {
    event.preventDefault();
    say();
    const wanted = field.value.trim();
    if (wanted === "" || new TextEncoder().encode(wanted).length > LONGEST) return say(phrase("A name has 1 to {limit} bytes.", { limit: LONGEST }));
    await attempt(say, async () => {
      if (wanted !== name) await post(plugPath(name, "name"), { name: wanted });
      done();
    });
  }
}
