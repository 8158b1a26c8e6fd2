// Templates of rules. Each has places for plugs of the house.

import { phrase } from "./language.js";

/** A name as YAML reads it: a JSON string is also a YAML string. */
const quoted = (name) => JSON.stringify(name);

/** The templates: a title, a label and the wanted capability for each plug, and the lines of the rule below its name. */
export const templates = [
  {
    title: phrase("Washing machine has finished"), plugs: [[phrase("Washing machine"), "meter"]],
    lines: (machine) => [`when: { plug: ${quoted(machine)}, appliance: finished }`, "then:", `  - notify: { title: ${quoted(machine)}, text: ${quoted(phrase("The load has finished"))} }`],
  },
  {
    title: phrase("Lights off when the television is on"), plugs: [[phrase("Television"), "meter"], [phrase("Light"), "relay"]],
    lines: (television, light) => ["when:", `  plug: ${quoted(television)}`, "  active power: { rises above: 40 W, for: 3 s }", "if:", "  time: { after: \"17:00\", before: \"02:00\" }", "then:", `  - turn off: ${quoted(light)}`],
  },
  {
    title: phrase("Off at night"), plugs: [[phrase("Plug"), "relay"]],
    lines: (plug) => ["when: { time: \"23:30\" }", "then:", `  - turn off: ${quoted(plug)}`],
  },
  {
    title: phrase("Standby killer"), plugs: [[phrase("Plug"), "meter"]],
    lines: (plug) => ["when:", `  plug: ${quoted(plug)}`, "  active power: { falls below: 10 W, for: 15 min }", "then:", `  - turn off: ${quoted(plug)}`],
  },
  {
    title: phrase("Button toggles another plug"), plugs: [[phrase("Button of"), "relay"], [phrase("Toggled plug"), "relay"]],
    lines: (button, plug) => [`when: { plug: ${quoted(button)}, button: pressed }`, "then:", `  - toggle: ${quoted(plug)}`],
  },
  {
    title: phrase("On at sunset"), plugs: [[phrase("Light"), "relay"]],
    lines: (light) => ["when: { sun: sunset, offset: -15 min }", "then:", `  - turn on: ${quoted(light)}`],
  },
];

/** Returns the text of a rule whose name is not yet used. */
export function ruleText({ title, lines }, plugs, used) {
  let name = title;
  for (let number = 2; used.has(name); number++) name = `${title} ${number}`;
  return [`- rule: ${name}`, ...lines(...plugs).map((line) => `  ${line}`), ""].join("\n");
}
