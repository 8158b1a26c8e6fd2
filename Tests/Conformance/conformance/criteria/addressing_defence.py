"""Conflicts with another host over a claimed address (RFC 3927 section 2.5, RFC 5227 section 2.4)."""

from dataclasses import replace

from conformance import wire
from conformance.alterations import records, without
from conformance.criterion import criterion, failed, passed, warned
from conformance.frame_alterations import (
    after, announcement, arp, dropped, fields, from_target, link_local_probe, mdns, probe, to_target)
from conformance.peer import SLACK
from conformance.records import A, address_bytes

from conformance.criteria.addressing_denials import RIVAL


def conflict(bench, address, mac=None):
    """Sends an ARP packet of another host that uses the address, and returns the frame."""
    return bench.peer.put(wire.request("169.254.9.2", mac or bench.peer.mac(RIVAL), address))


def defences(bench, address, since, seconds):
    bench.until(since + seconds)
    return bench.peer.arps(lambda it: it.is_announcement and it.sender == address, since)


def held(bench, address):
    return address in bench.kernel.now() and not bench.kernel.went(address)


def settled(bench):
    bench.begin()
    return bench.settle_claim(bench.claim())


def given_up(bench, claim, struck):
    """Returns the verdict on a host that released its address at the first conflict, which RFC 3927 §2.5 (a)
    allows. The host must probe its new address three times."""
    new = bench.claim(9, struck.at, but=(claim.address,))
    if claim.address in bench.kernel.now() or len(new.probes) != 3:
        return failed(f"{claim.address} was not defended, {new.address} was not claimed correctly", new.announcement)
    return warned(f"{claim.address} was released at the first conflict, with its connections, as allowed", new.announcement)


@criterion("RFC 3927 §2.5", "the first conflict is answered with one announcement", seconds=16,
           proof=from_target("later announcements are lost", dropped(announcement, keeping=lambda number: number <= 2)))
def defends_once(bench):
    claim = settled(bench)
    struck = conflict(bench, claim.address)
    told = defences(bench, claim.address, struck.at, 4)
    if not told and not held(bench, claim.address):
        return given_up(bench, claim, struck)
    if len(told) != 1:
        return failed(f"{len(told)} announcements within 4 s", told[-1] if told else struck)
    if not held(bench, claim.address):
        return failed(f"{claim.address} was released, although it was defended", struck)
    if told[0].destination_mac != wire.BROADCAST:
        return failed("not broadcast", told[0])
    return passed(f"defended after {(told[0].at - struck.at) * 1000:.0f} ms, and kept", told[0])


@criterion("RFC 3927 §2.5", "after a second conflict within ten seconds it releases the address and claims a new one",
           seconds=24, proof=to_target("the second conflict is lost", dropped(arp, keeping=lambda number: number == 1)))
def second_conflict(bench):
    claim = settled(bench)
    struck = conflict(bench, claim.address)
    bench.pause(3)
    if claim.address not in bench.kernel.now():
        return given_up(bench, claim, struck)
    struck = conflict(bench, claim.address)
    if not bench.kernel.await_went(claim.address, 1):
        return failed(f"{claim.address} is still on the interface one second later", struck)
    new = bench.claim(9, struck.at, but=(claim.address,))
    if len(new.probes) != 3:
        return failed(f"{new.address} was announced after {len(new.probes)} probes", new.announcement)
    used = bench.peer.arps(lambda it: it.sender == claim.address, struck.at + SLACK)
    if used:
        return failed(f"{claim.address} was still used", used[0])
    return passed(f"{claim.address} released at once, {new.address} claimed", new.announcement)


def struck_again():
    """Repeats each conflict two seconds later."""
    return lambda frame: [(0, frame), (2, frame)] if arp(frame) else [(0, frame)]


@criterion("RFC 3927 §2.5", "the address is defended in two conflicts more than ten seconds apart", seconds=28,
           proof=to_target("each conflict is repeated after 2 s", struck_again()))
def conflicts_apart(bench):
    claim = settled(bench)
    for wait in (10.6, 2):
        struck = conflict(bench, claim.address)
        told = defences(bench, claim.address, struck.at, wait)
        if not told and not held(bench, claim.address):
            return given_up(bench, claim, struck)
        if not told:
            return failed("not defended", struck)
    if not held(bench, claim.address):
        return failed(f"{claim.address} was released", struck)
    return passed("defended both times, and kept", told[0])


@criterion("RFC 5227 §2.1.1, RFC 826", "another host's probe for its address is answered, and the address is kept",
           seconds=16, proof=from_target("its ARP packets after the announcements are lost", dropped(after(announcement, arp, 2))))
def foreign_probe(bench):
    claim = settled(bench)
    asked = bench.peer.put(wire.probe(claim.address, bench.peer.mac(RIVAL)))
    answer = bench.peer.await_arp(lambda it: it.sender == claim.address, 0.5, asked.at)
    if answer is None:
        return failed("not answered within 0.5 s", asked)
    bench.until(asked.at + 3)
    again = bench.peer.arps(link_local_probe, asked.at)
    if again or not held(bench, claim.address):
        return failed(f"{claim.address} was released", again[0] if again else asked)
    return passed(f"answered after {(answer.at - asked.at) * 1000:.0f} ms, and kept", answer)


@criterion("RFC 3927 §2.5, RFC 5227 §2.1.1",
           "twelve probes of two hosts within three seconds do not make it release its address",
           seconds=18, proof=to_target("the probes have the target's address as sender", fields(
               probe, lambda frame: replace(frame, sender=frame.target))))
def many_foreign_probes(bench):
    claim = settled(bench)
    for number in range(12):
        asked = bench.peer.put(wire.probe(claim.address, bench.peer.mac(8 + number % 2)))
        bench.pause(0.25)
    if not held(bench, claim.address):
        return failed(f"{claim.address} was released", asked)
    answers = bench.peer.arps(lambda it: it.sender == claim.address, asked.at - 3.1)
    return passed(f"{len(answers)} answers, and kept", answers[-1]) if answers else failed("no probe was answered", asked)


def second_address(frame):
    """Returns True as soon as the target has announced a second address by ARP."""
    seen = second_address.__dict__.setdefault("seen", set())
    if announcement(frame):
        seen.add(frame.sender)
    return len(seen) > 1


def old_address_told():
    """Removes IPv4 addresses from responses as soon as the target has announced a second address by ARP."""
    silenced = records(without(A), lambda _: True)

    def step(frame):
        late = second_address(frame)
        return silenced(frame) if late and mdns(lambda it: it.message.is_response)(frame) else [(0, frame)]
    return step


@criterion("RFC 3927 §2.5, RFC 6762 §8.4",
           "the service is announced with the new address, and the old one is no longer sent",
           seconds=26, needs={"service"}, proof=from_target(
               "no address is sent after the second was announced", old_address_told()))
def service_moves(bench):
    claim = settled(bench)
    bench.tells(claim.address, 8, bench.connected)
    conflict(bench, claim.address)
    bench.pause(1)
    struck = conflict(bench, claim.address)
    new = bench.claim(9, struck.at, but=(claim.address,))
    told = bench.tells(new.address, 3, new.announcement.at - 0.3)
    record = next(it for it in told.message.records if it.type == A and it.data == address_bytes(new.address))
    if not record.flush:
        return failed("without the cache-flush bit", told)
    bench.until(told.at + 2)
    old = bench.peer.heard(lambda it: any(
        record.type == A and record.ttl and record.data == address_bytes(claim.address)
        for record in it.message.records + it.message.authorities), since=struck.at + SLACK, family=None)
    if old:
        return failed(f"{claim.address} was sent afterwards", old[0])
    bench.reachable(new.address)
    return passed(f"{new.address} sent {told.at - new.announcement.at:.2f} s after it was announced by ARP", told)
