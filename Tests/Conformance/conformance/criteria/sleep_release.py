"""The end of a representation: the computer returns, or its lease ends."""

from conformance import updates
from conformance.alterations import response
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import Back, after, also, announcement, dropped, from_target, mdns, to_target
from conformance.frames import GROUP_MACS, GROUPS, Packet
from conformance.messages import AUTHORITATIVE, RESPONSE, Message
from conformance.bench import LOCAL
from conformance.records import A, OPT, PTR, SRV, Name, Record, address_bytes
from conformance.sleep_bench import CARD, INSTANCE, MEDIA, RIVAL, is_magic

from conformance.criteria.sleep_answers import FALSE_CARD, asks_client, false_reply


def returns(frame):
    return announcement(frame) and frame.sender_mac == CARD


def released(bench, sent):
    """Returns the verdict on a proxy that must have released the computer after the packet `sent`."""
    bench.until(sent.at + 0.3)
    _, told = bench.resolve(0.6)
    if told:
        return failed("it still answers ARP for the computer", told)
    _, told = bench.asked(INSTANCE, SRV)
    if told:
        return failed("it still answers multicast DNS for the computer", told)
    return passed("no answer for the computer", sent)


@criterion("practice", "it releases the computer as soon as the computer announces its address by ARP", seconds=9,
           proof=to_target("requests after that are answered", also(after(returns, asks_client), false_reply)))
def return_by_arp(bench):
    bench.asleep()
    return released(bench, bench.announce_return())


def false_goodbye(_):
    message = Message(0, RESPONSE | AUTHORITATIVE, (), (Record(MEDIA, PTR, 0, INSTANCE.encoded),))
    return Back(Packet("10.9.0.100", GROUPS[4], message.encoded, source_mac=FALSE_CARD, destination_mac=GROUP_MACS[4]))


def is_goodbye(packet):
    return packet.message.is_response and any(record.ttl == 0 and record.type != OPT for record in packet.message.records)


@criterion("practice", "it sends no goodbye for a computer that has returned", seconds=9,
           proof=to_target("a goodbye follows the computer's announcement", also(returns, false_goodbye)))
def return_without_goodbye(bench):
    bench.asleep()
    sent = bench.announce_return()
    bench.until(sent.at + 2)
    told = bench.peer.heard(is_goodbye, sent.at, family=None)
    return failed("a goodbye", told[0]) if told else passed("no goodbye within 2 s", sent)


@criterion("draft-cheshire-edns0-owner-option", "a message with the Owner option and the next sequence number releases the computer",
           seconds=9, proof=to_target("the message is lost", dropped(mdns(response))))
def return_by_sequence(bench):
    bench.asleep()
    # The message is from a different card and address, so that only the option can release the computer.
    sent = bench.peer.tell(
        Record(Name(["media-2"]) + LOCAL, A, 120, address_bytes(bench.peer.ipv4(RIVAL)), True),
        additionals=(updates.options_record(updates.owner(CARD, 2)),), host=RIVAL, source=bench.peer.ipv4(RIVAL))
    return released(bench, sent)


@criterion("RFC 9664 §4", "at the end of the lease it wakes the computer or sends goodbyes, and not before", seconds=13,
           proof=from_target("magic packets and goodbyes are lost", dropped(
               lambda frame: is_magic(frame) or mdns(is_goodbye)(frame))))
def represented_until_lease_ends(bench):
    bench.serve()
    answer = bench.register(options=(updates.lease(8), updates.owner(CARD, 1)))
    seconds = int.from_bytes(updates.option_data(answer.message, updates.LEASE_OPTION)[:4], "big")
    bench.fall_asleep()
    ends = [bench.woken(seconds + 1, answer.at), *bench.peer.heard(is_goodbye, answer.at, family=None)]
    end = min((it for it in ends if it), key=lambda it: it.at, default=None)
    if end is None:
        return failed(f"neither within {seconds + 1} s", answer)
    return (passed if end.at - answer.at > seconds - 0.5 else failed)(f"{end.at - answer.at:.1f} s after the registration", end)
