// The form that renames a plug.

import { Fault, plugPath, post } from "./api.js";
import { make, setAttribute } from "./dom.js";

/** The longest name in bytes of UTF-8. */
const LONGEST = 63;

/**
 * @param {string} name of the plug.
 * @param {(fault?: string) => void} say
 * @returns The button that shows the form, and the form. The plug gets a new card when it has its new name.
 */
export function renaming(name, say) {
  const field = make("input", { "aria-label": `New name of ${name}`, required: true, maxlength: String(LONGEST), autocomplete: "off" });
  const form = make("form", { class: "row", hidden: true, onsubmit: submit }, field, make("button", { type: "submit", class: "primary", text: "Save" }));
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Rename ${name}`, "aria-expanded": "false", text: "Rename", onclick: () => show(form.hidden) });
  form.addEventListener("keydown", (event) => { if (event.key === "Escape") { show(false); button.focus(); } });

  function show(isShown) {
    say();
    form.hidden = !isShown;
    setAttribute(button, "aria-expanded", String(isShown));
    if (!isShown) return;
    field.value = name;
    field.select();
  }

  async function submit(event) {
    event.preventDefault();
    const wanted = field.value.trim();
    if (wanted === "" || new TextEncoder().encode(wanted).length > LONGEST) return say(`A name has 1 to ${LONGEST} bytes.`);
    try {
      if (wanted !== name) await post(plugPath(name, "name"), { name: wanted });
      show(false);
    } catch (error) {
      say(error instanceof Fault ? error.words : String(error));
    }
  }
  return { button, form };
}
