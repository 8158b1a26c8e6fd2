// The list of events, newest first. Events that the stream missed are requested, so that the list has no gap.

import { get } from "./api.js";
import { beforePaint, make, named, setText, whileBusy } from "./dom.js";
import { timeOf } from "./format.js";
import { LATER, hear, names, now } from "./house.js";
import { phrase, phraseParts } from "./language.js";
import { eventWords, ruleWords } from "./words.js";

/** The maximum number of entries: initially, and after the user requested older ones. */
const LIMIT = 500;
const MOST = 5000;
const PAGE = 100;
/** The maximum number of entries in one answer of the daemon. */
const WHOLE = 1000;

/** The entries by key; the key does not depend on the source. `order` has them by time, newest first. */
const entries = new Map();
let order = [];
let chosen = "";
let newest = 0;
let limit = LIMIT;
/**
 * The times in ms since which the list is complete: `all` for every entry, `chosen` for the entries that the user
 * chose. Older entries are not shown, since there would be gaps.
 */
const since = { all: now(), chosen: now() };

const keyOf = (record) => record.seq === undefined ? `${record.plug}|${record.event}|${record.at}` : `${record.plug}|${record.seq}|${record.event}`;

/** The key of a rule record. Its time is in whole seconds, because the stream and the history differ by milliseconds. */
const keyOfRule = (record) => `rule|${record.rule}|${record.event ?? "firing"}|${record.at.slice(0, 19)}|${record.event === "callFailed" || record.event === "commandsHeldBack" || record.event === "timersHeldBack" || record.event === "scriptEnded" ? record.id ?? record.script : record.event === "notSent" || record.event === "resumed" ? record.plug : record.event === "effect" ? record.id : ""}`;

function addEvent(record) {
  if (record.event === "reading" || record.event === "level" || record.event === "snapshot") return;
  add(keyOf(record), { at: Date.parse(record.at), plug: record.plug, words: eventWords(record), kind: record.event });
}

function addRule(record) {
  const words = ruleWords(record);
  if (words) add(keyOfRule(record), { at: Date.parse(record.at), plug: record.plug, rule: record.rule ?? record.script, words, kind: "rule" });
}

function add(key, entry) {
  if (entries.has(key) || Number.isNaN(entry.at)) return;
  entry.key = key;
  entries.set(key, entry);
  let index = 0;
  while (index < order.length && order[index].at > entry.at) index++;
  order.splice(index, 0, entry);
  newest = Math.max(newest, entry.at);
  trim();
  beforePaint(paint);
}

function trim() {
  while (order.length > limit) {
    const gone = order.pop();
    entries.delete(gone.key);
    gone.element?.remove();
    begin(gone.at + 1);
  }
}

/** Marks entries before a time as incomplete. */
function begin(at) {
  since.all = Math.max(since.all, at);
  since.chosen = Math.max(since.chosen, at);
}

const list = make("ol", { class: "events", "aria-label": phrase("Events, the newest first"), tabindex: "0" });
const select = make("select", { "aria-label": phrase("Events of"), onchange: choose });
const more = make("button", { type: "button", text: phrase("Older events"), onclick: () => whileBusy(more, () => askChosen(since.chosen)) });
const trouble = make("p", { class: "faint", role: "status" });
/** The number of requests without an answer. */
let waiting = 0;
const isChosen = (entry) => chosen === "" || (chosen === "rule|" ? entry.kind === "rule" : entry.plug === chosen.slice(5));
const isShown = (entry) => entry.at >= since.chosen && isChosen(entry);

function line(entry) {
  const time = make("time", { class: "number", datetime: new Date(entry.at).toISOString(), text: timeOf(entry.at) });
  const who = make("span", { class: "who" }, ...(entry.rule !== undefined ? phraseParts("Rule {rule}", { rule: named(entry.rule) }) : [named(entry.plug ?? "?")]));
  return make("li", { "data-kind": entry.kind }, time, who, make("span", { class: "what", dir: "auto", text: entry.words }));
}

function paint() {
  let index = 0;
  for (const entry of order) {
    if (!isShown(entry)) { entry.element?.remove(); continue; }
    entry.element ??= line(entry);
    if (list.children[index] !== entry.element) list.insertBefore(entry.element, list.children[index] ?? null);
    index++;
  }
  list.hidden = index === 0;
  more.hidden = since.chosen === -Infinity || limit >= MOST;
  if (!trouble.dataset.fault) setText(trouble, index > 0 ? "" : waiting > 0 ? phrase("Loading …") : phrase("Nothing has happened yet."));
}

/**
 * Requests the newest events and firings, and passes the time since which both lists are complete to `note`. A list
 * with the maximum length is complete only since its oldest entry.
 * @param {(begin: number, count: number) => boolean} note Called before the entries are added, with the start of the
 * complete range and the number of new entries. If it returns false, the entries are dropped.
 */
async function ask({ from, to, most, plug, rulesOnly }, note) {
  const query = { from: from && new Date(from).toISOString(), to: to && new Date(to).toISOString() };
  // Firings of all plugs are requested, and only a few may belong to this plug.
  const mostFirings = plug ? WHOLE : most;
  const [events, firings] = await Promise.all([
    rulesOnly ? [] : get("events", { ...query, plug, limit: most }), get("firings", { ...query, limit: mostFirings })]);
  const begins = [[events, most], [firings, mostFirings]].map(([list, most]) => list.length < most ? -Infinity : Date.parse(list[0].at));
  const begin = Math.max(...begins);
  const whole = (record) => Date.parse(record.at) >= begin;
  const [newEvents, newFirings] = [events.filter(whole), firings.filter((record) => whole(record) && (!plug || record.plug === plug))];
  if (!note(begin, newEvents.length + newFirings.length)) return;
  newEvents.forEach(addEvent);
  newFirings.forEach(addRule);
  beforePaint(paint);
}

async function tried(asking) {
  waiting += 1;
  beforePaint(paint);
  try {
    await asking;
    delete trouble.dataset.fault;
  } catch (error) {
    trouble.dataset.fault = "true";
    setText(trouble, error.words ?? "");
  }
  waiting -= 1;
  beforePaint(paint);
}

/** Requests up to 1000 entries since 5 s before a time, or the newest entries if the time is 0; the user's choice is ignored. */
function fillUp(from) {
  const query = from > 0 ? { from: from - 5000, most: WHOLE } : { most: PAGE };
  return tried(ask(query, (whole) => {
    if (from > 0) { if (whole > -Infinity) begin(whole); }
    else since.all = since.chosen = whole;
    return true;
  }));
}

/** Requests the chosen entries before a time, or the newest. */
function askChosen(to) {
  const view = chosen;
  const plug = view.startsWith("plug|") ? view.slice(5) : undefined;
  return tried(ask({ to, most: PAGE, plug, rulesOnly: view === "rule|" }, (whole, count) => {
    // The user has made a different choice, or the answer does not reach the entries that are shown.
    if (view !== chosen || to < since.chosen) return false;
    limit = Math.min(limit + count, MOST);
    since.chosen = Math.min(since.chosen, whole);
    if (view === "") since.all = since.chosen;
    return true;
  }));
}

function choose() {
  chosen = select.value;
  limit = LIMIT;
  trim();
  since.chosen = since.all;
  paint();
  askChosen();
}

function offer() {
  const wanted = [["", phrase("All events")], ["rule|", phrase("Rules")], ...names().map((name) => [`plug|${name}`, name])];
  if (select.options.length === wanted.length && wanted.every(([value], index) => select.options[index].value === value)) return;
  select.replaceChildren(...wanted.map(([value, text]) => make("option", { value, text })));
  if (wanted.some(([value]) => value === chosen)) select.value = chosen;
  else if (chosen) { select.value = ""; choose(); }
}

export function startEvents() {
  const title = document.getElementById("events-title");
  const bar = make("div", { class: "bar" });
  title.replaceWith(bar);
  bar.append(title, select);
  bar.after(list, trouble, more);
  hear("event", addEvent);
  hear("rule", addRule);
  hear("house", (again) => {
    offer();
    // `fillUp` also requests the 5 s before the newest entry, because a plug can report an event late, with its
    // original time.
    const since = newest;
    for (const wait of again ? LATER : []) setTimeout(() => fillUp(since), wait);
  });
  let timer = 0;
  hear("back", () => {
    clearTimeout(timer);
    const since = newest - 60_000;
    timer = setTimeout(() => fillUp(since), 2000);
  });
  hear("plug", offer);
  hear("gone", offer);
  offer();
  fillUp(newest);
}
