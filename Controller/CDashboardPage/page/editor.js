// The dialog with the rule files of the daemon; for owners.

import { Fault, get, post, remove } from "./api.js";
import { backtestPanel } from "./backtest.js";
import { codeEditor } from "./codeeditor.js";
import { make, named, setText } from "./dom.js";
import { timeOf } from "./format.js";
import { house, plugs } from "./house.js";
import { ruleText, templates } from "./templates.js";

/** The delay in ms between the last change of the text and its check. */
const DELAY = 300;
const NAME = "[A-Za-z0-9_\\-]{1,58}\\.ya?ml";
const pathOf = (name) => `rule-files/${encodeURIComponent(name)}`;
const words = (error) => error instanceof Fault ? error.words : String(error);

/** Opens the dialog. */
export async function openEditor() {
  const policy = make("p", { class: "faint" });
  const files = make("select", { onchange: () => choose(files.value) });
  const create = make("button", { type: "button", text: "New file …", onclick: () => { naming.hidden = false; newName.focus(); } });
  const newName = make("input", { required: true, pattern: NAME, maxlength: "64", value: "evening.yaml", autocomplete: "off", spellcheck: "false" });
  const naming = make("form", { class: "row", hidden: true, "aria-label": "New file", onsubmit: begin },
    make("label", {}, make("span", { text: "Name, such as evening.yaml" }), newName), make("button", { type: "submit", text: "Begin" }));
  const path = make("p", { class: "faint path" });
  const host = make("div", { class: "code-host" });
  const verdict = make("p", { role: "status" });
  const findings = make("ol", { class: "findings", "aria-label": "Findings" });
  const save = make("button", { type: "button", class: "primary", text: "Save", onclick: store });
  const revert = make("button", { type: "button", text: "Revert", onclick: () => choose(shown.file.file, true) });
  const erase = make("button", { type: "button", text: "Delete file …", onclick: askToErase });
  const close = make("button", { type: "button", text: "Close", onclick: leave });
  const alert = make("p", { class: "alert", role: "alert" });
  const done = make("p", { class: "faint", role: "status" });
  const backtest = backtestPanel(() => code.text);
  const [chooser, log] = [templateForm((text) => code.append(text)), scriptLog()];
  const dialog = make("dialog", { class: "settings editor", "aria-labelledby": "editor-title", oncancel: cancel, onclose: closed },
    make("h2", { id: "editor-title", text: "Rule files" }), policy,
    make("div", { class: "row" }, make("label", {}, make("span", { text: "File" }), files), create), naming, path,
    make("div", { class: "panes" },
      make("div", {}, host, make("p", { class: "faint", id: "editor-keys", text: "Tab indents; Escape leaves the text." }), verdict, findings, chooser.element),
      make("div", {}, backtest.element, log.element)),
    make("div", { class: "row" }, save, revert, erase, close), alert, done);
  /** The list of files, the shown RuleFileText, the editor, and true if the text has changes. */
  let [list, shown, code, dirty, timer, checks, wantsToLeave, wantsToErase] = [undefined, undefined, undefined, false, 0, 0, false, false];
  const say = (fault = "", message = "") => { setText(alert, fault); setText(done, message); };

  document.body.append(dialog);
  dialog.showModal();
  try {
    code = await codeEditor(host, "Text of the rule file", changed, () => (save.disabled ? close : save).focus());
    await readList();
    if (list.files.length > 0) await choose(list.files[0].file);
    else paint();
  } catch (error) { say(words(error)); }

  async function readList(name) {
    list = await get("rule-files");
    policy.replaceChildren(...policyWords(list));
    files.replaceChildren(...list.files.map(({ file, kind, fault }) => make("option", { value: file, text: file + (kind === "script" ? " (script)" : "") + (fault === undefined ? "" : " (not valid)") })));
    if (name !== undefined) files.value = name;
  }

  /** Shows a file. Changes that are not saved are kept, unless they are to be discarded. */
  async function choose(name, discard = false) {
    if (dirty && !discard) {
      files.value = shown.version === undefined ? "" : shown.file.file;
      say("The text has changes. Save or revert them first.");
      return;
    }
    say();
    if (shown?.version === undefined && name === shown?.file.file) return startText(name);
    try {
      show(await get(pathOf(name)));
      files.value = name;
    } catch (error) { say(words(error)); }
  }

  function show(content) {
    shown = content;
    [dirty, wantsToErase, wantsToLeave] = [false, false, false];
    const { file } = shown;
    setText(path, file.path + (list.editing && file.obstacle !== undefined ? `: read-only, because ${file.obstacle}` : ""));
    code.mode(file.kind === "script" ? null : "yaml");
    code.show(shown.text, !file.editable);
    const isScript = file.kind === "script";
    backtest.element.hidden = isScript;
    log.show(isScript ? file.file : undefined);
    findings.replaceChildren();
    setText(verdict, "");
    if (isScript) backtest.stop("");
    else check();
    paint();
  }

  /** Begins a new file, which exists only when it is saved. */
  function begin(event) {
    event.preventDefault();
    if (dirty) return say("The text has changes. Save or revert them first.");
    naming.hidden = true;
    startText(newName.value);
  }

  function startText(name) {
    files.selectedIndex = -1;
    show({ file: { file: name, path: `${list.directory}/${name}, not saved yet`, kind: "rules", editable: true }, text: "" });
  }

  function paint() {
    const editable = shown?.file.editable ?? false;
    create.hidden = !list.editing || list.directory === undefined;
    for (const one of [save, revert, chooser.element]) one.hidden = !editable;
    erase.hidden = !editable || shown.version === undefined;
    save.disabled = !dirty;
    revert.disabled = !dirty;
    setText(erase, wantsToErase ? "Delete it and its rules" : "Delete file …");
    setText(close, wantsToLeave ? "Discard the changes" : "Close");
    host.hidden = shown === undefined;
  }

  function changed() {
    dirty = code.text !== shown.text;
    [wantsToLeave, wantsToErase] = [false, false];
    say();
    setText(verdict, "Checking …");
    clearTimeout(timer);
    timer = setTimeout(check, DELAY);
    paint();
  }

  /** Checks the text. Answers about an earlier text are ignored. */
  async function check() {
    clearTimeout(timer);
    const own = ++checks;
    try {
      const { findings: found } = await post("rule-checks", { file: shown.file.file, text: code.text });
      if (own === checks) judge(found);
    } catch (error) {
      if (own === checks) setText(verdict, words(error));
    }
  }

  function judge(found) {
    code.mark(found);
    const errors = found.filter(({ severity }) => severity === "error").length;
    const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
    setText(verdict, found.length === 0 ? "No errors." : `${counted(errors, "error")}, ${counted(found.length - errors, "warning")}.`);
    findings.replaceChildren(...found.map(({ line, column, severity, message, hint }) => make("li", { "data-severity": severity },
      make("button", { type: "button", text: `Line ${line}`, "aria-label": `Go to line ${line}, column ${column}`, onclick: () => code.go(line, column) }),
      make("span", {}, `${severity === "error" ? "Error" : "Warning"}: ${message}`, hint !== undefined && make("span", { class: "faint", text: ` Hint: ${hint}` })))));
    if (errors === 0 && code.text.trim() !== "") backtest.ask();
    else backtest.stop(errors === 0 ? "" : "The backtest needs a text without errors.");
  }

  async function store() {
    say();
    save.disabled = true;
    const text = code.text;
    try {
      const { file: { file }, version } = shown;
      const stored = version === undefined ? await post("rule-files", { file, text }) : await post(pathOf(file), { text, version });
      shown = stored;
      dirty = code.text !== text;
      await readList(file);
      setText(path, stored.file.path);
      say("", "Saved. The daemon uses the new rules within seconds.");
    } catch (error) {
      say(error.status === 409 && shown.version !== undefined ? `${words(error)} Copy your changes, then revert.` : words(error));
    }
    paint();
  }

  async function askToErase() {
    if (!wantsToErase) { wantsToErase = true; return paint(); }
    try {
      await remove(`${pathOf(shown.file.file)}?version=${shown.version}`);
      dirty = false;
      await readList();
      if (list.files.length > 0) await choose(list.files[0].file, true);
      else { shown = undefined; paint(); }
      say("", "Deleted.");
    } catch (error) { say(words(error)); }
  }

  function leave() {
    if (dirty && !wantsToLeave) {
      wantsToLeave = true;
      say("The text has changes that are not saved.");
      return paint();
    }
    dialog.close();
  }

  /** Escape in the text leaves the text; elsewhere it closes the dialog, unless the text has changes. */
  function cancel(event) {
    event.preventDefault();
    if (!host.contains(document.activeElement)) leave();
  }

  function closed() {
    clearTimeout(timer);
    checks++;
    backtest.stop();
    dialog.remove();
  }
}

/** States whether files can be edited here, and how to change that. */
function policyWords({ editing, directory }) {
  if (!editing) {
    return ["Editing is off, because rules act on the whole house. To turn it on, start the daemon with ", make("code", { text: "plugctl daemon --edit-rules" }), ". Checks and backtests work without it."];
  }
  const more = directory === undefined ? " The daemon reads single files; to create files here, start it with --rules and a directory." : "";
  return [`Actions that run programs or call URLs or scripts can only be added on the daemon's machine.${more}`];
}

/** Creates the form that inserts a template. */
function templateForm(insert) {
  const choice = make("select", { onchange: ask }, ...templates.map(({ title }, index) => make("option", { value: String(index), text: title })));
  const fields = make("div", { class: "row" });
  const element = make("form", { class: "templates", "aria-label": "Template", onsubmit },
    make("label", {}, make("span", { text: "Template" }), choice), fields, make("button", { type: "submit", text: "Insert" }));

  /** Shows a choice of plugs for each place of the template. */
  function ask() {
    fields.replaceChildren(...templates[choice.value].plugs.map(([label, capability]) => {
      const able = [...plugs.values()].map(({ record }) => record).filter(({ capabilities }) => capabilities === undefined || capabilities.includes(capability));
      const select = make("select", { required: true }, ...able.map(({ plug }) => make("option", { value: plug, text: plug })));
      const similar = able.find(({ plug }) => plug.toLowerCase().includes(label.toLowerCase().split(" ")[0]));
      if (similar) select.value = similar.plug;
      return make("label", {}, make("span", { text: label }), select);
    }));
  }

  function onsubmit(event) {
    event.preventDefault();
    const chosen = [...fields.querySelectorAll("select")].map(({ value }) => value);
    insert(ruleText(templates[choice.value], chosen, new Set(house.rules.map(({ rule }) => rule))));
  }
  ask();
  return { element };
}

/** Creates the log of a script. */
function scriptLog() {
  const list = make("ol", { class: "firings", "aria-label": "Log of the script, the newest first", tabindex: "0" });
  const none = make("p", { class: "faint" });
  const element = make("section", { "aria-labelledby": "log-title", hidden: true }, make("h3", { id: "log-title", text: "Log" }), none, list);

  /** Shows the log of a script; hides the log for undefined. */
  async function show(name) {
    element.hidden = name === undefined;
    list.replaceChildren();
    list.hidden = true;
    setText(none, "");
    if (name === undefined) return;
    try {
      const lines = await get(`${pathOf(name)}/log`);
      list.replaceChildren(...lines.reverse().map(({ at, rule, kind, text }) =>
        make("li", { "data-severity": kind === "fault" && "error" }, make("time", { datetime: at, text: timeOf(Date.parse(at)) }), " ", rule !== undefined && named(rule), ` ${text}`)));
      list.hidden = lines.length === 0;
      setText(none, lines.length === 0 ? "The script has logged nothing since the daemon's start." : "");
    } catch (error) { setText(none, words(error)); }
  }
  return { element, show };
}
