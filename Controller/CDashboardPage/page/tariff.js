// The dialog with the price of a kWh; for owners.

import { attempt, get, post, remove } from "./api.js";
import { make, setText } from "./dom.js";
import { phrase } from "./language.js";

/** The days of the week as the daemon names them, and as the user does. */
const DAYS = { mon: phrase("mon"), tue: phrase("tue"), wed: phrase("wed"), thu: phrase("thu"), fri: phrase("fri"), sat: phrase("sat"), sun: phrase("sun") };

/** Opens the dialog. @param {() => void} changed Called after a change. */
export function openTariff(changed) {
  const alert = make("p", { class: "alert", role: "alert" });
  const say = (words) => setText(alert, words);
  const rates = make("div", { class: "rates" });
  const field = (words, input) => make("label", {}, make("span", { text: words }), input);
  const number = (options) => make("input", { type: "number", step: "any", ...options });
  const currency = make("input", { required: true, maxlength: "8", value: "EUR" });
  const price = number({ required: true, min: "-1000", max: "1000" });
  const standingCharge = number({ min: "0", max: "1000", placeholder: phrase("none") });
  const co2 = number({ min: "0", max: "10000", placeholder: phrase("unknown") });
  const form = make("form", { "aria-label": phrase("Tariff"), onsubmit: save },
    make("div", { class: "row" }, field(phrase("Price of a kWh"), price), field(phrase("Currency"), currency)),
    make("div", { class: "row" }, field(phrase("Fixed cost per day"), standingCharge), field(phrase("CO2 in g per kWh"), co2)),
    rates,
    make("button", { type: "button", text: phrase("Add a rate for some times"), onclick: () => rates.append(rate({ name: phrase("rate {number}", { number: rates.children.length + 1 }), from: "22:00", to: "06:00" })) }),
    make("div", { class: "row" },
      make("button", { type: "submit", class: "primary", text: phrase("Save") }),
      make("button", { type: "button", text: phrase("Remove"), onclick: () => change(() => remove("tariff")) }),
      make("button", { type: "button", text: phrase("Close"), onclick: () => dialog.close() })));
  const dialog = make("dialog", { class: "settings", "aria-labelledby": "tariff-title", onclose: () => dialog.remove() },
    make("h2", { id: "tariff-title", text: phrase("Price of a kWh") }), form, alert);
  document.body.append(dialog);
  dialog.showModal();
  attempt(say, async () => {
    const tariff = await get("tariff");
    if (tariff === null) return;
    for (const [input, value] of [[currency, tariff.currency], [price, tariff.price], [standingCharge, tariff.standingCharge], [co2, tariff.co2]]) input.value = value ?? "";
    rates.replaceChildren(...tariff.rates.map(rate));
  });

  function change(request) {
    say("");
    return attempt(say, async () => {
      await request();
      dialog.close();
      changed();
    });
  }

  function save(event) {
    event.preventDefault();
    const optional = (input) => input.value === "" ? undefined : Number(input.value);
    change(() => post("tariff", {
      currency: currency.value.trim(), price: Number(price.value), standingCharge: optional(standingCharge), co2: optional(co2),
      rates: [...rates.children].map((element) => values.get(element)()) }));
  }

  /** Creates the fields of a rate. A rate of the whole day has both times at midnight. */
  function rate(record) {
    const name = make("input", { required: true, maxlength: "64", value: record.name });
    const cost = number({ required: true, min: "-1000", max: "1000", value: record.price === undefined ? undefined : String(record.price) });
    const times = [record.from ?? "00:00", record.to ?? "00:00"].map((value) => make("input", { type: "time", step: "900", required: true, value: value === "24:00" ? "00:00" : value }));
    const days = Object.keys(DAYS);
    const chosen = record.days?.split(" ") ?? days;
    const boxes = days.map((day) => make("input", { type: "checkbox", checked: chosen.includes(day) }));
    const element = make("fieldset", {}, make("legend", { text: phrase("Rate") }),
      make("div", { class: "row" }, field(phrase("Name"), name), field(phrase("Price"), cost)),
      make("div", { class: "row" }, field(phrase("From"), times[0]), field(phrase("To"), times[1])),
      make("div", { class: "days" }, ...boxes.map((box, index) => make("label", { class: "check" }, box, DAYS[days[index]]))),
      make("button", { type: "button", text: phrase("Remove this rate"), onclick: () => element.remove() }));
    values.set(element, () => ({
      name: name.value.trim(), price: Number(cost.value), co2: record.co2,
      from: times[0].value === "00:00" ? undefined : times[0].value, to: times[1].value === "00:00" ? undefined : times[1].value,
      days: boxes.every((box) => box.checked) ? undefined : days.filter((day, index) => boxes[index].checked).join(" ") }));
    return element;
  }
}

/** The functions that return the values of the fields of each rate. */
const values = new WeakMap();
