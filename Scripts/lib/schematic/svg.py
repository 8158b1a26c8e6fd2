"""Writes a sheet as SVG, with colours for a light and for a dark background."""

from html import escape

from .model import Text
from .rules import contains, texts_of
from .symbols import number

# Pixels per unit of the grid.
SCALE = 8

LIGHT = {"paper": "#ffffff", "ink": "#1a1a1a", "soft": "#595959", "body": "#f6f4ee", "mains": "#fdecea", "selv": "#eaf4ee",
         "red": "#b3261e", "edge": "#d5d0c4"}
DARK = {"paper": "#15181c", "ink": "#f0f0f0", "soft": "#b4b4b4", "body": "#23282f", "mains": "#33211f", "selv": "#1c2a24",
        "red": "#ff8a80", "edge": "#3c434c"}


def colours(palette):
    p = palette
    return (f".paper{{fill:{p['paper']}}}.line,.thick,.wire,.link{{stroke:{p['ink']}}}"
            f".body{{fill:{p['body']};stroke:{p['ink']}}}.solid,.dot{{fill:{p['ink']}}}"
            f".title,.ref,.value,.note{{fill:{p['ink']}}}.pin{{fill:{p['soft']}}}.zone{{fill:{p['soft']}}}"
            f".mains{{fill:{p['mains']};stroke:{p['edge']}}}.selv{{fill:{p['selv']};stroke:{p['edge']}}}"
            f".plain{{fill:none;stroke:{p['edge']}}}.barrier,.live{{stroke:{p['red']}}}"
            f".live-body{{fill:{p['mains']};stroke:{p['red']}}}.cross{{stroke:{p['soft']}}}")


def style():
    sizes = "".join(f".{name}{{font-size:{number(size)}px}}" for name, size in Text.SIZES.items())
    return "\n".join([
        "text{font-family:sans-serif}.title,.ref,.zone{font-weight:bold}" + sizes,
        ".line,.wire,.thick,.link,.barrier,.live,.cross{fill:none}",
        ".line,.body,.wire,.live,.live-body{stroke-width:.22;stroke-linejoin:round;stroke-linecap:round}",
        ".thick{stroke-width:.4;stroke-linecap:round}.link,.cross{stroke-width:.18}.link{stroke-dasharray:.6 .5}",
        ".barrier{stroke-width:.45;stroke-dasharray:1.6 .9}.mains,.selv,.plain{stroke-width:.15}",
        ".plain{stroke-dasharray:1 .7;stroke-width:.25}",
        colours(LIGHT), "@media (prefers-color-scheme:dark){", colours(DARK), "}"])


def junctions(sheet):
    """Yields the points at which three or more lines of one net meet."""
    for net in sheet.nets():
        wires = [wire for wire in sheet.wires if wire.net == net]
        segments = [segment for wire in wires for segment in wire.segments]
        for point in sorted({point for wire in wires for point in wire.points}):
            arms = {arm for segment in segments if contains(segment, point) for arm in arms_at(segment, point)}
            if len(arms) + pins_at(sheet, net, point) > 2:
                yield point


def arms_at(segment, point):
    for end in segment:
        if end != point:
            yield (end[0] > point[0]) - (end[0] < point[0]), (end[1] > point[1]) - (end[1] < point[1])


def pins_at(sheet, net, point):
    names = sheet.nets()[net]
    return sum(1 for part in sheet.parts.values() for pin, place in part.pins.items()
               if place == point and f"{part.ref}.{pin}" in names)


def write(sheet, summary):
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(sheet.width * SCALE)}" '
        f'height="{number(sheet.height * SCALE)}" viewBox="0 0 {number(sheet.width)} {number(sheet.height)}" role="img">',
        f"<title>{escape(sheet.title)}</title>", f"<desc>{escape(summary)}</desc>", f"<style>\n{style()}\n</style>",
        f'<rect class="paper" width="{number(sheet.width)}" height="{number(sheet.height)}" rx="1.5"/>']
    for kind, x, y, width, height in sheet.zones:
        lines.append(f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
                     f'height="{number(height)}" rx="1"/>')
    for x, top, bottom in sheet.barriers:
        lines.append(f'<polyline class="barrier" points="{number(x)},{number(top)} {number(x)},{number(bottom)}"/>')
    for wire in sheet.wires:
        points = " ".join(f"{number(x)},{number(y)}" for x, y in wire.points)
        if len(wire.points) > 1:
            lines.append(f'<polyline class="wire" points="{points}"/>')
    for part in sheet.parts.values():
        lines += part.shapes
    lines += sheet.shapes
    for name in sorted(sheet.open_pins):
        ref, _, pin = name.partition(".")
        x, y = sheet.parts[ref].pins[pin]
        for sign in (1, -1):
            lines.append(f'<polyline class="cross" points="{number(x - 0.6)},{number(y - 0.6 * sign)} '
                         f'{number(x + 0.6)},{number(y + 0.6 * sign)}"/>')
    for x, y in junctions(sheet):
        lines.append(f'<circle class="dot" cx="{number(x)}" cy="{number(y)}" r=".45"/>')
    lines.append(f'<text class="title" x="2" y="3.4">{escape(sheet.title)}</text>')
    for text in texts_of(sheet):
        if text.content:
            anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
            lines.append(f'<text class="{text.style}"{anchor} x="{number(text.x)}" y="{number(text.y)}">'
                         f"{escape(text.content)}</text>")
    return "\n".join(lines) + "\n</svg>\n"
