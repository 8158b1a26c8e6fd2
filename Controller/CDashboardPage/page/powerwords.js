// Describes the chart in words and as a table, for screen readers and for exact values.

import { make, named } from "./dom.js";
import { energy, span, timeOf, watts } from "./format.js";

/** Describes one plug. @param before The summary of the preceding period, for a comparison. */
export function summaryWords(summary, before) {
  if (!summary) return "no data for this time";
  if (before) return `${energy(summary.energy)}, in the preceding period ${energy(before.energy)}`;
  return `lowest ${watts(summary.low)} W, highest ${watts(summary.high)} W, mean ${watts(summary.mean)} W, ${energy(summary.energy)}`;
}

/** Describes the whole chart. @param {Array<[string, Course]>} shown */
export function describe(shown, from, to, follows) {
  const time = follows ? `the last ${span(to - from)}` : `${timeOf(from)} to ${timeOf(to)}`;
  if (shown.length === 0) return `Power of ${time}: no plug is chosen`;
  return `Power of ${time}. ${shown.map(([name, course]) => `${name}: ${summaryWords(course.summary(from, to))}`).join(". ")}.`;
}

/**
 * Describes the values under the cursor, one per line. `near`: the distance in ms within which an event counts as under
 * it; `before`: how long before the preceding period is, in ms; `sums`: true to add the total.
 */
export function readout(time, shown, marks, near, { before, sums }) {
  const values = shown.map(([name, course]) => {
    const found = course.at(time);
    if (!found) return `${name}: –`;
    const between = found.high - found.low > 0.5 ? ` (${watts(found.low)} to ${watts(found.high)})` : "";
    const earlier = before === undefined ? undefined : course.at(time - before);
    return `${name}: ${watts(found.value)} W${between}${earlier ? `, before ${watts(earlier.value)} W` : ""}`;
  });
  if (sums) values.push(`Total: ${watts(shown.reduce((sum, [, course]) => sum + (course.at(time)?.value ?? 0), 0))} W`);
  const happened = marks.filter((mark) => Math.abs(mark.at - time) <= near).slice(0, 3).map((mark) => mark.words);
  return [timeOf(time), ...values, ...happened].join("\n");
}

const ROWS = 12;

/** Builds a table of twelve times with the power of each plug. */
export function table(shown, from, to) {
  const times = Array.from({ length: ROWS }, (_, index) => from + (to - from) * (index + 0.5) / ROWS);
  return make("table", {}, make("caption", { text: "Power, W" }),
    make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "Time" }), ...shown.map(([name]) => make("th", { scope: "col" }, named(name))))),
    make("tbody", {}, ...times.map((time) => make("tr", {}, make("th", { scope: "row", text: timeOf(time) }),
      ...shown.map(([, course]) => make("td", { text: course.at(time) ? watts(course.at(time).value) : "no data" }))))));
}
