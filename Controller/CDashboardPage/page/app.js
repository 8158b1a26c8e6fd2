// Begins: what is seen first comes first, the rest follows when that stands.

import { get, whenLoginIsNeeded } from "./api.js";
import { startCards } from "./cards.js";
import { beforePaint, setAttribute, setText } from "./dom.js";
import { count, number } from "./format.js";
import { hear, house, plugs, take, totalPower } from "./house.js";
import { startLive, stopLive } from "./live.js";
import { startTheme } from "./theme.js";

const part = (id) => document.getElementById(id);

function paintHeader() {
  const watts = totalPower();
  setText(part("total"), number(watts, watts < 100 && watts !== 0 ? 1 : 0));
  setAttribute(part("total"), "value", watts.toFixed(2));
  const all = [...plugs.values()].map(({ record }) => record.state);
  const paired = all.filter((state) => state !== "stranger").length;
  const connected = all.filter((state) => state === "connected").length;
  const strangers = all.length - paired;
  setText(part("count"), `${connected === paired ? number(connected) : `${number(connected)} of ${number(paired)}`} ${paired === 1 ? "plug" : "plugs"} connected${strangers > 0 ? `, ${number(strangers)} to pair` : ""}`);
}

let shown = "connecting";
const words = {
  connecting: "Connecting to the daemon …",
  live: "Live",
  lost: "The daemon is not reached. Trying again …",
  login: "Log in to see the house",
};

/** It says what a person has to know: that it tries again after each failure is one state. */
function showLink(state) {
  if (state === "connecting" && shown !== "login") return;
  if (state === shown) return;
  shown = state;
  part("link").dataset.state = state;
  setText(part("state"), words[state]);
  if (state === "login") showLogin();
}

let login;
async function showLogin() {
  login ??= import("./login.js");
  stopLive();
  showLink("login");
  (await login).show(() => { showLink("connecting"); startLive(); startRest(); });
}

let rest;
function startRest() {
  rest ??= Promise.all([import("./power.js"), import("./energy.js"), import("./events.js"), import("./rules.js"), import("./help.js"), import("./login.js")]).then(
    ([power, energy, events, rules, help, login]) => {
      power.startPower();
      energy.startEnergy();
      events.startEvents();
      rules.startRules();
      help.startHelp();
      login.startLogout();
    });
}

/** What the document asked for while the programs came: a moment before the stream's own first word. */
async function paintFirst() {
  try {
    take("first", await get("house"));
  } catch { /* The stream says what is wrong. */ }
}

startTheme();
startCards();
whenLoginIsNeeded(() => showLink("login"));
for (const kind of ["house", "plug", "gone", "reading"]) hear(kind, () => beforePaint(paintHeader));
hear("link", showLink);
// In a tab that nobody looks at nothing is painted; its title still tells.
setInterval(() => { if (house.known) setText(document.querySelector("title"), `${number(totalPower())} W · ${count(plugs.size, "plug")}`); }, 5000);
hear("house", () => setTimeout(startRest, 0));
paintFirst();
startLive();
