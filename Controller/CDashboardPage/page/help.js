// The list of the keyboard shortcuts.

import { make } from "./dom.js";
import { phrase } from "./language.js";

const keys = [
  ["?", phrase("This list")],
  ["/", phrase("Find a plug")],
  [phrase("1 to 5"), phrase("Go to plugs, power, energy, events, rules")],
  [phrase("Tab, Space"), phrase("Move through the page, turn a plug or a rule on or off")],
  ["← →", phrase("On a dimmer: by one per cent; Page Up, Page Down by ten")],
  ["← →", phrase("On the chart: back and forward; Shift moves the cursor")],
  ["+ −", phrase("On the chart: zoom in, zoom out")],
  [phrase("Home, End"), phrase("On the chart: the oldest data, now")],
  ["Esc", phrase("On the chart: hide the cursor")],
];
const parts = ["plugs", "power", "energy", "events", "rules"];

export function startHelp() {
  const dialog = document.getElementById("help");
  const close = make("button", { type: "button", text: phrase("Close"), onclick: () => dialog.close() });
  dialog.append(
    make("h2", { id: "help-title", text: phrase("Keyboard") }),
    make("dl", { class: "keys" }, ...keys.map(([key, what]) => make("div", {}, make("dt", {}, make("kbd", { text: key })), make("dd", { text: what })))),
    close);
  const button = document.getElementById("keys");
  button.addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=range], [type=checkbox]), select, dialog[open]")) return;
    const section = parts[Number(event.key) - 1];
    if (event.key === "?") dialog.showModal();
    else if (event.key === "/") document.getElementById("find-text").focus();
    else if (section) {
      const element = document.getElementById(section);
      element.scrollIntoView();
      element.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
  });
  button.disabled = false;
}
