// The dialog with a plug's name and settings, its invitations and the end of its pairing; for owners.

import { attempt, get, plugPath, post, remove } from "./api.js";
import { make, named, setText } from "./dom.js";
import { plugs } from "./house.js";
import { phrase, phraseParts } from "./language.js";
import { orderForm } from "./order.js";
import { renameForm } from "./rename.js";
import { roomForm } from "./room.js";
import { invitationForm, unpairForm } from "./sharing.js";
import { updateForm } from "./update.js";

const STATES = [["off", phrase("Off")], ["on", phrase("On")], ["last", phrase("As before")]];

/** Opens the dialog. @param {string} name of the plug. */
export function openSettings(name) {
  const { record } = plugs.get(name);
  const alert = make("p", { class: "alert", role: "alert" });
  const done = make("p", { class: "faint", role: "status" });
  const say = (fault = "", words = "") => { setText(alert, fault); setText(done, words); };
  const close = () => dialog.close();
  const isConnected = record.state === "connected";
  const dialog = make("dialog", { class: "settings", "aria-labelledby": "settings-title", onclose: () => dialog.remove() },
    make("h2", { id: "settings-title" }, ...phraseParts("Settings of {plug}", { plug: named(name) })),
    facts(record),
    isConnected && record.capabilities.includes("rename") && renameForm(name, say, close),
    roomForm(name, say),
    record.id !== undefined && orderForm(name, say),
    isConnected && settingsForm(name, record.capabilities, say),
    isConnected && record.capabilities.includes("update") && updateForm(name, say),
    isConnected && invitationForm(name, say),
    unpairForm(name, !isConnected, say, close),
    alert, done, make("button", { type: "button", text: phrase("Close"), onclick: close }));
  document.body.append(dialog);
  dialog.showModal();
}

/** Lists what identifies the plug. A plug that was not connected since the start of the daemon has reported nothing yet. */
function facts({ id, firmware, capabilities }) {
  const known = [
    [phrase("Id"), id], [phrase("Host name"), id && `plug-${id.slice(-6)}.local`], [phrase("Firmware"), firmware], [phrase("Capabilities"), capabilities?.join(", ")],
  ].filter(([, text]) => text !== undefined);
  return make("dl", { class: "facts" }, ...known.map(([title, text]) => make("div", {}, make("dt", { text: title }), make("dd", { text }))));
}

/** Creates the form and requests the settings that it shows. */
function settingsForm(name, capabilities, say) {
  const path = plugPath(name, "settings");
  const form = make("form", { "aria-label": phrase("Settings"), hidden: true, onsubmit: save });
  /** The settings in force, and the functions that read the fields, by key. */
  let [inForce, fields] = [{}, {}];
  exchange(() => get(path));

  function exchange(request, words) {
    say("", phrase("Waiting for the plug …"));
    return attempt(say, async () => {
      show(await request());
      say("", words);
    });
  }

  function save(event) {
    event.preventDefault();
    const changes = Object.entries(fields).map(([key, read]) => [key, read()]).filter(([key, value]) => value !== undefined && value !== inForce[key]);
    if (changes.length === 0) say("", phrase("Nothing has changed."));
    else exchange(() => post(path, Object.fromEntries(changes)), phrase("Saved."));
  }

  function show(settings) {
    inForce = settings;
    fields = {};
    const rows = [powerOn(settings), autoOff(settings), capabilities.includes("meter") && powerLimit(settings), childLock(settings), lightOff(settings)];
    form.replaceChildren(...rows.flat().filter(Boolean), make("div", { class: "row" },
      make("button", { type: "submit", class: "primary", text: phrase("Save") }),
      make("button", { type: "button", text: phrase("As configured"), onclick: () => exchange(() => remove(path), phrase("Restored the values of the plug's configuration.")) })));
    form.hidden = false;
  }

  const field = (words, input) => make("label", {}, make("span", { text: words }), input);

  function powerOn({ powerOn }) {
    if (powerOn === "locked-on") return undefined;
    const choice = make("select", {}, ...STATES.map(([value, text]) => make("option", { value, text, selected: value === powerOn })));
    fields.powerOn = () => choice.value;
    return field(phrase("When power returns"), choice);
  }

  function autoOff({ autoOff }) {
    const minutes = make("input", { type: "number", min: "0", max: "43200", step: "any", value: String(autoOff / 60), required: true });
    fields.autoOff = () => Math.round(Number(minutes.value) * 60_000) / 1000;
    return field(phrase("Turn off after minutes (0 for never)"), minutes);
  }

  function powerLimit({ powerLimit }) {
    const watts = make("input", { type: "number", min: "0.1", max: "100000", step: "0.1", value: powerLimit === undefined ? "" : String(powerLimit), placeholder: phrase("none") });
    fields.powerLimit = () => watts.value === "" ? undefined : Number(watts.value);
    return field(phrase("Power limit in W"), watts);
  }

  function childLock({ childLock }) {
    if (childLock === undefined) return undefined;
    const box = make("input", { type: "checkbox", checked: childLock });
    fields.childLock = () => box.checked;
    return make("label", { class: "check" }, box, phrase("Child lock: the plug's button is off"));
  }

  function lightOff({ lightOff }) {
    if (lightOff === undefined) return undefined;
    const isDark = lightOff !== "never";
    const [from, until] = (isDark ? lightOff : "22:00-07:00").split("-").map((value) => make("input", { type: "time", value, required: true }));
    const box = make("input", { type: "checkbox", checked: isDark, onchange: update });
    fields.lightOff = () => box.checked ? `${from.value}-${until.value}` : "never";
    const times = make("div", { class: "row" }, field(phrase("from"), from), field(phrase("until"), until));
    function update() { times.hidden = !box.checked; }
    update();
    return [make("label", { class: "check" }, box, phrase("Keep the plug's light dark at a time of day")), times];
  }
  return form;
}
