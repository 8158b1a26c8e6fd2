// The backtest of a rule text: the firings that its rules would have had in the last days.

import { faultWords, post } from "./api.js";
import { draw, make, setText } from "./dom.js";
import { timeOf } from "./format.js";
import { phrase } from "./language.js";

/** The delay after the last change in ms, and the number of firings in the list. */
const [DELAY, LISTED] = [900, 100];
const [WIDTH, HEIGHT] = [600, 60];
const DAYS = [1, 7, 30];

/** Creates the panel. `text` returns the rules. */
export function backtestPanel(text) {
  const days = make("select", { onchange: () => ask(0) }, ...DAYS.map((count) => make("option", { value: String(count), text: phrase("{count:day|days}", { count }), selected: count === 7 })));
  const status = make("p", { role: "status" });
  const picture = make("div", { class: "timeline" });
  const list = make("ol", { class: "firings", "aria-label": phrase("Firings, the newest first"), tabindex: "0" });
  const element = make("section", { class: "backtest", "aria-labelledby": "backtest-title" },
    make("div", { class: "bar" }, make("h3", { id: "backtest-title", text: phrase("Backtest") }), make("label", {}, make("span", { class: "hidden", text: phrase("Time of the backtest") }), days)),
    status, picture, list);
  let [timer, running] = [0, undefined];

  function show(words) {
    setText(status, words);
    picture.replaceChildren();
    list.replaceChildren();
    list.hidden = true;
  }

  function paint({ from, to, complete, unrecorded, lines }) {
    const firings = lines.filter(({ event }) => event === "firing");
    const summaries = lines.filter(({ event }) => event === "summary");
    const total = summaries.reduce((sum, { firings: own }) => sum + own, 0);
    const near = summaries.reduce((sum, { nearMisses }) => sum + nearMisses, 0);
    show([
      total === 0 ? phrase("These rules would not have fired.") : phrase("These rules would have fired {count:time|times}.", { count: total }),
      near > 0 && phrase("They would nearly have fired {count:time|times}.", { count: near }),
      unrecorded.length > 0 && phrase("The history does not have {plugs}.", { plugs: unrecorded.join(", ") }),
      !complete && phrase("The backtest was stopped after 10 s, at {time}.", { time: timeOf(Date.parse(to)) }),
      total > firings.length && phrase("The first {count} are shown.", { count: firings.length }),
    ].filter(Boolean).join(" "));
    picture.replaceChildren(timeline(Date.parse(from), Date.parse(to), firings, total));
    list.replaceChildren(...firings.slice(-LISTED).reverse().map(({ at, rule, why, cause }) =>
      make("li", {}, make("time", { datetime: at, text: timeOf(Date.parse(at)) }), " ", make("bdi", { class: "name", text: rule }), ": ", why ?? cause ?? "")));
    list.hidden = firings.length === 0;
  }

  /** Requests the backtest after a delay, and cancels the previous one. */
  function ask(delay = DELAY) {
    stop();
    timer = setTimeout(async () => {
      const own = running = new AbortController();
      setText(status, phrase("Running …"));
      try {
        const answer = await again(() => post("rule-backtests", { text: text(), days: Number(days.value) }, own.signal));
        if (running === own) paint(answer);
      } catch (error) {
        if (error.name !== "AbortError" && running === own) show(faultWords(error));
      }
    }, delay);
  }

  function stop(words) {
    clearTimeout(timer);
    running?.abort();
    running = undefined;
    if (words !== undefined) show(words);
  }
  show("");
  return { element, ask, stop };
}

/** Repeats a request while another backtest is running: the daemon needs a moment to notice that one was cancelled. */
async function again(request) {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (error.status !== 503 || !error.hint?.startsWith("try again") || tries === 5) throw error;
    }
    await new Promise((done) => setTimeout(done, 300 * tries));
  }
}

/** Draws a mark for each firing on a line of days. */
function timeline(from, to, firings, total) {
  const x = (at) => ((at - from) / Math.max(1, to - from)) * WIDTH;
  const day = 86_400_000;
  const grid = [];
  for (let at = to - day; at > from; at -= day) grid.push(draw("line", { class: "grid", x1: x(at), x2: x(at), y1: 0, y2: HEIGHT }));
  const marks = firings.map(({ at }) => draw("line", { class: "firing", x1: x(Date.parse(at)), x2: x(Date.parse(at)), y1: 8, y2: HEIGHT - 8 }));
  return make("figure", {},
    draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": phrase("{count:firing|firings} from {from} to {to}", { count: total, from: timeOf(from), to: timeOf(to) }) }, ...grid, ...marks),
    make("figcaption", { class: "faint" }, make("span", { text: timeOf(from) }), make("span", { text: timeOf(to) })));
}
