// Small things for the document. Text only ever goes in as text: what a plug calls itself is never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `make("p", { class: "faint", text: "…" }, child, …)`. A property that is undefined or false is left out. */
export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** The same for a part of a drawing. */
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

/** A name as it is, in whatever direction it is written, without disturbing the text around it. */
export const named = (name) => make("bdi", { class: "name", dir: "auto", text: name });

/** Touches the document only where something changed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, key, value) {
  if (value === undefined || value === null || value === false) node.removeAttribute(key);
  else if (node.getAttribute(key) !== String(value)) node.setAttribute(key, value);
}

/** Makes one look as the other, touching only what differs: the focus, and the place of whoever reads, stay. */
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

const waiting = new Set();

/** Calls it once before the next paint, however often it was asked for until then. */
export function beforePaint(draw) {
  if (waiting.size === 0) requestAnimationFrame(paint);
  waiting.add(draw);
}

function paint() {
  const due = [...waiting];
  waiting.clear();
  for (const draw of due) draw();
}

/** Calls back with whether an element is (nearly) in sight, now and whenever that changes. */
export function whenSeen(element, change) {
  seenBy.set(element, change);
  observer.observe(element);
  return () => { observer.unobserve(element); seenBy.delete(element); };
}

const seenBy = new WeakMap();
const observer = new IntersectionObserver(
  (entries) => { for (const entry of entries) seenBy.get(entry.target)?.(entry.isIntersecting); },
  { rootMargin: "200px" });

/** What a page may not be allowed to remember is not remembered. */
export const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { if (value === null) localStorage.removeItem(key); else localStorage.setItem(key, value); } catch { /* Private. */ } },
};
