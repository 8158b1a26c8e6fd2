// What each rule does, when it did it last, and why it did not.

import { make, setAttribute, setText } from "./dom.js";
import { count, timeOf } from "./format.js";
import { hear, house } from "./house.js";

const shown = new Map();

function lines(title, words) {
  return words.length > 0 && make("div", {}, make("dt", { text: title }), ...words.map((line) => make("dd", { text: line })));
}

function item(rule) {
  const last = make("p", { class: "last" });
  const held = make("p", { class: "held" });
  const element = make("li", { class: "rule" }, make("h3", {}, make("bdi", { class: "name", dir: "auto", text: rule.rule })),
    make("dl", {}, lines("When", rule.when), lines("If", rule.conditions), lines("Then", rule.actions)), last, held);

  function update(now) {
    setText(last, now.lastFiring
      ? `Last fired ${timeOf(Date.parse(now.lastFiring))}${now.lastCause ? `: ${now.lastCause}` : ""}${now.firings > 0 ? ` (${count(now.firings, "time")} since the daemon's start)` : ""}`
      : "It has not fired yet.");
    setText(held, now.lastHeldBack ? `Held back ${timeOf(Date.parse(now.lastHeldBack))}${now.heldBackBecause ? `: ${now.heldBackBecause}` : ""}` : "");
    setAttribute(element, "data-held", now.lastHeldBack !== undefined && (now.lastFiring === undefined || now.lastHeldBack > now.lastFiring));
  }
  update(rule);
  return { element, update, words: words(rule) };
}

const words = (rule) => JSON.stringify([rule.when, rule.conditions, rule.actions]);

export function startRules() {
  const list = make("ul", { class: "rules" });
  const none = make("p", { class: "faint" }, "No rules run. ", make("code", { text: "plugctl daemon --rules FILE" }), " runs some.");
  document.getElementById("rules").append(list, none);

  function paint() {
    none.hidden = house.rules.length > 0;
    const kept = new Set(house.rules.map((rule) => rule.rule));
    for (const [name, { element }] of shown) if (!kept.has(name)) { element.remove(); shown.delete(name); }
    house.rules.forEach((rule, index) => {
      let one = shown.get(rule.rule);
      if (one?.words !== words(rule)) {
        one?.element.remove();
        shown.set(rule.rule, one = item(rule));
      } else one.update(rule);
      if (list.children[index] !== one.element) list.insertBefore(one.element, list.children[index] ?? null);
    });
  }
  hear("rules", paint);
  paint();
}
