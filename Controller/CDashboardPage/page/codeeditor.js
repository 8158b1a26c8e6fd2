// The text editor of rule files: CodeMirror, which is loaded when it is needed first.

import { Fault } from "./api.js";
import { make } from "./dom.js";
import { phrase } from "./language.js";

/** Adds an element that loads a file, and waits for it. */
const loaded = (element) => new Promise((done, failed) => {
  element.addEventListener("load", done);
  element.addEventListener("error", () => failed(new Fault(0, phrase("the editor cannot be loaded"))));
  document.head.append(element);
});
const script = (path) => loaded(make("script", { src: path }));

let library;

/** Loads the library; after a failure the next call tries again. */
function load() {
  library ??= Promise.all([
    ...["/library/codemirror.css", "/editor.css"].map((href) => loaded(make("link", { rel: "stylesheet", href }))),
    script("/library/codemirror.js").then(() => script("/library/yaml.js")),
  ]).catch((error) => { library = undefined; throw error; });
  return library;
}

/**
 * Creates an editor in an element. `changed` is called after each change by the user; `left` is called when Escape is
 * pressed, because Tab indents the text.
 */
export async function codeEditor(parent, label, changed, left) {
  await load();
  const editor = globalThis.CodeMirror(parent, {
    mode: "yaml", lineNumbers: true, lineWrapping: true, indentUnit: 2, tabSize: 2, inputStyle: "contenteditable", gutters: ["findings", "CodeMirror-linenumbers"],
    extraKeys: { Tab: (one) => one.execCommand(one.somethingSelected() ? "indentMore" : "insertSoftTab"), "Shift-Tab": "indentLess", Esc: left },
  });
  const field = editor.getInputField();
  for (const [key, value] of [["role", "textbox"], ["aria-multiline", "true"], ["aria-label", label], ["aria-describedby", "editor-keys"], ["tabindex", "0"]]) field.setAttribute(key, value);
  let marks = [];
  editor.on("change", (one, change) => { if (change.origin !== "setValue") changed(); });

  /** Marks findings in the text: a sign in the gutter and a line below the place. */
  function mark(findings) {
    for (const one of marks) one.clear();
    editor.clearGutter("findings");
    marks = [];
    for (const { line, column, severity, message } of [...findings].reverse()) {
      const text = editor.getLine(line - 1);
      if (text === undefined) continue;
      // Columns count Unicode scalars; the editor counts UTF-16 units.
      const from = [...text].slice(0, column - 1).join("").length;
      const length = Math.max(/^[^\s,:{}[\]]*/.exec(text.slice(from))[0].length, 1);
      const start = Math.min(from, Math.max(0, text.length - 1));
      marks.push(editor.markText({ line: line - 1, ch: start }, { line: line - 1, ch: start + length }, { className: `mark-${severity}` }));
      editor.setGutterMarker(line - 1, "findings", make("span", { class: `gutter-${severity}`, title: message, "aria-hidden": "true", text: severity === "error" ? "●" : "▲" }));
    }
  }

  return {
    get text() { return editor.getValue(); },
    /** Replaces the text without a call of `changed`, and forgets the history of changes. */
    show(text, readOnly) {
      editor.setValue(text);
      editor.clearHistory();
      // A read-only text can still be focused, selected and copied.
      editor.setOption("readOnly", readOnly);
      field.setAttribute("aria-readonly", String(readOnly));
      mark([]);
      setTimeout(() => editor.refresh());
    },
    /** Adds text at the end, as the user would. */
    append(text) {
      const last = editor.lastLine();
      const before = editor.getLine(last) === "" ? "" : "\n";
      editor.replaceRange(before + text, { line: last, ch: editor.getLine(last).length }, undefined, "+input");
      editor.setCursor(editor.lastLine(), 0);
      editor.focus();
    },
    mark,
    go(line, column) {
      editor.setCursor(line - 1, [...(editor.getLine(line - 1) ?? "")].slice(0, column - 1).join("").length);
      editor.focus();
    },
    mode(name) { editor.setOption("mode", name); },
  };
}
