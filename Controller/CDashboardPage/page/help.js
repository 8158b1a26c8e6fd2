// The list of the keyboard shortcuts.

import { make } from "./dom.js";

const keys = [
  ["?", "This list"], ["/", "Find a plug"], ["1 to 5", "Go to plugs, power, energy, events, rules"], ["Tab, Space", "Move through the page, turn a plug or a rule on or off"],
  ["← →", "On a dimmer: by one per cent; Page Up, Page Down by ten"], ["← →", "On the chart: back and forward; Shift moves the cursor"],
  ["+ −", "On the chart: zoom in, zoom out"], ["Home, End", "On the chart: the oldest data, now"], ["Esc", "On the chart: hide the cursor"],
];
const parts = ["plugs", "power", "energy", "events", "rules"];

export function startHelp() {
  const dialog = document.getElementById("help");
  const close = make("button", { type: "button", text: "Close", onclick: () => dialog.close() });
  dialog.append(
    make("h2", { id: "help-title", text: "Keyboard" }),
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
