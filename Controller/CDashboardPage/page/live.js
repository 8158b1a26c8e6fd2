// The one stream of the daemon. An EventSource hides comments, so that a dead connection looks like a quiet one, and cannot
// be told where to go on after the page slept: so this reads the stream itself.

import { Fault } from "./api.js";
import { take, tell } from "./house.js";

/** The daemon says something every 15 s. */
const SILENCE = 20_000;
/** How long a page that nobody looks at keeps its stream, of which the daemon has a limited number. */
const UNSEEN = 300_000;
const SHORTEST = 500;
const LONGEST = 5000;
/** Characters of one message: a broken stream does not fill the memory. A hundred plugs are some 50,000. */
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

/** Connects, and connects again for as long as the page is open. */
export function startLive() {
  stopped = false;
  open();
}

/** Until somebody logs in. */
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
  } catch { /* It ended, or never began: either way it is begun again. */ }
  if (reading !== own || stopped) return;
  if (status === 401) {
    stopLive();
    tell("link", { state: "login" });
    return;
  }
  // What we have is not what it wants: from the beginning.
  if (status === 400) last = "";
  tell("link", { state: "lost", words });
  waits = true;
  timer = setTimeout(open, pause);
  pause = Math.min(pause * 2, LONGEST);
}

/** Why there is no stream now: the daemon's own words. */
async function refusal(response) {
  if (response.status !== 503) return undefined;
  const { error, hint } = await response.json();
  return `${new Fault(503, error, hint).words} Trying again …`;
}

async function follow(body, own) {
  const text = body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = parser(message);
  for (;;) {
    const { value, done } = await text.read();
    if (done || reading !== own) return;
    heard = performance.now();
    parse(value);
    // What is resumed need not have any news.
    if (last) tell("link", { state: "live" });
  }
}

function message(kind, data, id) {
  pause = SHORTEST;
  take(kind, JSON.parse(data));
  if (id) last = id;
  tell("link", { state: "live" });
}

/** Server-sent events (HTML Living Standard 9.2.6), of lines that end with LF or CRLF. */
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
    if (rest.length > LIMIT) throw new RangeError("a message without end");
    for (const one of lines) line(one.endsWith("\r") ? one.slice(0, -1) : one);
  };
}

/** At once, without waiting for the back-off. */
function again() {
  if (stopped || rests) return;
  pause = SHORTEST;
  open();
}

let ticked = performance.now();
let date = Date.now();

/** A machine that slept: its wall clock went on. What it was connected to may be gone without a word. */
function check() {
  const [tick, now] = [performance.now(), Date.now()];
  const slept = Math.abs(now - date - (tick - ticked)) > 5000;
  [ticked, date] = [tick, now];
  if (document.visibilityState === "visible") looked = tick;
  else if (tick - looked > UNSEEN) rest();
  if (stopped || rests) return;
  // Packets that vanish are no fault that anybody tells of.
  const silent = !waits && tick - heard > SILENCE;
  if (silent) tell("link", { state: "lost" });
  if (slept || silent) again();
}

/** Until somebody looks again; then it goes on where it ended. */
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
  // A person looks now.
  if (!waits && !rests) return;
  rests = false;
  again();
});
