// The live readings of a plug, of the last 15 minutes.

/** The time in ms without a reading that counts as a gap, as in the history. */
export const HOLE = 30_000;
const KEPT = 15 * 60_000;
/**
 * The maximum number of readings per plug. It stops a plug that sends more than five per second from filling the
 * memory.
 */
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
    // Old readings are removed in large pieces, because moving the rest takes the same time for one reading as for a
    // hundred.
    if (this.times.length > LIMIT || this.times[0] < time - KEPT - 60_000) this.#forget(time - KEPT);
  }

  /** Adds stored readings in order of time. Live readings outside the time range of the stored ones are kept. */
  merge(points) {
    if (points.length === 0) return;
    const [first, last] = [points[0].time, points.at(-1).time];
    const own = this.times.map((time, index) => ({ time, value: this.values[index] }));
    // The two sources may round times differently, so within the daemon's range only its readings are kept.
    const all = [...own.filter((one) => one.time < first - 400), ...points, ...own.filter((one) => one.time > last + 400)];
    this.times = all.map((one) => one.time);
    this.values = all.map((one) => one.value);
    if (this.times.length > LIMIT) this.#forget(this.newest - KEPT);
  }

  /** Returns the index of the first reading after a time. */
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
