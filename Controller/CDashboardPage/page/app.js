// Starts the page: first the parts that are visible at once, then the other parts.

import { get, whenLoginIsNeeded } from "./api.js";
import { startCards } from "./cards.js";
import { beforePaint, setAttribute, setText } from "./dom.js";
import { foreignZone, number } from "./format.js";
import { hear, house, now, plugs, take, totalPower } from "./house.js";
import { phrase, startLanguage } from "./language.js";
import { startLive, stopLive } from "./live.js";
import { readRights, rightsWords } from "./rights.js";
import { startTheme } from "./theme.js";

const part = (id) => document.getElementById(id);

function paintHeader() {
  const watts = totalPower();
  setText(part("total"), number(watts, watts < 100 && watts !== 0 ? 1 : 0));
  setAttribute(part("total"), "value", watts.toFixed(2));
  const zone = foreignZone(now());
  setText(part("zone"), zone === undefined ? "" : phrase("times of {zone}", { zone }));
  part("zone").hidden = zone === undefined;
  const all = [...plugs.values()].map(({ record }) => record.state);
  const paired = all.filter((state) => state !== "stranger").length;
  const connected = all.filter((state) => state === "connected").length;
  const strangers = all.length - paired;
  const counts = [connected === paired ? phrase("{count:plug|plugs} connected", { count: paired }) : phrase("{connected} of {count:plug|plugs} connected", { connected, count: paired })];
  if (strangers > 0) counts.push(phrase("{count} to pair", { count: strangers }));
  setText(part("count"), counts.join(", "));
}

let shown = "connecting";
const linkWords = {
  connecting: phrase("Connecting to the daemon …"),
  live: phrase("Live"),
  lost: phrase("The daemon cannot be reached. Trying again …"),
  resting: phrase("Paused while the page is hidden"),
  login: phrase("Log in to see the house"),
};

/** Shows the state of the connection. An attempt to reconnect does not change it, except after a login or a pause. */
function showLink({ state, words = linkWords[state] }) {
  if (state === "connecting" && shown !== "login" && shown !== "resting") return;
  const before = shown;
  shown = state;
  setAttribute(part("link"), "data-state", state);
  setAttribute(document.documentElement, "data-link", state);
  setText(part("state"), words);
  if (state === "login" && before !== "login") showLogin();
}

async function showLogin() {
  stopLive();
  const [login] = await load("./login.js");
  login.show(() => { showLink({ state: "connecting" }); readRights(); startLive(); startRest(); });
}

const moment = (length) => new Promise((done) => setTimeout(done, length));

/**
 * Loads modules. A browser may cache a failed import, so after the second failure the page is reloaded as soon as the
 * daemon answers.
 */
async function load(...paths) {
  const all = () => Promise.all(paths.map((path) => import(path)));
  try { return await all(); } catch { await moment(3000); }
  try { return await all(); } catch (error) { console.error(error); }
  // If the page was already reloaded, it waits longer before the next reload.
  const pause = performance.getEntriesByType("navigation")[0]?.type === "reload" ? 60_000 : 3000;
  do await moment(pause); while (!await fetch("/health").then((answer) => answer.ok, () => false));
  location.reload();
  return new Promise(() => {});
}

let begun = false;
async function startRest() {
  if (begun) return;
  begun = true;
  const [notices, power, energy, events, rules, help, login, sessions, fleet, machines, offline, push] = await load(
    "./notices.js", "./power.js", "./energy.js", "./events.js", "./rules.js", "./help.js", "./login.js", "./sessions.js", "./fleet.js", "./machines.js", "./offline.js", "./push.js");
  notices.startNotices();
  power.startPower();
  energy.startEnergy();
  events.startEvents();
  rules.startRules();
  help.startHelp();
  login.startLogout();
  sessions.startSessions();
  fleet.startFleet();
  machines.startMachines();
  offline.startOffline();
  push.startPush();
}

function showRights() {
  setText(part("role"), rightsWords());
  part("role").hidden = rightsWords() === "";
}

/**
 * Paints the answer of the request that the document started while the modules were loading. The answer usually arrives
 * before the stream's first message.
 */
async function paintFirst() {
  try {
    take("first", await get("house"));
  } catch { /* The stream reports the error. */ }
}

startLanguage();
startTheme();
startCards();
whenLoginIsNeeded(() => showLink({ state: "login" }));
for (const kind of ["house", "plug", "gone", "reading"]) hear(kind, () => beforePaint(paintHeader));
hear("link", showLink);
hear("rights", showRights);
// A hidden tab paints nothing, so the title shows the power.
setInterval(() => { if (house.known) setText(document.querySelector("title"), shown === "resting" ? phrase("Plugs") : phrase("{power} W · {count:plug|plugs}", { power: number(totalPower()), count: plugs.size })); }, 5000);
hear("house", () => setTimeout(startRest, 0));
readRights();
paintFirst();
startLive();
