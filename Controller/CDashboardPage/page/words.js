// Describes events in the same words as plugctl.

import { count, number, span, timeOf } from "./format.js";

const protections = {
  overPower: "the load drew too much power",
  overCurrent: "the load drew too much current",
  overVoltage: "the voltage is too high",
  underVoltage: "the voltage is too low",
  overTemperature: "the plug is too hot inside",
  weldedRelay: "current flows although the relay is off, so the plug cannot turn the load off: unplug it",
  restTime: "the load has not rested long enough since it was turned off",
  switchingRate: "the plug was switched too often in a short time",
};

/** Describes what a protection detected. */
export const protectionWords = (protection) => protections[protection] ?? protection;

/** Returns the advice for a protection. */
export function protectionAdvice(protection) {
  switch (protection) {
    case "weldedRelay": return "Unplug the load, and replace the plug.";
    case "restTime": case "switchingRate": return "Wait a few minutes, then reset the protection.";
    case "overVoltage": case "underVoltage": return "When the supply is normal again, reset the protection here or press the plug's button.";
    default: return "Unplug the load or turn it down, then reset the protection here or press the plug's button.";
  }
}

const shown = (value) => value === undefined ? "?" : String(Math.round(value * 100) / 100);
const explained = (protection) => protection ? ` (${protection}): ${protectionWords(protection)}` : "";

function by(record) {
  switch (record.cause) {
    case "controller": return `by ${record.controller ?? "?"}`;
    case "powerOn": return "power-on";
    default: return record.cause ?? "?";
  }
}

/** Describes a WatchRecord. */
export function eventWords(record) {
  switch (record.event) {
    case "relay": return `${record.on ? "on" : "off"} (${by(record)})`;
    case "level": return `level ${shown(record.level)} %`;
    case "reading": return `${shown(record.activePower)} W`;
    case "button": return `button pressed (${record.press ?? "?"})`;
    case "protection": return `protection tripped${explained(record.protection)}`;
    case "protectionReset": return `protection reset (${by(record)}), was tripped${explained(record.protection)}`;
    case "restarted": return record.powerLost ? "restarted after a power failure" : "restarted";
    case "pairingFailed": return `wrong setup code (${record.failures ?? 0} in a row)`;
    case "controllerPaired": return `paired with ${record.controller ?? "?"}`;
    case "controllerRemoved": return `no longer paired with ${record.controller ?? "?"}`;
    case "gap": return `events ${record.from ?? 0} to ${record.to ?? 0} are lost (${record.reason ?? "?"})`;
    case "connected": return `connected (firmware ${record.firmware ?? "?"})`;
    case "disconnected": return `disconnected: ${record.reason ?? "?"}`;
    default: return record.event;
  }
}

/** Describes a RuleRecord or a FiringRecord; undefined if it is not of interest for users. */
export function ruleWords(record) {
  switch (record.event ?? "firing") {
    case "firing": return `fires: ${record.why ?? "?"}`;
    case "heldBack": return `was held back: ${record.why ?? "?"}`;
    case "notSent": return `cannot command ${record.plug ?? "?"}: ${record.why ?? "?"}`;
    case "resumed": return `sent the command to ${record.plug ?? "?"} again, because it fired before the restart: ${record.why ?? "?"}`;
    case "nearMiss": return `nearly fired: ${record.why ?? "?"}`;
    case "remembered": return `will send the command when ${record.plug ?? "?"} returns: ${record.what ?? "?"}`;
    case "effect":
      if (record.outcome !== "done") return `failed: ${record.what ?? "?"}: ${record.why ?? "?"}`;
      if (record.effect === "wake") return `${record.what ?? "?"}: ${record.why ?? "?"}`;
      return record.effect === "notify" ? `notifies: ${record.title ? `${record.title}: ` : ""}${record.message ?? ""}` : undefined;
    case "callFailed": return `failed: ${record.why ?? "?"}`;
    case "commandsHeldBack": return `exceeds the limit of commands per minute: ${record.count ?? "?"} not sent`;
    case "timersHeldBack": return `exceeds the limit of timers per minute: ${record.count ?? "?"} delayed`;
    case "scriptEnded": return `does not run: ${record.why ?? "?"}`;
    case "ruleEnabled": return record.enabled ? "is turned on" : "is turned off";
    default: return undefined;
  }
}

/** Describes the state of a PlugRecord. */
export function stateWords(record) {
  switch (record.state) {
    case "connected":
      if (record.tripped) return `Protection tripped: ${protectionWords(record.tripped)}. ${protectionAdvice(record.tripped)}`;
      if (record.on === undefined) return "Connected";
      return record.on && record.level !== undefined && record.level < 100 ? `On at ${shown(record.level)} %` : record.on ? "On" : "Off";
    case "away": return `Away${record.since ? ` since ${timeOf(Date.parse(record.since))}` : ""}${record.reason ? `: ${record.reason}` : ""}`;
    case "stranger": return record.reason ? `Not paired: ${record.reason}` : "Not paired with this house yet";
    default: return record.state;
  }
}

const causes = {
  connection: "connection",
  datagram: "datagram",
  addressConflict: "address conflict",
  nameConflict: "name conflict",
  betterProxy: "better sleep proxy",
  leaseEnd: "end of the lease",
};

/** Describes a SleeperRecord: its state, its sleeps and its wakes. */
export function sleeperWords(record) {
  const asleep = record.state === "asleep";
  const since = record.asleepSince === undefined ? "" : ` since ${timeOf(Date.parse(record.asleepSince))}`;
  const slept = record.sleptSeconds > 0 && `slept ${span(record.sleptSeconds * 1000)}${asleep ? " before" : ""}`;
  const wakes = Object.values(record.wakes).reduce((sum, value) => sum + value, 0);
  const why = Object.entries(record.wakes).map(([cause, value]) => `${causes[cause] ?? cause} ${number(value)}`);
  const woken = wakes > 0 && `woken ${count(wakes, "time")} (${why.join(", ")})`;
  return [asleep ? `asleep${since}` : "awake", slept, count(record.sleeps, "sleep"), woken].filter(Boolean).join("; ");
}
