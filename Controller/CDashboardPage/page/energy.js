// Energy and cost: a bar per period, a colour per appliance, and the same data as tables.

import { get } from "./api.js";
import { budgetPart } from "./budget.js";
import { COLOURS, coloursOf } from "./colours.js";
import { become, beforePaint, draw, make, named, setText, whenSeen } from "./dom.js";
import { dateOf, dayName, energy, firstOfMonth, minuteTime, mondayOf, money, monthName, shortNumber, startOf, watts } from "./format.js";
import { hear, now } from "./house.js";
import { phrase } from "./language.js";
import { may } from "./rights.js";
import { openTariff } from "./tariff.js";

const DAY = 86_400_000;
const HOUR = 3_600_000;
/**
 * `bars` describes the chart. `from`: the start of the first period; `name`: the name of the period that begins at a time; `step` and `begin`, if the
 * daemon has no such period: the shorter one to request, and the start of the period that contains a time.
 */
const choices = {
  hour: { label: phrase("By the hour"), bars: (total) => phrase("Energy, one bar per hour: {total} in total. The table below has the numbers.", { total }), from: (now) => now - DAY, name: minuteTime },
  day: { label: phrase("By the day"), bars: (total) => phrase("Energy, one bar per day: {total} in total. The table below has the numbers.", { total }), from: (now) => startOf(dateOf(now) - 13), name: dayName },
  week: {
    label: phrase("By the week"), bars: (total) => phrase("Energy, one bar per week: {total} in total. The table below has the numbers.", { total }),
    from: (now) => startOf(mondayOf(dateOf(now)) - 77), name: (ms) => phrase("from {day}", { day: dayName(ms) }),
    step: "day", begin: (ms) => startOf(mondayOf(dateOf(ms))),
  },
  month: {
    label: phrase("By the month"), bars: (total) => phrase("Energy, one bar per month: {total} in total. The table below has the numbers.", { total }),
    from: (now) => startOf(firstOfMonth(dateOf(now), -11)), name: monthName,
  },
};
/** The number of colours for single appliances. All appliances with less energy share one further colour. */
const SINGLE = COLOURS - 1;
/** The height of the chart, the width of its left margin, and the height of its foot, in px. */
const [HEIGHT, LEFT, FOOT] = [240, 64, 26];

let by = "day";
let seen = false;
let running = null;
let timer = 0;
let told = [];
const buttons = new Map();
const figure = make("div", { class: "bars" });
const legend = make("ul", { class: "legend" });
const baseLoad = make("p", { class: "faint" });
let baseLoadRead = -Infinity;
const budget = budgetPart();
const words = make("p", { class: "faint", role: "status" });
const scroll = (label) => make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, make("table"));
const [byAppliance, byTime] = [scroll(phrase("Energy by appliance")), scroll(phrase("Energy by time"))];
const tables = make("div", { class: "tables", hidden: true }, byAppliance, byTime);

/** Sums the records by period and by appliance. */
function summed(records) {
  const [periods, appliances] = [new Map(), new Map()];
  let currency;
  for (const record of records) {
    const at = Date.parse(record.from);
    const begin = choices[by].begin?.(at) ?? at;
    const period = periods.get(begin) ?? { begin, energy: 0, cost: undefined, by: new Map() };
    const appliance = appliances.get(record.plug) ?? { name: record.plug, energy: 0, cost: undefined };
    for (const sum of [period, appliance]) {
      sum.energy += record.activeEnergy;
      if (record.cost !== undefined) sum.cost = (sum.cost ?? 0) + record.cost;
    }
    period.by.set(record.plug, (period.by.get(record.plug) ?? 0) + record.activeEnergy);
    currency ??= record.currency;
    periods.set(begin, period);
    appliances.set(record.plug, appliance);
  }
  return {
    periods: [...periods.values()].sort((one, other) => one.begin - other.begin),
    appliances: [...appliances.values()].sort((one, other) => other.energy - one.energy), currency };
}

function paint(records) {
  told = records;
  const { periods, appliances, currency } = summed(records);
  const [large, small] = [appliances.slice(0, SINGLE), appliances.slice(SINGLE)];
  const colours = coloursOf(large.map(({ name }) => name), SINGLE);
  const total = appliances.reduce((sum, { energy }) => sum + energy, 0);
  const costs = appliances.filter(({ cost }) => cost !== undefined);
  const cost = costs.length > 0 ? costs.reduce((sum, one) => sum + one.cost, 0) : undefined;
  const price = (value) => value === undefined || currency === undefined ? "–" : money(value, currency);

  figure.replaceChildren(bars(periods, large, small, colours, total));
  legend.replaceChildren(
    ...large.map(({ name }) => make("li", {}, make("i", { class: `box fill${colours.get(name)}`, "aria-hidden": "true" }), named(name))),
    ...(small.length > 0 ? [make("li", {}, make("i", { class: `box fill${SINGLE}`, "aria-hidden": "true" }), phrase("{count:other|others}", { count: small.length }))] : []));
  tables.hidden = appliances.length === 0;
  const row = (head, used, paid) => make("tr", {}, make("th", { scope: "row" }, head), make("td", { class: "number", text: energy(used) }), make("td", { class: "number", text: price(paid) }));
  const table = (caption, first, rows) => make("table", {}, make("caption", { text: caption }),
    make("thead", {}, make("tr", {}, ...[first, phrase("Energy"), phrase("Cost")].map((text) => make("th", { scope: "col", text })))),
    make("tbody", {}, ...rows), make("tfoot", {}, row(phrase("All"), total, cost)));
  become(byAppliance.firstChild, table(phrase("By appliance"), phrase("Appliance"), appliances.map((one) => row(named(one.name), one.energy, one.cost))));
  become(byTime.firstChild, table(phrase("By time"), phrase("From"), [...periods].reverse().map((one) => row(choices[by].name(one.begin), one.energy, one.cost))));
  const sentences = [
    cost === undefined ? phrase("{energy} in total.", { energy: energy(total) }) : phrase("{energy} in total, {cost}.", { energy: energy(total), cost: price(cost) }),
    extremes(periods),
    cost !== undefined ? "" : may.own ? phrase("To see the cost, set the price of a kWh.") : phrase("To see the cost, set the price of a kWh: ask an owner of this dashboard."),
  ];
  setText(words, appliances.length === 0 ? phrase("The history has no energy for this time yet.") : sentences.filter((sentence) => sentence !== "").join(" "));
}

/** Names the periods with the least and the most energy. The last period is not over yet, and the first one may be incomplete. */
function extremes(periods) {
  const whole = periods.slice(1, -1).sort((one, other) => one.energy - other.energy);
  if (whole.length < 2) return "";
  const text = (period) => `${energy(period.energy)} (${choices[by].name(period.begin)})`;
  return phrase("Least: {least}; most: {most}.", { least: text(whole[0]), most: text(whole.at(-1)) });
}

function bars(periods, large, small, colours, total) {
  const most = Math.max(...periods.map(({ energy }) => energy), 1);
  const step = nice(most / 4);
  const top = Math.ceil(most / step) * step;
  const y = (value) => HEIGHT - FOOT - value / top * (HEIGHT - FOOT - 12);
  const width = Math.max(figure.clientWidth, 200);
  // The width is limited, so that the bars of a new house are not too wide.
  const wide = Math.min((width - LEFT) / Math.max(periods.length, 1), 84);
  const drawing = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": choices[by].bars(energy(total)) });
  for (let value = 0; value <= top + step / 2; value += step) {
    drawing.append(draw("path", { class: "grid", d: `M${LEFT} ${y(value).toFixed(1)}H${width}` }),
      draw("text", { class: "mark", x: LEFT - 8, y: (y(value) + 4).toFixed(1), "text-anchor": "end", text: axis(value) }));
  }
  const every = Math.ceil(96 / wide);
  periods.forEach((period, index) => {
    let under = 0;
    const x = LEFT + index * wide + Math.min(wide * 0.16, 12);
    const parts = [...large.map(({ name }) => [name, period.by.get(name) ?? 0, colours.get(name)]),
      [phrase("others"), small.reduce((sum, { name }) => sum + (period.by.get(name) ?? 0), 0), SINGLE]];
    for (const [name, value, colour] of parts) {
      if (value <= 0) continue;
      drawing.append(draw("rect", { class: `fill${colour}`, x: x.toFixed(1), width: (wide - 2 * Math.min(wide * 0.16, 12)).toFixed(1), y: y(under + value).toFixed(1), height: Math.max(y(under) - y(under + value) - 0.6, 0.4).toFixed(1) },
        draw("title", { text: `${name}, ${choices[by].name(period.begin)}: ${energy(value)}` })));
      under += value;
    }
    if ((periods.length - 1 - index) % every === 0) drawing.append(draw("text", { class: "mark", x: Math.min(LEFT + (index + 0.5) * wide, width - 44).toFixed(1), y: HEIGHT - 6, "text-anchor": "middle", text: choices[by].name(period.begin) }));
  });
  return drawing;
}

/** Formats a value of the axis. Its steps are round, so no fixed number of digits is needed. */
const axis = (wattHours) => wattHours < 1000 ? `${shortNumber(wattHours)} Wh` : `${shortNumber(wattHours / 1000)} kWh`;

/** Rounds up to 1, 2 or 5 times a power of ten. */
export function nice(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((one) => one * power >= least * 0.999) ?? 10);
}

/** Describes the daemon's base load. */
function baseLoadWords({ activePower, yearlyEnergy, yearlyCost, currency }) {
  const values = { power: watts(activePower), energy: energy(yearlyEnergy) };
  if (yearlyCost === undefined) return phrase("Base load of the last week: {power} W, which is {energy} a year.", values);
  return phrase("Base load of the last week: {power} W, which is {energy} or {cost} a year.", { ...values, cost: money(yearlyCost, currency) });
}

/** Requests and shows the base load, at most every hour. */
async function readBaseLoad() {
  if (!seen || now() - baseLoadRead < HOUR) return;
  baseLoadRead = now();
  try {
    const load = await get("energy/base");
    setText(baseLoad, load === null ? "" : baseLoadWords(load));
  } catch { baseLoadRead = -Infinity; /* Without a history, the base load is not shown. */ }
}

async function read() {
  clearTimeout(timer);
  // While the section is not visible, no request is sent, because this request is the most expensive one for the
  // daemon.
  if (!seen || document.visibilityState === "hidden") return;
  readBaseLoad();
  budget.read();
  running?.abort();
  const own = running = new AbortController();
  try {
    paint(await get("energy", { from: new Date(choices[by].from(now())).toISOString(), by: choices[by].step ?? by }, own.signal));
  } catch (error) {
    if (error.name === "AbortError") return;
    setText(words, error.words ?? "");
  }
  // Without any energy the next request follows after 5 s, because a new house gets its first energy within seconds
  // after its first plug.
  if (running === own) timer = setTimeout(read, told.length === 0 ? 5_000 : 60_000);
}

export function startEnergy() {
  const choose = make("div", { class: "choices", role: "group", "aria-label": phrase("Energy by") });
  for (const [key, { label }] of Object.entries(choices)) {
    const button = make("button", { type: "button", text: label, "aria-pressed": String(key === by), onclick: () => {
      by = key;
      for (const [other, one] of buttons) one.setAttribute("aria-pressed", String(other === by));
      read();
    } });
    buttons.set(key, button);
    choose.append(button);
  }
  const section = document.getElementById("energy");
  const tariff = make("button", { type: "button", text: phrase("Price of a kWh …"), onclick: () => openTariff(() => { baseLoadRead = -Infinity; read(); }) });
  const showRights = () => { tariff.hidden = budget.button.hidden = !may.own; };
  hear("rights", showRights);
  showRights();
  setText(words, phrase("Loading …"));
  section.append(choose, figure, legend, words, baseLoad, budget.element, tables, make("div", { class: "row" }, tariff, budget.button));
  whenSeen(section, (isSeen) => { if (isSeen !== seen) { seen = isSeen; read(); } });
  let width = 0;
  new ResizeObserver(() => {
    if (figure.clientWidth === width) return;
    width = figure.clientWidth;
    beforePaint(() => { if (told.length > 0) paint(told); });
  }).observe(figure);
  document.addEventListener("visibilitychange", read);
  hear("house", (again) => { if (again) read(); });
}
