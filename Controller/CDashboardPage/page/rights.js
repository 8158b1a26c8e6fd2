// The rights of the user. The daemon checks each request; the page only hides what would be rejected.

import { get } from "./api.js";
import { timeOf } from "./format.js";
import { tell } from "./house.js";

/** The daemon's SessionRecord. Until it is loaded, the page shows all controls. */
export const session = { passwordNeeded: false, loggedIn: true, role: "owner" };

export const may = {
  /** True if the user may switch and dim plugs. */
  get command() { return session.role !== "viewer"; },
  /** True if the user may also change rules, pair plugs and end sessions. */
  get own() { return session.role === "owner"; },
};

export async function readRights() {
  try {
    const told = await get("session");
    for (const key of Object.keys(session)) delete session[key];
    Object.assign(session, told);
  } catch { return; }
  tell("rights");
}

/** Explains limited rights to the user. */
export function rightsWords() {
  const who = session.name && session.name !== session.role ? `${session.name}, a ${session.role}` : `a ${session.role}`;
  const until = session.until ? `, until ${timeOf(Date.parse(session.until))}` : "";
  switch (session.role) {
    case "viewer": return `You are logged in as ${who}${until}. You can see the house but not change it. Ask an owner of this dashboard for a user's password.`;
    case "user": case "guest": return `You are logged in as ${who}${until}. You can switch and dim plugs. For rules and pairing, ask an owner of this dashboard for an owner's password.`;
    default: return "";
  }
}
