// The buttons of the large chart, the choice of plugs, and the legend.

import { draw, make, named, setAttribute, setText } from "./dom.js";
import { DASHES } from "./chart.js";
import { civilText, energy, fromCivilText, span } from "./format.js";
import { phrase, phraseParts } from "./language.js";
import { summaryWords } from "./powerwords.js";

const MINUTE = 60_000;
const RANGES = [
  [phrase("10 min"), 10 * MINUTE], [phrase("1 h"), 60 * MINUTE], [phrase("8 h"), 480 * MINUTE], [phrase("1 day"), 1440 * MINUTE],
  [phrase("1 week"), 10_080 * MINUTE], [phrase("1 month"), 43_200 * MINUTE], [phrase("1 year"), 525_600 * MINUTE],
];

/** The fields of a time range. @param {{view(), show(from, to)}} act */
function timeFields(act) {
  const field = (text) => make("input", { type: "datetime-local", step: 1, required: true, "aria-label": text });
  const [from, to] = [field(phrase("From")), field(phrase("To"))];
  const alert = make("p", { class: "alert", role: "alert" });
  function show(event) {
    event.preventDefault();
    const [first, last] = [from, to].map(({ value }) => fromCivilText(value));
    setText(alert, first < last && first < Date.now() ? "" : phrase("The first time must be before the last one, and in the past."));
    if (alert.textContent === "") act.show(first, last);
  }
  const form = make("form", { class: "choices", onsubmit: show }, ...phraseParts("{from} to {to}", { from, to }), make("button", { type: "submit", text: phrase("Show") }));
  const element = make("details", { class: "choose" }, make("summary", { text: phrase("Choose time") }), form, alert);
  element.addEventListener("toggle", () => {
    const shown = act.view();
    [from.value, to.value] = [civilText(shown.from), civilText(shown.to)];
    setText(alert, "");
  });
  return element;
}

/**
 * @param {{range(ms), view(), set(changes), save(), choose(names), show(from, to), zoom(factor), pan(share), now()}} act
 * `set` changes `compares` or `stacks`.
 */
export function chartControls(act) {
  const ranges = RANGES.map(([text, length]) => make("button", { type: "button", text, "aria-label": phrase("Last {time}", { time: span(length) }), onclick: () => act.range(length) }));
  const now = make("button", { type: "button", class: "live", text: phrase("Live"), "aria-label": phrase("Live: follow now"), onclick: act.now });
  const symbol = (text, label, act) => make("button", { type: "button", class: "symbol", "aria-label": label, title: label, text, onclick: act });
  const toggle = (text, key) => make("button", { type: "button", text, "aria-pressed": "false", onclick: () => act.set({ [key]: !act.view()[key] }) });
  const toggles = { compares: toggle(phrase("Compare"), "compares"), stacks: toggle(phrase("Stack"), "stacks") };
  toggles.compares.title = phrase("Show also the preceding period");
  toggles.stacks.title = phrase("Show the total as a stack of the plugs");
  const list = make("div", { class: "choices plugs" });
  const choice = make("details", { class: "choose" }, make("summary", { text: phrase("Choose plugs") }), make("fieldset", {}, make("legend", { class: "hidden", text: phrase("Plugs in the chart") }), list));
  const legend = make("ul", { class: "legend lines" });
  const element = make("div", { class: "controls" },
    make("div", { class: "choices", role: "group", "aria-label": phrase("Range") }, ...ranges),
    make("div", { class: "choices", role: "group", "aria-label": phrase("Move") },
      symbol("←", phrase("Previous period"), () => act.pan(-1)), symbol("→", phrase("Next period"), () => act.pan(1)),
      symbol("−", phrase("Zoom out"), () => act.zoom(2)), symbol("+", phrase("Zoom in"), () => act.zoom(0.5)), now),
    make("div", { class: "choices", role: "group", "aria-label": phrase("Show") }, toggles.compares, toggles.stacks, make("button", { type: "button", text: phrase("Save as CSV"), onclick: act.save })),
    timeFields(act), choice);
  let offered = "";
  let boxes = [];

  function chosen() { return boxes.filter((box) => box.checked).map((box) => box.value); }

  /** The chosen plugs in the order in which they were chosen. */
  let order = [];
  function change() {
    const checked = chosen();
    order = [...order.filter((name) => checked.includes(name)), ...checked.filter((name) => !order.includes(name))].slice(0, DASHES.length);
    act.choose(order);
  }

  /** Shows the available plugs. */
  function offer(names, now) {
    order = now;
    const key = JSON.stringify(names);
    if (key !== offered) {
      offered = key;
      boxes = names.map((name) => make("input", { type: "checkbox", value: name, onchange: change }));
      list.replaceChildren(...boxes.map((box, index) => make("label", {}, box, named(names[index]))));
    }
    tick(now);
  }

  function tick(now) {
    for (const box of boxes) {
      box.checked = now.includes(box.value);
      box.disabled = !box.checked && now.length >= DASHES.length;
    }
  }

  function sample(index) {
    const line = draw("path", { d: "M1 6H27", class: `line${index}`, "stroke-dasharray": DASHES[index].join(" ") });
    return draw("svg", { viewBox: "0 0 28 12", width: 28, height: 12, "aria-hidden": "true" }, line);
  }

  /** Shows the current state of the chart. */
  function show(state, shown, colours, from, to) {
    order = state.chosen;
    tick(state.chosen);
    ranges.forEach((button, index) => setAttribute(button, "aria-pressed", state.follows && Math.abs(RANGES[index][1] - state.span) < 1));
    for (const button of ranges) if (!button.hasAttribute("aria-pressed")) button.setAttribute("aria-pressed", "false");
    now.setAttribute("aria-pressed", String(state.follows));
    for (const [key, button] of Object.entries(toggles)) setAttribute(button, "aria-pressed", String(state[key]));
    const items = shown.map(([name, course]) => {
      const summary = course.summary(from, to);
      const before = state.compares ? course.summary(2 * from - to, from) : undefined;
      // The first time and the longest interval, as attributes for programs that search for gaps.
      return make("li", { "data-first": summary?.first, "data-longest": summary?.longest }, sample(colours.get(name)), named(name), make("span", { class: "faint number", text: summaryWords(summary, before) }));
    });
    if (state.stacks) {
      const total = shown.reduce((sum, [, course]) => sum + (course.summary(from, to)?.energy ?? 0), 0);
      items.push(make("li", {}, ...phraseParts("Total {energy}", { energy: make("span", { class: "faint number", text: energy(total) }) })));
    }
    legend.replaceChildren(...items);
  }
  return { element, legend, offer, show };
}
