"""DNS messages decoded by dnspython, printed in the format of DecodeMessages."""

import subprocess

import dns.wire
from dns.exception import DNSException
from dns.rdtypes.util import Bitmap

# dnspython rejects compression in SRV and NSEC records, which multicast DNS allows (RFC 6762 §18.14), so this module itself reads the names
# in such records. The data of all other types is compared as bytes. This includes TXT, because the program under test parses its strings
# only when the attributes are needed.
A, PTR, TXT, AAAA, SRV, NSEC = 1, 12, 16, 28, 33, 47


def told(wire):
    """Returns the message as one line, or None if dnspython finds it malformed."""
    try:
        return " ".join(parts(dns.wire.Parser(wire)))
    except (DNSException, ValueError):
        return None


def parts(parser):
    ident, flags, questions, *counts = parser.get_struct("!6H")
    yield f"{ident:x}"
    yield f"{flags:x}"
    for _ in range(questions):
        name = parser.get_name(decompress=True)
        yield f"{name.to_wire().hex()}/" + "/".join(f"{number:x}" for number in parser.get_struct("!HH"))
    for section, count in zip(("an", "ns", "ar"), counts):
        for _ in range(count):
            yield f"{section}:{record(parser)}"


def record(parser):
    name = parser.get_name(decompress=True)
    kind, group, lifetime, length = parser.get_struct("!HHIH")
    with parser.restrict_to(length):
        data = b"".join(fields(kind, length, parser))
    return f"{name.to_wire().hex()}/{kind:x}/{group:x}/{lifetime:x}/{data.hex()}"


def fields(kind, length, parser):
    if kind in (A, AAAA):
        yield parser.get_bytes(4 if kind == A else 16)
    elif kind in (PTR, SRV, NSEC):
        if kind == SRV:
            yield parser.get_bytes(6)
        yield parser.get_name(decompress=True).to_wire()
        if kind == NSEC:
            yield from bitmap(parser)
    else:
        yield parser.get_bytes(length)


def bitmap(parser):
    """Decodes the bitmap. dnspython rejects trailing zeros (RFC 4034 §4.1.2), which are harmless for a lookup."""
    windows = []
    while parser.remaining():
        window, bits = parser.get_uint8(), parser.get_counted_bytes()
        if not 1 <= len(bits) <= 32:
            raise ValueError("no bits, or too many")
        # A window without bits gets a substitute bit, so that Bitmap also checks its place in the order of the windows.
        windows.append((window, bits.rstrip(b"\0") or b"\1", any(bits)))
    Bitmap((window, bits) for window, bits, _ in windows)
    for window, bits, counts in windows:
        if counts:
            yield bytes([window, len(bits)]) + bits


def ours(program, wires):
    """Returns the line that the program under test prints for each message, or None for a message that it finds malformed."""
    lines = "".join(f"{wire.hex()}\n" for wire in wires)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(wires), f"{len(answers)} answers to {len(wires)} messages"
    return [None if answer.startswith("malformed") else answer for answer in answers]
