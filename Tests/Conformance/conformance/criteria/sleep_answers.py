"""A sleep proxy's answers on behalf of a computer that sleeps: multicast DNS, ARP and neighbour discovery (RFC 6762,
RFC 826, RFC 4861)."""

from dataclasses import replace

from conformance import updates, wire
from conformance.alterations import records, response, rewritten
from conformance.conditions import gives
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import (
    Back, also, announcement, arp, dropped, fields, from_target, mdns, neighbour, reply, to_target)
from conformance.records import OPT, SRV, Record
from conformance.sleep_bench import ADDRESS, ADDRESS6, CARD, CLIENT, INSTANCE, RIVAL, sleeper_records

from conformance.criteria.sleep_registration import with_service_port

FALSE_CARD = bytes.fromhex("020000a1b2c3")


@criterion("RFC 6762 §6", "it answers multicast DNS with every record of the computer, unchanged", seconds=9,
           proof=from_target("the port in the SRV record is changed", records(with_service_port(9), mdns(response))))
def records_unchanged(bench):
    bench.asleep()
    for record in sleeper_records():
        asked, told = bench.asked(record.name, record.type)
        if told is None:
            return failed(f"{record.name} was not answered", asked)
        if record.key not in [it.key for it in told.message.records]:
            return failed(f"not the registered record {record}", told)
    return passed(f"{len(sleeper_records())} records", told)


def without_options(message):
    return replace(message, additionals=tuple(record for record in message.additionals if record.type != OPT))


@criterion("draft-cheshire-edns0-owner-option", "each packet with the computer's records has its Owner option", seconds=8,
           proof=from_target("the options in its responses are lost", rewritten(without_options, mdns(response))))
def owner_repeated(bench):
    bench.asleep(sequence=3)
    asked, told = bench.asked(INSTANCE, SRV)
    if told is None:
        return failed("not answered", asked)
    packets = bench.peer.heard(gives(INSTANCE, SRV), family=None)
    for packet in packets:
        data = updates.option_data(packet.message, updates.OWNER_OPTION)
        if data is None or data[:8] != bytes([0, 3]) + CARD:
            return failed("without the option, or with different content", packet)
    return passed(f"{len(packets)} packets, each with the option", packets[-1])


def asks_client(frame):
    return arp(frame) and frame.operation == wire.REQUEST and frame.target == ADDRESS and frame.sender_mac != CARD


def false_reply(frame):
    return Back(wire.reply(ADDRESS, FALSE_CARD, frame.sender_mac, frame.sender))


@criterion("practice", "it does not answer ARP for a registered computer that is still awake", seconds=11,
           proof=to_target("each request for the computer's address is answered", also(asks_client, false_reply)))
def awake_not_represented(bench):
    bench.serve()
    bench.register()
    for _ in range(12):
        _, told = bench.resolve()
        if told:
            return failed("answered, although the computer answers itself", told)
    return passed("12 requests without an answer, then the computer was silent", bench.fall_asleep())


@criterion("RFC 826, RFC 5227 §2.1.1", "the proxy answers ARP requests and probes for a silent computer with its own card", seconds=8,
           proof=from_target("the replies have a different card", fields(
               lambda frame: reply(frame) and frame.sender == ADDRESS, lambda frame: replace(frame, sender_mac=FALSE_CARD))))
def arp_answered(bench):
    bench.asleep()
    for sender in (None, wire.NOWHERE):
        asked, told = bench.resolve(1, sender)
        if told is None:
            return failed("not answered within 1 s", asked)
        if told.sender_mac != bench.mac:
            return failed("with a card that is not the proxy's", told)
    return passed("a request and a probe, both answered", told)


@criterion("practice", "the proxy announces the address of a silent computer with its own card, which corrects the caches of neighbours",
           seconds=8, proof=from_target("its announcements are lost", dropped(announcement)))
def represented_address_announced(bench):
    answer = bench.asleep()
    bench.pause(0.5)
    found = next(iter(bench.peer.arps(lambda it: it.is_announcement and it.sender == ADDRESS, bench.began)), None)
    if found is None:
        return failed(f"no announcement of {ADDRESS}", answer)
    return (passed if found.sender_mac == bench.mac else failed)(f"announced with the card {wire.mac_text(found.sender_mac)}", found)


def advertisement(frame):
    return neighbour(frame) and frame.kind == wire.NEIGHBOUR_ADVERTISEMENT and frame.target == ADDRESS6


@criterion("RFC 4861 §7.2.4", "the proxy answers neighbour solicitations for a silent computer with its own card", seconds=8,
           proof=from_target("its neighbour advertisements are lost", dropped(advertisement)))
def solicitation_answered(bench):
    bench.asleep()
    client = bench.peer.ipv6(CLIENT)
    asked = bench.peer.put(wire.neighbour_solicitation(ADDRESS6, bench.peer.mac(CLIENT), client))
    answer = bench.peer.await_one(wire.Neighbour, lambda it: advertisement(it) and it.destination == client, 1, asked.at)
    if answer is None:
        return failed("not answered within 1 s", asked)
    if answer.raw[78:86] != b"\2\1" + bench.mac:
        return failed("with a card that is not the proxy's", answer)
    return passed(f"answered after {(answer.at - asked.at) * 1000:.0f} ms", answer)


@criterion("RFC 6762 §8.1", "another host's probe for the computer's service name is answered", seconds=8,
           proof=from_target("responses with the computer's SRV record are lost", dropped(mdns(gives(INSTANCE, SRV)))))
def name_defended(bench):
    bench.asleep()
    bench.pause()
    probe = bench.peer.probe(
        Record(INSTANCE, SRV, 120, b"\xff" + sleeper_records()[2].data[1:]), host=RIVAL, source=bench.peer.ipv4(RIVAL))
    told = bench.peer.first(gives(INSTANCE, SRV), 1, probe)
    return passed("answered", told) if told else failed("not answered within 1 s", probe)
