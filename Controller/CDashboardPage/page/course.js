// The power of a plug over a time range: stored samples from the history, then live readings.

import { get, plugPath } from "./api.js";
import { now, plugs } from "./house.js";
import { HOLE } from "./series.js";

/** The maximum number of points per course: more than a day with one point per second. */
const LIMIT = 120_000;

export class Course {
  times = [];
  /** The power in W; for a summary, the mean. */
  values = [];
  /** The lowest and the highest power in W; for a sample, the sample's power. */
  lows = [];
  highs = [];
  /** The length of a summary in ms; 0 without summaries, 60,000 with a single one. */
  step = 0;
  /** The number of summaries. They are the first points. */
  summaries = 0;

  /** @param {Array} records SampleRecords in order of time. */
  constructor(records) {
    const summaries = records.filter((record) => record.minActivePower !== undefined);
    this.step = typicalStep(summaries.map((record) => Date.parse(record.at)));
    this.summaries = summaries.length;
    for (const record of records) {
      const isSummary = record.minActivePower !== undefined;
      this.times.push(Date.parse(record.at) + (isSummary ? this.step / 2 : 0));
      this.values.push(record.activePower);
      this.lows.push(record.minActivePower ?? record.activePower);
      this.highs.push(record.maxActivePower ?? record.activePower);
    }
  }

  get newest() { return this.times.at(-1) ?? 0; }

  append(time, value) {
    if (time <= this.newest) return;
    this.times.push(time);
    this.values.push(value);
    this.lows.push(value);
    this.highs.push(value);
    if (this.times.length > LIMIT) {
      for (const list of [this.times, this.values, this.lows, this.highs]) list.splice(0, LIMIT / 4);
      this.summaries = Math.max(0, this.summaries - LIMIT / 4);
    }
  }

  /** Adds the readings that arrived by the stream. */
  catchUp(series) {
    // The history may round the time of a reading differently, so only readings more than 400 ms after the newest
    // point are added.
    const known = this.newest + (this.times.length > 0 ? 400 : 0);
    for (let index = series.after(known); index < series.times.length; index++) this.append(series.times[index], series.values[index]);
  }

  /** Returns true if there is a gap between a point and the previous one. */
  isHole(index) {
    const limit = index <= this.summaries && this.step > 0 ? Math.max(HOLE, this.step * 1.6) : HOLE;
    return this.times[index] - this.times[index - 1] > limit;
  }

  /** Returns the index of the first point at or after a time. */
  from(time) {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  /** Returns the power, the lowest and the highest power in W of the point nearest to a time; undefined in a gap. */
  at(time) {
    const right = this.from(time);
    const near = [right - 1, right].filter((index) => index >= 0 && index < this.times.length)
      .sort((one, other) => Math.abs(this.times[one] - time) - Math.abs(this.times[other] - time))[0];
    if (near === undefined || Math.abs(this.times[near] - time) > Math.max(HOLE / 2, this.step)) return undefined;
    return { value: this.values[near], low: this.lows[near], high: this.highs[near] };
  }

  /**
   * Summarizes a time range: lowest, highest and mean power (W), energy (Wh), the first time and the longest interval
   * (ms); undefined without points.
   */
  summary(from, to) {
    let [low, high, wattMilliseconds, covered, sum, count, first, longest] = [Infinity, -Infinity, 0, 0, 0, 0, 0, 0];
    for (let index = this.from(from); index < this.times.length && this.times[index] <= to; index++) {
      low = Math.min(low, this.lows[index]);
      high = Math.max(high, this.highs[index]);
      sum += this.values[index];
      count += 1;
      first ||= this.times[index];
      if (index === 0 || this.times[index - 1] < from) continue;
      const length = this.times[index] - this.times[index - 1];
      longest = Math.max(longest, length);
      if (this.isHole(index)) continue;
      wattMilliseconds += (this.values[index] + this.values[index - 1]) / 2 * length;
      covered += length;
    }
    if (count === 0) return undefined;
    return { low, high, mean: covered > 0 ? wattMilliseconds / covered : sum / count, energy: wattMilliseconds / 3_600_000, first, longest };
  }
}

function typicalStep(times) {
  if (times.length === 0) return 0;
  if (times.length < 2) return 60_000;
  const steps = times.slice(1).map((time, index) => time - times[index]).sort((one, other) => one - other);
  return steps[steps.length >> 1];
}

/** Requests the power of a plug; `columns` as in the API. */
export async function readCourse(name, from, to, columns, signal) {
  // Live readings continue a course only if its range ends now.
  const goesOn = to >= now() - 2000;
  const iso = (ms) => new Date(ms).toISOString();
  const records = await get(plugPath(name, "power"), { from: iso(from), to: iso(to), columns: Math.min(Math.max(Math.round(columns), 1), 4000) }, signal);
  const course = new Course(records);
  const series = plugs.get(name)?.series;
  if (series && goesOn) course.catchUp(series);
  return course;
}
