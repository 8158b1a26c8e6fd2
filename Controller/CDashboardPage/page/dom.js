// Helpers for the document. Text is inserted only as text, so a plug's name can never become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element: `make("p", { class: "faint", text: "…" }, child, …)`. A property that is undefined or false is left out. */
export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Creates an element of a drawing, like `make`. */
export function draw(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false || value === null) continue;
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Creates an element with a name, isolated so that its writing direction does not change the text around it. */
export const named = (name) => make("bdi", { class: "name", dir: "auto", text: name });

/** Sets the text of a node if it differs. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, key, value) {
  if (value === undefined || value === null || value === false) node.removeAttribute(key);
  else if (node.getAttribute(key) !== String(value)) node.setAttribute(key, value);
}

/**
 * Changes one element to match another and touches only the differences, so that the focus and the scroll position
 * stay. Attributes that only the shown element has are kept.
 */
export function become(shown, wanted) {
  if (shown.isEqualNode(wanted)) return;
  const children = [...wanted.childNodes];
  const isText = !(shown instanceof Element);
  if (isText || shown.nodeName !== wanted.nodeName || shown.childNodes.length !== children.length) shown.replaceWith(wanted);
  else {
    for (const { name, value } of wanted.attributes) setAttribute(shown, name, value);
    [...shown.childNodes].forEach((child, index) => become(child, children[index]));
  }
}

/** Runs the action of a button, which ignores clicks until the action ends. A disabled button would lose the focus. */
export async function whileBusy(button, action) {
  if (button.ariaDisabled === "true") return;
  button.ariaDisabled = "true";
  try { await action(); } finally { button.ariaDisabled = null; }
}

const waiting = new Set();

/** Calls a function before the next paint. Several requests of the same function cause one call. */
export function beforePaint(draw) {
  if (waiting.size === 0) requestAnimationFrame(paint);
  waiting.add(draw);
}

function paint() {
  const due = [...waiting];
  waiting.clear();
  for (const draw of due) draw();
}

/** Calls `change` soon after this call and after each change: with true if the element is visible or less than 200 px
 * away, else with false. */
export function whenSeen(element, change) {
  seenBy.set(element, change);
  observer.observe(element);
  return () => { observer.unobserve(element); seenBy.delete(element); };
}

const seenBy = new WeakMap();
const observer = new IntersectionObserver(
  (entries) => { for (const entry of entries) seenBy.get(entry.target)?.(entry.isIntersecting); },
  { rootMargin: "200px" });
