// The dialog with the price of a kWh; for owners.

import { Fault, get, post, remove } from "./api.js";
import { make, setText } from "./dom.js";

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Opens the dialog. @param {() => void} changed Called after a change. */
export function openTariff(changed) {
  const alert = make("p", { class: "alert", role: "alert" });
  const rates = make("div", { class: "rates" });
  const field = (words, input) => make("label", {}, make("span", { text: words }), input);
  const number = (options) => make("input", { type: "number", step: "any", ...options });
  const currency = make("input", { required: true, maxlength: "8", value: "EUR" });
  const price = number({ required: true, min: "-1000", max: "1000" });
  const standingCharge = number({ min: "0", max: "1000", placeholder: "none" });
  const co2 = number({ min: "0", max: "10000", placeholder: "unknown" });
  const form = make("form", { "aria-label": "Tariff", onsubmit: save },
    make("div", { class: "row" }, field("Price of a kWh", price), field("Currency", currency)),
    make("div", { class: "row" }, field("Fixed cost per day", standingCharge), field("CO2 in g per kWh", co2)),
    rates,
    make("button", { type: "button", text: "Add a rate for some times", onclick: () => rates.append(rate({ name: `rate ${rates.children.length + 1}`, from: "22:00", to: "06:00" })) }),
    make("div", { class: "row" },
      make("button", { type: "submit", class: "primary", text: "Save" }),
      make("button", { type: "button", text: "Remove", onclick: () => attempt(() => remove("tariff")) }),
      make("button", { type: "button", text: "Close", onclick: () => dialog.close() })));
  const dialog = make("dialog", { class: "settings", "aria-labelledby": "tariff-title", onclose: () => dialog.remove() },
    make("h2", { id: "tariff-title", text: "Price of a kWh" }), form, alert);
  document.body.append(dialog);
  dialog.showModal();
  read();

  async function read() {
    try {
      const tariff = await get("tariff");
      if (tariff === null) return;
      for (const [input, value] of [[currency, tariff.currency], [price, tariff.price], [standingCharge, tariff.standingCharge], [co2, tariff.co2]]) input.value = value ?? "";
      rates.replaceChildren(...tariff.rates.map(rate));
    } catch (error) {
      setText(alert, error instanceof Fault ? error.words : String(error));
    }
  }

  async function attempt(request) {
    setText(alert, "");
    try {
      await request();
      dialog.close();
      changed();
    } catch (error) {
      setText(alert, error instanceof Fault ? error.words : String(error));
    }
  }

  function save(event) {
    event.preventDefault();
    const optional = (input) => input.value === "" ? undefined : Number(input.value);
    attempt(() => post("tariff", {
      currency: currency.value.trim(), price: Number(price.value), standingCharge: optional(standingCharge), co2: optional(co2),
      rates: [...rates.children].map((element) => values.get(element)()) }));
  }

  /** Creates the fields of a rate. A rate of the whole day has both times at midnight. */
  function rate(record) {
    const name = make("input", { required: true, maxlength: "64", value: record.name });
    const cost = number({ required: true, min: "-1000", max: "1000", value: record.price === undefined ? undefined : String(record.price) });
    const times = [record.from ?? "00:00", record.to ?? "00:00"].map((value) => make("input", { type: "time", step: "900", required: true, value: value === "24:00" ? "00:00" : value }));
    const chosen = record.days?.split(" ") ?? DAYS;
    const boxes = DAYS.map((day) => make("input", { type: "checkbox", checked: chosen.includes(day) }));
    const element = make("fieldset", {}, make("legend", { text: "Rate" }),
      make("div", { class: "row" }, field("Name", name), field("Price", cost)),
      make("div", { class: "row" }, field("From", times[0]), field("To", times[1])),
      make("div", { class: "days" }, ...boxes.map((box, index) => make("label", { class: "check" }, box, DAYS[index]))),
      make("button", { type: "button", text: "Remove this rate", onclick: () => element.remove() }));
    values.set(element, () => ({
      name: name.value.trim(), price: Number(cost.value), co2: record.co2,
      from: times[0].value === "00:00" ? undefined : times[0].value, to: times[1].value === "00:00" ? undefined : times[1].value,
      days: boxes.every((box) => box.checked) ? undefined : DAYS.filter((day, index) => boxes[index].checked).join(" ") }));
    return element;
  }
}

/** The functions that return the values of the fields of each rate. */
const values = new WeakMap();
