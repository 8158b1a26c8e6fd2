// The traces of a rule, loaded on request: what the rule did, and why, each time that one of its triggers was met.

import { faultWords, get } from "./api.js";
import { make, setText } from "./dom.js";
import { clockTime, number, timeOf } from "./format.js";
import { phrase } from "./language.js";

/** The maximum number of shown traces. */
const MOST = 20;
/** The delay in ms after which the history has the newest events. */
const LATER = 3000;

const outcomes = { fired: phrase("Fired"), heldBack: phrase("Held back"), nearMiss: phrase("Nearly fired") };
const duration = (ms) => ms < 10_000 ? `${number(ms)} ms` : `${number(ms / 1000, 1)} s`;

function conditionLine({ condition, held }) {
  return make("li", { "data-held": String(held) }, make("span", { "aria-hidden": "true", text: held ? "✓ " : "✗ " }),
    make("span", { dir: "auto", text: condition }), make("span", { class: held ? "hidden" : "", text: held ? phrase(": held") : phrase(": did not hold") }));
}

function stepLine(step) {
  const { what, outcome } = step;
  const words = outcome === undefined
    ? step.id === undefined ? what : phrase("{what}: no answer yet", { what })
    : step.answered === undefined ? `${what}: ${outcome}` : phrase("{what}: {outcome}, after {time}", { what, outcome, time: duration(step.answered - step.at) });
  return make("li", {}, make("time", { class: "number", datetime: new Date(step.at).toISOString(), text: clockTime(step.at) }), make("span", { dir: "auto", text: ` ${words}` }));
}

/** Shows a RuleTrace. */
function traceItem(trace) {
  const since = trace.since !== undefined && trace.since !== trace.at ? make("p", { class: "faint", text: phrase("The change itself was at {time}.", { time: clockTime(trace.since) }) }) : undefined;
  const omitted = trace.omitted > 0 && make("p", { class: "faint", text: phrase("{count:more step is|more steps are} not stored.", { count: trace.omitted }) });
  return make("li", { "data-outcome": trace.outcome },
    make("p", {}, make("time", { class: "number", datetime: new Date(trace.at).toISOString(), text: timeOf(trace.at) }), " ",
      make("strong", { text: outcomes[trace.outcome] ?? trace.outcome }), ": ", make("span", { dir: "auto", text: trace.cause })),
    trace.why !== undefined && make("p", { class: "held", dir: "auto", text: trace.why }), since,
    trace.conditions.length > 0 && make("ul", { "aria-label": phrase("Conditions") }, ...trace.conditions.map(conditionLine)),
    trace.steps.length > 0 && make("ol", { "aria-label": phrase("Actions") }, ...trace.steps.map(stepLine)), omitted);
}

/**
 * @param {string} name of the rule. @param {string} path of its traces.
 * @returns `know(news)`: loads the traces again if the list is open and the news changed.
 */
export function traceList(name, path) {
  let [latest, timer, asked] = ["", 0, 0];
  const list = make("ol", { class: "traces", "aria-label": phrase("Actions of {rule}, newest first", { rule: name }) });
  const trouble = make("p", { class: "faint", role: "status" });
  const element = make("details", { class: "why", ontoggle: () => element.open && ask() }, make("summary", { text: phrase("Actions and reasons") }), list, trouble);

  async function ask() {
    const own = ++asked;
    if (list.children.length === 0) setText(trouble, phrase("Loading …"));
    try {
      const traces = await get(path, { limit: MOST });
      if (own !== asked) return;
      list.replaceChildren(...traces.reverse().map(traceItem));
      setText(trouble, traces.length === 0 ? phrase("Its triggers have not been met yet.") : "");
    } catch (error) {
      if (own === asked) setText(trouble, faultWords(error));
    }
  }

  function know(news) {
    if (news === latest) return;
    latest = news;
    clearTimeout(timer);
    if (element.open) timer = setTimeout(() => element.open && ask(), LATER);
  }
  return { element, know };
}
