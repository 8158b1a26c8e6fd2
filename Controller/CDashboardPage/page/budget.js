// The budget of a month: what is used, what the month will use, and the dialog that sets it; for owners.

import { attempt, get, post, remove } from "./api.js";
import { draw, make, setText } from "./dom.js";
import { energy, money, monthName, number } from "./format.js";
import { phrase } from "./language.js";
import { may } from "./rights.js";

/** The width and height of the bar in its own units, and the height of the used part. */
const [WIDTH, HEIGHT, THICK] = [1000, 46, 22];
/** The time without data in seconds from which it is mentioned: an hour may be missing while the daemon restarts. */
const NOTABLE = 3600;
const DAY = 86_400;

const amountOf = (record) => record.cost ?? record.activeEnergy;
const text = (record, amount) => record.cost === undefined ? energy(amount) : money(amount, record.currency);

/** Describes the use of the month. @param record The daemon's BudgetRecord. */
export function budgetWords(record) {
  const { month } = record;
  const budget = text(record, amountOf(record));
  if (month === undefined) {
    return record.cost === undefined
      ? phrase("Budget: {budget} per month. Its use is not known: that requires energy of this month.", { budget })
      : phrase("Budget: {budget} per month. Its use is not known: that requires energy of this month and a price in {currency}.", { budget, currency: record.currency });
  }
  const share = month.used / amountOf(record);
  const over = share >= 1 ? phrase("The budget is used up.")
    : month.projected === undefined ? "" : month.projected > amountOf(record) ? phrase("That is above the budget.") : phrase("That is within the budget.");
  const projection = month.projected === undefined ? phrase("The projection needs data of a day.") : phrase("Projection for the month: {amount}.", { amount: text(record, month.projected) });
  const missing = month.elapsed - month.covered;
  const gap = missing > NOTABLE ? phrase("{hours} hours have no data and are not counted.", { hours: number(missing / 3600) }) : "";
  const use = phrase("Budget for {month}: {used} of {budget} used ({share} %), after {elapsed} of {days} days.", {
    month: monthName(Date.parse(month.from)), used: text(record, month.used), budget, share: number(share * 100), elapsed: number(month.elapsed / DAY, 1),
    days: number((Date.parse(month.to) - Date.parse(month.from)) / 1000 / DAY) });
  return [use, ...(share >= 1 ? [over, projection] : [projection, over]), gap].filter((words) => words !== "").join(" ");
}

/** Draws the used part as a filled bar, the projection as an outline, and the budget as a line. */
export function budgetBar(record) {
  const { month } = record;
  const [budget, used, projected] = [amountOf(record), Math.max(month.used, 0), Math.max(month.projected ?? 0, 0)];
  const x = (amount) => (amount / Math.max(budget, used, projected) * (WIDTH - 2)).toFixed(1);
  const mark = Number(x(budget)) + 1;
  return draw("svg", { class: "budgetbar", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": budgetWords(record) },
    draw("rect", { class: "budgetused", x: 1, y: 12, width: x(used), height: THICK }),
    projected > 0 && draw("rect", { class: "budgetprojected", x: 1, y: 12, width: x(projected), height: THICK }),
    draw("path", { class: "budgetmark", d: `M${mark} 2V${HEIGHT - 2}` }));
}

/** Creates the part of the page with the budget. Returns its element and the function that reads the budget again. */
export function budgetPart() {
  const words = make("p");
  const figure = make("div", {});
  const button = make("button", { type: "button", text: phrase("Budget …"), onclick: () => openBudget(read) });
  const element = make("div", { class: "budget" }, words, figure);

  async function read() {
    try {
      const record = await get("budget");
      setText(words, record === null ? "" : budgetWords(record));
      figure.replaceChildren(...(record?.month === undefined ? [] : [budgetBar(record), make("p", { class: "faint", text: phrase("Filled: used. Dashed: projection. Line: budget.") })]));
    } catch { /* The section has the reason why the daemon does not answer. */ }
  }
  return { element, button, read };
}

/** Opens the dialog. @param {() => void} changed Called after a change. */
async function openBudget(changed) {
  const alert = make("p", { class: "alert", role: "alert" });
  const say = (words) => setText(alert, words);
  const amount = make("input", { type: "number", required: true, min: "0.001", max: "1000000", step: "any" });
  const unit = make("select", {}, make("option", { value: "activeEnergy", text: "kWh" }));
  const field = (words, input) => make("label", {}, make("span", { text: words }), input);
  const form = make("form", { "aria-label": phrase("Budget"), hidden: true, onsubmit: save },
    make("div", { class: "row" }, field(phrase("Per month"), amount), field(phrase("Unit"), unit)),
    make("p", { class: "faint", text: phrase("A budget in a currency needs the price of a kWh, and includes its fixed cost per day. You are notified when 80 % are used and the projection is above the budget, and when the budget is used up.") }),
    make("div", { class: "row" },
      make("button", { type: "submit", class: "primary", text: phrase("Save") }),
      make("button", { type: "button", text: phrase("Remove"), onclick: () => change(() => remove("budget")) })));
  const dialog = make("dialog", { class: "settings", "aria-labelledby": "budget-title", onclose: () => dialog.remove() },
    make("h2", { id: "budget-title", text: phrase("Budget per month") }), form, alert,
    make("button", { type: "button", text: phrase("Close"), onclick: () => dialog.close() }));
  document.body.append(dialog);
  dialog.showModal();
  await attempt(say, async () => {
    const [tariff, record] = await Promise.all([get("tariff"), get("budget")]);
    if (tariff !== null) unit.prepend(make("option", { value: "cost", text: tariff.currency }));
    unit.selectedIndex = 0;
    if (record !== null) {
      const isCost = record.cost !== undefined;
      if (!isCost || tariff !== null) unit.value = isCost ? "cost" : "activeEnergy";
      if (!isCost || record.currency === tariff?.currency) amount.value = isCost ? record.cost : record.activeEnergy / 1000;
    }
    form.hidden = false;
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
    const value = Number(amount.value);
    change(() => post("budget", unit.value === "cost" ? { cost: value } : { activeEnergy: value * 1000 }));
  }
}
