// The cards of all plugs, by room.

import { get, plugPath } from "./api.js";
import { card } from "./card.js";
import { beforePaint, make } from "./dom.js";
import { dateOf, startOf } from "./format.js";
import { LATER, hear, names, now, plugs } from "./house.js";
import { phrase } from "./language.js";
import { SPAN } from "./sparkline.js";

const cards = new Map();
/** The heading of each room that has cards; "" for the cards without a room. */
const headings = new Map();
/** The room and the place in which each card is shown. */
let shownAt = new Map();
const positionOf = (name) => JSON.stringify([roomOf(name), plugs.get(name)?.record.place]);
const roomOf = (name) => plugs.get(name)?.record.room ?? "";
const changed = new Set();
const read = new Set();
/** Visible plugs whose past readings are still to be requested, and plugs whose past readings were requested. */
const wanted = new Set();
const known = new Set();
let fetching = 0;
/** The energy counter of each plug at the start of the day in Wh, and that day as days since 1970-01-01. */
let meters = new Map();
let metersOf;
let meterTimers = [];
/** The delays in ms, after plugs reconnect, at which today's energy is requested: the daemon gets their missed energy later. */
const METERS = [300, 30_000, 120_000];

export function startCards() {
  const place = document.getElementById("cards");
  const none = document.getElementById("no-plugs");
  const find = document.getElementById("find-text");

  /** Shows the cards by room, and in each room in their order. */
  function arrange() {
    const all = names();
    const inRooms = Map.groupBy(all, roomOf);
    inRooms.delete("");
    const elements = [];
    for (const room of [...inRooms.keys()].sort((one, other) => one.localeCompare(other))) elements.push(heading(room, room), ...inRooms.get(room).map(elementOf));
    const others = all.filter((name) => roomOf(name) === "");
    if (inRooms.size > 0 && others.length > 0) elements.push(heading("", phrase("Other plugs")));
    elements.push(...others.map(elementOf));
    elements.forEach((element, index) => {
      if (place.children[index] !== element) place.insertBefore(element, place.children[index] ?? null);
    });
    for (const [room, element] of headings) if (!elements.includes(element)) { element.remove(); headings.delete(room); }
    shownAt = new Map(all.map((name) => [name, positionOf(name)]));
    document.getElementById("find").hidden = all.length < 9;
    none.hidden = all.length > 0;
    filter();
  }

  function heading(room, text) {
    if (!headings.has(room)) headings.set(room, make("h3", { class: "room" }, make("bdi", { dir: "auto", text })));
    return headings.get(room);
  }

  function elementOf(name) {
    if (!cards.has(name)) cards.set(name, card(name, wantPast, today));
    return cards.get(name).element;
  }

  function filter() {
    const text = find.value.trim().toLocaleLowerCase();
    for (const [name, { element }] of cards) element.hidden = text !== "" && !`${name} ${roomOf(name)}`.toLocaleLowerCase().includes(text);
    for (const [room, element] of headings) element.hidden = [...cards].every(([name, { element }]) => roomOf(name) !== room || element.hidden);
  }

  find.addEventListener("input", filter);
  hear("house", (again) => {
    arrange();
    for (const [name, one] of cards) { changed.add(name); if (again) wantAgain(name, one.element); }
    beforePaint(paint);
    readMetersSoon(again ? METERS : METERS.slice(0, 1));
  });
  hear("plug", (name) => {
    if (!cards.has(name) || shownAt.get(name) !== positionOf(name)) arrange();
    changed.add(name);
    beforePaint(paint);
  });
  hear("back", (name) => {
    wantAgain(name, cards.get(name).element);
    readMetersSoon();
  });
  hear("gone", (name) => {
    cards.get(name)?.remove();
    cards.delete(name);
    known.delete(name);
    meters.delete(name);
    arrange();
  });
  hear("rights", () => {
    for (const name of cards.keys()) changed.add(name);
    beforePaint(paint);
  });
  hear("reading", (told) => {
    for (const name of told) read.add(name);
    beforePaint(paint);
  });
  // Reads today's energy again after midnight, and retries until the history has answered for the first time.
  setInterval(() => { if (metersOf !== dateOf(now())) readMeters(); }, 30_000);
}

const inSight = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};

function paint() {
  for (const name of changed) cards.get(name)?.update();
  for (const name of read) if (!changed.has(name)) cards.get(name)?.read();
  changed.clear();
  read.clear();
}

function wantPast(name) {
  if (!known.has(name) && plugs.get(name)?.record.state !== "stranger") wanted.add(name);
  fetchPast();
}

/** Requests the missed readings after each delay of `LATER` if the card is visible, otherwise when it becomes visible. */
function wantAgain(name, element) {
  for (const wait of LATER) setTimeout(() => { known.delete(name); if (inSight(element)) wantPast(name); }, wait);
}

/** Fetches at most two plugs at a time, so that requests of the user come first. */
async function fetchPast() {
  if (fetching >= 2 || wanted.size === 0) return;
  const [name] = wanted;
  wanted.delete(name);
  known.add(name);
  fetching += 1;
  try {
    const to = now();
    const points = await get(plugPath(name, "power"), { from: new Date(to - SPAN).toISOString(), to: new Date(to).toISOString(), columns: 300 });
    plugs.get(name)?.series.merge(points.map((point) => ({ time: Date.parse(point.at), value: point.activePower })));
    read.add(name);
    beforePaint(paint);
  } catch {
    // Without a history, only new readings are shown. The past readings are requested again after the stream has sent
    // the complete house again.
    known.delete(name);
  }
  fetching -= 1;
  fetchPast();
}

/** Combines the requests of plugs that return at the same time. */
function readMetersSoon(waits = METERS) {
  for (const timer of meterTimers) clearTimeout(timer);
  meterTimers = waits.map((wait) => setTimeout(readMeters, wait));
}

async function readMeters() {
  const date = dateOf(now());
  try {
    const records = await get("energy", { from: new Date(startOf(date)).toISOString(), by: "day" });
    const found = new Map();
    // Only the day in progress counts. The answer may also contain the previous day if the browser does not know the
    // daemon's time zone.
    for (const { plug, activeEnergy, to } of records) if (Date.parse(to) > now()) found.set(plug, (found.get(plug) ?? 0) + activeEnergy);
    if (metersOf !== date) meters = new Map();
    for (const [name, wattHours] of found) {
      const counter = plugs.get(name)?.record.reading?.activeEnergy;
      if (counter !== undefined) meters.set(name, counter - wattHours);
    }
    metersOf = date;
    for (const name of cards.keys()) read.add(name);
    beforePaint(paint);
  } catch { /* Without a history, today's energy is not shown. */ }
}

/** The energy of a plug since midnight in Wh. */
function today(name) {
  const [begin, counter] = [meters.get(name), plugs.get(name)?.record.reading?.activeEnergy];
  return begin === undefined || counter === undefined ? undefined : Math.max(0, counter - begin);
}
