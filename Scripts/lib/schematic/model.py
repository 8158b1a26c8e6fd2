"""What a schematic is made of. Lengths are units of the grid; x grows to the right, y downwards."""

from dataclasses import dataclass, field


class Mistake(Exception):
    """What is wrong with a text or with what it draws, in a sentence."""


@dataclass(frozen=True)
class Text:
    """A line of text whose baseline begins, is centred or ends at x."""

    x: float
    y: float
    content: str
    anchor: str = "start"
    style: str = "value"

    # Widths of a character as a fraction of the size, a little more than those of the widest usual sans-serif fonts.
    SIZES = {"title": 2.2, "zone": 1.75, "ref": 1.65, "value": 1.55, "pin": 1.4, "note": 1.5}
    WIDTH = 0.6

    @property
    def size(self):
        return self.SIZES[self.style]

    @property
    def box(self):
        """What it covers, generously: left, top, right, bottom."""
        bold = 1.1 if self.style in ("ref", "title", "zone") else 1
        width = len(self.content) * self.size * self.WIDTH * bold
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.78 * self.size, left + width, self.y + 0.22 * self.size


@dataclass
class Part:
    """A symbol at its place: pins are points, shapes are finished SVG, bodies are where no foreign wire may run."""

    ref: str
    kind: str
    pins: dict = field(default_factory=dict)
    shapes: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    labels: dict = field(default_factory=dict)  # of its pins


@dataclass
class Wire:
    net: str
    points: list
    pins: list  # the names of those it passes or ends at
    loose: list  # ends at which another wire of its net must be

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
        """Which pins each net connects: name -> set of PART.PIN."""
        nets = {}
        for wire in self.wires:
            nets.setdefault(wire.net, set()).update(wire.pins)
        return nets
