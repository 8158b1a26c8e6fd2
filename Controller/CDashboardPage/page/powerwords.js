// Describes the chart in words and as a table, for screen readers and for exact values.

import { make, named } from "./dom.js";
import { energy, span, timeOf, watts } from "./format.js";
import { phrase } from "./language.js";

/** Describes one plug. @param before The summary of the preceding period, for a comparison. */
export function summaryWords(summary, before) {
  if (!summary) return phrase("no data for this time");
  if (before) return phrase("{energy}, in the preceding period {before}", { energy: energy(summary.energy), before: energy(before.energy) });
  return phrase("lowest {low} W, highest {high} W, mean {mean} W, {energy}", { low: watts(summary.low), high: watts(summary.high), mean: watts(summary.mean), energy: energy(summary.energy) });
}

/** Describes the whole chart. @param {Array<[string, Course]>} shown */
export function describe(shown, from, to, follows) {
  const title = follows ? phrase("Power of the last {time}", { time: span(to - from) }) : phrase("Power of {from} to {to}", { from: timeOf(from), to: timeOf(to) });
  if (shown.length === 0) return phrase("{title}: no plug is chosen", { title });
  return `${title}. ${shown.map(([name, course]) => `${name}: ${summaryWords(course.summary(from, to))}`).join(". ")}.`;
}

/**
 * Describes the values under the cursor, one per line. `near`: the distance in ms within which an event counts as under
 * it; `before`: how long before the preceding period is, in ms; `sums`: true to add the total.
 */
export function readout(time, shown, marks, near, { before, sums }) {
  const values = shown.map(([name, course]) => {
    const found = course.at(time);
    if (!found) return `${name}: –`;
    const power = found.high - found.low > 0.5
      ? phrase("{power} W ({low} to {high})", { power: watts(found.value), low: watts(found.low), high: watts(found.high) }) : `${watts(found.value)} W`;
    const earlier = before === undefined ? undefined : course.at(time - before);
    return `${name}: ${earlier ? phrase("{power}, before {earlier} W", { power, earlier: watts(earlier.value) }) : power}`;
  });
  if (sums) values.push(phrase("Total: {power} W", { power: watts(shown.reduce((sum, [, course]) => sum + (course.at(time)?.value ?? 0), 0)) }));
  const happened = marks.filter((mark) => Math.abs(mark.at - time) <= near).slice(0, 3).map((mark) => mark.words);
  return [timeOf(time), ...values, ...happened].join("\n");
}

const ROWS = 12;

/** Builds a table of twelve times with the power of each plug. */
export function table(shown, from, to) {
  const times = Array.from({ length: ROWS }, (_, index) => from + (to - from) * (index + 0.5) / ROWS);
  return make("table", {}, make("caption", { text: phrase("Power, W") }),
    make("thead", {}, make("tr", {}, make("th", { scope: "col", text: phrase("Time") }), ...shown.map(([name]) => make("th", { scope: "col" }, named(name))))),
    make("tbody", {}, ...times.map((time) => make("tr", {}, make("th", { scope: "row", text: timeOf(time) }),
      ...shown.map(([, course]) => make("td", { text: course.at(time) ? watts(course.at(time).value) : phrase("no data") }))))));
}
