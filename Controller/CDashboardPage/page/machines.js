// The machines that the daemon can wake, with a button for each. Without machines, the section stays hidden.

import { attempt, get, post } from "./api.js";
import { make, named, setAttribute, setText } from "./dom.js";
import { number } from "./format.js";
import { hear, plugs } from "./house.js";
import { phrase } from "./language.js";
import { may } from "./rights.js";

/** Describes the daemon's WakeRecord as plugctl does. */
const wakeWords = ({ outcome, seconds }) => outcome === "awake" ? phrase("awake after {seconds} s", { seconds: number(Math.trunc(seconds)) }) : phrase("did not wake");

/** @param name The machine's name. */
function machineItem(name) {
  let isBusy = false;
  const result = make("span", { class: "faint", role: "status" });
  const alert = make("p", { class: "alert", role: "alert" });
  const button = make("button", { type: "button", "aria-label": phrase("Wake {machine}", { machine: name }), text: phrase("Wake"), onclick: wake });
  const element = make("li", {}, make("p", {}, named(name), " ", result), button, alert);

  function paint() {
    button.hidden = !may.command;
    setAttribute(button, "aria-disabled", isBusy && "true");
  }

  /** Wakes the machine. The button keeps the focus and ignores clicks until the daemon answers. */
  async function wake() {
    if (isBusy) return;
    isBusy = true;
    setText(alert, "");
    setText(result, phrase("waking …"));
    paint();
    await attempt((words) => { setText(result, ""); setText(alert, words); },
      async () => setText(result, wakeWords(await post(`machines/${encodeURIComponent(name)}/wake`, {}))));
    isBusy = false;
    paint();
  }
  paint();
  return { element, paint };
}

export function startMachines() {
  const section = document.getElementById("machines");
  const list = make("ul", { class: "machines", "aria-label": phrase("Machines") });
  section.append(list);
  const shown = new Map();

  function paint(names) {
    const kept = new Set(names);
    for (const [name, { element }] of shown) if (!kept.has(name)) { element.remove(); shown.delete(name); }
    for (const name of names) if (!shown.has(name)) shown.set(name, machineItem(name));
    names.forEach((name, index) => {
      const { element } = shown.get(name);
      if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
    });
    section.hidden = names.length === 0;
  }

  // The list also has the hosts at the sleep proxies of the plugs.
  const hosts = () => JSON.stringify([...plugs.values()].flatMap(({ record }) => record.sleepers ?? []).map(({ host }) => host));
  let listed;
  let requests = 0;

  /** Requests the list. After a failure, the next change of a plug requests it again. */
  async function read() {
    const number = ++requests;
    listed = hosts();
    try {
      const machines = await get("machines");
      if (number === requests) paint(machines.map(({ machine }) => machine));
    } catch {
      listed = undefined;
    }
  }

  hear("rights", () => { for (const { paint } of shown.values()) paint(); });
  hear("house", (again) => { if (again) read(); });
  for (const kind of ["plug", "gone"]) hear(kind, () => { if (hosts() !== listed) read(); });
  read();
}
