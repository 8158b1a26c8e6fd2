// The language of the page: the user's choice, or the first of the browser's languages that the page has. The English
// text is the key of each text in the catalogue of another language.

import { memory } from "./memory.js";

const NAMES = { en: "English", de: "Deutsch" };
const languageOf = (tag) => tag.split("-")[0].toLowerCase();
/** The language without a choice of the user. */
const usual = navigator.languages.map(languageOf).find((one) => one in NAMES) ?? "en";

/** The German texts by their English texts; undefined for English, and if they cannot be loaded. */
const { german, germanMessages = {} } = (memory.get("language") ?? usual) === "de" ? await import("./german.js").catch(() => ({})) : {};
const language = german ? "de" : "en";

/** The locale of numbers and dates: the language, as the browser's user writes it ("de-AT"). */
export const locale = navigator.languages.find((tag) => languageOf(tag) === language) ?? language;

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const plurals = new Intl.PluralRules(locale);

/**
 * Translates a text, as strings and nodes. A place such as {plug} receives the value with this key. A place such as
 * {count:plug|plugs} receives a number and a noun, in the singular or in the plural.
 */
export function phraseParts(english, values) {
  return (german?.[english] ?? english).split(/\{([^}]+)\}/).map((part, index) => index % 2 === 0 ? part : filled(part, values));
}

/** Translates a text, as a string. */
export const phrase = (english, values) => phraseParts(english, values).join("");

function filled(place, values) {
  const [key, nouns] = place.split(":");
  const value = values[key];
  const shown = typeof value === "number" ? numbers.format(value) : value;
  if (nouns === undefined) return shown;
  const [one, other] = nouns.split("|");
  return `${shown} ${plurals.select(value) === "one" ? one : other}`;
}

/** The pattern and the German text of each message; the longest first, because a short one with places may match it too. */
const messages = Object.entries(germanMessages).sort(([one], [other]) => other.length - one.length).map(([english, text]) => {
  const literal = (part) => part.replace(/[.*+?^$()[\]\\|]/g, "\\$&");
  const pattern = english.split(/\{(\w+)\}/).map((part, index) => index % 2 === 0 ? literal(part) : `(?<${part}>.+?)`).join("");
  return [new RegExp(`^${pattern}$`), text];
});

/** Translates a message or a hint of the daemon or of a plug. A line that is not in the catalogue stays English. */
export const translated = (message) => message.split("\n").map(translatedLine).join("\n");

/** The places whose values are texts of the list too. */
const NESTED = new Set(["reason", "remedy", "what", "found", "things", "field"]);

function translatedLine(line) {
  for (const [pattern, text] of messages) {
    const found = pattern.exec(line);
    if (found) return text.replace(/\{(\w+)\}/g, (_, place) => NESTED.has(place) ? translatedLine(found.groups[place]) : found.groups[place]);
  }
  return line;
}

/** Translates the texts of the document. An element within a text is a place with the element's name, such as {code}. */
function translateDocument() {
  document.documentElement.lang = language;
  if (!german) return;
  for (const element of document.querySelectorAll("title, body *")) {
    for (const attribute of ["aria-label", "placeholder"]) {
      if (element.getAttribute(attribute) in german) element.setAttribute(attribute, phrase(element.getAttribute(attribute)));
    }
    const english = [...element.childNodes].map((node) => node instanceof Element ? `{${node.localName}}` : node.data).join("").trim();
    if (english in german) element.replaceChildren(...phraseParts(english, Object.fromEntries([...element.children].map((child) => [child.localName, child]))));
  }
}

/** Translates the document, and adds the button that changes the language. */
export function startLanguage() {
  translateDocument();
  const other = language === "de" ? "en" : "de";
  const button = document.getElementById("language");
  [button.textContent, button.lang] = [NAMES[other], other];
  button.addEventListener("click", () => {
    memory.set("language", other === usual ? null : other);
    location.reload();
  });
}
