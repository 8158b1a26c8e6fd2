// The list of logins, with buttons to end them; for owners.

import { Fault, get, remove } from "./api.js";
import { make, named, setText, whenSeen } from "./dom.js";
import { timeOf } from "./format.js";
import { hear } from "./house.js";
import { may, session } from "./rights.js";

/** The interval in ms at which the visible list is requested again. */
const AGAIN = 30_000;

export function startSessions() {
  const section = document.getElementById("sessions");
  const list = make("ul", { class: "sessions", "aria-label": "Sessions" });
  const alert = make("p", { class: "alert", role: "alert" });
  const all = make("button", { type: "button", text: "End all sessions", onclick: () => end("sessions", true) });
  const hint = make("p", { class: "faint" }, "The browser of an ended session has to log in again. To lock it out, set a new password: ", make("code", { text: "plugctl daemon password" }), ".");
  section.append(list, alert, all, hint);
  const shown = new Map();
  let [visible, timer] = [false, 0];

  function item({ id, name, role, device, address }) {
    const times = make("span", { class: "faint" });
    const button = make("button", { type: "button", "aria-label": `End the session of ${name} on ${device}, ${id}`, text: "End", onclick: () => end(`sessions/${id}`, shown.get(id)?.self) });
    const element = make("li", {}, make("div", {}, make("p", {}, named(name), name === role ? "" : ` (${role})`, ", ", make("bdi", { text: device }), ` at ${address}`), times), button);
    return { element, times, words: `${name} ${role} ${device} ${address}` };
  }

  /** Paints the list. Unchanged entries are kept, since their button may have the focus. */
  function paint(records) {
    const kept = new Set(records.map(({ id }) => id));
    for (const [id, { element }] of shown) if (!kept.has(id)) { element.remove(); shown.delete(id); }
    records.forEach((record, index) => {
      let one = shown.get(record.id);
      if (one?.words !== item(record).words) {
        one?.element.remove();
        shown.set(record.id, one = item(record));
      }
      one.self = record.self;
      setText(one.times, `${record.self ? "This one. " : ""}Since ${timeOf(Date.parse(record.since))}, last used ${timeOf(Date.parse(record.lastUsed))}`);
      if (list.children[index] !== one.element) list.insertBefore(one.element, list.children[index] ?? null);
    });
    all.hidden = records.length === 0;
  }

  async function end(path, isOwn) {
    setText(alert, "");
    try {
      await remove(path);
      if (isOwn) { location.reload(); return; }
      section.focus();
    } catch (error) {
      setText(alert, error instanceof Fault ? error.words : String(error));
    }
    read();
  }

  async function read() {
    clearTimeout(timer);
    if (!visible || section.hidden) return;
    try { paint(await get("sessions")); } catch (error) { setText(alert, error instanceof Fault ? error.words : String(error)); }
    timer = setTimeout(read, AGAIN);
  }

  function update() {
    section.hidden = !(session.passwordNeeded && session.loggedIn && may.own);
    read();
  }
  whenSeen(section, (isSeen) => { visible = isSeen; read(); });
  hear("rights", update);
  update();
}
