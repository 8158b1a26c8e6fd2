"""A cable that is connected late, disconnected and connected again, also to a different network (RFC 3927 section 2.2,
RFC 5227 section 2.1)."""

from conformance import wire
from conformance.bench import SERVICE_TYPE
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.frame_alterations import (
    after, also, announcement, arp, delayed, dropped, from_target, mdns, probe, to_target)
from conformance.records import SRV

from conformance.criteria.addressing_claiming import LATE, from_address
from conformance.criteria.addressing_defence import settled
from conformance.criteria.addressing_denials import Rival, by_reply, by_use
from conformance.criteria.addressing_use import echo_request

LATER_PROBES_LOST = from_target("probes after the announcements are lost", dropped(after(announcement, probe, 2)))


def again(bench, claim, seconds):
    """Disconnects the cable for that time and connects it again. Returns the verdict on the claim that follows, which must be
    for the previous address."""
    bench.disconnect(seconds)
    back = bench.connect()
    first = bench.expect_probe(4, back)
    if first.target != claim.address:
        return failed(f"it had {claim.address} and tried {first.target}", first)
    new = bench.claim(9, back)
    if new.address != claim.address:
        return failed(f"it had {claim.address} and chose {new.address}", new.announcement)
    if len(new.probes) != 3:
        return failed(f"announced after {len(new.probes)} probes", new.announcement)
    waited = new.announcement.at - back
    told = f"{new.address} probed three times, announced after {waited:.2f} s"
    return (passed if 3.98 <= waited <= 7 + LATE else failed)(told, new.announcement)


@criterion("RFC 3927 §2.2, RFC 5227 §2.1", "after the cable is reconnected, the same address is probed again",
           seconds=22, retried=1, proof=LATER_PROBES_LOST)
def link_back(bench):
    return again(bench, settled(bench), 1.5)


@criterion("RFC 3927 §2.2, RFC 5227 §2.1", "after the cable was disconnected for 0.2 s, the same address is probed again",
           seconds=22, retried=1, proof=LATER_PROBES_LOST)
def short_flap(bench):
    return again(bench, settled(bench), 0.2)


@criterion("RFC 3927 §2.2.1", "after the cable is reconnected, nothing is sent from the address before its announcement",
           seconds=22, proof=from_target("each later probe is followed by a request from the address", also(
               after(announcement, probe, 2), lambda frame: wire.request("169.254.9.2", frame.sender_mac, frame.target),
               0.1)))
def link_back_silent(bench):
    claim = settled(bench)
    bench.disconnect(1.5)
    back = bench.connect()
    # A neighbour continues to send requests. The kernel would answer them if the address were still on the interface.
    for _ in range(30):
        bench.peer.put(echo_request(bench, 6, claim.address))
        bench.pause(0.001)
    new = bench.claim(9, back)
    early = from_address(bench, claim.address, back, new.announcement.at)
    if early:
        return failed("sent before the address was announced", early)
    return passed("nothing before the announcement", new.announcement)


def elsewhere(bench, says):
    """Disconnects the cable and connects it to a link on which another host has the target's address."""
    claim = settled(bench)
    bench.disconnect(1.0)
    rival = Rival(bench, says)
    bench.peer.reactions.append(rival.take)
    back = bench.connect()
    new = bench.claim(14, back)
    if not rival.denied:
        return failed("it announced without a probe", new.announcement)
    if rival.denied[0] != claim.address:
        return failed(f"it had {claim.address} and tried {rival.denied[0]}", rival.firsts[0])
    if new.address == claim.address:
        return failed(f"{claim.address} was announced nevertheless", new.announcement)
    if claim.address in bench.kernel.now():
        return failed(f"{claim.address} is still on the interface", new.announcement)
    return passed(f"{claim.address} was taken there, {new.address} claimed", new.announcement)


NOBODY = to_target("packets of the other host are lost", dropped(arp))


@criterion("RFC 3927 §2.2.1", "a probe answered after the cable is reconnected makes it choose a new address",
           seconds=24, proof=NOBODY)
def link_back_denied(bench):
    return elsewhere(bench, by_reply)


@criterion("RFC 3927 §2.2.1", "use of the address by another host on a new network makes it choose a new address",
           seconds=24, proof=NOBODY)
def other_network(bench):
    return elsewhere(bench, by_use)


@criterion("RFC 3927 §2.2", "no address is claimed without a cable; after link-up, probes and an address follow in time",
           seconds=14, retried=1, proof=from_target("probes are delayed by 1.3 s", delayed(1.3, probe)))
def no_carrier_at_start(bench):
    bench.begin(carrier=False)
    bench.pause(8 if "carrier" not in bench.target.abilities else 2)
    if bench.kernel.now():
        return failed(f"the interface has {bench.kernel.now()[0]} without a cable")
    back = bench.connect()
    first = bench.expect_probe(4, back)
    claim = bench.claim(12, back)
    told = f"first probe after {first.at - back:.2f} s, usable after {claim.usable - back:.2f} s"
    right = first.at - back <= 1 + LATE and 3.98 <= claim.usable - back <= 7 + LATE
    return (passed if right else failed)(told, claim.announcement)


def gives_service(packet):
    return packet.message.is_response and any(
        record.type == SRV and record.ttl and record.name.under(SERVICE_TYPE) for record in packet.message.records)


@criterion("RFC 3927 §2.2.1, RFC 6762 §8", "the service is announced over IPv4 4.75 to 8 seconds after link-up", seconds=12,
           needs={"service"}, worst=WARN, retried=1,
           proof=from_target("responses are delayed by 4 s", delayed(4, mdns(lambda it: it.message.is_response))))
def service_in_time(bench):
    begin = bench.begin()
    told = bench.peer.first(gives_service, 13, begin)
    if told is None:
        return failed("not announced within 13 s")
    waited = told.at - begin
    return (passed if 4.7 <= waited <= 8 + LATE else warned)(f"announced {waited:.2f} s after link-up", told)


@criterion("RFC 6762 §8", "after the cable is reconnected, the service is announced again and accepts connections",
           seconds=26, needs={"service"}, proof=from_target(
               "responses after the second announcement of the address are lost", dropped(after(
                   announcement, mdns(lambda it: it.message.is_response), 3))))
def service_back(bench):
    claim = settled(bench)
    bench.tells(claim.address, 8, bench.connected)
    bench.disconnect(1.5)
    back = bench.connect()
    new = bench.claim(9, back)
    told = bench.tells(new.address, 4, new.announcement.at - LATE)
    bench.reachable(new.address)
    return passed(f"announced {told.at - back:.2f} s after the cable was connected", told)
