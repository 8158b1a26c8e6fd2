"""A schematic that schemdraw draws, with the names of its pins and nets, which schemdraw does not have.

Lengths are quarters of schemdraw's unit; x grows to the right, y downwards. A stop of a wire is a pin ("R1.2"), a point (x, y), or a
point with None for the coordinate that does not change.
"""

from itertools import combinations

import schemdraw
import schemdraw.elements as elm
from schemdraw.segments import Segment, SegmentText

schemdraw.use("svg")
DIRECTIONS = {"right": (1, 0), "left": (-1, 0), "down": (0, 1), "up": (0, -1)}
PINS = {elm.Diode: "AK", elm.LED: "AK"}


def at(x, y):
    return x / 4, -y / 4


class Varistor(elm.ResistorIEC):
    def __init__(self, **options):
        super().__init__(**options)
        self.segments.append(Segment([(-0.1, -0.5), (0.1, -0.5), (0.9, 0.5)]))


class ThermalFuse(elm.FuseIEC):
    def __init__(self, **options):
        super().__init__(**options)
        self.segments.append(Segment([(0.8, -0.25), (0.8, 0.25)]))


class Box(elm.Element):
    """A board or a chip. `pins` has, per side, the distance from the upper or left edge, the name, and the label inside the box."""

    def __init__(self, width, height, pins):
        super().__init__()
        self.segments.append(Segment([at(*corner) for corner in ((0, 0), (width, 0), (width, height), (0, height), (0, 0))]))
        for side, listed in pins.items():
            dx, dy = DIRECTIONS["down" if side == "bottom" else side]
            for along, name, *label in listed:
                x, y = (along, height) if side == "bottom" else (width if side == "right" else 0, along)
                self.segments.append(Segment([at(x, y), at(x + 2 * dx, y + 2 * dy)]))
                align = ({1: "right", -1: "left", 0: "center"}[dx], "center" if dx else "bottom")
                self.segments.append(SegmentText(at(x - 0.7 * dx, y - 0.6 * dy), (label or [name])[0], align=align, fontsize=10))
                if label:
                    align = ("left" if dx > 0 else "right", "bottom")
                    self.segments.append(SegmentText(at(x + 0.4 * dx, y - 0.2), name, align=align, fontsize=10))


class Circuit:
    def __init__(self, title, width, height):
        self.drawing = schemdraw.Drawing(show=False)
        self.drawing.config(fontsize=11, lw=1.5, font="sans-serif", bgcolor="white", margin=0)
        self.zone("#bbbbbb", 0, 0, width, height)
        self.text(2, 2.6, title, fontsize=16)
        self.barrier_x = None
        self.parts, self.labels, self.wires, self.open_pins = {}, {}, [], set()

    def zone(self, color, x, y, width, height, title="", fill=None):
        self.drawing.add(elm.Rect(at(0, 0), at(width, height), fill=fill).theta(0).at(at(x, y)).color(color).zorder(-1))
        self.text(x + 1.2, y + 1.8, title, fontsize=13)

    def barrier(self, x, top, bottom, title):
        self.symbol(elm.Line, (x, top), (x, bottom)).color("#b3261e").linestyle("--").linewidth(3).zorder(3)
        self.barrier_x = x
        self.text(x, top - 1.6, title, halign="center", fontsize=13)

    def symbol(self, element, start, end):
        return self.drawing.add(element().endpoints(at(*start), at(*end)))

    def text(self, x, y, content, halign="left", fontsize=11, valign="center"):
        self.drawing.add(elm.Label().theta(0).at(at(x, y)).label(content, "center", halign=halign, valign=valign, fontsize=fontsize))

    def box(self, ref, x, y, width, height, value="", **pins):
        self.drawing.add(Box(width, height, pins).theta(0).at(at(x, y)))
        if self.barrier_x and x < self.barrier_x < x + width:
            self.text(self.barrier_x - 1, y - 0.8, ref, "right", valign="bottom")
            self.text(self.barrier_x + 1, y - 0.8, value, valign="bottom")
        else:
            self.text(x + width / 2, y - 0.8, f"{ref}  {value}".strip(), "center", valign="bottom")
        places = {}
        for side, listed in pins.items():
            for along, name, *_ in listed:
                places[name] = (x + along, y + height + 2) if side == "bottom" else (x + width + 2 if side == "right" else x - 2, y + along)
        self._add(ref, places, {name: (label or [""])[0] for listed in pins.values() for _, name, *label in listed})

    def part(self, element, ref, x, y, direction, value, side="right", length=8):
        """Adds an element with two pins, the first at x, y."""
        dx, dy = (length * step for step in DIRECTIONS[direction])
        self.symbol(element, (x, y), (x + dx, y + dy))
        names = PINS.get(element, "12")
        self._add(ref, {names[0]: (x, y), names[1]: (x + dx, y + dy)})
        if dx:
            self.text(x + dx / 2, y - 3.4 if element is elm.LED else y - 2, ref, "center", valign="bottom")
            self.text(x + dx / 2, y + 2, value, "center", valign="top")
        else:
            aside = 3.2 if element is Varistor else 2
            self.text(x + (aside if side == "right" else -aside), y + dy / 2, f"{ref}\n{value}", "left" if side == "right" else "right")

    def mosfet(self, ref, x, y, direction, value):
        """Adds an n-channel transistor with its drain at x, y. `direction` leads from its gate to its drain."""
        mirror = DIRECTIONS[direction][0]
        element = elm.NFet(bulk=True).theta(0).at(at(x, y)).anchor("drain")
        drawn = self.drawing.add(element.reverse() if mirror > 0 else element)
        self.drawing.add(elm.Line().at(drawn.center).to(drawn.source))
        self._add(ref, {name: (4 * place.x, -4 * place.y) for name, place in (("G", drawn.gate), ("D", drawn.drain), ("S", drawn.source))})
        self.text(x + 0.9 * mirror, y + 3, f"{ref}\n{value}", "left" if mirror > 0 else "right")

    def _add(self, ref, places, labels=None):
        assert ref not in self.parts, f"{ref} is defined twice"
        self.parts[ref] = {name: (round(x, 3), round(y, 3)) for name, (x, y) in places.items()}
        self.labels[ref] = labels or {}

    def open(self, *pins):
        """Marks pins that no wire may reach."""
        for pin in pins:
            self.drawing.add(elm.NoConnect().theta(0).at(at(*self._stop(pin))))
        self.open_pins.update(pins)

    def _stop(self, stop, before=None):
        if isinstance(stop, str):
            ref, _, pin = stop.partition(".")
            return self.parts[ref][pin]
        return tuple(before[axis] if place is None else place for axis, place in enumerate(stop))

    def wire(self, net, *stops, end=None):
        """Adds a wire of horizontal and vertical lines. `end` is the symbol at its end."""
        points = []
        for stop in stops:
            points.append(self._stop(stop, points[-1] if points else None))
        lines = list(zip(points, points[1:]))
        for start, stop in lines:
            assert start[0] == stop[0] or start[1] == stop[1], f"a wire of {net} is oblique from {start} to {stop}"
            self.symbol(elm.Line, start, stop)
        if end:
            self.drawing.add(end.theta(0).at(at(*points[-1])))
        free = [point for stop, point in ((stops[0], points[0]), (stops[-1], None if end else points[-1])) if point and not isinstance(stop, str)]
        self.wires.append((net, lines, {stop for stop in stops if isinstance(stop, str)}, free))

    def nets(self):
        """Returns the pins that each net connects: name -> set of PART.PIN."""
        nets = {}
        for net, _, pins, _ in self.wires:
            nets.setdefault(net, set()).update(pins)
        return nets

    def mistakes(self):
        """Yields a sentence for each mistake: a pin that is neither in exactly one net nor marked as open, a net with one pin, nets that touch, or a loose end of a wire."""
        nets = self.nets()
        pins = {f"{ref}.{pin}": place for ref, places in self.parts.items() for pin, place in places.items()}
        for pin, place in pins.items():
            names = {net for net, members in nets.items() if pin in members}
            touching = {net for net, lines, _, _ in self.wires if any(on(line, place) for line in lines)}
            if len(names) != (pin not in self.open_pins) or not touching <= names:
                yield f"{pin} must be wired to one net or be open; it belongs to {sorted(names)} and touches {sorted(touching)}"
        yield from (f"{net} has one pin only" for net, members in nets.items() if len(members) < 2)
        for (net, lines, _, _), (other, others, _, _) in combinations(self.wires, 2):
            ends = {point for pair in (*lines, *others) for point in pair}
            if net != other and any(on(a, point) and on(b, point) for a in lines for b in others for point in ends):
                yield f"{net} and {other} touch"
        for wire in self.wires:
            joined = [line for other in self.wires if other is not wire and other[0] == wire[0] for line in other[1]]
            yield from (f"{wire[0]} ends nowhere at {point}" for point in wire[3] if not any(on(line, point) for line in joined))

    def svg(self):
        for net, members in self.nets().items():
            lines = [line for name, listed, _, _ in self.wires if name == net for line in listed]
            places = [self._stop(pin) for pin in members]
            for point in sorted({point for line in lines for point in line}):
                arms = {sign(end, point) for line in lines if on(line, point) for end in line if end != point}
                if len(arms) + places.count(point) > 2:
                    self.drawing.add(elm.Dot().at(at(*point)))
        return self.drawing.get_imagedata("svg").decode()


def on(line, point):
    return all(min(a, b) <= place <= max(a, b) for a, b, place in zip(*line, point))


def sign(end, point):
    return tuple((a > b) - (a < b) for a, b in zip(end, point))
