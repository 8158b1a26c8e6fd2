"""The parts of a schematic. Lengths are units of the grid; x grows to the right, y downwards."""

from dataclasses import dataclass, field


class Mistake(Exception):
    """An error in a text or in its drawing, as a sentence."""


@dataclass(frozen=True)
class Text:
    """A line of text whose baseline begins, is centred or ends at x."""

    x: float
    y: float
    content: str
    anchor: str = "start"
    style: str = "value"

    # WIDTH is the width of a character as a fraction of its size, slightly more than in the widest common sans-serif font.
    SIZES = {"title": 2.2, "zone": 1.75, "ref": 1.65, "value": 1.55, "pin": 1.4, "note": 1.5}
    WIDTH = 0.6

    @property
    def size(self):
        return self.SIZES[self.style]

    @property
    def box(self):
        """The area that the text covers, rounded up: left, top, right, bottom."""
        bold = 1.1 if self.style in ("ref", "title", "zone") else 1
        width = len(self.content) * self.size * self.WIDTH * bold
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.78 * self.size, left + width, self.y + 0.22 * self.size


@dataclass
class Part:
    """A symbol at its place. Pins are points, shapes are SVG elements, and no wire may run through the areas of `bodies`."""

    ref: str
    kind: str
    pins: dict = field(default_factory=dict)
    shapes: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)  # the label of each pin


@dataclass
class Wire:
    net: str
    points: list
    pins: list  # names of the pins at which it stops
    loose: list  # ends without a pin, which a different wire of its net must touch

    @property
    def segments(self):
        return list(zip(self.points, self.points[1:]))


@dataclass
class Sheet:
    width: float = 0
    height: float = 0
    title: str = ""
    parts: dict = field(default_factory=dict)
    wires: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    zones: list = field(default_factory=list)
    barriers: list = field(default_factory=list)
    open_pins: set = field(default_factory=set)
    shapes: list = field(default_factory=list)

    def nets(self):
        """Returns the pins that each net connects: name -> set of PART.PIN."""
        nets = {}
        for wire in self.wires:
            nets.setdefault(wire.net, set()).update(wire.pins)
        return nets
