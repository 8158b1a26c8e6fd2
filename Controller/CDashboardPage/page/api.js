// Requests to the daemon's API.

import { plugs } from "./house.js";
import { phrase, translated } from "./language.js";

/** An error answer: the daemon's message and its hint. */
export class Fault extends Error {
  constructor(status, error, hint) {
    super(error);
    this.status = status;
    this.hint = hint;
  }

  get words() { return this.hint ? `${sentence(this.message)} ${sentence(this.hint)}` : sentence(this.message); }
}

function sentence(message) {
  const text = translated(message);
  const started = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?`]$/.test(started) ? started : `${started}.`;
}

/** Returns the text that shows an error to the user. */
export const faultWords = (error) => error instanceof Fault ? error.words : String(error);

/**
 * Runs an action, and passes the text of an error to `say`.
 * @param {(words: string) => void} say
 * @param {() => Promise} action
 */
export async function attempt(say, action) {
  try {
    await action();
  } catch (error) {
    say(faultWords(error));
  }
}

let loginNeeded = () => {};

/** Sets the listener that is called when the daemon requires a password. */
export function whenLoginIsNeeded(listener) { loginNeeded = listener; }

/** The maximum number of attempts while the daemon is busy, and the mean length of the first pause in ms. The mean doubles with each further pause. */
const TRIES = 4;
const PAUSE = 500;

/** Sends a GET request. `query` has keys and values; a list repeats its key, and undefined values are left out. */
export async function get(path, query = {}, signal = undefined) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) words.append(key, one);
  }
  const question = words.size > 0 ? `${path}?${words}` : path;
  for (let tries = 1; ; tries++) {
    try {
      return await ask("GET", question, undefined, signal);
    } catch (error) {
      if (tries === TRIES || error.status !== 503 || !error.hint?.startsWith("try again")) throw error;
    }
    // The random part keeps clients from retrying at the same time.
    await new Promise((done) => setTimeout(done, PAUSE * 2 ** (tries - 1) * (0.5 + Math.random())));
  }
}

export const post = (path, body, signal = undefined) => ask("POST", path, body, signal);
export const remove = (path) => ask("DELETE", path, {});

/** Returns the API path of a plug's resource. It contains the plug's id, since a name like ".." is not a valid part of a path. */
export const plugPath = (name, below) => `plugs/${encodeURIComponent(plugs.get(name)?.record.id ?? name)}/${below}`;

/** The time limit of a request in ms. The daemon waits five seconds for a plug. */
function patience(method, path) {
  if (method === "GET") return 30_000;
  // The daemon first connects to the broker, and then gives the house twelve seconds to answer.
  if (path.startsWith("fleet/")) return 30_000;
  // A backtest takes at most ten seconds.
  if (path.startsWith("rule-")) return 30_000;
  // A machine has 60 s to wake.
  if (path.startsWith("machines/")) return 75_000;
  return path === "pairings" ? 60_000 : 12_000;
}

async function ask(method, path, body, signal = undefined) {
  const limit = AbortSignal.timeout(patience(method, path));
  const options = { method, signal: signal ? AbortSignal.any([signal, limit]) : limit };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(`/api/v1/${path}`, options);
  } catch (error) {
    throw lost(error, phrase("the daemon cannot be reached"));
  }
  if (response.status === 204) return null;
  let told;
  try {
    told = await response.json();
  } catch (error) {
    if (response.ok || error.name === "AbortError") throw lost(error, phrase("the connection ended before the full answer arrived"));
  }
  if (response.ok) return told;
  if (response.status === 401 && path !== "session") loginNeeded();
  throw new Fault(response.status, told?.error ?? phrase("the daemon answered {status}", { status: String(response.status) }), told?.hint);
}

/** Converts the error of a failed request. An aborted request keeps its AbortError. */
function lost(error, words) {
  if (error.name === "AbortError") return error;
  if (error.name === "TimeoutError") return new Fault(0, phrase("the daemon did not answer in time"), phrase("Try again"));
  return new Fault(0, words, phrase("This page reconnects as soon as the daemon can be reached"));
}
