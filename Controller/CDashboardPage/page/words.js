// Describes events in the same words as plugctl.

import { number, shortNumber, span, timeOf } from "./format.js";
import { phrase, translated } from "./language.js";

const protections = {
  overPower: phrase("the load drew too much power"),
  overCurrent: phrase("the load drew too much current"),
  overVoltage: phrase("the voltage is too high"),
  underVoltage: phrase("the voltage is too low"),
  overTemperature: phrase("the plug is too hot inside"),
  weldedRelay: phrase("current flows although the relay is off, so the plug cannot turn the load off: unplug it"),
  restTime: phrase("the load has not rested long enough since it was turned off"),
  switchingRate: phrase("the plug was switched too often in a short time"),
};

/** Describes what a protection detected. */
export const protectionWords = (protection) => protections[protection] ?? protection;

/** Returns the advice for a protection. */
export function protectionAdvice(protection) {
  switch (protection) {
    case "weldedRelay": return phrase("Unplug the load, and replace the plug.");
    case "restTime": case "switchingRate": return phrase("Wait a few minutes, then reset the protection.");
    case "overVoltage": case "underVoltage": return phrase("When the supply is normal again, reset the protection here or press the plug's button.");
    default: return phrase("Unplug the load or turn it down, then reset the protection here or press the plug's button.");
  }
}

const shown = (value) => value === undefined ? "?" : shortNumber(value);

/** The causes of a relay change and the ways of a button press, as the daemon names them. */
const relayCauses = { button: phrase("button"), protection: phrase("protection"), timer: phrase("timer"), powerOn: phrase("power-on") };
const presses = { single: phrase("single"), double: phrase("double"), long: phrase("long") };

function by(record) {
  if (record.cause === "controller") return phrase("by {controller}", { controller: record.controller ?? "?" });
  return relayCauses[record.cause] ?? record.cause ?? "?";
}

/** Describes a WatchRecord. */
export function eventWords(record) {
  const { protection } = record;
  const detected = protection && protectionWords(protection);
  const controller = record.controller ?? "?";
  const reason = translated(record.reason ?? "?");
  switch (record.event) {
    case "relay": return record.on ? phrase("on ({cause})", { cause: by(record) }) : phrase("off ({cause})", { cause: by(record) });
    case "level": return phrase("level {level} %", { level: shown(record.level) });
    case "reading": return `${shown(record.activePower)} W`;
    case "button": return phrase("button pressed ({press})", { press: presses[record.press] ?? record.press ?? "?" });
    case "protection": return protection ? phrase("protection tripped ({protection}): {detected}", { protection, detected }) : phrase("protection tripped");
    case "protectionReset": return protection
      ? phrase("protection reset ({cause}), was tripped ({protection}): {detected}", { cause: by(record), protection, detected })
      : phrase("protection reset ({cause}), was tripped", { cause: by(record) });
    case "restarted": return record.powerLost ? phrase("restarted after a power failure") : phrase("restarted");
    case "pairingFailed": return phrase("wrong setup code ({failures} in a row)", { failures: record.failures ?? 0 });
    case "controllerPaired": return phrase("paired with {controller}", { controller });
    case "controllerRemoved": return phrase("no longer paired with {controller}", { controller });
    case "gap": return phrase("events {from} to {to} are lost ({reason})", { from: String(record.from ?? 0), to: String(record.to ?? 0), reason });
    case "connected": return phrase("connected (firmware {firmware})", { firmware: record.firmware ?? "?" });
    case "disconnected": return phrase("disconnected: {reason}", { reason });
    default: return record.event;
  }
}

/** Describes a RuleRecord or a FiringRecord; undefined if it is not of interest for users. */
export function ruleWords(record) {
  const [why, what, plug, count] = [record.why, record.what, record.plug, record.count].map((value) => value ?? "?");
  switch (record.event ?? "firing") {
    case "firing": return phrase("fires: {why}", { why });
    case "heldBack": return phrase("was held back: {why}", { why });
    case "notSent": return phrase("cannot command {plug}: {why}", { plug, why });
    case "resumed": return phrase("sent the command to {plug} again, because it fired before the restart: {why}", { plug, why });
    case "nearMiss": return phrase("nearly fired: {why}", { why });
    case "remembered": return phrase("will send the command when {plug} returns: {what}", { plug, what });
    case "effect":
      if (record.outcome !== "done") return phrase("failed: {what}: {why}", { what, why });
      if (record.effect === "wake") return `${what}: ${why}`;
      return record.effect === "notify" ? phrase("notifies: {message}", { message: `${record.title ? `${record.title}: ` : ""}${record.message ?? ""}` }) : undefined;
    case "callFailed": return phrase("failed: {why}", { why });
    case "commandsHeldBack": return phrase("exceeds the limit of commands per minute: {count} not sent", { count });
    case "timersHeldBack": return phrase("exceeds the limit of timers per minute: {count} delayed", { count });
    case "scriptEnded": return phrase("does not run: {why}", { why });
    case "ruleEnabled": return record.enabled ? phrase("is turned on") : phrase("is turned off");
    default: return undefined;
  }
}

/** Describes the state of a PlugRecord. */
export function stateWords(record) {
  const reason = record.reason && translated(record.reason);
  switch (record.state) {
    case "connected":
      if (record.tripped) return phrase("Protection tripped: {detected}. {advice}", { detected: protectionWords(record.tripped), advice: protectionAdvice(record.tripped) });
      if (record.on === undefined) return phrase("Connected");
      if (!record.on) return phrase("Off");
      return record.level !== undefined && record.level < 100 ? phrase("On at {level} %", { level: shown(record.level) }) : phrase("On");
    case "away":
      if (!record.since) return reason ? phrase("Away: {reason}", { reason }) : phrase("Away");
      return reason
        ? phrase("Away since {time}: {reason}", { time: timeOf(Date.parse(record.since)), reason })
        : phrase("Away since {time}", { time: timeOf(Date.parse(record.since)) });
    case "stranger": return reason ? phrase("Not paired: {reason}", { reason }) : phrase("Not paired with this house yet");
    default: return record.state;
  }
}

const causes = {
  connection: phrase("connection"),
  datagram: phrase("datagram"),
  addressConflict: phrase("address conflict"),
  nameConflict: phrase("name conflict"),
  betterProxy: phrase("better sleep proxy"),
  leaseEnd: phrase("end of the lease"),
};

/** Describes a SleeperRecord: its state, its sleeps and its wakes. */
export function sleeperWords(record) {
  const asleep = record.state === "asleep";
  const state = !asleep ? phrase("awake")
    : record.asleepSince === undefined ? phrase("asleep") : phrase("asleep since {time}", { time: timeOf(Date.parse(record.asleepSince)) });
  const time = span(record.sleptSeconds * 1000);
  const slept = record.sleptSeconds > 0 && (asleep ? phrase("slept {time} before", { time }) : phrase("slept {time}", { time }));
  const wakes = Object.values(record.wakes).reduce((sum, value) => sum + value, 0);
  const why = Object.entries(record.wakes).map(([cause, value]) => `${causes[cause] ?? cause} ${number(value)}`);
  const woken = wakes > 0 && phrase("woken {count:time|times} ({causes})", { count: wakes, causes: why.join(", ") });
  return [state, slept, phrase("{count:sleep|sleeps}", { count: record.sleeps }), woken].filter(Boolean).join("; ");
}
