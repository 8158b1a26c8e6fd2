// The card of a plug: its state and its controls.

import { attempt, plugPath, post } from "./api.js";
import { beforePaint, make, named, setAttribute, setText, whenSeen, whileBusy } from "./dom.js";
import { energy, number, watts } from "./format.js";
import { dimmer } from "./dimmer.js";
import { now as time, plugs, tell } from "./house.js";
import { phrase } from "./language.js";
import { pairingForm } from "./pairing.js";
import { may } from "./rights.js";
import { openSettings } from "./settings.js";
import { sparkline } from "./sparkline.js";
import { relaySwitch } from "./switch.js";
import { timerChoice } from "./timer.js";
import { sleeperWords, stateWords } from "./words.js";

let numbers = 0;

/**
 * @param {string} name
 * @param {(name: string) => void} seen Called when the card becomes visible.
 * @param {(name: string) => number | undefined} today Returns the energy since midnight in Wh.
 */
export function card(name, seen, today) {
  const id = `plug-${numbers++}`;
  let [visible, waits, told] = [false, undefined, 0];
  const relay = relaySwitch(name, (fault, wanted) => { waits = wanted; fail(fault); update(); });
  const dim = dimmer(name, (fault) => fail(fault));
  const spark = sparkline();
  const state = make("p", { class: "state" });
  const alert = make("p", { class: "alert", role: "alert" });
  /** The plug's condition when the error was shown; undefined without an error. */
  let failedIn;
  const condition = () => { const { record } = plugs.get(name) ?? { record: {} }; return `${record.state} ${record.on} ${record.tripped}`; };
  function fail(words) {
    failedIn = words ? condition() : undefined;
    setText(alert, words ?? "");
  }
  const done = make("p", { class: "hidden", role: "status" });
  const power = make("data", { class: "number", value: "" });
  const now = make("div", { class: "now" }, make("p", { class: "watts" }, power, make("span", { class: "unit", text: " W" })), spark.element);
  const small = ["V", "A", phrase("today")].map((unit) => ({ unit, value: make("dd", { class: "number" }) }));
  const rows = small.map(({ unit, value }) => make("div", { "data-of": unit }, make("dt", { text: unit }), value));
  const measured = make("dl", { class: "small" }, ...rows);
  const sleepers = make("ul", { class: "sleepers", "aria-label": phrase("Computers at the sleep proxy of {plug}", { plug: name }), hidden: true });
  const chart = make("button", { type: "button", class: "quiet", "aria-label": phrase("Chart of {plug}", { plug: name }), text: phrase("Chart"), onclick: () => tell("chart", name) });
  const identify = make("button", { type: "button", class: "quiet", "aria-label": phrase("Identify {plug}", { plug: name }), text: phrase("Identify"), onclick: () => whileBusy(identify, () => command(identify, "identify", phrase("Its light blinks"))) });
  const reset = make("button", { type: "button", class: "quiet", "aria-label": phrase("Reset the protection of {plug}", { plug: name }), text: phrase("Reset protection"), onclick: () => whileBusy(reset, () => command(reset, "protection/reset", phrase("Reset"))) });
  const timer = timerChoice(name, (fault, words) => { fail(fault); setText(done, words ?? ""); });
  const settings = make("button", { type: "button", class: "quiet", "aria-label": phrase("Settings of {plug}", { plug: name }), text: phrase("Settings"), onclick: () => openSettings(name) });
  const footer = make("footer", {}, chart, timer, identify, settings, reset);
  const element = make("article", { class: "card", "aria-labelledby": id },
    make("header", {}, make("h3", { id }, named(name)), relay.element), state, now, measured, sleepers, dim.element, alert, done, footer);
  let pairing, shownSleepers = "";
  const forget = whenSeen(element, (isSeen) => {
    visible = isSeen;
    if (isSeen) { seen(name); beforePaint(update); }
  });

  /**
   * Sends a command. The result is shown on the button for a moment and announced; the button's own name does not
   * change.
   */
  function command(button, path, words) {
    fail();
    setText(done, "");
    return attempt(fail, async () => {
      await post(plugPath(name, path), {});
      button.textContent = words;
      setText(done, words);
      clearTimeout(told);
      told = setTimeout(() => {
        [identify.textContent, reset.textContent] = [phrase("Identify"), phrase("Reset protection")];
        setText(done, "");
      }, 2500);
    });
  }

  /** Updates the whole card; only changed parts of the document are touched. */
  function update() {
    const plug = plugs.get(name);
    if (!plug) return;
    const { record } = plug;
    const there = record.state === "connected";
    // A changed plug has left the condition in which the command failed.
    if (failedIn !== undefined && failedIn !== condition()) fail();
    const can = (capability) => record.capabilities?.includes(capability) ?? false;
    setAttribute(element, "data-state", record.state);
    setAttribute(element, "data-on", there && record.on === true ? "true" : "false");
    setAttribute(element, "data-tripped", there && record.tripped);
    setText(state, there && waits !== undefined ? (waits ? phrase("Turning on …") : phrase("Turning off …")) : stateWords(record));
    if (record.on !== undefined && there) relay.confirm(record.on);
    else if (!there) relay.forget();
    relay.element.hidden = record.state === "stranger" || (there && record.on === undefined);
    relay.element.disabled = !there || !may.command;
    setAttribute(relay.element, "aria-describedby", !may.command && "role");
    dim.enable(may.command);
    dim.element.hidden = !there || !can("dimmer");
    dim.follow(record.level);
    reset.hidden = !there || !record.tripped || !may.command;
    identify.hidden = !there || !may.command;
    settings.hidden = record.state === "stranger" || !may.own;
    timer.hidden = !there || record.on === undefined || !may.command;
    chart.hidden = record.state === "stranger";
    showSleepers((there && record.sleepers) || []);
    showPairing(record.state === "stranger" && may.own);
    read();
  }

  /** Updates only the readings, which arrive every second. */
  function read() {
    if (!visible) return;
    const plug = plugs.get(name);
    if (!plug) return;
    const { record, series } = plug;
    const reading = record.state === "connected" ? record.reading : undefined;
    now.hidden = record.state === "stranger" || (!reading && series.times.length === 0);
    setAttribute(power, "value", reading?.activePower ?? "");
    setText(power, reading ? watts(reading.activePower) : "–");
    const wattHours = today(name);
    const values = [
      reading?.voltageRMS === undefined ? "" : number(reading.voltageRMS, 0),
      reading?.currentRMS === undefined ? "" : number(reading.currentRMS, reading.currentRMS < 10 ? 2 : 1),
      reading && wattHours !== undefined ? energy(wattHours) : ""];
    small.forEach(({ value }, index) => { setText(value, values[index]); rows[index].hidden = values[index] === ""; });
    measured.hidden = values.every((value) => value === "");
    if (!now.hidden) spark.show(series, reading ? Math.max(Date.parse(reading.at), series.newest) : time());
  }

  /** Lists the hosts at the plug's sleep proxy. */
  function showSleepers(records) {
    const wanted = JSON.stringify(records);
    if (wanted === shownSleepers) return;
    shownSleepers = wanted;
    sleepers.replaceChildren(...records.map((record) =>
      make("li", { "data-state": record.state }, make("bdi", { dir: "auto", text: record.host }), `: ${sleeperWords(record)}`)));
    sleepers.hidden = records.length === 0;
  }

  function showPairing(shown) {
    if (shown && !pairing) alert.before(pairing = pairingForm(name, (fault) => fail(fault), () => setText(state, phrase("Paired. Connecting …"))));
    else if (!shown && pairing) { pairing.remove(); pairing = undefined; }
  }

  update();
  return { element, update, read, remove() { forget(); element.remove(); } };
}
