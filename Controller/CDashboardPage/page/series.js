// The readings of one plug of the last quarter of an hour, as they come.

/** Milliseconds without a reading that make a hole, as in the history. */
export const HOLE = 30_000;
const KEPT = 15 * 60_000;
/** Readings a plug: a plug that sends faster than five a second does not fill the page's memory. */
const LIMIT = 4500;

export class Series {
  times = [];
  values = [];

  get newest() { return this.times.at(-1) ?? 0; }

  /** @param {number} time ms since 1970. @param {number} value W. */
  add(time, value) {
    if (time <= this.newest) return;
    this.times.push(time);
    this.values.push(value);
    // In large pieces: to move the rest costs as much for one as for a hundred.
    if (this.times.length > LIMIT || this.times[0] < time - KEPT - 60_000) this.#forget(time - KEPT);
  }

  /** What the daemon has of the past, in order of time; live readings that it lacks stay. */
  merge(points) {
    if (points.length === 0) return;
    const [first, last] = [points[0].time, points.at(-1).time];
    const own = this.times.map((time, index) => ({ time, value: this.values[index] }));
    // The two clocks' roundings may differ by a few ms: where the daemon tells of a time, only that is drawn.
    const all = [...own.filter((one) => one.time < first - 400), ...points, ...own.filter((one) => one.time > last + 400)];
    this.times = all.map((one) => one.time);
    this.values = all.map((one) => one.value);
    if (this.times.length > LIMIT) this.#forget(this.newest - KEPT);
  }

  /** The index of the first reading after a time. */
  after(time) {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low;
  }

  #forget(before) {
    const gone = Math.max(this.after(before), this.times.length - LIMIT);
    this.times.splice(0, gone);
    this.values.splice(0, gone);
  }
}
