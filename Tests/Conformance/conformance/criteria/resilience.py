"""Messages that must be ignored or survived (RFC 6762 section 18, RFC 9267)."""

import random
import struct

from conformance.alterations import dropped, from_target, query, response, rewritten, to_target, with_flags
from conformance.bench import SERVICE_TYPE
from conformance.conditions import gives
from conformance.criterion import criterion, failed, passed
from conformance.messages import OPCODE, RCODE
from conformance.records import PTR, SRV

from conformance.criteria.answering import expect


def judge_ignored(bench, flags, what):
    service = bench.settled()
    asked = bench.peer.ask((service.instance, SRV), flags=flags)
    answer = bench.peer.first(gives(service.instance, SRV), 1, asked)
    if answer:
        return failed(f"it answered a query with {what}", answer)
    return passed(f"no answer within 1 s to a query with {what}", asked)


@criterion("RFC 6762 §18.3", "a message with a nonzero opcode is ignored", seconds=16,
           proof=to_target("the opcode is cleared", rewritten(with_flags(off=OPCODE), query)))
def opcode_ignored(bench):
    return judge_ignored(bench, 2 << 11, "opcode 2")


@criterion("RFC 6762 §18.11", "a message with a nonzero response code is ignored", seconds=16,
           proof=to_target("the response code is cleared", rewritten(with_flags(off=RCODE), query)))
def rcode_ignored(bench):
    return judge_ignored(bench, 3, "response code 3")


@criterion("RFC 6762 §18.2 to §18.10", "header bits without a meaning in multicast DNS do not prevent an answer", seconds=16,
           proof=to_target("queries with such bits are lost", dropped(
               lambda packet: query(packet) and packet.message.flags & 0x01F0)))
def other_bits_ignored(bench):
    service = bench.settled()
    asked, answer = bench.answer((service.instance, SRV), flags=0x01F0, identity=77)
    if answer is None:
        return failed("no answer to a query with an id and the bits RD, RA, Z, AD and CD", asked)
    return passed("answered a query with an id and the bits RD, RA, Z, AD and CD", answer)


def malformed(service):
    """Malformed messages, and random bytes."""
    header = struct.pack("!6H", 0, 0, 1, 0, 0, 0)
    response_header = struct.pack("!6H", 0, 0x8400, 0, 1, 0, 0)
    name = service.instance.encoded
    yield b""
    yield header[:7]
    yield header  # the question is missing
    yield header + b"\xc0\x0c" + struct.pack("!2H", PTR, 1)  # a name that points to itself
    yield header + b"\xc0\x0e\xc0\x0c" + struct.pack("!2H", PTR, 1)  # two names that point to each other
    yield header + b"\xc0\xff" + struct.pack("!2H", PTR, 1)  # a pointer beyond the end
    yield header + b"\x40abc\0" + struct.pack("!2H", PTR, 1)  # a label of unknown kind
    yield header + b"\x3f" + b"a" * 20  # a label longer than the message
    yield header + (b"\x3f" + b"a" * 63) * 5 + b"\0" + struct.pack("!2H", PTR, 1)  # a name of 321 bytes
    yield struct.pack("!6H", 0, 0, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF) + name  # counts of entries that are missing
    yield response_header + name + struct.pack("!2HIH", SRV, 0x8001, 120, 3) + b"\0\0\0"  # data too short
    yield response_header + name + struct.pack("!2HIH", SRV, 0x8001, 120, 0xFFFF) + b"\0"  # data beyond the end
    yield response_header + name + struct.pack("!2HIH", 47, 0x8001, 120, 6) + name[:2] + b"\0\0\xff\1"  # NSEC
    chance = random.Random(1)
    for length in (1, 12, 13, 40, 200, 1400):
        for _ in range(10):
            yield chance.randbytes(length)
            yield response_header + chance.randbytes(length)


@criterion("RFC 6762 §18, RFC 9267", "malformed messages and random bytes do not stop the responder", seconds=18,
           proof=from_target("its answers to the question that follows are lost", dropped(
               lambda packet: response(packet) and [record.type for record in packet.message.answers] == [PTR])))
def malformed_survived(bench):
    service = bench.settled()
    sent = [bench.peer.send(payload) for payload in malformed(service)]
    bench.pause()
    if not bench.target.is_running:
        return failed(f"it exited after {len(sent)} malformed messages", None)
    renamed = bench.peer.heard(lambda packet: packet.message.is_probe, since=sent[0].at)
    if renamed:
        return failed("it treated a malformed message as a claim to its name", renamed[0])
    answer = expect(bench, (SERVICE_TYPE, PTR))
    return passed(f"answers after {len(sent)} malformed messages", answer)
