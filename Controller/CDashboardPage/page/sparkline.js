// The last ten minutes of a plug, as a line and in words.

import { draw, setAttribute } from "./dom.js";
import { watts } from "./format.js";
import { phrase } from "./language.js";
import { HOLE } from "./series.js";

export const SPAN = 600_000;
const WIDTH = 150;
const HEIGHT = 40;

export function sparkline() {
  const [area, line] = [draw("path", { class: "area" }), draw("path", { class: "line" })];
  const element = draw("svg", {
    class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": phrase("No readings in the last ten minutes") },
  area, line);
  let said = 0;

  /** @param {Series} series @param {number} now ms since 1970; the right edge. */
  function show(series, now) {
    const { runs, least, greatest, sum, count } = columns(series, now);
    // The scale starts at 0 W, so that a nearly constant power is drawn as a nearly flat line.
    const top = Math.max(greatest, 1) * 1.08;
    const y = (value) => (HEIGHT - 1.5 - Math.max(value, 0) / top * (HEIGHT - 3)).toFixed(1);
    let [stroke, fill] = ["", ""];
    for (const run of runs) {
      const points = run.map(([x, value]) => `${x.toFixed(1)} ${y(value)}`).join("L");
      stroke += run.length === 1 ? `M${points}h.1` : `M${points}`;
      fill += `M${run[0][0].toFixed(1)} ${HEIGHT}L${points}L${run.at(-1)[0].toFixed(1)} ${HEIGHT}z`;
    }
    setAttribute(line, "d", stroke);
    setAttribute(area, "d", fill);
    // The text changes at most every ten seconds, so that screen readers are not flooded.
    if (Math.abs(now - said) < 10_000 && said !== 0) return;
    said = count > 0 ? now : 0;
    setAttribute(element, "aria-label", count === 0
      ? phrase("No readings in the last ten minutes")
      : phrase("Last ten minutes: lowest {low} W, highest {high} W, mean {mean} W", { low: watts(least), high: watts(greatest), mean: watts(sum / count) }));
  }
  return { element, show };
}

/** Returns the highest reading per column, so that short peaks stay visible. */
function columns(series, now) {
  const { times, values } = series;
  const from = now - SPAN;
  const runs = [];
  let [least, greatest, sum, count] = [Infinity, 0, 0, 0];
  let [run, column, before] = [null, -1, -Infinity];
  for (let index = series.after(from); index < times.length; index++) {
    const [time, value] = [times[index], values[index]];
    if (time > now + 2000) break;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
    sum += value;
    count += 1;
    const here = Math.min(Math.floor((time - from) / SPAN * WIDTH), WIDTH);
    if (time - before > HOLE) runs.push(run = []);
    if (run.length > 0 && here === column) run.at(-1)[1] = Math.max(run.at(-1)[1], value);
    else run.push([here, value]);
    [column, before] = [here, time];
  }
  return { runs, least, greatest, sum, count };
}
