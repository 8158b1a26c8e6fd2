// What the daemon answers to one question.

import { plugs } from "./house.js";

/** What went wrong, in the daemon's words, and what to try next. */
export class Fault extends Error {
  constructor(status, error, hint) {
    super(error);
    this.status = status;
    this.hint = hint;
  }

  get words() { return this.hint ? `${sentence(this.message)} ${sentence(this.hint)}` : sentence(this.message); }
}

function sentence(text) {
  const started = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?`]$/.test(started) ? started : `${started}.`;
}

let loginNeeded = () => {};

/** Whom to tell that the daemon wants a password. */
export function whenLoginIsNeeded(listener) { loginNeeded = listener; }

/** How often a busy daemon is asked, and how long before it is asked again at first, ms. */
const TRIES = 4;
const PAUSE = 500;

/** A GET. `query`: keys and values; a list is given as often, undefined is left out. */
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
    // Not all at the same time once more.
    await new Promise((done) => setTimeout(done, PAUSE * 2 ** (tries - 1) * (0.5 + Math.random())));
  }
}

export const post = (path, body) => ask("POST", path, body);
export const remove = (path) => ask("DELETE", path, {});

/** The path of a plug, and of what is below it: by its id, since a name like ".." is no part of a path. */
export const plugPath = (name, below) => `plugs/${encodeURIComponent(plugs.get(name)?.record.id ?? name)}/${below}`;

/** ms. A command that hangs is as good as lost: the daemon gives the plug ten seconds. */
function patience(method, path) {
  if (method === "GET") return 30_000;
  // A house has twelve seconds to answer, and the broker is looked for before.
  if (path.startsWith("fleet/")) return 30_000;
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
    throw lost(error, "the daemon is not reached");
  }
  if (response.status === 204) return null;
  let told;
  try {
    told = await response.json();
  } catch (error) {
    if (response.ok || error.name === "AbortError") throw lost(error, "the daemon's answer did not come whole");
  }
  if (response.ok) return told;
  if (response.status === 401 && path !== "session") loginNeeded();
  throw new Fault(response.status, told?.error ?? `the daemon answered ${response.status}`, told?.hint);
}

/** What there is to say of an answer that did not come; who did not want it any more is told that. */
function lost(error, words) {
  if (error.name === "AbortError") return error;
  if (error.name === "TimeoutError") return new Fault(0, "the daemon did not answer in time", "Try again");
  return new Fault(0, words, "This page connects again by itself as soon as the daemon is reached");
}
