// The theme: light, dark, or the system's; the choice is stored.

import { setText } from "./dom.js";
import { phrase } from "./language.js";
import { memory } from "./memory.js";

const names = { system: phrase("Theme: system"), light: phrase("Theme: light"), dark: phrase("Theme: dark") };
const choices = Object.keys(names);
const listeners = new Set();
let chosen = choices.includes(memory.get("theme")) ? memory.get("theme") : "system";

function apply() {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

/** Adds a listener that is called when the colours change. */
export function whenThemeChanges(listener) { listeners.add(listener); }

export function startTheme() {
  const button = document.getElementById("theme");
  const say = () => setText(button, names[chosen]);
  const told = () => { for (const listener of listeners) listener(); };
  button.addEventListener("click", () => {
    chosen = choices[(choices.indexOf(chosen) + 1) % choices.length];
    memory.set("theme", chosen === "system" ? null : chosen);
    apply();
    say();
    told();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", told);
  say();
}

apply();
