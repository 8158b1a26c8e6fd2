// The state of the house in this page, and the listeners for its changes.

import { setZone } from "./format.js";
import { Series } from "./series.js";

/** The plugs: `record` is the daemon's PlugRecord, `series` its recent readings. */
export const plugs = new Map();
export const house = { rules: [], ruleFaults: [], known: false, streamed: false };

const listeners = new Map();

/** The difference between the daemon's clock and the browser's in ms. All reported times are the daemon's. */
let ahead = 0;

/** The daemon's time, ms since 1970. */
export const now = () => Date.now() + ahead;

/**
 * Delays in ms after a reconnect at which missed data is requested: the daemon itself gets it from the plugs with a
 * delay.
 */
export const LATER = [0, 3000, 10_000, 30_000];

/**
 * Adds a listener. The kinds:
 * - `house`: all data changed; true if updates may have been missed
 * - `plug`, `gone`, `back` (a plug is reached again), `chart` (show a plug in the large chart): the name
 * - `reading`: the names
 * - `event`: a WatchRecord
 * - `rule`: a RuleRecord
 * - `rules`: the states or faults changed
 * - `rights`: the user's rights changed
 * - `notification`: a NotificationRecord
 * - `link`: {state, words}
 */
export function hear(kind, listener) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
}

export function tell(kind, about) {
  for (const listener of listeners.get(kind) ?? []) {
    // A failing listener must not affect the others.
    try { listener(about); } catch (error) { console.error(error); }
  }
}

/** Returns the names of all plugs in their order. */
export const names = () => [...plugs.keys()];

/** The power of all connected plugs in W. */
export function totalPower() {
  let total = 0;
  for (const { record } of plugs.values()) if (record.state === "connected") total += record.reading?.activePower ?? 0;
  return total;
}

/** Handles a message of the stream. */
export function take(kind, data) {
  switch (kind) {
    case "house":
      takeHouse(data, house.streamed);
      house.streamed = true;
      break;
    // The answer to the page's first request. The stream's first message follows, and no update is missed in between.
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
  // A difference of up to two seconds is attributed to the delay of the answer.
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

/** Updates only the states that changed. */
function takeRules(changed) {
  const states = new Map([...house.rules, ...changed].map((state) => [state.rule, state]));
  house.rules = [...states.values()];
}

function takePlug(record) {
  const before = plugs.get(record.plug)?.record;
  keep(record);
  if (!before || before.place !== record.place) sort();
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

/** Sorts the plugs: those with a place first, the others by name. */
function sort() {
  const placeOf = ({ record }) => record.place ?? Infinity;
  const sorted = [...plugs].sort(([one, first], [other, second]) => placeOf(first) === placeOf(second) ? order.compare(one, other) : placeOf(first) - placeOf(second));
  plugs.clear();
  for (const [name, plug] of sorted) plugs.set(name, plug);
}
