// Notifications of rules and of the budget. Each is shown until the user dismisses it.

import { make, named } from "./dom.js";
import { timeOf } from "./format.js";
import { hear } from "./house.js";
import { phrase, phraseParts } from "./language.js";

/** The maximum number of shown notifications, so that the page stays usable after a long absence. The newest are kept. */
const MOST = 5;

export function startNotices() {
  const place = document.getElementById("notices");

  function show({ at, rule, title, text }) {
    const close = make("button", { type: "button", class: "quiet", "aria-label": phrase("Close: {title}", { title: title || text }), text: "×", onclick: () => notice.remove() });
    const notice = make("div", { class: "notice" },
      make("div", {}, title && make("strong", { dir: "auto", text: title }), make("p", { dir: "auto", text }),
        make("p", { class: "faint" }, ...phraseParts("{time}, from {rule}", { time: timeOf(Date.parse(at)), rule: named(rule) }))), close);
    place.append(notice);
    while (place.children.length > MOST) place.firstElementChild.remove();
    place.scrollTop = place.scrollHeight;
  }
  hear("notification", show);
}
