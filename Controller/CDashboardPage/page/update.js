// The state of a plug's system, and its update to the newest system of the house's source.

import { attempt, get, plugPath, post, remove } from "./api.js";
import { make, setText } from "./dom.js";
import { phrase } from "./language.js";

/** The time between two requests for the state in ms, while it changes. */
const PAUSE = 2000;

/**
 * @param {string} name of the plug.
 * @param {(fault?: string) => void} say
 */
export function updateForm(name, say) {
  const path = plugPath(name, "update");
  const words = make("p", { role: "status" });
  const button = (text, request) => make("button", { type: "button", text, hidden: true, onclick: () => exchange(request) });
  const begin = button("", () => post(path, {}));
  const restart = button(phrase("Restart now"), () => post(path, { restart: "now" }));
  const cancel = button(phrase("Cancel update"), () => remove(path));
  const form = make("section", { "aria-label": phrase("System") }, make("h3", { text: phrase("System") }), words, make("div", { class: "row" }, begin, restart, cancel));
  let timer;
  exchange(() => get(path));
  return form;

  function exchange(request) {
    say();
    return attempt(say, async () => show(await request()));
  }

  function show(system) {
    const isChanging = system.updating || ["receiving", "installing", "trying", "unknown"].includes(system.phase);
    const isInstalled = system.phase === "installed";
    const isNew = system.available !== undefined && ![system.system, isInstalled && system.newSystem].includes(system.available);
    setText(words, [text(system), system.fault && phrase("The last update was not carried out: {reason}", { reason: system.fault })].filter(Boolean).join(" "));
    setText(begin, isNew ? phrase("Update to {version}", { version: system.available }) : "");
    begin.hidden = isChanging || !isNew;
    restart.hidden = isChanging || !isInstalled || system.available === undefined;
    cancel.hidden = !system.restartsWhenOff && !(system.updating && ["idle", "receiving"].includes(system.phase));
    if (isChanging) askLater();
  }

  function askLater() {
    clearTimeout(timer);
    timer = setTimeout(again, PAUSE);
  }

  /** The plug does not answer during its restart, so a failed request is repeated too, unless the login has expired. */
  async function again() {
    if (!form.isConnected) return;
    try {
      show(await get(path));
    } catch (error) {
      if (error.status === 401) return;
      setText(words, phrase("The plug does not answer now. It may be restarting."));
      askLater();
    }
  }
}

function text({ phase, system, available, newSystem = "", percent, reason, restartsWhenOff, updating }) {
  switch (phase) {
  case "receiving": return phrase("The plug receives its new system: {percent} %.", { percent: String(percent) });
  case "installing": return phrase("The plug installs its new system: {percent} %.", { percent: String(percent) });
  case "installed": return restartsWhenOff ? phrase("{version} is installed, and starts when the plug is off.", { version: newSystem }) : phrase("{version} is installed, and starts with the next restart.", { version: newSystem });
  case "trying": return phrase("{version} runs, and is being checked.", { version: newSystem });
  case "returned": return phrase("{version} did not work, and the previous system runs again: {reason}", { version: newSystem, reason });
  case "failed": return phrase("The update failed: {reason}", { reason });
  }
  if (updating) return phrase("The update waits for its turn.");
  const running = system === undefined ? phrase("The version of the system is not known.") : phrase("The plug runs {version}.", { version: system });
  return available !== undefined && available === system ? `${running} ${phrase("This is the newest system.")}` : running;
}
