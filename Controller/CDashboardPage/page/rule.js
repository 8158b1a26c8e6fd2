// A rule: its state, its actions, its last firing and its traces.

import { Fault, post } from "./api.js";
import { make, setAttribute, setText, whileBusy } from "./dom.js";
import { count, timeOf } from "./format.js";
import { may } from "./rights.js";
import { traceList } from "./traces.js";

const lines = (title, words) => words.length > 0 && make("div", {}, make("dt", { text: title }), ...words.map((line) => make("dd", { text: line })));
const when = (time, words) => `${timeOf(Date.parse(time))}${words ? `: ${words}` : ""}`;
const pathOf = (name, below) => `rules/${encodeURIComponent(name)}/${below}`;

/** The texts of a rule's definition. A rule with different texts is shown as a new item. */
export const ruleWords = (rule) => JSON.stringify([rule.when, rule.conditions, rule.actions]);

/** @param rule A RuleStateRecord. */
export function ruleItem(rule) {
  const name = rule.rule;
  let [known, wanted, told] = [rule.enabled, undefined, 0];
  const turn = make("button", { type: "button", class: "switch", role: "switch", "aria-label": `Rule ${name}`, onclick: turnOver });
  const once = make("button", { type: "button", class: "quiet", "aria-label": `Run ${name} once`, text: "Run once", onclick: () => whileBusy(once, runOnce) });
  const alert = make("p", { class: "alert", role: "alert" });
  const done = make("p", { class: "hidden", role: "status" });
  const last = make("p", { class: "last" });
  const held = make("p", { class: "held" });
  const missed = make("p", { class: "last" });
  const waiting = make("p", { class: "last" });
  const broken = make("p", { class: "held" });
  const ended = make("p", { class: "held" });
  const failed = make("p", { class: "held" });
  const traces = traceList(name, pathOf(name, "traces"));
  const element = make("li", { class: "rule" },
    make("div", { class: "bar" }, make("h3", {}, make("bdi", { class: "name", dir: "auto", text: name })), once, turn),
    make("dl", {}, lines("When", rule.when), lines("If", rule.conditions), lines("Then", rule.actions)),
    broken, ended, last, failed, held, missed, waiting, alert, done, traces.element);

  function paint() {
    turn.disabled = !may.own;
    setAttribute(turn, "aria-describedby", !may.own && "role");
    once.hidden = !may.own;
    setAttribute(turn, "aria-checked", String(known));
    setAttribute(turn, "data-shown", String(wanted ?? known));
    setAttribute(turn, "aria-busy", wanted !== undefined && "true");
    setAttribute(element, "data-off", !known);
  }

  /** Sends one change. Clicks are ignored until it is answered, because the daemon could handle two concurrent requests in either order. */
  async function turnOver() {
    if (wanted !== undefined) return;
    wanted = !known;
    setText(alert, "");
    paint();
    try {
      known = (await post(pathOf(name, "enabled"), { enabled: wanted })).enabled;
    } catch (error) {
      setText(alert, error instanceof Fault ? error.words : String(error));
    }
    wanted = undefined;
    paint();
  }

  async function runOnce() {
    setText(alert, "");
    setText(done, "");
    try {
      await post(pathOf(name, "fire"), {});
      once.textContent = "Running";
      setText(done, `${name} runs`);
      clearTimeout(told);
      told = setTimeout(() => { once.textContent = "Run once"; setText(done, ""); }, 2500);
    } catch (error) {
      setText(alert, error instanceof Fault ? error.words : String(error));
    }
  }

  function update(now) {
    known = now.enabled;
    setText(last, now.lastFiring
      ? `Last fired ${when(now.lastFiring, now.lastCause)}${now.firings > 0 ? ` (${count(now.firings, "time")} since the daemon's start)` : ""}`
      : "It has not fired yet.");
    setText(held, now.lastHeldBack ? `Held back ${when(now.lastHeldBack, now.heldBackBecause)}` : "");
    setText(missed, now.lastNearMiss ? `Nearly fired ${when(now.lastNearMiss, now.nearMissBecause)}` : "");
    setText(waiting, now.running > 0 ? `${count(now.running, "firing")} not finished` : "");
    setText(failed, now.lastFailure ? `A call failed ${when(now.lastFailure, now.failedBecause)}` : "");
    setText(ended, now.scriptFault === undefined ? "" : `${now.script} does not run: ${now.scriptFault}${now.scriptStarts ? `; started again at ${timeOf(Date.parse(now.scriptStarts))}` : "; it stays stopped until its file changes"}`);
    for (const line of [ended, failed, held, missed, waiting]) line.hidden = line.textContent === "";
    setText(broken, now.fault === undefined ? "" : "Its file is not valid; its last valid version stays active.");
    broken.hidden = now.fault === undefined;
    setAttribute(element, "data-held", now.lastHeldBack !== undefined && (now.lastFiring === undefined || now.lastHeldBack > now.lastFiring));
    traces.know([now.lastFiring, now.lastHeldBack, now.lastNearMiss, now.lastFailure, now.running].join());
    paint();
  }
  update(rule);
  return { element, update, words: ruleWords(rule) };
}
