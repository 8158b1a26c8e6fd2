// The forms that let another controller pair with a plug, and that end the pairing of this house.

import { attempt, plugPath, post } from "./api.js";
import { make, named, setText } from "./dom.js";
import { span } from "./format.js";
import { phrase, phraseParts } from "./language.js";

const ROLES = [["user", phrase("User: may switch")], ["viewer", phrase("Viewer: may watch")], ["guest", phrase("Guest: user for a time")], ["owner", phrase("Owner: full access")]];
const DAY = 86_400;
/** The offered limits of an access in seconds. */
const LIMITS = [28_800, DAY, 7 * DAY, 30 * DAY];

/**
 * @param {string} name of the plug.
 * @param {(fault?: string) => void} say
 */
export function invitationForm(name, say) {
  const roles = make("select", { onchange: limit }, ...ROLES.map(([value, text]) => make("option", { value, text })));
  const unlimited = make("option", { value: "", text: phrase("without limit") });
  const limits = make("select", {}, unlimited, ...LIMITS.map((seconds) => make("option", { value: String(seconds), text: span(seconds * 1000) })));
  const code = make("output", { class: "code" });
  const use = make("p", { class: "faint" });
  const button = make("button", { type: "submit", text: phrase("Create code") });
  return make("form", { "aria-label": phrase("Invitation"), onsubmit: submit },
    make("h3", { text: phrase("Invite another controller") }),
    make("label", {}, make("span", { text: phrase("Role") }), roles), make("label", {}, make("span", { text: phrase("Duration") }), limits), button, code, use);

  /** A guest needs a limit, and an owner has none. */
  function limit() {
    unlimited.disabled = roles.value === "guest";
    limits.disabled = roles.value === "owner";
    if (roles.value === "owner") limits.value = "";
    if (roles.value === "guest" && limits.value === "") limits.value = String(DAY);
  }

  async function submit(event) {
    event.preventDefault();
    say();
    await attempt(say, async () => {
      const seconds = limits.value === "" ? undefined : Number(limits.value);
      const invitation = await post(plugPath(name, "invitations"), { role: roles.value, seconds });
      setText(code, invitation.code);
      setText(use, phrase("Enter this code as the setup code at the other controller within {time}. It is valid once.", { time: span(invitation.validSeconds * 1000) }));
    });
  }
}

/**
 * @param {string} name of the plug.
 * @param {boolean} isAway True to forget the plug without contacting it.
 * @param {(fault?: string) => void} say
 * @param {() => void} done Called when the plug is no longer paired.
 */
export function unpairForm(name, isAway, say, done) {
  const begin = make("button", { type: "button", text: phrase("Unpair …"), onclick: () => ask(true) });
  const consequence = isAway
    ? phraseParts("{plug} is away. This house forgets it, but the plug keeps the pairing until a factory reset.", { plug: named(name) })
    : phraseParts("{plug} can no longer be switched by this house. Its rules and its history stay.", { plug: named(name) });
  const question = make("div", { hidden: true }, make("p", {}, ...consequence),
    make("div", { class: "row" }, make("button", { type: "submit", class: "primary", text: phrase("Unpair") }), make("button", { type: "button", text: phrase("Keep"), onclick: () => ask(false) })));
  return make("form", { "aria-label": phrase("Pairing"), onsubmit: submit }, begin, question);

  function ask(isAsked) {
    say();
    question.hidden = !isAsked;
    begin.hidden = isAsked;
  }

  async function submit(event) {
    event.preventDefault();
    say();
    await attempt(say, async () => {
      await post(plugPath(name, "unpair"), { hereOnly: isAway });
      done();
    });
  }
}
