// Keeps the view of the large chart in the address of the page, so that the address can be stored or passed on.

/** The longest range in ms that an address may request. */
const LONGEST = 5 * 365 * 86_400_000;

/**
 * Reads the view from the address. Returns only what the address has: `chosen`, `span` in ms, `end` in ms since 1970
 * (with `follows: false`), `compares` and `stacks`.
 */
export function readLink(search = location.search) {
  const query = new URLSearchParams(search);
  const view = {};
  if (query.has("plug")) view.chosen = query.getAll("plug");
  const [last, from, to] = [Number(query.get("last")) * 1000, Date.parse(query.get("from")), Date.parse(query.get("to"))];
  if (last > 0 && last <= LONGEST) view.span = last;
  else if (to > from && to - from <= LONGEST) Object.assign(view, { span: to - from, end: to, follows: false });
  for (const key of ["compares", "stacks"]) if (query.has(key)) view[key] = true;
  return view;
}

/** Stores the view in the address. */
export function writeLink({ chosen, span, end, follows, compares, stacks }) {
  const query = new URLSearchParams(chosen.map((name) => ["plug", name]));
  if (follows) query.set("last", Math.round(span / 1000));
  else for (const [key, time] of [["from", end - span], ["to", end]]) query.set(key, new Date(time).toISOString());
  if (compares) query.set("compares", "");
  if (stacks) query.set("stacks", "");
  history.replaceState(null, "", `?${query}${location.hash}`);
}
