// Formats numbers and times for users.

import { locale, phrase } from "./language.js";

const plain = [0, 1, 2, 3].map((digits) =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
const short = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
const DAY = 86_400_000;
let clock, minute, day, month, civil;
let zone;

/** The browser's time zone. */
const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Sets the daemon's time zone for all times of the page, so that days begin as they do for the daemon. A zone that the
 * browser does not know is ignored.
 */
export function setZone(name) {
  if (name === undefined || name === zone) return;
  // Older browsers do not accept an offset such as "+01:00", but a zone like "Etc/GMT-1", whose sign is inverted.
  const hours = /^([+-])0?(\d+):00$/.exec(name);
  for (const known of hours ? [name, `Etc/GMT${hours[1] === "+" ? "-" : "+"}${hours[2]}`] : [name]) {
    try { makeFormats(known); } catch { continue; }
    zone = name;
    return;
  }
}

function makeFormats(timeZone) {
  const format = (parts, language = locale) => new Intl.DateTimeFormat(language, { timeZone, ...parts });
  const formats = [
    format({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }),
    format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
    format({ weekday: "short", day: "numeric", month: "short" }),
    format({ month: "short", year: "numeric" }),
    format({ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" }, "en-US"),
  ];
  [clock, minute, day, month, civil] = formats;
}
makeFormats();

/**
 * Returns the daemon's time zone if its clock differs from the browser's now or in another season; undefined if both
 * show the same.
 */
export function foreignZone(ms) {
  if (zone === undefined || zone === here) return undefined;
  const own = (at) => -new Date(at).getTimezoneOffset() * 60_000;
  return [0, 91, 182, 273].some((days) => own(ms + days * DAY) !== offset(ms + days * DAY)) ? zone : undefined;
}

/** Returns the offset of the house's clock from UTC at a time, in ms. */
export function offset(ms) {
  const whole = Math.floor(ms / 1000) * 1000;
  const parts = Object.fromEntries(civil.formatToParts(whole).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - whole;
}

/** Returns the house's time as in an HTML field: "2026-11-29T10:00:00". */
export const civilText = (ms) => new Date(Math.floor(ms / 1000) * 1000 + offset(ms)).toISOString().slice(0, 19);

/** Parses a time of `civilText`. Returns ms since 1970; NaN if the text is not a time. */
export function fromCivilText(text) {
  const local = Date.parse(`${text}Z`);
  return Number.isNaN(local) ? NaN : local - offset(local - offset(local));
}

/** Returns the house's date at a time, as days since 1970-01-01. */
export const dateOf = (ms) => Math.floor((ms + offset(ms)) / DAY);

/** Returns the start of a date in the house: the first midnight, or later if the clock skips midnight. */
export function startOf(date) {
  const local = date * DAY;
  let start = local - offset(local - offset(local));
  if (dateOf(start - 3_600_000) === date) start -= 3_600_000;
  while (dateOf(start) < date) start += 1_800_000;
  return start;
}

/** Returns the first day of a date's month, plus a number of months. */
export function firstOfMonth(date, months = 0) {
  const at = new Date(date * DAY);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1) / DAY;
}

/** Returns the Monday of a date's week. */
export const mondayOf = (date) => date - (date + 3) % 7;

export const number = (value, digits = 0) => plain[digits].format(value);

/** Formats a number with at most two digits after the decimal sign, and only the necessary ones. */
export const shortNumber = (value) => short.format(value);

/** Formats a power in W without the unit, with at least three digits unless it is 0. */
export function watts(value) {
  const size = Math.abs(value);
  return number(value, size < 9.995 && size > 0 ? 2 : size < 99.95 && size > 0 ? 1 : 0);
}

/** Formats an energy in Wh or kWh, with the unit. */
export function energy(wattHours) {
  const size = Math.abs(wattHours);
  if (size < 999.5) return `${number(wattHours, size < 9.95 && size > 0 ? 1 : 0)} Wh`;
  return `${number(wattHours / 1000, size < 99_950 ? 2 : 1)} kWh`;
}

const currencies = new Map();

/** Formats an amount with its currency, in the locale of the page if the currency is known. */
export function money(amount, currency) {
  if (!currencies.has(currency)) currencies.set(currency, formatOf(currency));
  return currencies.get(currency)?.format(amount) ?? `${number(amount, 2)} ${currency}`;
}

/** Creates the format of a currency. Creating a format takes a hundred times as long as formatting an amount. */
function formatOf(currency) {
  try {
    return new Intl.NumberFormat(locale, { style: "currency", currency });
  } catch {
    return undefined;
  }
}

export const clockTime = (ms) => clock.format(ms);
export const minuteTime = (ms) => minute.format(ms);
export const dayName = (ms) => day.format(ms);
export const monthName = (ms) => month.format(ms);

/** Formats a time, with the day unless it is today. */
export function timeOf(ms) {
  return dateOf(ms) === dateOf(Date.now()) ? clock.format(ms) : `${day.format(ms)}, ${clock.format(ms)}`;
}

/** Formats a time for the axis of a chart whose marks are `step` ms apart. */
export function tick(ms, step) {
  if (step >= 27 * 86_400_000) return month.format(ms);
  if (step >= 86_400_000) return day.format(ms);
  if (step >= 60_000) return (ms + offset(ms)) % DAY < 60_000 ? day.format(ms) : minute.format(ms);
  return clock.format(ms);
}

/** Formats a duration in words: "8 hours". */
export function span(ms) {
  const [length, words] = units.find(([length]) => ms >= length * 0.999) ?? units.at(-1);
  return words(Math.round(ms / length * 10) / 10);
}

const units = [
  [31_536_000_000, (count) => phrase("{count:year|years}", { count })],
  [2_592_000_000, (count) => phrase("{count:month|months}", { count })],
  [604_800_000, (count) => phrase("{count:week|weeks}", { count })],
  [86_400_000, (count) => phrase("{count:day|days}", { count })],
  [3_600_000, (count) => phrase("{count:hour|hours}", { count })],
  [60_000, (count) => phrase("{count:minute|minutes}", { count })],
  [1000, (count) => phrase("{count:second|seconds}", { count })],
];
