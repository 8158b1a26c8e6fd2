// The colours of the plugs. A plug has the same colour in the chart and in the energy while the page is open.

/** The number of colours. The last one is also that of all other appliances together. */
export const COLOURS = 8;

/** The colours that plugs have had so far, by name. */
const known = new Map();

/** Derives a colour from the name, so that most plugs have the same colour on each page. */
function usual(name) {
  let sum = 0;
  for (const sign of name) sum = (sum * 31 + sign.codePointAt(0)) % 9973;
  return sum % (COLOURS - 1);
}

/**
 * Returns the colours of the shown plugs, which differ, as numbers by name. A plug keeps its colour unless another shown
 * plug has it.
 * @param {string[]} names at most `count`.
 * @param {number} count The number of colours that may be used.
 */
export function coloursOf(names, count) {
  const [given, taken] = [new Map(), new Set()];
  const give = (name, colour) => { given.set(name, colour); taken.add(colour); if (!known.has(name)) known.set(name, colour); };
  const wanted = (name) => known.get(name) ?? usual(name);
  // The order of the names must not matter, because it may be a rank.
  const sorted = [...names].sort((one, other) => known.has(other) - known.has(one) || (one < other ? -1 : 1));
  for (const name of sorted) if (wanted(name) < count && !taken.has(wanted(name))) give(name, wanted(name));
  for (const name of sorted) {
    if (given.has(name)) continue;
    let free = wanted(name) % count;
    while (taken.has(free)) free = (free + 1) % count;
    give(name, free);
  }
  return given;
}
