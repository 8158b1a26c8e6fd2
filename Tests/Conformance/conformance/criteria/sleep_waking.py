"""Packets that wake a computer that sleeps, and packets that do not."""

from dataclasses import replace

from conformance import updates, wire
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import also, dropped, fields, from_target, segment, to_target
from conformance.sleep_bench import ADDRESS, CARD, CLIENT, RIVAL, TCP_PORT, UDP_PORT, content, is_magic
from conformance.wire import Other, Segment

from conformance.criteria.addressing_use import echo_request
from conformance.criteria.sleep_answers import FALSE_CARD

NO_WAKE = from_target("magic packets are lost", dropped(is_magic))
PASSWORD = bytes.fromhex("0badc0ffee01")


def wake(bench, frame):
    sent = bench.peer.put(frame)
    found = bench.expect_wake(sent)
    return passed(f"a magic packet after {(found.at - sent.at) * 1000:.1f} ms", found)


@criterion("practice", "a TCP SYN to a registered port wakes the computer within one second", seconds=8, proof=NO_WAKE)
def connection_wakes(bench):
    bench.asleep()
    return wake(bench, bench.segment())


@criterion("practice", "a UDP datagram to a registered port wakes the computer within one second", seconds=8, proof=NO_WAKE)
def datagram_wakes(bench):
    bench.asleep()
    return wake(bench, bench.datagram())


@criterion("draft-cheshire-edns0-owner-option", "the magic packet ends with the password of the Owner option", seconds=8,
           proof=from_target("the password is lost", fields(
               is_magic, lambda frame: replace(frame, raw=frame.raw.replace(PASSWORD, b"")))))
def password_sent(bench):
    bench.asleep(options=(updates.lease(3600), updates.owner(CARD, 1, PASSWORD)))
    found = bench.expect_wake(bench.peer.put(bench.segment()))
    if updates.magic(CARD, PASSWORD) not in content(found):
        return failed("without the password", found)
    return passed("with the password", found)


def harmless(bench):
    """Packets that must not wake the computer, with their names."""
    yield "a SYN to a different port", bench.segment(port=TCP_PORT + 5)
    yield "a segment with RST", bench.segment(wire.RST)
    yield "a segment with ACK", bench.segment(wire.ACK)
    yield "an answer to a SYN", bench.segment(wire.SYN | wire.ACK)
    yield "a ping", echo_request(bench, CLIENT, ADDRESS)
    yield "a datagram to a different port", bench.datagram(UDP_PORT + 5)
    yield "a broadcast datagram", replace(bench.datagram(), destination_mac=wire.BROADCAST)


@criterion("practice", "a ping, a broadcast, and packets to other ports or of other connections do not wake the computer", seconds=14,
           proof=to_target("each segment becomes a SYN to a registered port", fields(
               segment, lambda frame: replace(frame, flags=wire.SYN, destination_port=TCP_PORT))))
def others_do_not_wake(bench):
    bench.asleep()
    count = 0
    for what, frame in harmless(bench):
        sent = bench.peer.put(frame)
        if bench.woken(0.5, sent.at):
            return failed(f"{what} woke the computer", sent)
        count += 1
    return passed(f"{count} packets did not wake it, then a SYN did", bench.expect_wake(bench.peer.put(bench.segment())))


def reset(_):
    return Segment(ADDRESS, f"10.9.0.{CLIENT}", TCP_PORT, 40001, 0, 1001, wire.RST | wire.ACK, b"", FALSE_CARD,
                   bytes([2, 0, 0, 9, 0, CLIENT]))


@criterion("practice", "a SYN that wakes the computer is not answered, so that the client's next attempt reaches the computer", seconds=10,
           proof=from_target("a reset follows each magic packet", also(is_magic, reset)))
def connection_left_open(bench):
    bench.asleep()
    sent = bench.peer.put(bench.segment())
    found = bench.expect_wake(sent)
    bench.until(sent.at + 2)
    client = bench.peer.ipv4(CLIENT)
    told = bench.peer.seen(object, lambda it: isinstance(it, (Segment, Other)) and it.destination == client, sent.at)
    return failed("answered", told[0]) if told else passed("woken, and no answer within 2 s", found)


@criterion("practice", "another host that announces the computer's address wakes the computer", seconds=8, proof=NO_WAKE)
def address_conflict_wakes(bench):
    bench.asleep()
    return wake(bench, wire.announcement(ADDRESS, bench.peer.mac(RIVAL)))
