"""Draws symbols in the style of IEC 60617. Each symbol is drawn along the x axis from its first pin and then turned."""

from .model import Mistake, Part, Text

# Clockwise quarter turns.
TURNS = {"right": 0, "down": 1, "left": 2, "up": 3}


def turned(point, turn):
    x, y = point
    for _ in range(turn):
        x, y = -y, x
    return x, y


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


class Pen:
    """Turns and moves shapes from the symbol's coordinates to those of the sheet, and collects them."""

    def __init__(self, x, y, turn):
        self.x, self.y, self.turn, self.shapes = x, y, turn, []

    def at(self, x, y):
        dx, dy = turned((x, y), self.turn)
        return self.x + dx, self.y + dy

    def path(self, points, style="line", closed=False):
        moves = " ".join(f"{number(x)},{number(y)}" for x, y in (self.at(*point) for point in points))
        self.shapes.append(f'<{"polygon" if closed else "polyline"} class="{style}" points="{moves}"/>')

    def box(self, left, top, right, bottom, style="body"):
        self.path([(left, top), (right, top), (right, bottom), (left, bottom)], style, closed=True)

    def dot(self, x, y, radius, style="line"):
        x, y = self.at(x, y)
        self.shapes.append(f'<circle class="{style}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"/>')

    def covered(self, left, top, right, bottom):
        (a, b), (c, d) = self.at(left, top), self.at(right, bottom)
        return min(a, c), min(b, d), max(a, c), max(b, d)


def resistor(pen):
    pen.path([(0, 0), (1.5, 0)])
    pen.path([(6.5, 0), (8, 0)])
    pen.box(1.5, -1, 6.5, 1)


def fuse(pen):
    resistor(pen)
    pen.path([(1.5, 0), (6.5, 0)])


def thermal_fuse(pen):
    fuse(pen)
    pen.path([(4.9, -1), (4.9, 1)])


def varistor(pen):
    resistor(pen)
    pen.path([(1.8, 2), (2.8, 2), (5.4, -2)])


def capacitor(pen):
    pen.path([(0, 0), (2.6, 0)])
    pen.path([(3.4, 0), (6, 0)])
    pen.path([(2.6, -1.6), (2.6, 1.6)], "thick")
    pen.path([(3.4, -1.6), (3.4, 1.6)], "thick")


def diode(pen):
    pen.path([(0, 0), (8, 0)])
    pen.path([(2.8, -1.4), (2.8, 1.4), (5.2, 0)], "body", closed=True)
    pen.path([(5.2, -1.4), (5.2, 1.4)], "thick")


def led(pen):
    diode(pen)
    for shift in (0, 1.3):
        pen.path([(3.6 + shift, -1.9), (4.8 + shift, -3.3)])
        pen.path([(4.1 + shift, -3.1), (4.8 + shift, -3.3), (4.8 + shift, -2.6)])


def button(pen):
    pen.path([(0, 0), (1.8, 0)])
    pen.path([(6.2, 0), (8, 0)])
    pen.dot(2.1, 0, 0.35, "body")
    pen.dot(5.9, 0, 0.35, "body")
    pen.path([(1.8, -1.1), (6.2, -1.1)])
    pen.path([(4, -1.1), (4, -2.6)])
    pen.path([(3, -2.6), (5, -2.6)])


# Name -> (function that draws it, position of each pin along the x axis, half the height of its body).
TWO_PINS = {
    "resistor": (resistor, {"1": 0, "2": 8}, 1),
    "fuse": (fuse, {"1": 0, "2": 8}, 1),
    "thermal-fuse": (thermal_fuse, {"1": 0, "2": 8}, 1),
    "varistor": (varistor, {"1": 0, "2": 8}, 2),
    "capacitor": (capacitor, {"1": 0, "2": 6}, 1.6),
    "diode": (diode, {"A": 0, "K": 8}, 1.4),
    "led": (led, {"A": 0, "K": 8}, 3.3),
    "button": (button, {"1": 0, "2": 8}, 2.6),
}


def two_pins(kind, ref, x, y, turn, value, side):
    """Draws a symbol with two pins. Its texts are above and below a horizontal symbol, and on `side` of a vertical one."""
    draw, places, reach = TWO_PINS[kind]
    pen = Pen(x, y, turn)
    draw(pen)
    length = max(places.values())
    part = Part(ref, kind, {name: pen.at(place, 0) for name, place in places.items()}, pen.shapes)
    part.bodies = [pen.covered(1.3, -reach, length - 1.3, reach)]
    left, top, right, bottom = part.bodies[0]
    middle = (left + right) / 2, (top + bottom) / 2
    if turn % 2 == 0:
        part.texts = [Text(middle[0], top - 0.6, ref, "middle", "ref"), Text(middle[0], bottom + 1.7, value, "middle")]
    else:
        at, anchor = (right + 0.7, "start") if side == "right" else (left - 0.7, "end")
        part.texts = [Text(at, middle[1] - 0.3, ref, anchor, "ref"), Text(at, middle[1] + 1.6, value, anchor)]
    return part


def mosfet(ref, x, y, turn, value, side):
    """Draws an n-channel MOSFET. x, y is its gate; drain and source are to the right, or to the left if turned left."""
    mirror = -1 if turn == 2 else 1
    pen = Pen(x, y, 0)
    gate, channel, end = 2.2 * mirror, 3 * mirror, 5 * mirror
    pen.path([(0, 0), (gate, 0)])
    pen.path([(gate, -1.6), (gate, 1.6)], "thick")
    for top in (-1.9, -0.5, 0.9):
        pen.path([(channel, top), (channel, top + 1)], "thick")
    pen.path([(channel, -1.4), (end, -1.4), (end, -4)])
    pen.path([(channel, 1.4), (end, 1.4), (end, 4)])
    pen.path([(channel, 0), (end, 0), (end, 1.4)])
    pen.path([(channel, 0), (channel + 1.1 * mirror, -0.6), (channel + 1.1 * mirror, 0.6)], "solid", closed=True)
    part = Part(ref, "mosfet", {"G": (x, y), "D": (x + end, y - 4), "S": (x + end, y + 4)}, pen.shapes)
    part.bodies = [tuple(pen.covered(min(gate, end), -2.6, max(gate, end), 2.6))]
    at, anchor = (x + end + 0.8 * mirror, "start" if mirror > 0 else "end")
    part.texts = [Text(at, y - 0.3, ref, anchor, "ref"), Text(at, y + 1.6, value, anchor)]
    return part


def ground(x, y):
    pen = Pen(x, y, 0)
    for down, half in ((1, 1.5), (1.55, 0.95), (2.1, 0.4)):
        pen.path([(-half, down), (half, down)], "thick")
    pen.path([(0, 0), (0, 1)])
    return pen.shapes, []


def reference(x, y, label):
    """Draws a circuit's reference node at mains potential. It is not a ground and must not look like one."""
    pen = Pen(x, y, 0)
    pen.path([(0, 0), (0, 0.9)], "live")
    pen.path([(-1.3, 0.9), (1.3, 0.9), (0, 2.5)], "live-body", closed=True)
    return pen.shapes, [Text(x + 1.7, y + 2.3, label, style="pin")]


def rail(x, y, label):
    pen = Pen(x, y, 0)
    pen.path([(0, 0), (0, -1.2)])
    pen.path([(-1.2, -1.2), (1.2, -1.2)], "thick")
    return pen.shapes, [Text(x, y - 1.9, label, "middle", "pin")]


def standing(kind, x, y, label):
    if kind == "ground":
        return ground(x, y)
    if kind == "reference":
        return reference(x, y, label)
    if kind == "rail":
        return rail(x, y, label)
    raise Mistake(f"unknown symbol {kind}")
