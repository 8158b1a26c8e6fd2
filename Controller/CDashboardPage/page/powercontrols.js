// The buttons of the large chart, the choice of plugs, and the legend.

import { draw, make, named, setAttribute } from "./dom.js";
import { DASHES } from "./chart.js";
import { span } from "./format.js";
import { summaryWords } from "./powerwords.js";

const MINUTE = 60_000;
const RANGES = [["10 min", 10 * MINUTE], ["1 h", 60 * MINUTE], ["8 h", 480 * MINUTE], ["1 day", 1440 * MINUTE], ["1 week", 10_080 * MINUTE], ["1 month", 43_200 * MINUTE], ["1 year", 525_600 * MINUTE]];

/** @param {{range(ms), choose(names), zoom(factor), pan(share), now()}} act */
export function chartControls(act) {
  const ranges = RANGES.map(([text, length]) => make("button", { type: "button", text, "aria-label": `Last ${span(length)}`, onclick: () => act.range(length) }));
  const now = make("button", { type: "button", class: "live", text: "Live", "aria-label": "Follow now", onclick: act.now });
  const symbol = (text, label, act) => make("button", { type: "button", class: "symbol", "aria-label": label, title: label, text, onclick: act });
  const list = make("div", { class: "choices plugs" });
  const choice = make("details", { class: "choose" }, make("summary", { text: "Choose plugs" }), make("fieldset", {}, make("legend", { class: "hidden", text: "Plugs in the chart" }), list));
  const legend = make("ul", { class: "legend lines" });
  const element = make("div", { class: "controls" },
    make("div", { class: "choices", role: "group", "aria-label": "Range" }, ...ranges),
    make("div", { class: "choices", role: "group", "aria-label": "Move" },
      symbol("←", "Back", () => act.pan(-0.5)), symbol("→", "Forward", ()  => act.pan(0.5)), symbol("−", "Zoom out", () => act.zoom(2)), symbol("+", "Zoom in", () => act.zoom(0.5)), now),
    choice);
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
    legend.replaceChildren(...shown.map(([name, course]) => {
      const summary = course.summary(from, to);
      // The first time and the longest interval, as attributes for programs that search for gaps.
      return make("li", { "data-first": summary?.first, "data-longest": summary?.longest }, sample(colours.get(name)), named(name), make("span", { class: "faint number", text: summaryWords(summary) }));
    }));
  }
  return { element, legend, offer, show };
}
