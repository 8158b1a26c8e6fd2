// The large chart: the chosen plugs, the time range, and its live updates.

import { get } from "./api.js";
import { COLOURS, coloursOf } from "./colours.js";
import { Chart, forgetColours } from "./chart.js";
import { readCourse } from "./course.js";
import { csvOf, saveFile } from "./csv.js";
import { beforePaint, make, setAttribute, setText, whenSeen } from "./dom.js";
import { civilText } from "./format.js";
import { startGestures } from "./gestures.js";
import { LATER, hear, names, now, plugs } from "./house.js";
import { phrase } from "./language.js";
import { memory } from "./memory.js";
import { chartControls } from "./powercontrols.js";
import { readLink, writeLink } from "./powerlink.js";
import { describe, readout, table } from "./powerwords.js";
import { whenThemeChanges } from "./theme.js";
import { eventWords, ruleWords } from "./words.js";

const MINUTE = 60_000;
const SHORTEST = 20_000;
const LONGEST = 5 * 365 * 1440 * MINUTE;
/** The maximum number of plugs in the chart: more colours could not be distinguished. */
export const MOST = COLOURS;
/** The maximum number of marks of all plugs, so that a page that is open for weeks does not fill the memory. */
const MARKS = 2000;
/**
 * The longest range in ms for which the daemon sends samples. For longer ranges it sends summaries, so a live chart
 * is loaded again every five minutes.
 */
const SAMPLES = 26 * 60 * MINUTE;

/** The view that the address of the page requested. */
const linked = readLink();
const state = {
  chosen: [], span: 10 * MINUTE, end: now(), follows: true, courses: new Map(), marks: new Map(), cursor: undefined,
  /** True if the preceding period of the same length is also shown. */
  compares: false,
  /** True if the plugs are stacked, so that the upper edge is their total. */
  stacks: false,
  ...linked,
};
const canvas = make("canvas", { class: "chart", role: "img", "aria-label": phrase("Power") });
const frame = make("div", { class: "frame", tabindex: "0", role: "group", "aria-label": phrase("Chart of power. Plus and minus zoom, arrow keys pan, shift with arrow keys reads values, End goes to now.") });
const told = make("p", { class: "readout number", role: "status" });
const trouble = make("p", { class: "faint", role: "status" });
const data = make("div", { class: "hidden" });
const chart = new Chart(canvas);
frame.append(canvas, told);
let controls;
let [timer, running, drawnAt, describedAt, legendAt, tabled, seen] = [0, null, -Infinity, -Infinity, -Infinity, false, false];

const view = () => ({ from: state.end - state.span, to: state.end });
/** The time range whose readings are shown. A comparison also shows the preceding period. */
const loaded = () => ({ from: state.end - (state.compares ? 2 : 1) * state.span, to: state.end });
const shownCourses = () => state.chosen.filter((name) => state.courses.has(name)).map((name) => [name, state.courses.get(name)]);

function changed(words = false) {
  if (words) {
    describedAt = legendAt = -Infinity;
    tabled = false;
  }
  beforePaint(paint);
}

/** Draws the live chart again if it has moved by half a pixel since the last drawing, or after ten seconds. */
function goOn() {
  if (state.follows && performance.now() - drawnAt >= Math.min(state.span / chart.width / 2, 10_000)) changed();
}

function paint() {
  if (!seen) return;
  // The range ends now, so newer readings appear at the right edge.
  if (state.follows) state.end = now();
  drawnAt = performance.now();
  const { from, to } = view();
  const shown = shownCourses();
  const marks = [...state.marks.values()];
  const colours = coloursOf(state.chosen, MOST);
  chart.draw({
    from, to, courses: shown.map(([, course]) => course), colours: shown.map(([name]) => colours.get(name)), marks, cursor: state.cursor, now: now(),
    compares: state.compares, stacks: state.stacks });
  showValues(shown, marks, from, to);
  setAttribute(frame, "data-from", Math.round(from));
  setAttribute(frame, "data-to", Math.round(to));
  setAttribute(frame, "data-follows", String(state.follows));
  if (performance.now() - legendAt >= 2000) {
    legendAt = performance.now();
    controls.show(state, shown, colours, from, to);
  }
  // The description changes at most every ten seconds, so that screen readers are not flooded.
  if (performance.now() - describedAt < 10_000) return;
  describedAt = performance.now();
  canvas.setAttribute("aria-label", describe(shown, from, to, state.follows));
  // The table changes only after the user's actions, so that reading it is not interrupted.
  if (tabled) return;
  tabled = true;
  data.replaceChildren(table(shown, from, to));
}

/** Shows the values under the cursor next to it, on the side with more space. */
function showValues(shown, marks, from, to) {
  const before = state.compares ? state.span : undefined;
  setText(told, state.cursor === undefined ? "" : readout(state.cursor, shown, marks, (to - from) / chart.width * 6, { before, sums: state.stacks }));
  if (state.cursor === undefined) return;
  const x = chart.placeOf(state.cursor, { from, to });
  const isLeft = x > canvas.clientWidth / 2;
  told.style.left = isLeft ? "" : `${x + 12}px`;
  told.style.right = isLeft ? `${canvas.clientWidth - x + 12}px` : "";
}

let healing = [];

/** Reloads the chart after each delay of `LATER`, because the daemon fetches the missed readings from the plugs with a
 * delay. */
function heal() {
  for (const one of healing) clearTimeout(one);
  healing = LATER.map((wait) => setTimeout(() => load(0), wait));
}

/** Loads the data after a delay. Several calls within the delay cause one load. */
function load(wait = 160) {
  clearTimeout(timer);
  timer = setTimeout(read, wait);
}

async function read() {
  running?.abort();
  const own = running = new AbortController();
  const { from, to } = loaded();
  const side = state.span * (state.follows ? 0.02 : 0.3);
  const chosen = [...state.chosen];
  if (isOwn) writeLink(state);
  if (chosen.some((name) => !state.courses.has(name))) setText(trouble, phrase("Loading …"));
  try {
    await Promise.all([
      ...chosen.map(async (name) => {
        const course = await readCourse(name, from - side, state.follows ? now() + 1000 : to + side, chart.width * (to - from + 2 * side) / state.span, own.signal);
        if (state.chosen.includes(name)) state.courses.set(name, course);
        changed(true);
      }),
      readMarks(chosen, to - state.span, to, own.signal)]);
    setText(trouble, chosen.length === 0 ? phrase("Choose a plug to see its power.") : "");
  } catch (error) {
    if (error.name === "AbortError") return;
    setText(trouble, error.words ?? "");
  }
  if (running === own && state.follows && to - from > SAMPLES) load(5 * MINUTE);
}

async function readMarks(chosen, from, to, signal) {
  const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), limit: 200 };
  const [firings, ...events] = await Promise.all([get("firings", query, signal), ...chosen.map((plug) => get("events", { ...query, plug }, signal))]);
  state.marks.clear();
  firings.forEach(markRule);
  events.flat().forEach(markEvent);
  changed();
}

function mark(key, about) {
  state.marks.set(key, about);
  if (state.marks.size > MARKS) state.marks.delete(state.marks.keys().next().value);
}

function markEvent(record) {
  if (!state.chosen.includes(record.plug) || ["reading", "level", "snapshot", "connected", "disconnected"].includes(record.event)) return;
  mark(`${record.plug}|${record.seq ?? record.at}|${record.event}`, { at: Date.parse(record.at), kind: "event", words: `${record.plug}: ${eventWords(record)}` });
}

function markRule(record) {
  if ((record.event ?? "firing") !== "firing") return;
  mark(`rule|${record.rule}|${record.at.slice(0, 19)}`, { at: Date.parse(record.at), kind: "rule", words: phrase("Rule {rule} {what}", { rule: record.rule, what: ruleWords(record) }) });
}

const move = {
  zoom(factor, x) {
    const { from, to } = view();
    const span = Math.min(Math.max(state.span * factor, SHORTEST), LONGEST);
    // In live mode the right edge stays at now; otherwise the time under the pointer stays in place.
    if (!state.follows) {
      const fixed = x === undefined ? (from + to) / 2 : chart.timeAt(x, { from, to });
      state.end = fixed + (to - fixed) * span / state.span;
    }
    set({ span });
  },
  pan(share) {
    const end = state.end + share * state.span;
    set({ follows: end >= now(), end: Math.min(end, now()) });
  },
  /** Shows a time range in ms since 1970. */
  show(from, to) {
    const end = Math.min(to, now());
    set({ span: Math.min(Math.max(end - from, SHORTEST), LONGEST), end, follows: false });
  },
  point(x) {
    state.cursor = x === undefined ? undefined : chart.timeAt(x, view());
    changed();
  },
  step(direction) {
    const { from, to } = view();
    const at = (state.cursor ?? (direction > 0 ? from : to)) + direction * (to - from) / 60;
    state.cursor = Math.min(Math.max(at, from), to);
    changed();
  },
  async home() {
    const year = 366 * 1440 * MINUTE;
    const found = await Promise.all(state.chosen.map((name) => readCourse(name, now() - 3 * year, now(), 400).catch(() => ({ times: [] }))));
    const first = Math.min(...found.flatMap((course) => course.times.slice(0, 1)));
    if (!Number.isFinite(first)) return;
    const end = Math.min(first + state.span * 0.95, now());
    set({ end, follows: end >= now() });
  },
  end() { set({ follows: true }); },
};

function settle() {
  changed(true);
  load();
}

/** True after the user has changed the view. The address then contains it. */
let isOwn = Object.keys(linked).length > 0;

/** Applies the user's changes of the view. */
function set(changes) {
  isOwn = true;
  Object.assign(state, changes);
  settle();
}

function choose(chosen) {
  isAutomatic = false;
  isOwn = true;
  state.chosen = chosen.slice(0, MOST);
  for (const name of state.courses.keys()) if (!state.chosen.includes(name)) state.courses.delete(name);
  memory.set("chart", JSON.stringify(state.chosen));
  state.marks.clear();
  changed(true);
  load(0);
}

/** True if the user has not chosen plugs. The first plugs, and later plugs with much power, are then added to the chart. */
let isAutomatic = false;
/** The number of plugs that are shown regardless of their power. */
const FIRST = 3;
/** The power in W from which a further plug is added. */
const MUCH = 50;

/**
 * Adds a plug if the chart has fewer than `FIRST` plugs, because some plugs may have connected after the page, or if
 * its power is more than twice that of each chosen plug. Otherwise the chart would miss the largest part of the house's
 * power.
 */
function addPlug(told) {
  if (!isAutomatic || state.chosen.length >= MOST) return;
  const power = (name) => plugs.get(name)?.record.reading?.activePower ?? 0;
  const most = Math.max(MUCH, ...state.chosen.map((name) => 2 * power(name)));
  const name = told.find((name) => !state.chosen.includes(name) && (state.chosen.length < FIRST || power(name) > most));
  if (name === undefined) return;
  state.chosen.push(name);
  controls.offer(names(), state.chosen);
  settle();
}

/** Chooses the previously shown plugs, or those with the highest power. */
function firstChoice() {
  let before = state.chosen;
  try { if (before.length === 0) before = JSON.parse(memory.get("chart") ?? "[]"); } catch { /* A new choice is made below. */ }
  const known = Array.isArray(before) ? before.filter((name) => plugs.has(name)) : [];
  const power = (name) => plugs.get(name).record.reading?.activePower ?? -1;
  const large = names().filter((name) => power(name) >= 0).sort((one, other) => power(other) - power(one)).slice(0, FIRST);
  isAutomatic = known.length === 0;
  state.chosen = isAutomatic ? large : known.slice(0, MOST);
}

function save() {
  const { from, to } = view();
  saveFile(`power-${civilText(from).slice(0, 10)}.csv`, csvOf(shownCourses(), from, to));
}

export function startPower() {
  const section = document.getElementById("power");
  controls = chartControls({
    range: (span) => set({ span, follows: true }), view: () => ({ ...view(), compares: state.compares, stacks: state.stacks }),
    set, save, choose, show: move.show, zoom: move.zoom, pan: move.pan, now: move.end });
  section.append(controls.element, frame, controls.legend, trouble, data);
  startGestures(frame, canvas, move);
  firstChoice();
  whenSeen(frame, (isSeen) => { seen = isSeen; changed(true); });
  new ResizeObserver(() => changed(true)).observe(canvas);
  whenThemeChanges(() => { forgetColours(); changed(true); });
  hear("reading", (told) => {
    for (const name of told) {
      const { record: { reading } } = plugs.get(name);
      if (state.follows) state.courses.get(name)?.append(Date.parse(reading.at), reading.activePower);
    }
    addPlug(told);
    goOn();
  });
  // The range also moves while no readings arrive.
  setInterval(() => { if (document.visibilityState === "visible") goOn(); }, 1000);
  hear("event", (record) => { markEvent(record); changed(); });
  hear("rule", (record) => { markRule(record); changed(); });
  hear("chart", (name) => {
    choose([name]);
    section.scrollIntoView();
    frame.focus({ preventScroll: true });
  });
  hear("house", (again) => { controls.offer(names(), state.chosen); if (again) heal(); else if (state.chosen.length === 0) { firstChoice(); load(0); } });
  hear("back", (name) => { if (state.chosen.includes(name)) heal(); });
  hear("plug", () => controls.offer(names(), state.chosen));
  hear("gone", (name) => { if (state.chosen.includes(name)) choose(state.chosen.filter((other) => other !== name)); controls.offer(names(), state.chosen); });
  controls.offer(names(), state.chosen);
  load(0);
}

