// What the daemon answers to one question.

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

/** A GET. `query`: keys and values; a list is given as often, undefined is left out. */
export function get(path, query = {}, signal = undefined) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) words.append(key, one);
  }
  const question = words.size > 0 ? `${path}?${words}` : path;
  return ask("GET", question, undefined, signal);
}

export const post = (path, body) => ask("POST", path, body);
export const remove = (path) => ask("DELETE", path, {});

/** The path of a plug, and of what is below it. */
export const plugPath = (name, below) => `plugs/${encodeURIComponent(name)}/${below}`;

async function ask(method, path, body, signal = undefined) {
  const options = { method, signal };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
    // A command that hangs is as good as lost; the plug itself answers or refuses within five seconds.
    options.signal ??= AbortSignal.timeout(path === "pairings" ? 60_000 : 12_000);
  }
  let response;
  try {
    response = await fetch(`/api/v1/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error.name === "TimeoutError") throw new Fault(0, "the daemon did not answer in time", "Try again");
    throw new Fault(0, "the daemon is not reached", "This page connects again by itself as soon as it runs");
  }
  if (response.status === 204) return null;
  const told = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return null;
  });
  if (response.ok) return told;
  if (response.status === 401 && path !== "session") loginNeeded();
  throw new Fault(response.status, told?.error ?? `the daemon answered ${response.status}`, told?.hint);
}
