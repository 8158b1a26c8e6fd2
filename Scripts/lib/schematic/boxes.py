"""Draws parts as boxes with named pins: boards, chips, and parts across a barrier."""

from .model import Mistake, Part, Text
from .symbols import Pen

# The length of a pin's line outside its box.
LEAD = 2
# The gap of a part across a barrier; the barrier runs in its middle.
GAP = 2.4


def box(ref, x, y, width, height, value):
    pen = Pen(x, y, 0)
    pen.box(0, 0, width, height)
    part = Part(ref, "box", shapes=pen.shapes, bodies=[(x, y, x + width, y + height)])
    part.texts = [Text(x + width / 2, y - 0.8, f"{ref}  {value}".strip(), "middle", "ref")]
    return part


def across(ref, x, y, width, height, value):
    """Draws a part as two halves with a gap, such as an optocoupler."""
    pen = Pen(x, y, 0)
    half = (width - GAP) / 2
    pen.box(0, 0, half, height)
    pen.box(half + GAP, 0, width, height)
    part = Part(ref, "across", shapes=pen.shapes)
    part.bodies = [(x, y, x + half, y + height), (x + half + GAP, y, x + width, y + height)]
    part.texts = [
        Text(x + half, y - 0.8, ref, "end", "ref"), Text(x + half + GAP, y - 0.8, value, "start", "value")]
    return part


def relay(ref, x, y, value):
    """Draws a relay with a normally open contact on the left of the barrier and its coil on the right; 16 wide, 12 high."""
    part = across(ref, x, y, 16, 12, value)
    pen = Pen(x, y, 0)
    pen.path([(0, 2), (3, 2), (3, 3.4)])
    pen.path([(0, 10), (3, 10), (3, 8.6), (1.2, 4)])
    pen.dot(3, 3.6, 0.35, "body")
    pen.path([(2.1, 6.3), (11.2, 6.3)], "link")
    pen.box(11.2, 4.6, 14.2, 8)
    pen.path([(11.2, 7.4), (14.2, 5.2)])
    pen.path([(12.7, 4.6), (12.7, 2), (16, 2)])
    pen.path([(12.7, 8), (12.7, 10), (16, 10)])
    part.shapes += pen.shapes
    for name, side, along in (("NO", "left", 2), ("COM", "left", 10), ("A1", "right", 2), ("A2", "right", 10)):
        add_pin(part, side, along, name, "")
    return part


def add_pin(part, side, along, name, label):
    """Adds a pin to a box. `along` is its distance from the box's upper or left edge. Raises Mistake for a duplicate name."""
    if name in part.pins:
        raise Mistake(f"{part.ref} has two pins {name}")
    left, top = min(body[0] for body in part.bodies), min(body[1] for body in part.bodies)
    right, bottom = max(body[2] for body in part.bodies), max(body[3] for body in part.bodies)
    pen = Pen(0, 0, 0)
    shown = label or name
    if side in ("left", "right"):
        edge, outwards = (left, -1) if side == "left" else (right, 1)
        y = top + along
        pin = edge + LEAD * outwards, y
        pen.path([(edge, y), pin])
        inside, anchor = edge - 0.7 * outwards, "start" if side == "left" else "end"
        if part.kind == "across" and label == "":
            part.texts += [Text(edge + 0.4 * outwards, y - 0.5, name, "end" if side == "left" else "start", "pin")]
        else:
            part.texts += [Text(inside, y + 0.5, shown, anchor, "pin")]
        if label and label != name:
            outer = Text(edge + 0.4 * outwards, y - 0.5, name, "end" if side == "left" else "start", "pin")
            part.texts += [outer]
    else:
        edge, outwards = (top, -1) if side == "top" else (bottom, 1)
        x = left + along
        pin = x, edge + LEAD * outwards
        pen.path([(x, edge), pin])
        part.texts += [Text(x, edge + (2 if side == "top" else -0.8), shown, "middle", "pin")]
    part.shapes += pen.shapes
    part.pins[name], part.labels[name] = pin, label
