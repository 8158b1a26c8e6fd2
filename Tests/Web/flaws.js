// Examines the open dialog, or else the whole page. Each function returns the flaws that it found, as sentences.
window.flaws = (() => {
  const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
  /** The smallest target of WCAG 2.2 (2.5.8), in px. */
  const TARGET = 24;
  const pen = document.createElement("canvas").getContext("2d");
  const root = () => document.querySelector("dialog[open]") ?? document.body;
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest(".hidden, .skip:not(:focus)");
  const shorten = (text) => text.trim().replace(/\s+/g, " ").slice(0, 50);
  const nameOf = (element) => `${element.localName} “${shorten(element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent)}”`;
  const layerOf = (element) => {
    while (element !== root() && /static|relative/.test(getComputedStyle(element).position)) element = element.parentElement;
    return element;
  };

  /** Calls `scroll` or `cut` for each ancestor that clips an element, with its inner box. */
  function clips(element, scroll, cut) {
    for (let one = element; one !== root().parentElement; one = one.parentElement) {
      const { overflowX, overflowY, contentVisibility, display, position } = getComputedStyle(one);
      if (/inline$|contents/.test(display)) continue;
      const { left, top } = one.getBoundingClientRect();
      const box = one instanceof HTMLElement
        ? { left: left + one.clientLeft, top: top + one.clientTop, right: left + one.clientLeft + one.clientWidth, bottom: top + one.clientTop + one.clientHeight }
        : one.getBoundingClientRect();
      if (/auto|scroll/.test(overflowX + overflowY)) scroll(box);
      else if (overflowX !== "visible" || contentVisibility === "auto") cut(box);
      if (position === "fixed") break;
    }
  }

  const isOutside = (rect, box, margin) =>
    rect.left < box.left - margin || rect.top < box.top - margin || rect.right > box.right + margin || rect.bottom > box.bottom + margin;

  /** Returns the boxes of all lines of text without the parts that are scrolled out of view, from top to bottom. */
  function lines(found) {
    const all = [];
    const texts = document.createTreeWalker(root(), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const [node, element] = [texts.currentNode, texts.currentNode.parentElement];
      if (node.data.trim() === "" || !isShown(element)) continue;
      const range = new Range();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        let { left, top, right, bottom } = rect;
        const cut = (box) => isOutside({ left, top, right, bottom }, box, 2) && found.add(`“${shorten(node.data)}” is cut off`);
        const scroll = (box) => {
          [left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
        };
        if (rect.width >= 1) clips(element, scroll, cut);
        if (right - left >= 1 && bottom - top >= 1) all.push({ left, top, right, bottom, element, text: shorten(node.data), layer: layerOf(element) });
      }
    }
    return all.sort((one, other) => one.top - other.top);
  }

  function overlaps(all, found) {
    all.forEach((one, index) => {
      for (let next = index + 1; next < all.length && all[next].top < one.bottom - 3; next++) {
        const other = all[next];
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        if (width > 2 && one.layer === other.layer && one.element !== other.element) found.add(`“${one.text}” overlaps “${other.text}”`);
      }
    });
  }

  /** Finds text of a control that is not a node of the document: the choice of a list, or the placeholder of a field. */
  function fits(control, found) {
    const style = getComputedStyle(control);
    const text = control.matches("select") ? control.selectedOptions[0]?.text : control.value === "" && control.placeholder;
    pen.font = style.font;
    const arrow = control.matches("select") ? 16 : 0;
    const needed = text ? pen.measureText(text).width + parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + arrow : 0;
    if (needed > control.clientWidth + 1) found.add(`“${text}” is cut off in ${nameOf(control)}`);
  }

  /** Finds a control whose name lacks the words of its text, so that users cannot speak them (WCAG 2.5.3). */
  function isSpoken(control, found) {
    const words = control.matches("a, button, summary") ? control.innerText.match(/[\p{L}\d]+/gu) : null;
    if (words && control.ariaLabel !== null && !new RegExp(words.join(".*"), "i").test(control.ariaLabel)) found.add(`the name of ${nameOf(control)} lacks its text, ${control.innerText}`);
  }

  /** Finds text that is cut off, overlaps or is outside the window, parts that are too wide, and targets that are too small. */
  function layout() {
    const found = new Set();
    const page = document.scrollingElement;
    if (page.scrollWidth > innerWidth) found.add(`the page scrolls sideways, ${page.scrollWidth} px`);
    if (root() !== document.body && root().scrollWidth > root().clientWidth) found.add(`the dialog scrolls sideways, ${root().scrollWidth} px`);
    const all = lines(found);
    for (const { left, right, text } of all) if (left < -1 || right > innerWidth + 1) found.add(`“${text}” is outside the window`);
    overlaps(all, found);
    for (const control of root().querySelectorAll(CONTROLS)) {
      if (!isShown(control) || control.tabIndex < 0) continue;
      fits(control, found);
      isSpoken(control, found);
      const target = control.matches("[type=checkbox]") ? control.closest("label") ?? control : control;
      const { width, height } = target.getBoundingClientRect();
      if (Math.min(width, height) < TARGET) found.add(`${nameOf(control)} has only ${Math.round(width)} x ${Math.round(height)} px`);
    }
    return [...found];
  }

  let walk;

  /** Moves the focus to the first control and starts to note where the Tab key moves it. Returns the number of other controls. */
  function begin() {
    const controls = [...root().querySelectorAll(CONTROLS)].filter((control) =>
      control.tabIndex >= 0 && !control.disabled && control.checkVisibility({ visibilityProperty: true }));
    controls[0].focus();
    walk = { controls, at: 0, found: new Set() };
    addEventListener("keyup", note, true);
    return controls.length - 1;
  }

  function note() {
    const { controls, found } = walk;
    const [control, from] = [document.activeElement, controls[walk.at]];
    // A field with a time has a stop for each of its parts.
    if (control === from || walk.at === controls.length - 1) return;
    if (control !== controls[walk.at + 1]) found.add(`Tab moves from ${nameOf(from)} to ${nameOf(control)}, not to ${nameOf(controls[walk.at + 1])}`);
    const index = controls.indexOf(control);
    const group = (one) => one.closest("article, fieldset, form, li, dialog, header, section, body");
    const [box, before] = [control.getBoundingClientRect(), from.getBoundingClientRect()];
    if (group(control) === group(from) && box.bottom <= before.top + 2 && box.left < before.right) found.add(`Tab moves up from ${nameOf(from)} to ${nameOf(control)}`);
    if (index >= 0) walk.at = index;
    ring(control, box, found);
  }

  /** Finds a focused control without a visible ring, or behind other parts of the page. */
  function ring(control, box, found) {
    const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(control);
    if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) found.add(`${nameOf(control)} has no visible focus`);
    const distance = parseFloat(outlineOffset) + 1;
    const around = { left: box.left - distance, top: box.top - distance, right: box.right + distance, bottom: box.bottom + distance };
    const check = (clip) => isOutside(around, clip, 0) && found.add(`the focus of ${nameOf(control)} is cut off`);
    clips(control.parentElement, check, check);
    const points = [[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]].map(([x, y]) => document.elementFromPoint(box.left + x * box.width, box.top + y * box.height));
    if (!points.some((hit) => hit && (control.contains(hit) || control.closest("label")?.contains(hit)))) found.add(`the focused ${nameOf(control)} is hidden`);
  }

  /** Returns the flaws that were noted once the last control was reached, or null before. */
  function end(isLast) {
    if (walk.at < walk.controls.length - 1 && !isLast) return null;
    removeEventListener("keyup", note, true);
    if (walk.at < walk.controls.length - 1) walk.found.add(`Tab does not reach ${nameOf(walk.controls[walk.at + 1])}`);
    return [...walk.found];
  }
  return { layout, begin, end };
})();
