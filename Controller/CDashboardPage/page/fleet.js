// Other houses: their plugs, faults and energy, and switching their plugs.

import { attempt, faultWords, get, post } from "./api.js";
import { make, named, setAttribute, setText, whenSeen } from "./dom.js";
import { energy, timeOf, watts } from "./format.js";
import { hear } from "./house.js";
import { phrase, phraseParts } from "./language.js";
import { may, session } from "./rights.js";

/** The interval in ms at which visible lists are requested again. Houses report their states at least every 20 s. */
const AGAIN = 15_000;
/** The time in ms in which a plug's own answer has priority over the database. */
const CONFIRMED = 30_000;
/** The delay in ms between the last key and the search. */
const TYPING = 300;
const STATES = { all: phrase("All plugs"), away: phrase("Plugs that are away"), tripped: phrase("Plugs that tripped") };

const open = new Set();
/** The answers of plugs: the relay state, and the time until which it has priority over the database. */
const answers = new Map();
let [visible, timer, typing, asked] = [false, 0, 0, 0];

const seenAt = (time) => time ? phrase("last seen {time}", { time: timeOf(Date.parse(time)) }) : phrase("never seen");
const labelWords = (labels) => Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(" ");

/** Updates the children of a list. A child is reused while its key exists, since it may have the focus. */
function keyed(list, shown, records, key, begin) {
  const wanted = new Set(records.map(key));
  for (const [name, { element }] of shown) if (!wanted.has(name)) { element.remove(); shown.delete(name); }
  records.forEach((record, index) => {
    const name = key(record);
    if (!shown.has(name)) shown.set(name, begin(record));
    const one = shown.get(name);
    one.paint(record);
    if (list.children[index] !== one.element) list.insertBefore(one.element, list.children[index] ?? null);
  });
}

function plugItem(first, showsHouse) {
  const { house, id } = first;
  const key = `${house}/${id}`;
  const name = named("");
  const state = make("span", { class: "faint" });
  const alert = make("p", { class: "alert", role: "alert" });
  const button = make("button", { type: "button", class: "switch", role: "switch", "aria-checked": "false", onclick: turn });
  const title = make("p", {}, name, showsHouse && make("span", { class: "faint" }, " ", ...phraseParts("in {house}", { house: named(house) })));
  const element = make("li", {}, make("div", {}, title, state), button, alert);
  let [record, busy] = [first, false];

  function isOn() {
    const answer = answers.get(key);
    return answer && performance.now() < answer.until ? answer.on : record.on === true;
  }

  function stateWords() {
    if (record.tripped) return phrase("tripped: {protection}", { protection: record.tripped });
    if (!record.connected) return [phrase("away"), seenAt(record.lastSeen)].join(", ");
    return [isOn() ? phrase("on") : phrase("off"), record.activePower !== undefined && `${watts(record.activePower)} W`].filter(Boolean).join(", ");
  }

  function paint(told) {
    record = told;
    setText(name, record.plug);
    setText(state, stateWords());
    setAttribute(element, "data-tripped", record.tripped !== undefined && "true");
    setAttribute(button, "aria-label", phrase("{plug} in {house}", { plug: record.plug, house }));
    setAttribute(button, "aria-checked", String(isOn()));
    setAttribute(button, "data-shown", String(isOn()));
    setAttribute(button, "aria-busy", busy && "true");
    button.disabled = !record.connected || !may.command || record.role === "viewer";
  }

  async function turn() {
    if (busy) return;
    busy = true;
    setText(alert, "");
    paint(record);
    await attempt((words) => setText(alert, words), async () => {
      const done = await post(`fleet/houses/${encodeURIComponent(house)}/plugs/${id}/relay`, { on: !isOn() });
      answers.set(key, { on: done.on, until: performance.now() + CONFIRMED });
    });
    busy = false;
    paint(record);
  }
  return { element, paint };
}

function houseItem({ house }, read) {
  const summary = make("span", { class: "faint" });
  const labels = make("bdi", { class: "faint" });
  const use = make("span", { class: "number" });
  const plugs = make("ul", { class: "fleetplugs", "aria-label": phrase("Plugs of {house}", { house }), hidden: true });
  const more = make("p", { class: "faint" });
  const button = make("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: () => {
    if (!open.delete(house)) open.add(house);
    fold();
    read();
  } }, named(house));
  const element = make("li", {}, make("div", { class: "head" }, make("h3", {}, button), use), make("p", {}, summary, " ", labels), plugs, more);
  const shown = new Map();

  function fold() {
    setAttribute(button, "aria-expanded", String(open.has(house)));
    plugs.hidden = !open.has(house);
    if (plugs.hidden) setText(more, "");
  }

  function paint(record) {
    const parts = [
      phrase("{count:plug|plugs}", { count: record.plugs }), record.away > 0 && phrase("{count} away", { count: record.away }),
      record.tripped > 0 && phrase("{count} tripped", { count: record.tripped }), record.role === "viewer" && phrase("read-only for you"), seenAt(record.lastSeen)];
    setText(summary, parts.filter(Boolean).join(", "));
    setText(labels, labelWords(record.labels));
    const used = [record.activePower !== undefined && `${watts(record.activePower)} W`, record.energyThisMonth !== undefined && phrase("{energy} this month", { energy: energy(record.energyThisMonth) })];
    setText(use, used.filter(Boolean).join(", "));
    setAttribute(element, "data-tripped", record.tripped > 0 && "true");
    fold();
  }

  function paintPlugs(told) {
    keyed(plugs, shown, told.plugs, ({ id }) => id, (record) => plugItem(record, false));
    setText(more, told.plugs.length === 0 ? phrase("No plug of this house is known.") : told.more ? phrase("There are more plugs than are shown.") : "");
  }
  return { element, paint, paintPlugs };
}

export function startFleet() {
  const section = document.getElementById("fleet");
  const link = document.getElementById("fleet-link");
  const search = make("input", { type: "search", autocomplete: "off", maxlength: "100", placeholder: phrase("House or plug") });
  const label = make("input", { type: "text", autocomplete: "off", maxlength: "100", placeholder: phrase("city=Bonn") });
  const state = make("select", {}, ...Object.entries(STATES).map(([value, text]) => make("option", { value, text })));
  const controls = make("div", { class: "controls" },
    make("label", {}, ...phraseParts("Find {field}", { field: search })), make("label", {}, ...phraseParts("Label {field}", { field: label })), make("label", {}, ...phraseParts("Show {field}", { field: state })));
  const status = make("p", { class: "faint", role: "status" });
  const houses = make("ul", { class: "houses", "aria-label": phrase("Houses") });
  const found = make("ul", { class: "fleetplugs", "aria-label": phrase("Plugs found") });
  section.append(controls, status, houses, found);
  const [shownHouses, shownPlugs] = [new Map(), new Map()];

  /** The filter of the request. An incomplete label is ignored. */
  const filter = () => ({ search: search.value.trim() || undefined, label: label.value.includes("=") ? label.value.trim() : undefined });

  async function read() {
    clearTimeout(timer);
    if (!visible || section.hidden || document.visibilityState === "hidden") return;
    const own = ++asked;
    const [wanted, condition] = [filter(), state.value];
    const wantsPlugs = condition !== "all" || wanted.search !== undefined;
    try {
      const [list, plugs] = await Promise.all([
        condition === "all" ? get("fleet", wanted) : { houses: [], more: false },
        wantsPlugs ? get("fleet/plugs", { ...wanted, state: condition }) : { plugs: [], more: false }]);
      if (own !== asked) return;
      keyed(houses, shownHouses, list.houses, ({ house }) => house, (record) => houseItem(record, read));
      keyed(found, shownPlugs, plugs.plugs, ({ house, id }) => `${house}/${id}`, (record) => plugItem(record, true));
      setText(status, statusWords(list, plugs, condition, wantsPlugs));
      await Promise.all(list.houses.filter(({ house }) => open.has(house)).map(async ({ house }) =>
        shownHouses.get(house)?.paintPlugs(await get("fleet/plugs", { house, limit: 500 }))));
    } catch (error) {
      if (own === asked) setText(status, faultWords(error));
    }
    if (own === asked) timer = setTimeout(read, AGAIN);
  }

  function statusWords(list, plugs, condition, wantsPlugs) {
    const parts = [condition === "all" && phrase("{count:house|houses}", { count: list.houses.length }), wantsPlugs && phrase("{count:plug|plugs}", { count: plugs.plugs.length })];
    const found = parts.filter(Boolean).join(", ");
    return list.more || plugs.more ? phrase("{found}; search to see the others", { found }) : found;
  }

  const soon = () => { clearTimeout(typing); typing = setTimeout(read, TYPING); };
  search.addEventListener("input", soon);
  label.addEventListener("input", soon);
  state.addEventListener("change", read);
  document.addEventListener("visibilitychange", read);

  function update() {
    section.hidden = link.hidden = session.fleet !== true;
    read();
  }
  whenSeen(section, (isSeen) => { visible = isSeen; read(); });
  hear("rights", update);
  update();
}
