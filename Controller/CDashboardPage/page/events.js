// What happened, the newest first. What the stream did not tell is asked for: there is no hole.

import { get } from "./api.js";
import { beforePaint, make, named, setText } from "./dom.js";
import { timeOf } from "./format.js";
import { LATER, hear, names } from "./house.js";
import { eventWords, ruleWords } from "./words.js";

/** Lines kept: older ones are asked for again where somebody wants them. */
const LIMIT = 500;
const PAGE = 100;

/** By its key, which is the same however it came. In order of time, the newest first: `order`. */
const entries = new Map();
let order = [];
let chosen = "";
let newest = 0;
/** Whether there are none older than those shown. */
let allKnown = false;

const keyOf = (record) => record.seq === undefined ? `${record.plug}|${record.event}|${record.at}` : `${record.plug}|${record.seq}|${record.event}`;

/** What a firing is told as, with its time to the second: the stream and the history agree to that. */
const keyOfRule = (record) => `rule|${record.rule}|${record.event ?? "firing"}|${record.at.slice(0, 19)}|${record.event === "notSent" || record.event === "resumed" ? record.plug : ""}`;

function addEvent(record) {
  if (record.event === "reading" || record.event === "level" || record.event === "snapshot") return;
  add(keyOf(record), { at: Date.parse(record.at), plug: record.plug, words: eventWords(record), kind: record.event });
}

function addRule(record) {
  const words = ruleWords(record);
  if (words) add(keyOfRule(record), { at: Date.parse(record.at), plug: record.plug, rule: record.rule, words, kind: "rule" });
}

function add(key, entry) {
  if (entries.has(key) || Number.isNaN(entry.at)) return;
  entry.key = key;
  entries.set(key, entry);
  let index = 0;
  while (index < order.length && order[index].at > entry.at) index++;
  order.splice(index, 0, entry);
  newest = Math.max(newest, entry.at);
  beforePaint(paint);
}

/** Those that a chart marks: of these plugs, between two times. */
export const eventsOf = (plugs, from, to) => order.filter((entry) => entry.at >= from && entry.at <= to && plugs.has(entry.plug));

const list = make("ol", { class: "events", "aria-label": "Events, the newest first", tabindex: "0" });
const select = make("select", { "aria-label": "Events of", onchange: choose });
const more = make("button", { type: "button", text: "Older events", onclick: older });
const trouble = make("p", { class: "faint" });
const isShown = (entry) => chosen === "" || (chosen === "rule|" ? entry.kind === "rule" : entry.plug === chosen.slice(5));

function line(entry) {
  const time = make("time", { class: "number", datetime: new Date(entry.at).toISOString(), text: timeOf(entry.at) });
  const who = entry.rule !== undefined ? make("span", { class: "who" }, "Rule ", named(entry.rule)) : make("span", { class: "who" }, named(entry.plug ?? "?"));
  return make("li", { "data-kind": entry.kind }, time, who, make("span", { class: "what", dir: "auto", text: entry.words }));
}

function paint() {
  while (order.length > LIMIT) {
    const gone = order.pop();
    entries.delete(gone.key);
    gone.element?.remove();
  }
  let index = 0;
  for (const entry of order) {
    if (!isShown(entry)) { entry.element?.remove(); continue; }
    entry.element ??= line(entry);
    if (list.children[index] !== entry.element) list.insertBefore(entry.element, list.children[index] ?? null);
    index++;
  }
  more.hidden = index === 0 || allKnown;
  if (!trouble.dataset.fault) setText(trouble, index === 0 ? "Nothing has happened yet." : "");
}

async function ask(query) {

  try {
    const plug = chosen.startsWith("plug|") ? chosen.slice(5) : undefined;
    const [events, firings] = await Promise.all([
      chosen === "rule|" ? [] : get("events", { ...query, plug }), get("firings", query)]);
    events.forEach(addEvent);
    firings.forEach(addRule);
    delete trouble.dataset.fault;
    beforePaint(paint);
    return events.length + firings.length;
  } catch (error) {
    trouble.dataset.fault = "true";
    setText(trouble, error.words ?? "");
    return 0;
  }
}

/** Since what it has; all of it, also where that is more than one answer holds. */
async function fillUp(since) {
  const from = since > 0 ? new Date(since - 5000).toISOString() : undefined;
  await ask({ from, limit: from ? 1000 : PAGE });
}

async function older() {
  const last = order.filter(isShown).at(-1);
  more.disabled = true;
  const found = await ask({ to: new Date(last ? last.at : Date.now()).toISOString(), limit: PAGE });
  more.disabled = false;
  allKnown = found <= 1;
  paint();
}

function choose() {
  chosen = select.value;
  allKnown = false;
  paint();
  ask({ limit: PAGE });
}

function offer() {
  const wanted = [["", "All events"], ["rule|", "Rules"], ...names().map((name) => [`plug|${name}`, name])];
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
    // Of what happened before the gap too: what a plug tells late has happened then.
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
