"""Reads the text of a schematic; Scripts/drawings --help documents its format."""

import shlex

from . import boxes, symbols
from .model import Mistake, Sheet, Text, Wire

SIDES = ("left", "right", "top", "bottom")


class Reader:
    def __init__(self):
        self.sheet = Sheet()
        self.last = None  # the box that the next pins belong to

    def read(self, text, name):
        for count, line in enumerate(text.splitlines(), 1):
            try:
                words = shlex.split(line, comments=True)
                if words:
                    self.line(*words)
            except (Mistake, ValueError, TypeError, KeyError) as error:
                raise Mistake(f"{name}:{count}: {error}: {line.strip()}") from error
        return self.sheet

    def line(self, verb, *words):
        if verb in SIDES:
            boxes.add_pin(self.last, verb, float(words[0]), words[1], words[2] if len(words) > 2 else "")
        elif hasattr(self, f"do_{verb}"):
            getattr(self, f"do_{verb}")(*words)
        else:
            raise Mistake(f"unknown word {verb}")

    def do_sheet(self, width, height, title):
        self.sheet.width, self.sheet.height, self.sheet.title = float(width), float(height), title

    def do_zone(self, style, x, y, width, height, title):
        self.sheet.zones.append((style, *map(float, (x, y, width, height))))
        self.sheet.texts.append(Text(float(x) + 1.2, float(y) + 2.4, title, style="zone"))

    def do_barrier(self, x, top, bottom, title):
        self.sheet.barriers.append(tuple(map(float, (x, top, bottom))))
        self.sheet.texts.append(Text(float(x), float(top) - 0.8, title, "middle", "zone"))

    def do_note(self, x, y, *lines):
        self.sheet.texts += [Text(float(x), float(y) + 2 * row, line, style="note") for row, line in enumerate(lines)]

    def do_box(self, ref, x, y, width, height, value=""):
        self.add(boxes.box(ref, float(x), float(y), float(width), float(height), value))

    def do_across(self, ref, x, y, width, height, value):
        self.add(boxes.across(ref, float(x), float(y), float(width), float(height), value))

    def do_relay(self, ref, x, y, value):
        self.add(boxes.relay(ref, float(x), float(y), value))

    def do_part(self, kind, ref, x, y, turn, value, side="right"):
        quarter = symbols.TURNS[turn]
        draw = symbols.mosfet if kind == "mosfet" else None
        if draw:
            self.add(draw(ref, float(x), float(y), quarter, value, side))
        elif kind in symbols.TWO_PINS:
            self.add(symbols.two_pins(kind, ref, float(x), float(y), quarter, value, side))
        else:
            raise Mistake(f"unknown symbol {kind}")

    def add(self, part):
        if part.ref in self.sheet.parts:
            raise Mistake(f"the part {part.ref} is defined twice")
        self.sheet.parts[part.ref] = part
        self.last = part

    def do_open(self, *pins):
        for pin in pins:
            self.pin(pin)
        self.sheet.open_pins.update(pins)

    def do_wire(self, net, *stops):
        """Adds a wire. Stops are pins, points x,y, bends x=… or y=…, and the symbols `ground`, `rail LABEL` and `reference LABEL`."""
        points, pins, words = [], [], list(stops)
        loose, at_pin = [], False
        while words:
            word = words.pop(0)
            if word in ("ground", "rail", "reference"):
                label = words.pop(0) if word != "ground" else ""
                shapes, texts = symbols.standing(word, *points[-1], label)
                self.sheet.shapes += shapes
                self.sheet.texts += texts
                at_pin = True
            elif word[:2] in ("x=", "y="):
                x, y = points[-1]
                points.append((float(word[2:]), y) if word[0] == "x" else (x, float(word[2:])))
                at_pin = False
            else:
                point, pin = self.stop(word)
                self.turn_to(points, point)
                points.append(point)
                at_pin = pin is not None
                pins += [pin] if pin else []
                loose += [point] if len(points) == 1 and not pin else []
        loose += [] if at_pin else [points[-1]]
        self.sheet.wires.append(Wire(net, points, pins, loose))

    def stop(self, word):
        if "," in word:
            x, y = word.split(",")
            return (float(x), float(y)), None
        return self.pin(word), word

    def turn_to(self, points, point):
        if points and points[-1][0] != point[0] and points[-1][1] != point[1]:
            raise Mistake(f"the wire from {points[-1]} to {point} is neither horizontal nor vertical")

    def pin(self, name):
        ref, _, pin = name.partition(".")
        if ref not in self.sheet.parts or pin not in self.sheet.parts[ref].pins:
            raise Mistake(f"unknown pin {name}")
        return self.sheet.parts[ref].pins[pin]
