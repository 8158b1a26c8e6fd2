// Draws the large chart from courses (`course.js`) and a time range. This module sends no requests.

import { dateOf, firstOfMonth, offset, shortNumber, startOf, tick } from "./format.js";
import { nice } from "./energy.js";
import { layers } from "./layers.js";

const PAD = { left: 56, right: 12, top: 22, bottom: 28 };
/** Dash patterns, so that colour is not the only difference between courses. */
export const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3], [4, 4], [12, 4], [1, 4], [6, 2, 2, 2, 2, 2]];
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200].map((seconds) => seconds * 1000);
const DAY = 86_400_000;

let colours = null;

/** Forgets the colours of the theme. Call it after the theme changed. */
export function forgetColours() { colours = null; }

function palette() {
  if (colours) return colours;
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return colours = { series: DASHES.map((_, index) => of(`--s${index}`)), soft: of("--soft"), line: of("--line"), ink: of("--ink"), warn: of("--warn"), sheet: of("--sheet"), font: `12px ${style.fontFamily}` };
}

export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
  }

  /** The width of the drawing in pixels. */
  get width() { return Math.max(this.canvas.clientWidth - PAD.left - PAD.right, 50); }

  /** Returns the time at a place `x`, in px from the left edge of the canvas. */
  timeAt(x, { from, to }) { return from + (x - PAD.left) / this.width * (to - from); }

  /** Returns the place of a time, in px from the left edge of the canvas. */
  placeOf(time, { from, to }) { return PAD.left + (time - from) / (to - from) * this.width; }

  /**
   * `colours`: the number of each course's colour; `compares`: draws also the preceding period; `stacks`: draws the
   * courses on top of each other.
   * @param {{from, to, courses: Course[], colours: number[], marks: Array<{at, kind}>, cursor?: number, now: number, compares: boolean, stacks: boolean}} view
   */
  draw(view) {
    const { canvas, pen } = this;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    if (wide === 0) return;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      [canvas.width, canvas.height] = [Math.round(wide * ratio), Math.round(high * ratio)];
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, high);
    const ink = palette();
    pen.font = ink.font;
    const drawn = view.courses.map((course) => columns(course, view, this.width));
    const earlier = { from: 2 * view.from - view.to, to: view.from };
    const before = view.compares ? view.courses.map((course) => columns(course, earlier, this.width)) : [];
    const [stack, stackBefore] = view.stacks ? [drawn, before].map((all) => layers(all, this.width)) : [];
    const most = view.stacks ? [...stack.at(-1), ...stackBefore.at(-1)] : [...drawn, ...before].map(({ most }) => most);
    const top = most.reduce((one, other) => Math.max(one, other), 4);
    const step = nice(top / 4);
    const scale = { top: Math.ceil(top * 1.02 / step) * step, step };
    const x = (time) => this.placeOf(time, view);
    const y = (value) => high - PAD.bottom - value / scale.top * (high - PAD.top - PAD.bottom);
    this.axes(view, scale, x, y, ink);
    pen.save();
    pen.beginPath();
    pen.rect(PAD.left, 0, this.width + 1, high);
    pen.clip();
    this.marks(view, x, high, ink);
    const style = (index) => [ink.series[view.colours[index]], DASHES[view.colours[index]]];
    pen.globalAlpha = 0.4;
    if (view.stacks && view.compares) this.edge(stackBefore.at(-1), ink.ink, [4, 4], y);
    else before.forEach((one, index) => this.lines(one, ...style(index), y));
    pen.globalAlpha = 1;
    if (view.stacks) this.stack(stack, style, y);
    else drawn.forEach((one, index) => this.course(one, ...style(index), y));
    if (view.cursor !== undefined) this.cursor(view, x, y, high, ink);
    pen.restore();
  }

  axes(view, scale, x, y, ink) {
    const { pen } = this;
    const [wide, high] = [this.canvas.clientWidth, this.canvas.clientHeight];
    [pen.strokeStyle, pen.fillStyle, pen.lineWidth] = [ink.line, ink.soft, 1];
    pen.setLineDash([]);
    [pen.textAlign, pen.textBaseline] = ["right", "middle"];
    for (let value = 0; value <= scale.top + scale.step / 2; value += scale.step) {
      const line = Math.round(y(value)) + 0.5;
      stroke(pen, [[PAD.left, line], [wide - PAD.right, line]]);
      pen.fillText(`${shortNumber(value)} W`, PAD.left - 8, line);
    }
    pen.textBaseline = "top";
    const { times, step } = ticks(view.from, view.to, this.width / 92);
    for (const time of times) {
      const at = Math.round(x(time)) + 0.5;
      stroke(pen, [[at, high - PAD.bottom], [at, high - PAD.bottom + 4]]);
      pen.textAlign = at < PAD.left + 30 ? "left" : at > wide - 40 ? "right" : "center";
      pen.fillText(tick(time, step), at, high - PAD.bottom + 8);
    }
    // The future is shaded.
    if (view.to > view.now) {
      pen.fillStyle = ink.line;
      pen.globalAlpha = 0.35;
      pen.fillRect(x(Math.max(view.now, view.from)), PAD.top, wide - PAD.right - x(Math.max(view.now, view.from)), high - PAD.top - PAD.bottom);
      pen.globalAlpha = 1;
    }
  }

  /** Draws the range and the mean of a course. */
  course(drawn, colour, dash, y) {
    const { pen } = this;
    pen.fillStyle = colour;
    pen.globalAlpha = 0.22;
    for (const run of drawn.runs) {
      if (!run.some((column) => column.high > column.low)) continue;
      pen.beginPath();
      for (const column of run) pen.lineTo(PAD.left + column.x, y(column.high) - 0.5);
      for (const column of run.toReversed()) pen.lineTo(PAD.left + column.x, y(column.low) + 0.5);
      pen.fill();
    }
    pen.globalAlpha = 1;
    this.lines(drawn, colour, dash, y);
  }

  /** Draws the mean of a course. */
  lines({ runs }, colour, dash, y) {
    const { pen } = this;
    [pen.strokeStyle, pen.fillStyle, pen.lineJoin, pen.lineWidth] = [colour, colour, "round", 1.75];
    pen.setLineDash(dash);
    for (const run of runs) {
      const at = run.map((column) => PAD.left + column.x);
      if (run.length === 1) pen.fillRect(at[0] - 1, y(run[0].sum / run[0].count) - 1, 2, 2);
      else stroke(pen, run.map((column, index) => [at[index], y(column.sum / column.count)]));
    }
    pen.setLineDash([]);
  }

  /** Fills the layers between edges, and draws the total. */
  stack(edges, style, y) {
    const { pen } = this;
    edges.slice(1).forEach((upper, index) => {
      pen.fillStyle = style(index)[0];
      pen.globalAlpha = 0.6;
      pen.beginPath();
      upper.forEach((value, x) => pen.lineTo(PAD.left + x, y(value)));
      for (let x = upper.length - 1; x >= 0; x--) pen.lineTo(PAD.left + x, y(edges[index][x]));
      pen.fill();
      pen.globalAlpha = 1;
      this.edge(upper, ...style(index), y);
    });
  }

  edge(powers, colour, dash, y) {
    const { pen } = this;
    [pen.strokeStyle, pen.lineJoin, pen.lineWidth] = [colour, "round", 1.75];
    pen.setLineDash(dash);
    stroke(pen, Array.from(powers, (value, x) => [PAD.left + x, y(value)]));
    pen.setLineDash([]);
  }

  marks(view, x, high, ink) {
    const { pen } = this;
    const taken = { rule: new Set(), event: new Set() };
    for (const mark of view.marks) {
      if (mark.at < view.from || mark.at > view.to) continue;
      const at = Math.round(x(mark.at)) + 0.5;
      // If several marks are close together, only the first is drawn.
      const place = Math.floor(at / 6);
      if (taken[mark.kind].has(place)) continue;
      taken[mark.kind].add(place);
      [pen.strokeStyle, pen.fillStyle] = mark.kind === "rule" ? [ink.warn, ink.warn] : [ink.soft, ink.soft];
      pen.globalAlpha = 0.35;
      stroke(pen, [[at, PAD.top], [at, high - PAD.bottom]]);
      pen.globalAlpha = 1;
      pen.beginPath();
      // A rule is marked with a diamond, an event with a triangle.
      if (mark.kind === "rule") { pen.moveTo(at, 5); pen.lineTo(at + 5, 11); pen.lineTo(at, 17); pen.lineTo(at - 5, 11); }
      else { pen.moveTo(at - 5, 7); pen.lineTo(at + 5, 7); pen.lineTo(at, 16); }
      pen.fill();
    }
  }

  cursor(view, x, y, high, ink) {
    const { pen } = this;
    const at = Math.round(x(view.cursor)) + 0.5;
    [pen.strokeStyle, pen.lineWidth] = [ink.ink, 1];
    stroke(pen, [[at, PAD.top - 4], [at, high - PAD.bottom]]);
    // The line of a stack shows the sum of its layers, so a dot there would not be at the course's power.
    (view.stacks ? [] : view.courses).forEach((course, index) => {
      const found = course.at(view.cursor);
      if (!found) return;
      [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [ink.series[view.colours[index]], ink.sheet, 2];
      pen.beginPath();
      pen.arc(at, y(found.value), 4.5, 0, 7);
      pen.fill();
      pen.stroke();
    });
  }
}

function stroke(pen, points) {
  pen.beginPath();
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.stroke();
}

/** Converts a course to columns of one pixel, in runs without gaps. */
function columns(course, { from, to }, width) {
  const runs = [];
  let [run, most] = [null, 0];
  const { times, values, lows, highs } = course;
  // One more point on each side is included, so that the line continues to the edge.
  const end = Math.min(course.from(to) + 1, times.length);
  for (let index = Math.max(course.from(from) - 1, 0); index < end; index++) {
    const x = Math.round((times[index] - from) / (to - from) * width);
    if (run === null || (index > 0 && course.isHole(index))) runs.push(run = []);
    let column = run.at(-1);
    if (column?.x !== x) run.push(column = { x, low: Infinity, high: -Infinity, sum: 0, count: 0 });
    column.low = Math.min(column.low, lows[index]);
    column.high = Math.max(column.high, highs[index]);
    column.sum += values[index];
    column.count += 1;
    if (x >= 0 && x <= width) most = Math.max(most, highs[index]);
  }
  return { runs, most };
}

/** Returns times for the axis: whole seconds, minutes, hours, days or months in the house's time zone. */
function ticks(from, to, most) {
  const least = (to - from) / Math.max(most, 2);
  const times = [];
  let step = STEPS.find((one) => one >= least);
  if (step) {
    const ahead = offset(from);
    for (let time = Math.ceil((from + ahead) / step) * step - ahead; time <= to; time += step) times.push(time);
  } else {
    const days = [1, 2, 3, 7, 14].find((one) => one * DAY >= least);
    const months = days ? 0 : [1, 2, 3, 6, 12].find((one) => one * 30 * DAY >= least) ?? 12;
    step = days ? days * DAY : months * 30 * DAY;
    let date = months ? firstOfMonth(dateOf(from)) : dateOf(from);
    for (let time = startOf(date); time <= to; time = startOf(date)) {
      if (time >= from) times.push(time);
      date = months ? firstOfMonth(date, months) : date + days;
    }
  }
  return { times, step };
}
