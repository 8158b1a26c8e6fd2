// The event stream of the daemon. This module reads the stream itself, because an EventSource hides comments and cannot
// resume after the page slept. Without comments, a dead connection cannot be distinguished from a quiet one.

import { Fault } from "./api.js";
import { take, tell } from "./house.js";
import { phrase } from "./language.js";

/** The time in ms without a byte after which the connection counts as lost. The daemon sends at least a comment every 15 s. */
const SILENCE = 20_000;
/** The time in ms for which a hidden page keeps its stream. The daemon has a limited number of streams. */
const UNSEEN = 300_000;
const SHORTEST = 500;
const LONGEST = 5000;
/**
 * The maximum length of a message in characters. It stops a broken stream from filling the memory; 100 plugs need about
 * 50,000.
 */
const LIMIT = 4_000_000;

let last = "";
let pause = SHORTEST;
let heard = 0;
let reading = null;
let timer = 0;
let waits = false;
let stopped = true;
let rests = false;
let looked = performance.now();

/** Connects, and reconnects while the page is open. */
export function startLive() {
  stopped = false;
  open();
}

/** Stops the stream until the user logs in. */
export function stopLive() {
  stopped = true;
  clearTimeout(timer);
  reading?.abort();
  reading = null;
  last = "";
}

async function open() {
  clearTimeout(timer);
  waits = false;
  const own = new AbortController();
  reading?.abort();
  reading = own;
  heard = performance.now();
  tell("link", { state: "connecting" });
  let [status, words] = [0, undefined];
  try {
    const response = await fetch(last ? `/api/v1/stream?after=${encodeURIComponent(last)}` : "/api/v1/stream", {
      headers: { Accept: "text/event-stream" }, cache: "no-store", signal: own.signal });
    status = response.status;
    if (response.ok) await follow(response.body, own);
    else words = await refusal(response);
  } catch { /* The stream ended or did not begin; it is opened again in both cases. */ }
  if (reading !== own || stopped) return;
  if (status === 401) {
    stopLive();
    tell("link", { state: "login" });
    return;
  }
  // The daemon rejected the position, so the next stream starts with the complete house.
  if (status === 400) last = "";
  tell("link", { state: "lost", words });
  waits = true;
  timer = setTimeout(open, pause);
  pause = Math.min(pause * 2, LONGEST);
}

/** Returns why the daemon rejected the stream, in its own words. */
async function refusal(response) {
  if (response.status !== 503) return undefined;
  const { error, hint } = await response.json();
  return `${new Fault(503, error, hint).words} ${phrase("Trying again …")}`;
}

async function follow(body, own) {
  const text = body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = parser(message);
  for (;;) {
    const { value, done } = await text.read();
    if (done || reading !== own) return;
    heard = performance.now();
    parse(value);
    // A resumed stream may begin without a message.
    if (last) tell("link", { state: "live" });
  }
}

function message(kind, data, id) {
  pause = SHORTEST;
  take(kind, JSON.parse(data));
  if (id) last = id;
  tell("link", { state: "live" });
}

/** Parses server-sent events (HTML Living Standard 9.2.6). Lines end with LF or CRLF. */
export function parser(message) {
  let rest = "";
  let [kind, id, data] = ["message", "", []];
  function line(text) {
    if (text === "") {
      if (data.length > 0) message(kind, data.join("\n"), id);
      [kind, id, data] = ["message", "", []];
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + (text[colon + 1] === " " ? 2 : 1));
    if (field === "data") data.push(value);
    else if (field === "event") kind = value;
    else if (field === "id") id = value;
  }
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    if (rest.length > LIMIT) throw new RangeError("a message is too long");
    for (const one of lines) line(one.endsWith("\r") ? one.slice(0, -1) : one);
  };
}

/** Reconnects at once, without the back-off. */
function again() {
  if (stopped || rests) return;
  pause = SHORTEST;
  open();
}

let ticked = performance.now();
let date = Date.now();

/**
 * Detects a sleep of the machine (its wall clock jumped) and a silent stream, and then reconnects. In both cases the
 * connection may be dead without an error.
 */
function check() {
  const [tick, now] = [performance.now(), Date.now()];
  const slept = Math.abs(now - date - (tick - ticked)) > 5000;
  [ticked, date] = [tick, now];
  if (document.visibilityState === "visible") looked = tick;
  else if (tick - looked > UNSEEN) rest();
  if (stopped || rests) return;
  // Lost packets cause no error, so silence is the only sign.
  const silent = !waits && tick - heard > SILENCE;
  if (silent) tell("link", { state: "lost" });
  if (slept || silent) again();
}

/** Closes the stream until the page is visible again; then it resumes. */
function rest() {
  if (stopped || rests) return;
  rests = true;
  waits = false;
  clearTimeout(timer);
  reading?.abort();
  reading = null;
  tell("link", { state: "resting" });
}

setInterval(check, 2500);
window.addEventListener("online", again);
window.addEventListener("pageshow", (event) => { if (event.persisted) again(); });
document.addEventListener("resume", again);
document.addEventListener("visibilitychange", () => {
  check();
  if (document.visibilityState !== "visible") return;
  // The page is visible again.
  if (!waits && !rests) return;
  rests = false;
  again();
});
