// Navigation of the chart by wheel, fingers, mouse and keys.

/** The distance in px that a finger may move during a tap. */
const STILL = 8;

/**
 * @param {HTMLElement} frame The element with the focus.
 * @param {HTMLElement} canvas
 * @param {{zoom(factor: number, x?: number), pan(share: number), point(x?: number), step(direction: number), home(), end()}} view
 * Places are in px from the left edge of the canvas, shares are of the visible range.
 */
export function startGestures(frame, canvas, view) {
  const fingers = new Map();
  /** The place where the only finger touched the chart, while it has not moved. */
  let touched;
  const place = (event) => event.clientX - canvas.getBoundingClientRect().left;

  canvas.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    // A vertical wheel movement scrolls the page, unless the chart has the focus or the user pinches on a touch pad.
    if (!sideways && !event.ctrlKey && !frame.contains(document.activeElement)) return;
    event.preventDefault();
    if (sideways) view.pan(event.deltaX / canvas.clientWidth);
    else view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * (event.ctrlKey ? 0.01 : 0.004)), place(event));
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, event.clientX);
    touched = event.pointerType === "touch" && fingers.size === 1 ? event.clientX : undefined;
    canvas.setPointerCapture(event.pointerId);
    frame.focus({ preventScroll: true });
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) {
      view.point(place(event));
      return;
    }
    if (touched !== undefined && Math.abs(event.clientX - touched) < STILL) return;
    touched = undefined;
    if (fingers.size === 1) {
      if (event.clientX !== before) view.pan((before - event.clientX) / canvas.clientWidth);
    } else {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const [old, now] = [Math.abs(before - other), Math.abs(event.clientX - other)];
      if (old > 10 && now > 10) view.zoom(old / now, (event.clientX + other) / 2 - canvas.getBoundingClientRect().left);
    }
    fingers.set(event.pointerId, event.clientX);
  });

  // A tap shows the values at its place until the next tap, because a finger has no place to rest.
  canvas.addEventListener("pointerup", (event) => {
    if (touched !== undefined) view.point(place(event));
    touched = undefined;
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  canvas.addEventListener("pointerleave", (event) => { if (fingers.size === 0 && event.pointerType !== "touch") view.point(undefined); });

  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== frame) return;
    switch (event.key) {
      case "+": case "=": view.zoom(0.5); break;
      case "-": case "_": view.zoom(2); break;
      case "ArrowLeft": if (event.shiftKey) view.step(-1); else view.pan(-0.1); break;
      case "ArrowRight": if (event.shiftKey) view.step(1); else view.pan(0.1); break;
      case "PageUp": view.pan(-0.9); break;
      case "PageDown": view.pan(0.9); break;
      case "Home": view.home(); break;
      case "End": view.end(); break;
      case "Escape": view.point(undefined); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
}
