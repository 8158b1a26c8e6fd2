// The list of logins, with buttons to end them; for owners.

import { attempt, faultWords, get, remove } from "./api.js";
import { make, named, setText, whenSeen } from "./dom.js";
import { timeOf } from "./format.js";
import { hear } from "./house.js";
import { phrase, phraseParts } from "./language.js";
import { may, roleName, session } from "./rights.js";

/** The interval in ms at which the visible list is requested again. */
const AGAIN = 30_000;

export function startSessions() {
  const section = document.getElementById("sessions");
  const list = make("ul", { class: "sessions", "aria-label": phrase("Sessions") });
  const alert = make("p", { class: "alert", role: "alert" });
  const all = make("button", { type: "button", text: phrase("End all sessions"), onclick: () => end("sessions", true) });
  const hint = make("p", { class: "faint" }, ...phraseParts("The browser of an ended session has to log in again. To lock it out, set a new password: {command}.", { command: make("code", { text: "plugctl daemon password" }) }));
  section.append(list, alert, all, hint);
  const shown = new Map();
  let [visible, timer] = [false, 0];

  function item({ id, name, role, device, address }) {
    const times = make("span", { class: "faint" });
    const button = make("button", { type: "button", "aria-label": phrase("End the session of {name} on {device}, {id}", { name, device, id }), text: phrase("End"), onclick: () => end(`sessions/${id}`, shown.get(id)?.self) });
    const values = { name: named(name), role: roleName(role), device: make("bdi", { text: device }), address };
    const about = name === role ? phraseParts("{name}, {device} at {address}", values) : phraseParts("{name} ({role}), {device} at {address}", values);
    const element = make("li", {}, make("div", {}, make("p", {}, ...about), times), button);
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
      const words = [record.self && phrase("This one."), phrase("Since {since}, last used {lastUsed}", { since: timeOf(Date.parse(record.since)), lastUsed: timeOf(Date.parse(record.lastUsed)) })];
      setText(one.times, words.filter(Boolean).join(" "));
      if (list.children[index] !== one.element) list.insertBefore(one.element, list.children[index] ?? null);
    });
    all.hidden = records.length === 0;
  }

  const say = (words) => setText(alert, words);

  async function end(path, isOwn) {
    say("");
    try {
      await remove(path);
      if (isOwn) { location.reload(); return; }
      section.focus();
    } catch (error) {
      say(faultWords(error));
    }
    read();
  }

  async function read() {
    clearTimeout(timer);
    if (!visible || section.hidden) return;
    await attempt(say, async () => paint(await get("sessions")));
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
