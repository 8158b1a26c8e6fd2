// A rule: its state, its actions, its last firing and its traces.

import { attempt, post } from "./api.js";
import { make, setAttribute, setText, whileBusy } from "./dom.js";
import { timeOf } from "./format.js";
import { phrase } from "./language.js";
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
  const turn = make("button", { type: "button", class: "switch", role: "switch", "aria-label": phrase("Rule {rule}", { rule: name }), onclick: turnOver });
  const once = make("button", { type: "button", class: "quiet", "aria-label": phrase("Run {rule} once", { rule: name }), text: phrase("Run once"), onclick: () => whileBusy(once, runOnce) });
  const alert = make("p", { class: "alert", role: "alert" });
  const say = (words) => setText(alert, words);
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
    make("dl", {}, lines(phrase("When"), rule.when), lines(phrase("If"), rule.conditions), lines(phrase("Then"), rule.actions)),
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
    say("");
    paint();
    await attempt(say, async () => { known = (await post(pathOf(name, "enabled"), { enabled: wanted })).enabled; });
    wanted = undefined;
    paint();
  }

  function runOnce() {
    say("");
    setText(done, "");
    return attempt(say, async () => {
      await post(pathOf(name, "fire"), {});
      once.textContent = phrase("Running");
      setText(done, phrase("{rule} runs", { rule: name }));
      clearTimeout(told);
      told = setTimeout(() => { once.textContent = phrase("Run once"); setText(done, ""); }, 2500);
    });
  }

  function lastWords({ lastFiring, lastCause, firings }) {
    if (!lastFiring) return phrase("It has not fired yet.");
    const values = { when: when(lastFiring, lastCause), count: firings };
    return firings > 0 ? phrase("Last fired {when} ({count:time|times} since the daemon's start)", values) : phrase("Last fired {when}", values);
  }

  function endedWords({ script, scriptFault, scriptStarts }) {
    if (scriptFault === undefined) return "";
    const values = { script, fault: scriptFault, time: scriptStarts && timeOf(Date.parse(scriptStarts)) };
    return scriptStarts
      ? phrase("{script} does not run: {fault}; started again at {time}", values)
      : phrase("{script} does not run: {fault}; it stays stopped until its file changes", values);
  }

  function update(now) {
    known = now.enabled;
    setText(last, lastWords(now));
    setText(held, now.lastHeldBack ? phrase("Held back {when}", { when: when(now.lastHeldBack, now.heldBackBecause) }) : "");
    setText(missed, now.lastNearMiss ? phrase("Nearly fired {when}", { when: when(now.lastNearMiss, now.nearMissBecause) }) : "");
    setText(waiting, now.running > 0 ? phrase("{count:firing|firings} not finished", { count: now.running }) : "");
    setText(failed, now.lastFailure ? phrase("A call failed {when}", { when: when(now.lastFailure, now.failedBecause) }) : "");
    setText(ended, endedWords(now));
    for (const line of [ended, failed, held, missed, waiting]) line.hidden = line.textContent === "";
    setText(broken, now.fault === undefined ? "" : phrase("Its file is not valid; its last valid version stays active."));
    broken.hidden = now.fault === undefined;
    setAttribute(element, "data-held", now.lastHeldBack !== undefined && (now.lastFiring === undefined || now.lastHeldBack > now.lastFiring));
    traces.know([now.lastFiring, now.lastHeldBack, now.lastNearMiss, now.lastFailure, now.running].join());
    paint();
  }
  update(rule);
  return { element, update, words: ruleWords(rule) };
}
