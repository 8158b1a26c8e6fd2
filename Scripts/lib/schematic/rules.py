"""Checks a drawing's layout and circuit. Yields each mistake as a sentence."""

from itertools import combinations

# Boxes may overlap by this length.
SLACK = 0.05


def overlap(one, other, slack=SLACK):
    return (one[0] < other[2] - slack and other[0] < one[2] - slack
            and one[1] < other[3] - slack and other[1] < one[3] - slack)


def segment_box(segment, half=0.0):
    (a, b), (c, d) = segment
    return min(a, c) - half, min(b, d) - half, max(a, c) + half, max(b, d) + half


def contains(segment, point):
    left, top, right, bottom = segment_box(segment)
    return left <= point[0] <= right and top <= point[1] <= bottom


def texts_of(sheet):
    return sheet.texts + [text for part in sheet.parts.values() for text in part.texts]


def mistakes(sheet):
    yield from texts_collide(sheet)
    yield from wires_hit_parts(sheet)
    yield from nets_touch(sheet)
    yield from pins_are_left(sheet)


def texts_collide(sheet):
    texts = [text for text in texts_of(sheet) if text.content]
    for one, other in combinations(texts, 2):
        if overlap(one.box, other.box):
            yield f'"{one.content}" and "{other.content}" overlap'
    for text in texts:
        left, top, right, bottom = text.box
        if left < 0 or top < 0 or right > sheet.width or bottom > sheet.height:
            yield f'"{text.content}" leaves the sheet'
        for wire in sheet.wires:
            if any(overlap(text.box, segment_box(segment, 0.1)) for segment in wire.segments):
                yield f'a wire of {wire.net} runs through "{text.content}"'
        for x, start, end in sheet.barriers:
            if overlap(text.box, (x - 0.1, start, x + 0.1, end)):
                yield f'the barrier runs through "{text.content}"'
    for part in sheet.parts.values():
        for text in texts:
            if text not in part.texts and any(overlap(text.box, body) for body in part.bodies):
                yield f'"{text.content}" covers {part.ref}'


def wires_hit_parts(sheet):
    for wire in sheet.wires:
        for part in sheet.parts.values():
            if any(overlap(segment_box(segment, 0.1), body, 0.15)
                   for segment in wire.segments for body in part.bodies):
                yield f"a wire of {wire.net} runs through {part.ref}"
        for x, start, end in sheet.barriers:
            if any(overlap(segment_box(segment, 0.1), (x - 0.1, start, x + 0.1, end)) for segment in wire.segments):
                yield f"a wire of {wire.net} crosses the barrier"
    for one, other in combinations(sheet.parts.values(), 2):
        if any(overlap(a, b) for a in one.bodies for b in other.bodies):
            yield f"{one.ref} and {other.ref} overlap"


def nets_touch(sheet):
    """Checks that wires of two nets do not overlap and do not end on each other. They may cross."""
    for one, other in combinations(sheet.wires, 2):
        if one.net == other.net:
            yield from crossings_in_a_net(one, other)
            continue
        for a in one.segments:
            for b in other.segments:
                along = (a[0][0] == a[1][0]) == (b[0][0] == b[1][0])
                if along and overlap(segment_box(a, 0.2), segment_box(b, 0.2)):
                    yield f"{one.net} and {other.net} run along each other at {a[0]}"
                ends = [point for point in (*a, *b) if contains(a, point) and contains(b, point)]
                if ends:
                    yield f"{one.net} and {other.net} touch at {ends[0]}"


def crossings_in_a_net(one, other):
    """Checks that wires of one net cross only with a dot. Without a dot they look like two nets."""
    for a in one.segments:
        for b in other.segments:
            if overlap(segment_box(a, 0.1), segment_box(b, 0.1), 0.15):
                if not any(contains(a, point) and contains(b, point) for point in (*a, *b)):
                    yield f"{one.net} crosses itself without a dot at {a[0]} to {a[1]}"


def pins_are_left(sheet):
    nets = sheet.nets()
    wired = set().union(*nets.values()) if nets else set()
    for part in sheet.parts.values():
        for pin in part.pins:
            name = f"{part.ref}.{pin}"
            if (name in wired) == (name in sheet.open_pins):
                yield f"{name} is {'wired and open' if name in wired else 'neither wired nor open'}"
    for net, pins in nets.items():
        if len(pins) < 2:
            yield f"{net} has one pin only"
    for one, other in combinations(nets, 2):
        if nets[one] & nets[other]:
            yield f"{one} and {other} meet at {', '.join(sorted(nets[one] & nets[other]))}"
    for wire in sheet.wires:
        yield from loose_ends(sheet, wire)


def loose_ends(sheet, wire):
    """Checks that each wire end that has neither a pin nor a symbol touches a different wire of its net."""
    others = [other for other in sheet.wires if other.net == wire.net and other is not wire]
    for point in wire.loose:
        if not any(contains(segment, point) for other in others for segment in other.segments):
            yield f"{wire.net} ends nowhere at {point}"
