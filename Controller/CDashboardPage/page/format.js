// Numbers and times for a person.

const plain = [0, 1, 2, 3].map((digits) =>
  new Intl.NumberFormat(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const month = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric" });

export const number = (value, digits = 0) => plain[digits].format(value);

/** W: three or four digits, whatever the size. */
export function watts(value) {
  const size = Math.abs(value);
  return number(value, size < 9.995 && size > 0 ? 2 : size < 99.95 && size > 0 ? 1 : 0);
}

/** Wh or kWh, with the unit. */
export function energy(wattHours) {
  const size = Math.abs(wattHours);
  if (size < 999.5) return `${number(wattHours, size < 9.95 && size > 0 ? 1 : 0)} Wh`;
  return `${number(wattHours / 1000, size < 99_950 ? 2 : 1)} kWh`;
}

const currencies = new Map();

/** An amount with its currency, as its own people write it where the name of the currency is known. */
export function money(amount, currency) {
  if (!currencies.has(currency)) currencies.set(currency, formatOf(currency));
  return currencies.get(currency)?.format(amount) ?? `${number(amount, 2)} ${currency}`;
}

/** To make one takes a hundred times as long as to use it. */
function formatOf(currency) {
  try {
    return new Intl.NumberFormat(undefined, { style: "currency", currency });
  } catch {
    return undefined;
  }
}

export const clockTime = (ms) => clock.format(ms);
export const minuteTime = (ms) => minute.format(ms);
export const dayName = (ms) => day.format(ms);
export const monthName = (ms) => month.format(ms);

/** With its day, where that is not today. */
export function timeOf(ms) {
  return new Date(ms).toDateString() === new Date().toDateString() ? clock.format(ms) : `${day.format(ms)}, ${clock.format(ms)}`;
}

/** For the axis of a chart whose marks are `step` ms apart. */
export function tick(ms, step) {
  if (step >= 27 * 86_400_000) return month.format(ms);
  if (step >= 86_400_000) return day.format(ms);
  if (step >= 60_000) {
    const at = new Date(ms);
    return at.getHours() === 0 && at.getMinutes() === 0 ? day.format(ms) : minute.format(ms);
  }
  return clock.format(ms);
}

/** How long, in words: "8 hours". */
export function span(ms) {
  const units = [["year", 31_536_000_000], ["month", 2_592_000_000], ["week", 604_800_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]];
  const [unit, length] = units.find(([, length]) => ms >= length * 0.999) ?? units.at(-1);
  const count = ms / length;
  const shown = Math.abs(count - Math.round(count)) < 0.05 ? number(Math.round(count)) : number(count, 1);
  return `${shown} ${unit}${shown === "1" ? "" : "s"}`;
}

export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;
