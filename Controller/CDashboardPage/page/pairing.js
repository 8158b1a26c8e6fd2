// The form that pairs a new plug with the code on its label.

import { attempt, post } from "./api.js";
import { make, named } from "./dom.js";
import { phrase, phraseParts } from "./language.js";

const LENGTH = 16;
/** Digits that no code contains, and the letters that they resemble. */
const lookalikes = { 0: "O", 1: "I", 8: "B" };

/** Formats a code as on the label: capitals, in groups of four. */
export function formatted(text) {
  const letters = [...text.toUpperCase()].map((one) => lookalikes[one] ?? one).filter((one) => /[A-Z2-7]/.test(one));
  return letters.slice(0, LENGTH).join("").replace(/(.{4})(?=.)/g, "$1-");
}

let forms = 0;

/** Creates the form for a plug. @param {(fault: string) => void} say @param {() => void} done */
export function pairingForm(name, say, done) {
  const id = `code-${forms++}`;
  const code = make("input", {
    id, required: true, autocomplete: "off", autocapitalize: "characters", spellcheck: "false", maxlength: "40", placeholder: "ABCD-EFGH-IJKL-MNOP",
    "aria-describedby": `${id}-help`, class: "code" });
  const button = make("button", { type: "submit", class: "primary", text: phrase("Pair") });
  const help = make("p", { id: `${id}-help`, class: "faint", text: phrase("16 letters and digits, on the plug's label. If the plug is not new, hold its button for five seconds first.") });
  const form = make("form", { class: "pairing", onsubmit: submit },
    make("label", { for: id }, ...phraseParts("Setup code of {plug}", { plug: named(name) })), make("div", { class: "row" }, code, button), help);

  code.addEventListener("input", () => {
    // The text is formatted only if the cursor is at the end. Otherwise the cursor would move while the user corrects a
    // character.
    if (code.selectionStart === code.value.length) code.value = formatted(code.value);
    code.removeAttribute("aria-invalid");
  });

  function refuse(words) {
    say(words);
    code.setAttribute("aria-invalid", "true");
    code.focus();
  }

  async function submit(event) {
    event.preventDefault();
    say("");
    const written = formatted(code.value);
    const count = written.replaceAll("-", "").length;
    if (count !== LENGTH) {
      refuse(phrase("A setup code has {length} letters and digits (A to Z, 2 to 7); this has {count}.", { length: LENGTH, count }));
      return;
    }
    code.value = written;
    button.disabled = true;
    button.textContent = phrase("Pairing …");
    await attempt(refuse, async () => {
      await post("pairings", { plug: name, code: written });
      code.value = "";
      done();
    });
    button.disabled = false;
    button.textContent = phrase("Pair");
  }
  return form;
}
