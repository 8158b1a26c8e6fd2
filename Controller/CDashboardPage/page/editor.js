// The dialog with the rule files of the daemon; for owners.

import { attempt, faultWords, get, post, remove } from "./api.js";
import { backtestPanel } from "./backtest.js";
import { codeEditor } from "./codeeditor.js";
import { make, named, setText } from "./dom.js";
import { timeOf } from "./format.js";
import { house, plugs } from "./house.js";
import { phrase, phraseParts, translated } from "./language.js";
import { ruleText, templates } from "./templates.js";

/** The delay in ms between the last change of the text and its check. */
const DELAY = 300;
const NAME = "[A-Za-z0-9_\\-]{1,58}\\.ya?ml";
const pathOf = (name) => `rule-files/${encodeURIComponent(name)}`;

/** Opens the dialog. */
export async function openEditor() {
  const policy = make("p", { class: "faint" });
  const files = make("select", { onchange: () => choose(files.value) });
  const create = make("button", { type: "button", text: phrase("New file …"), onclick: () => { naming.hidden = false; newName.focus(); } });
  const newName = make("input", { required: true, pattern: NAME, maxlength: "64", value: "evening.yaml", autocomplete: "off", spellcheck: "false" });
  const naming = make("form", { class: "row", hidden: true, "aria-label": phrase("New file"), onsubmit: begin },
    make("label", {}, make("span", { text: phrase("Name, such as evening.yaml") }), newName), make("button", { type: "submit", text: phrase("Begin") }));
  const path = make("p", { class: "faint path" });
  const host = make("div", { class: "code-host" });
  const verdict = make("p", { role: "status" });
  const findings = make("ol", { class: "findings", "aria-label": phrase("Findings") });
  const save = make("button", { type: "button", class: "primary", text: phrase("Save"), onclick: store });
  const revert = make("button", { type: "button", text: phrase("Revert"), onclick: () => choose(shown.file.file, true) });
  const erase = make("button", { type: "button", text: phrase("Delete file …"), onclick: askToErase });
  const close = make("button", { type: "button", text: phrase("Close"), onclick: leave });
  const alert = make("p", { class: "alert", role: "alert" });
  const done = make("p", { class: "faint", role: "status" });
  const backtest = backtestPanel(() => code.text);
  const [chooser, log] = [templateForm((text) => code.append(text)), scriptLog()];
  const dialog = make("dialog", { class: "settings editor", "aria-labelledby": "editor-title", oncancel: cancel, onclose: closed },
    make("h2", { id: "editor-title", text: phrase("Rule files") }), policy,
    make("div", { class: "row" }, make("label", {}, make("span", { text: phrase("File") }), files), create), naming, path,
    make("div", { class: "panes" },
      make("div", {}, host, make("p", { class: "faint", id: "editor-keys", text: phrase("Tab indents; Escape leaves the text.") }), verdict, findings, chooser.element),
      make("div", {}, backtest.element, log.element)),
    make("div", { class: "row" }, save, revert, erase, close), alert, done);
  /** The list of files, the shown RuleFileText, the editor, and true if the text has changes. */
  let [list, shown, code, dirty, timer, checks, wantsToLeave, wantsToErase] = [undefined, undefined, undefined, false, 0, 0, false, false];
  const say = (fault = "", message = "") => { setText(alert, fault); setText(done, message); };

  document.body.append(dialog);
  dialog.showModal();
  await attempt(say, async () => {
    code = await codeEditor(host, phrase("Text of the rule file"), changed, () => (save.disabled ? close : save).focus());
    await readList();
    if (list.files.length > 0) await choose(list.files[0].file);
    else paint();
  });

  async function readList(name) {
    list = await get("rule-files");
    policy.replaceChildren(...policyWords(list));
    files.replaceChildren(...list.files.map(({ file, kind, fault }) => make("option", { value: file, text: fileWords(file, kind === "script", fault !== undefined) })));
    if (name !== undefined) files.value = name;
  }

  function fileWords(file, isScript, isFaulty) {
    return [file, isScript && phrase("(script)"), isFaulty && phrase("(not valid)")].filter(Boolean).join(" ");
  }

  /** Shows a file. Changes that are not saved are kept, unless they are to be discarded. */
  async function choose(name, discard = false) {
    if (dirty && !discard) {
      files.value = shown.version === undefined ? "" : shown.file.file;
      say(phrase("The text has changes. Save or revert them first."));
      return;
    }
    say();
    if (shown?.version === undefined && name === shown?.file.file) return startText(name);
    await attempt(say, async () => {
      show(await get(pathOf(name)));
      files.value = name;
    });
  }

  function show(content) {
    shown = content;
    [dirty, wantsToErase, wantsToLeave] = [false, false, false];
    const { file } = shown;
    setText(path, list.editing && file.obstacle !== undefined ? phrase("{path}: read-only, because {reason}", { path: file.path, reason: file.obstacle }) : file.path);
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
    if (dirty) return say(phrase("The text has changes. Save or revert them first."));
    naming.hidden = true;
    startText(newName.value);
  }

  function startText(name) {
    files.selectedIndex = -1;
    show({ file: { file: name, path: phrase("{path}, not saved yet", { path: `${list.directory}/${name}` }), kind: "rules", editable: true }, text: "" });
  }

  function paint() {
    const editable = shown?.file.editable ?? false;
    create.hidden = !list.editing || list.directory === undefined;
    for (const one of [save, revert, chooser.element]) one.hidden = !editable;
    erase.hidden = !editable || shown.version === undefined;
    save.disabled = !dirty;
    revert.disabled = !dirty;
    setText(erase, wantsToErase ? phrase("Delete it and its rules") : phrase("Delete file …"));
    setText(close, wantsToLeave ? phrase("Discard the changes") : phrase("Close"));
    host.hidden = shown === undefined;
  }

  function changed() {
    dirty = code.text !== shown.text;
    [wantsToLeave, wantsToErase] = [false, false];
    say();
    setText(verdict, phrase("Checking …"));
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
      if (own === checks) judge(found.map((finding) => ({ ...finding, message: translated(finding.message), hint: finding.hint && translated(finding.hint) })));
    } catch (error) {
      if (own === checks) setText(verdict, faultWords(error));
    }
  }

  function judge(found) {
    code.mark(found);
    const errors = found.filter(({ severity }) => severity === "error").length;
    setText(verdict, found.length === 0 ? phrase("No errors.") : phrase("{errors:error|errors}, {warnings:warning|warnings}.", { errors, warnings: found.length - errors }));
    findings.replaceChildren(...found.map(({ line, column, severity, message, hint }) => make("li", { "data-severity": severity },
      make("button", { type: "button", text: phrase("Line {line}", { line: String(line) }), "aria-label": phrase("Go to line {line}, column {column}", { line: String(line), column: String(column) }), onclick: () => code.go(line, column) }),
      make("span", {}, severity === "error" ? phrase("Error: {message}", { message }) : phrase("Warning: {message}", { message }),
        hint !== undefined && make("span", { class: "faint", text: ` ${phrase("Hint: {hint}", { hint })}` })))));
    if (errors === 0 && code.text.trim() !== "") backtest.ask();
    else backtest.stop(errors === 0 ? "" : phrase("The backtest needs a text without errors."));
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
      say("", phrase("Saved. The daemon uses the new rules within seconds."));
    } catch (error) {
      say(error.status === 409 && shown.version !== undefined ? `${faultWords(error)} ${phrase("Copy your changes, then revert.")}` : faultWords(error));
    }
    paint();
  }

  async function askToErase() {
    if (!wantsToErase) { wantsToErase = true; return paint(); }
    await attempt(say, async () => {
      await remove(`${pathOf(shown.file.file)}?version=${shown.version}`);
      dirty = false;
      await readList();
      if (list.files.length > 0) await choose(list.files[0].file, true);
      else { shown = undefined; paint(); }
      say("", phrase("Deleted."));
    });
  }

  function leave() {
    if (dirty && !wantsToLeave) {
      wantsToLeave = true;
      say(phrase("The text has changes that are not saved."));
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
    return phraseParts("Editing is off, because rules act on the whole house. To turn it on, start the daemon with {command}. Checks and backtests work without it.",
      { command: make("code", { text: "plugctl daemon --edit-rules" }) });
  }
  const more = directory === undefined && phrase("The daemon reads single files; to create files here, start it with --rules and a directory.");
  return [[phrase("Actions that run programs or call URLs or scripts can only be added on the daemon's machine."), more].filter(Boolean).join(" ")];
}

/** Creates the form that inserts a template. */
function templateForm(insert) {
  const choice = make("select", { onchange: ask }, ...templates.map(({ title }, index) => make("option", { value: String(index), text: title })));
  const fields = make("div", { class: "row" });
  const element = make("form", { class: "templates", "aria-label": phrase("Template"), onsubmit },
    make("label", {}, make("span", { text: phrase("Template") }), choice), fields, make("button", { type: "submit", text: phrase("Insert") }));

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
  const list = make("ol", { class: "firings", "aria-label": phrase("Log of the script, the newest first"), tabindex: "0" });
  const none = make("p", { class: "faint" });
  const element = make("section", { "aria-labelledby": "log-title", hidden: true }, make("h3", { id: "log-title", text: phrase("Log") }), none, list);

  /** Shows the log of a script; hides the log for undefined. */
  async function show(name) {
    element.hidden = name === undefined;
    list.replaceChildren();
    list.hidden = true;
    setText(none, "");
    if (name === undefined) return;
    await attempt((words) => setText(none, words), async () => {
      const lines = await get(`${pathOf(name)}/log`);
      list.replaceChildren(...lines.reverse().map(({ at, rule, kind, text }) =>
        make("li", { "data-severity": kind === "fault" && "error" }, make("time", { datetime: at, text: timeOf(Date.parse(at)) }), " ", rule !== undefined && named(rule), ` ${text}`)));
      list.hidden = lines.length === 0;
      setText(none, lines.length === 0 ? phrase("The script has logged nothing since the daemon's start.") : "");
    });
  }
  return { element, show };
}
