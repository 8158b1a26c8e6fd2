"""The decoder of DNS messages compared with dnspython: both accept the same messages and read the same content."""

import os
import pathlib
import random
import struct

import pytest

from harness.avahi import Avahi
from harness.capture import Capture
from harness.messages import A, AAAA, NSEC, PTR, SRV, TXT, ours, told
from harness.zeroconf_peer import ZeroconfBrowser, publish

MESSAGES = int(os.environ.get("SMARTPLUG_DECODED_MESSAGES", "20000"))
BATCH = 10_000  # messages per call; the limit bounds the memory for their text, which is much longer than the messages
SEED = int(os.environ.get("SMARTPLUG_SEED", "1"))
CORPUS = pathlib.Path(__file__).parent.parent / "Fuzz" / "Corpus" / "dns-message"
pytestmark = pytest.mark.time_limit(60 + MESSAGES // 500)


class Writer:
    """Generates random messages, also with pointers to pointers, empty names and unknown types."""

    def __init__(self, chance):
        self.chance, self.wire, self.places = chance, b"", []

    def message(self):
        counts = [self.chance.choice((0, 0, 1, 2, 5)) for _ in range(4)]
        self.places = []
        self.wire = struct.pack("!6H", self.chance.choice((0, 7)), self.chance.choice((0, 0x8400, 0x0200)), *counts)
        for _ in range(counts[0]):
            self.name()
            self.wire += struct.pack("!HH", self.kind(), self.chance.choice((1, 0x8001, 255)))
        for _ in range(sum(counts[1:])):
            self.record()
        return self.wire

    def kind(self):
        return self.chance.choice((A, PTR, TXT, AAAA, SRV, NSEC, 5, 41, 255, 999))

    def name(self):
        earlier = len(self.places)
        for _ in range(self.chance.randrange(5)):
            if earlier and self.chance.random() < 0.4:
                self.wire += struct.pack("!H", 0xC000 | self.places[self.chance.randrange(earlier)])
                return
            self.places.append(len(self.wire))
            length = self.chance.choice((1, 3, 4, 11, 63))
            self.wire += bytes([length]) + self.chance.choice((b"_tcp.local-PLUG" * 5, self.chance.randbytes(63)))[:length]
        self.wire += b"\0"

    def record(self):
        self.name()
        kind = self.kind()
        self.wire += struct.pack("!HHI", kind, self.chance.choice((1, 0x8001)), self.chance.choice((0, 120, 4500, 2**32 - 1)))
        place = len(self.wire)
        self.wire += b"\0\0"
        self.data(kind)
        self.wire = self.wire[:place] + struct.pack("!H", len(self.wire) - place - 2) + self.wire[place + 2 :]

    def data(self, kind):
        if kind in (A, AAAA):
            self.wire += self.chance.randbytes(4 if kind == A else 16)
        elif kind in (PTR, SRV):
            self.wire += self.chance.randbytes(6 if kind == SRV else 0)
            self.name()
        elif kind == NSEC:
            self.name()
            for window in sorted(self.chance.sample(range(256), self.chance.randrange(3))):
                bits = self.chance.randbytes(self.chance.randrange(32)) + b"\x40"
                self.wire += bytes([window, len(bits)]) + bits
        else:
            self.wire += self.chance.randbytes(self.chance.randrange(40))


def spoilt(chance, wire):
    """Changes, removes or duplicates some bytes."""
    wire = bytearray(wire)
    for _ in range(chance.choice((1, 1, 2, 5))):
        place = chance.randrange(len(wire) + 1)
        match chance.randrange(4):
            case 0: wire[place : place + 1] = chance.randbytes(1)
            case 1: wire[place : place + 1] = bytes([0xC0 | chance.randrange(2), chance.randrange(256)])
            case 2: del wire[place : place + chance.randrange(1, 9)]
            case 3: wire[place:place] = wire[place : place + chance.randrange(1, 9)]
    return bytes(wire)


def compare(programs, wires):
    """Compares the decoders and returns the number of valid messages."""
    sound = 0
    for start in range(0, len(wires), BATCH):
        some = wires[start : start + BATCH]
        for wire, answer in zip(some, ours(programs / "DecodeMessages", some)):
            expected = told(wire)
            assert answer == expected, f"{wire.hex()}\nours:      {answer}\ndnspython: {expected}"
            sound += answer is not None
    return sound


def test_generated_messages_are_read_alike(programs):
    """Generated and corrupted messages are decoded identically."""
    chance = random.Random(SEED)
    writer = Writer(chance)
    sound = [writer.message() for _ in range(MESSAGES // 2)]
    # A few generated names are too long.
    assert compare(programs, sound) > 0.9 * len(sound)
    bad = [spoilt(chance, wire) for wire in sound]
    assert 0.05 * len(bad) < compare(programs, bad) < 0.95 * len(bad)


def test_recorded_messages_are_read_alike(programs, lan, plug):
    """Packets of plugd, Avahi and python-zeroconf, and the fuzzer's corpus are decoded identically, unchanged and
    corrupted."""
    here, there = lan.host(), lan.host()
    capture = Capture(there.port)
    plug(here, "Lamp")
    avahi = Avahi(there)
    avahi.publish("Küche", 4711, "a=b")
    publish(there, "Fan", 4712, "txtvers=1")
    ZeroconfBrowser(there).resolved("Lamp", within=10)
    assert set(avahi.services()) == {"Lamp", "Küche", "Fan"}
    capture.close()
    recorded = [datagram.bytes for datagram in capture.datagrams]
    assert compare(programs, recorded) == len(recorded) > 20
    chance = random.Random(SEED)
    known = recorded + [file.read_bytes() for file in sorted(CORPUS.iterdir())]
    compare(programs, known + [spoilt(chance, chance.choice(known)) for _ in range(MESSAGES)])
