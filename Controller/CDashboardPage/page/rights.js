// The rights of the user. The daemon checks each request; the page only hides what would be rejected.

import { get } from "./api.js";
import { timeOf } from "./format.js";
import { tell } from "./house.js";
import { phrase } from "./language.js";

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
  if (may.own) return "";
  const role = { user: phrase("a user"), viewer: phrase("a viewer"), guest: phrase("a guest") }[session.role] ?? session.role;
  const who = session.name && session.name !== session.role ? phrase("{name}, {role}", { name: session.name, role }) : role;
  const login = session.until
    ? phrase("You are logged in as {who}, until {time}.", { who, time: timeOf(Date.parse(session.until)) })
    : phrase("You are logged in as {who}.", { who });
  const rights = may.command
    ? phrase("You can switch and dim plugs. For rules and pairing, ask an owner of this dashboard for an owner's password.")
    : phrase("You can see the house but not change it. Ask an owner of this dashboard for a user's password.");
  return `${login} ${rights}`;
}

/** Returns the name of a role in the user's language. */
export const roleName = (role) => ({ owner: phrase("owner"), user: phrase("user"), viewer: phrase("viewer"), guest: phrase("guest") })[role] ?? role;
