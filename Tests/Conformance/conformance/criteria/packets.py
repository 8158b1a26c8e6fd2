"""The form of every packet (RFC 6762 sections 6, 11 and 18)."""

from dataclasses import replace

from conformance import frames
from conformance.alterations import from_target, readdressed, response, rewritten, with_flags
from conformance.bench import SERVICE_TYPE
from conformance.conditions import is_response
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.messages import AUTHORITATIVE, OPCODE, RCODE, RECURSION_DESIRED, TRUNCATED
from conformance.records import ANY, PTR, SRV, Question


def conversation(bench):
    """Returns all packets that the target sends while it probes, announces and answers, over IPv4 and IPv6."""
    service = bench.settled()
    bench.answer((SERVICE_TYPE, PTR))
    bench.answer((service.instance, SRV))
    return [packet for packet in list(bench.peer.packets) if packet.source_port == frames.PORT or packet.is_multicast]


def judge_each(packets, wrong, summary, verdict=failed):
    """Applies `wrong` to each packet. `wrong` returns the fault as text, or a false value. Without a fault the verdict is pass
    with the text `summary`."""
    for packet in packets:
        reason = wrong(packet)
        if reason:
            return verdict(reason, packet)
    return passed(f"{len(packets)} packets, {summary}", packets[-1])


def responses(bench):
    return [packet for packet in conversation(bench) if is_response(packet)]


@criterion("RFC 6762 §18, RFC 1035 §4", "every packet can be decoded", proof=from_target(
    "the last byte of responses is lost", lambda packet: [(0, replace(packet, payload=packet.payload[:-1]))]))
def decodable(bench):
    bench.start()
    bench.peer.first(lambda _: False, 4, bench.began)
    bench.peer.ask((SERVICE_TYPE, PTR))
    bench.peer.first(lambda _: False, 1)
    heard = list(bench.peer.packets)
    if not heard:
        return failed("it sent nothing")
    return judge_each(heard, lambda packet: None if packet.message else "this packet cannot be decoded", "all decodable")


@criterion("RFC 6762 §11", "packets have IP TTL 255 and hop limit 255", worst=WARN,
           proof=from_target("the IP TTL is 1", readdressed(hop_limit=1)))
def hop_limit(bench):
    return judge_each(
        conversation(bench), lambda packet: packet.hop_limit != 255 and f"the IP TTL is {packet.hop_limit}", "all with 255",
        warned)


@criterion("RFC 6762 §5.2, §6", "packets are sent from port 5353",
           proof=from_target("it sends from a different port", readdressed(source_port=40000)))
def source_port(bench):
    return judge_each(
        conversation(bench), lambda packet: packet.source_port != frames.PORT and f"sent from port {packet.source_port}",
        "all from 5353")


@criterion("RFC 6762 §18.1", "multicast responses have message id 0",
           proof=from_target("the id is 7", rewritten(lambda message: replace(message, id=7), response)))
def id_zero(bench):
    return judge_each(
        responses(bench), lambda packet: packet.is_multicast and packet.message.id and f"id {packet.message.id}",
        "all with id 0")


@criterion("RFC 6762 §18.4", "responses are authoritative",
           proof=from_target("the AA bit is cleared", rewritten(with_flags(off=AUTHORITATIVE), response)))
def authoritative(bench):
    return judge_each(
        responses(bench), lambda packet: not packet.message.flags & AUTHORITATIVE and "no AA bit", "all with the AA bit")


@criterion("RFC 6762 §18.3, §18.5 to §18.11", "all other header bits are 0 in responses",
           proof=from_target("the response code is 3", rewritten(with_flags(on=3), response)))
def header_zero(bench):
    # Opcode, TC, RA, Z, AD, CD and the response code must be 0; RD should be 0.
    others = OPCODE | TRUNCATED | 0x00F0 | RCODE
    heard = responses(bench)
    for packet in heard:
        if packet.message.flags & others:
            return failed(f"flags {packet.message.flags:#06x}", packet)
    return judge_each(
        heard, lambda packet: packet.message.flags & RECURSION_DESIRED and "the RD bit is set", "only QR and AA set", warned)


@criterion("RFC 6762 §6", "multicast responses contain no question", proof=from_target(
    "a question is put into responses", rewritten(
        lambda message: replace(message, questions=(Question(SERVICE_TYPE, ANY),)), response)))
def no_questions(bench):
    return judge_each(
        responses(bench), lambda packet: packet.is_multicast and packet.message.questions and "a question in a response",
        "none with a question")


@criterion("RFC 2181 §5", "no packet contains a record twice", worst=WARN, proof=from_target(
    "records are doubled", rewritten(lambda message: replace(message, answers=message.answers * 2), response)))
def no_duplicates(bench):
    def doubled(packet):
        keys = [record.key for record in packet.message.records]
        return len(set(keys)) < len(keys) and "it contains a record twice"

    return judge_each(responses(bench), doubled, "each record once", warned)
