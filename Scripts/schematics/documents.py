"""Draws the schematics and compares the hardware documents with them: see Scripts/drawings.

NAME.md describes the drawing of NAME.py. Its table of parts must list exactly the parts of the drawing; its table of wires or nets
must produce the nets of the drawing; the header's pins must be those of a Raspberry Pi; each source must be cited and each citation
must have a source; each part must cite a source for its figures, unless its row has "any make" or "own layout".
"""

import pathlib
import re
import runpy
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Documentation/reference/hardware"

# The names of the pins of Raspberry Pi's 40-pin header, except for ground pins.
HEADER = {1: "3.3 V", 2: "5 V", 3: "GPIO2", 4: "5 V", 5: "GPIO3", 7: "GPIO4", 8: "GPIO14", 10: "GPIO15", 11: "GPIO17",
          12: "GPIO18", 13: "GPIO27", 15: "GPIO22", 16: "GPIO23", 17: "3.3 V", 18: "GPIO24", 19: "GPIO10", 21: "GPIO9",
          22: "GPIO25", 23: "GPIO11", 24: "GPIO8", 26: "GPIO7", 27: "GPIO0", 28: "GPIO1", 29: "GPIO5", 31: "GPIO6",
          32: "GPIO12", 33: "GPIO13", 35: "GPIO19", 36: "GPIO16", 37: "GPIO26", 38: "GPIO20", 40: "GPIO21"}
GROUNDS = {6, 9, 14, 20, 25, 30, 34, 39}

PIN = re.compile(r"`(\w+\.[^`]+)`")
CITATION = re.compile(r"\[(\d+)\](?!\()")


def complaints(source, writes):
    """Yields the mistakes of a drawing and its document. Writes the picture, or compares it with its source."""
    circuit, picture, page = runpy.run_path(str(source))["CIRCUIT"], source.with_suffix(".svg"), source.with_suffix(".md")
    yield from (f"{source.name}: {mistake}" for mistake in circuit.mistakes())
    drawn = circuit.svg()
    if writes:
        picture.write_text(drawn, encoding="utf-8")
    elif not picture.exists() or picture.read_text(encoding="utf-8") != drawn:
        yield f"{picture.name} does not match {source.name}: run Scripts/drawings"
    if not page.exists():
        yield f"{page.name} is missing"
        return
    text = page.read_text(encoding="utf-8")
    for check in (sources(text), parts(text, circuit), wires(text, circuit), nets(text, circuit), header(text, circuit)):
        yield from (f"{page.name}: {complaint}" for complaint in check)
    if f"({picture.name})" not in text:
        yield f"{page.name} does not show {picture.name}"


def table(text, *columns):
    """Returns the rows of the table whose header begins with these columns, or None if there is no such table."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("|") and cells(line)[:len(columns)] == list(columns):
            next(lines)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    break
                rows.append(cells(row))
            return rows
    return None


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def prose(text):
    """Returns the text without code."""
    return re.sub(r"`[^`]*`", "", re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE))


def sources(text):
    body, _, listed = text.partition("\n## Sources\n")
    cited = {int(number) for number in CITATION.findall(prose(body))}
    defined = [int(number) for number in re.findall(r"^(\d+)\. ", listed, re.MULTILINE)]
    if defined != list(range(1, len(defined) + 1)):
        yield f"the sources are numbered {defined}"
    for number in sorted(cited - set(defined)):
        yield f"[{number}] has no source"
    for number in sorted(set(defined) - cited):
        yield f"source {number} is cited nowhere"


def parts(text, circuit):
    listed = set()
    for row in table(text, "ref", "part") or []:
        listed.update(ref.strip() for ref in row[0].split(",") if ref != "-")
        if not CITATION.search(" ".join(row)) and not any(word in " ".join(row) for word in ("any make", "own layout")):
            yield f"{row[0]} cites no source for its figures"
        if row[0] != "-" and int(row[4]) != (1 if row[0] == "X1, X2" else len(row[0].split(","))):
            yield f"{row[0]} is listed {row[4]} times"
    for ref in sorted(set(circuit.parts) - listed):
        yield f"{ref} of the drawing is not among the parts"
    for ref in sorted(listed - set(circuit.parts)):
        yield f"{ref} is not in the drawing"


def wires(text, circuit):
    """Checks that the wires of the table connect the same pins as the drawing. Pins of one part in the same net need no wire."""
    rows = table(text, "from", "to")
    if rows is None:
        return
    net_of = {pin: net for net, pins in circuit.nets().items() for pin in pins}
    groups = {}
    for pin, net in net_of.items():
        groups.setdefault((net, pin.split(".")[0]), set()).add(pin)
    groups = list(groups.values())
    for row in rows:
        ends = PIN.findall(row[0]) + PIN.findall(row[1])
        strangers = [end for end in ends if end not in net_of]
        if strangers or len(ends) != 2:
            yield f"the wire from {row[0]} to {row[1]} has no such ends"
        elif net_of[ends[0]] != net_of[ends[1]]:
            yield f"{ends[0]} and {ends[1]} are not connected in the drawing"
        else:
            joined = [group for group in groups if set(ends) & group]
            groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    for net, pins in circuit.nets().items():
        pieces = [group for group in groups if group & pins]
        if len(pieces) > 1:
            yield f"no wire of the table joins {' and '.join(sorted(min(piece) for piece in pieces))}"


def nets(text, circuit):
    rows = table(text, "net", "connects")
    if rows is None:
        return
    listed = {row[0]: set(PIN.findall(row[1])) for row in rows}
    drawn = circuit.nets()
    for net in sorted(set(listed) | set(drawn)):
        if listed.get(net) != drawn.get(net):
            differing = sorted(listed.get(net, set()) ^ drawn.get(net, set()))
            yield f"net {net} differs from the drawing: {', '.join(differing)}"


def header(text, circuit):
    """Checks the names of pins in the drawing and in the table, and the lines that the configuration names."""
    lines = set(re.findall(r'^line = "(\w+)"', text, re.MULTILINE))
    for pin, label in circuit.labels["J1"].items():
        expected = "GND" if int(pin) in GROUNDS else HEADER[int(pin)]
        if label and not label.startswith(("SDA", "SCL")) and label.split(" ")[0] not in expected.split(" ") + [expected]:
            yield f"pin {pin} of the header is {expected}, not {label}"
        if expected.startswith("GPIO") and "GPIO" in label:
            lines.discard(expected)
    for line in sorted(lines):
        yield f"the configuration names {line}, which the drawing does not"
    for row in table(text, "pin", "name") or []:
        for pin in map(int, row[0].split(",")):
            if row[1] != ("ground" if pin in GROUNDS else HEADER[pin]):
                yield f"pin {pin} of the header is not {row[1]}"


if __name__ == "__main__":
    found = [complaint for source in sorted(FOLDER.glob("*.py")) for complaint in complaints(source, writes=not sys.argv[1:])]
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    sys.exit(len(found) > 0)
