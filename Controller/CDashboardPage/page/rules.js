// The rules of the house, and the faults of rule files.

import { attempt } from "./api.js";
import { make, setText } from "./dom.js";
import { hear, house } from "./house.js";
import { phrase, phraseParts } from "./language.js";
import { may } from "./rights.js";
import { ruleItem, ruleWords } from "./rule.js";

const shown = new Map();

/** Shows a RuleFaultRecord. Rules that still run from an earlier version of the file also show the fault. */
function faultItem({ file, words, rules }) {
  const name = make("bdi", { dir: "auto", text: file });
  const about = rules.length > 0
    ? phraseParts("{file} is not valid; its last valid version stays active.", { file: name }) : phraseParts("{file} is not valid; none of its rules run.", { file: name });
  return make("li", { class: "rule", "data-broken": true },
    make("p", { class: "held" }, ...about),
    make("pre", { class: "fault", role: "group", tabindex: "0", "aria-label": phrase("Errors in {file}", { file }), text: words }));
}

export function startRules() {
  const faults = make("ul", { class: "rules", "aria-label": phrase("Rule files that are not valid") });
  const list = make("ul", { class: "rules", "aria-label": phrase("Rules") });
  const none = make("p", { class: "faint" }, ...phraseParts("No rules run. {command} runs rules.", { command: make("code", { text: "plugctl daemon --rules FILE" }) }));
  const edit = make("button", { type: "button", text: phrase("Rule files …"), onclick: open });
  const alert = make("p", { class: "alert", role: "alert" });
  document.getElementById("rules").append(edit, alert, faults, list, none);
  let told = "";

  function paintFaults() {
    const words = JSON.stringify(house.ruleFaults);
    if (words === told) return;
    told = words;
    faults.replaceChildren(...house.ruleFaults.map(faultItem));
  }

  /** Loads the editor, which is large, when the user needs it. */
  async function open() {
    const say = (words) => setText(alert, words);
    say("");
    await attempt(say, async () => (await import("./editor.js")).openEditor());
  }

  function paint() {
    paintFaults();
    edit.hidden = !may.own;
    faults.hidden = house.ruleFaults.length === 0;
    none.hidden = house.rules.length > 0;
    const kept = new Set(house.rules.map((rule) => rule.rule));
    for (const [name, { element }] of shown) if (!kept.has(name)) { element.remove(); shown.delete(name); }
    house.rules.forEach((rule, index) => {
      let one = shown.get(rule.rule);
      if (one?.words !== ruleWords(rule)) {
        one?.element.remove();
        shown.set(rule.rule, one = ruleItem(rule));
      } else one.update(rule);
      if (list.children[index] !== one.element) list.insertBefore(one.element, list.children[index] ?? null);
    });
  }
  hear("rules", paint);
  hear("rights", paint);
  paint();
}
