// The house as this page knows it, and who wants to hear of it.

import { setZone } from "./format.js";
import { Series } from "./series.js";

/** A plug: `record` is the daemon's PlugRecord, `series` its last readings. */
export const plugs = new Map();
export const house = { rules: [], ruleFaults: [], known: false, streamed: false };

const listeners = new Map();

/** ms by which the daemon's clock goes before the browser's: all times that are told are of the daemon's. */
let ahead = 0;

/** The daemon's time, ms since 1970. */
export const now = () => Date.now() + ahead;

/**
 * What was missed comes to the daemon from the plugs themselves, in a while: when to ask for it, ms after one is reached again.
 */
export const LATER = [0, 3000, 10_000, 30_000];

/**
 * Kinds: `house` (everything anew; true where time was missed), `plug` (name), `gone` (name), `reading` (names), `event`
 * (WatchRecord), `rule` (RuleRecord), `rules`, `rights` (what whoever looks may do), `notification` (NotificationRecord), `link` ({state, words}), `back` (name of a plug that is reached again), `chart` (name of
 * a plug that somebody wants to see in the large chart).
 */
export function hear(kind, listener) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
}

export function tell(kind, about) {
  for (const listener of listeners.get(kind) ?? []) {
    // One part of the page that fails does not take the others with it.
    try { listener(about); } catch (error) { console.error(error); }
  }
}

/** In the order of their names. */
export const names = () => [...plugs.keys()];

/** W, of all that is connected. */
export function totalPower() {
  let total = 0;
  for (const { record } of plugs.values()) if (record.state === "connected") total += record.reading?.activePower ?? 0;
  return total;
}

/** A message of the stream. */
export function take(kind, data) {
  switch (kind) {
    case "house":
      takeHouse(data, house.streamed);
      house.streamed = true;
      break;
    // The answer to the page's first question. The stream's own first word comes a moment later, and nothing was missed between.
    case "first":
      if (!house.known) takeHouse(data, false);
      break;
    case "plug": takePlug(data); break;
    case "gone":
      if (plugs.delete(data.plug)) tell("gone", data.plug);
      break;
    case "readings": takeReadings(data); break;
    case "event": tell("event", data); break;
    case "rule": tell("rule", data); break;
    case "rules":
      takeRules(data);
      tell("rules");
      break;
    case "ruleSet":
      [house.rules, house.ruleFaults] = [data.rules, data.faults];
      tell("rules");
      break;
    case "notification": tell("notification", data); break;
  }
}

function takeHouse(data, again) {
  const difference = Date.parse(data.at) - Date.now();
  // Less is the way that the answer took.
  ahead = Math.abs(difference) > 2000 ? difference : 0;
  setZone(data.timeZone);
  const there = new Set(data.plugs.map((record) => record.plug));
  for (const name of names()) {
    if (!there.has(name)) {
      plugs.delete(name);
      tell("gone", name);
    }
  }
  for (const record of data.plugs) keep(record);
  sort();
  [house.rules, house.ruleFaults] = [data.rules, data.ruleFaults];
  house.known = true;
  tell("house", again);
  tell("rules");
}

/** The states that changed, and no others. */
function takeRules(changed) {
  const states = new Map([...house.rules, ...changed].map((state) => [state.rule, state]));
  house.rules = [...states.values()];
}

function takePlug(record) {
  const before = plugs.get(record.plug)?.record;
  keep(record);
  if (!before) sort();
  tell("plug", record.plug);
  if (record.state === "connected" && before?.state !== "connected") tell("back", record.plug);
}

function takeReadings(readings) {
  const told = [];
  for (const reading of readings) {
    const plug = plugs.get(reading.plug);
    if (!plug) continue;
    plug.record.reading = reading;
    plug.series.add(Date.parse(reading.at), reading.activePower);
    told.push(reading.plug);
  }
  tell("reading", told);
}

function keep(record) {
  const plug = plugs.get(record.plug);
  if (plug) plug.record = record; else plugs.set(record.plug, { record, series: new Series() });
  const { reading } = record;
  if (reading) plugs.get(record.plug).series.add(Date.parse(reading.at), reading.activePower);
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function sort() {
  const sorted = [...plugs].sort(([one], [other]) => order.compare(one, other));
  plugs.clear();
  for (const [name, plug] of sorted) plugs.set(name, plug);
}
