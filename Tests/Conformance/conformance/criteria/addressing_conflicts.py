"""An address that another host has, wants or takes (RFC 3927 sections 2.2.1 and 2.5, RFC 5227 section 2.4)."""

import time
from dataclasses import replace

from conformance import wire
from conformance.alterations import records, without
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import (
    Back, after, also, announcement, arp, changed, dropped, fields, from_target, link_local_probe, mdns, probe, to_target)
from conformance.frames import ARP as ARP_TYPE
from conformance.peer import SLACK
from conformance.records import A, address_bytes

RIVAL = 9  # the host of the peer that is in the way
NO_RIVAL = to_target("what the other host says is lost", dropped(arp))


class Rival:
    """Another host that is in the way of the first addresses: `says` makes a frame of a probe. A reaction of the peer."""

    def __init__(self, bench, says, count=1, number=1, delay=0.0):
        self.bench, self.says, self.count, self.number, self.delay = bench, says, count, number, delay
        self.denied, self.firsts, self._seen = [], [], {}

    def take(self, frame):
        if not link_local_probe(frame):
            return
        seen = self._seen[frame.target] = self._seen.get(frame.target, 0) + 1
        if seen == 1:
            self.firsts.append(frame)
        if seen == self.number and len(self.denied) < self.count:
            self.denied.append(frame.target)
            if self.delay:
                time.sleep(self.delay)
            self.bench.peer.put(self.says(frame, self.bench.peer.mac(RIVAL)))


def by_reply(frame, mac):
    return wire.reply(frame.target, mac, frame.sender_mac)


def by_announcement(frame, mac):
    return wire.announcement(frame.target, mac)


def by_announcing_reply(frame, mac):
    return wire.announcement(frame.target, mac, wire.REPLY)


def by_probe(frame, mac):
    return wire.probe(frame.target, mac)


def by_use(frame, mac):
    return wire.request("169.254.9.2", mac, frame.target)


def opposed(bench, says, **how):
    """The target begins while the rival is in its way."""
    bench.plug_in()
    rival = Rival(bench, says, **how)
    bench.peer.reactions.append(rival.take)
    bench.begin()
    return rival


def gives_way(bench, says, **how):
    rival = opposed(bench, says, **how)
    claim = bench.claim(14)
    if not rival.denied:
        return failed("it announced without having probed so often", claim.announcement)
    denied = rival.denied[0]
    if claim.address == denied:
        return failed(f"{denied} was announced all the same", claim.announcement)
    if bench.came(denied):
        return failed(f"the interface got {denied} all the same", rival.firsts[0])
    if len(claim.probes) != 3:
        return failed(f"{claim.address} was announced after {len(claim.probes)} probes", claim.announcement)
    return passed(f"{denied} was left to the other, {claim.address} probed for three times", claim.announcement)


@criterion("RFC 3927 §2.2.1", "a probe that the owner answers: another address, probed anew", seconds=14, proof=NO_RIVAL)
def denied_by_reply(bench):
    return gives_way(bench, by_reply)


@criterion("RFC 3927 §2.2.1", "an address that somebody announces while it is probed for: another", seconds=14,
           proof=NO_RIVAL)
def denied_by_announcement(bench):
    return gives_way(bench, by_announcement, number=2)


@criterion("RFC 3927 §2.2.1", "the same when the announcement is a reply to everybody", seconds=14, proof=NO_RIVAL)
def denied_by_announcing_reply(bench):
    return gives_way(bench, by_announcing_reply, number=2)


@criterion("RFC 3927 §2.2.1", "the same when its owner merely asks for somebody else", seconds=14, proof=NO_RIVAL)
def denied_by_use(bench):
    return gives_way(bench, by_use, number=2)


@criterion("RFC 3927 §2.2.1", "the same within two seconds after the last probe", seconds=16, proof=NO_RIVAL)
def denied_at_last(bench):
    return gives_way(bench, by_reply, number=3, delay=1.6)


@criterion("RFC 3927 §2.2.1, RFC 5227 §2.1.1", "two hosts that probe for one address at once: another", seconds=14,
           proof=NO_RIVAL)
def simultaneous_probe(bench):
    return gives_way(bench, by_probe)


def keeps(bench, rival, what):
    """The target goes on with its first address."""
    claim = bench.claim(14)
    if claim.address != rival.firsts[0].target:
        return failed(f"it left {rival.firsts[0].target} for {claim.address}, although {what}", claim.announcement)
    return passed(f"{claim.address} was announced", claim.announcement)


@criterion("RFC 3927 §2.2.1", "a host that asks for the address that is probed for is not in its way", seconds=12,
           proof=to_target("its request has no sender, as a probe", changed(arp, sender=wire.NOWHERE)))
def asked_for(bench):
    def asks(frame, mac):
        return wire.request(frame.target, mac, bench.peer.link_local(RIVAL))
    return keeps(bench, opposed(bench, asks), "it was only asked for")


@criterion("RFC 3927 §2.2.1, RFC 5227 §2.1.1", "its own frames, mirrored by something on the link, are no conflict",
           seconds=16, proof=to_target("what is mirrored comes from another hardware address", changed(
               arp, sender_mac=bytes.fromhex("020000090009"), source_mac=bytes.fromhex("020000090009"))))
def mirrored(bench):
    bench.plug_in()
    bench.peer.mirrors = True
    rival = Rival(bench, by_reply, count=0)
    bench.peer.reactions.append(rival.take)
    bench.begin()
    verdict = keeps(bench, rival, "it heard only itself")
    bench.pause(4)
    address = rival.firsts[0].target
    if address not in bench.addresses():
        return failed(f"{address} is gone, although it heard only itself", verdict.packet)
    return verdict


MALFORMED = (
    ("too short", lambda body: body[:20]), ("of another kind of hardware", lambda body: b"\0\x20" + body[2:]),
    ("of another protocol", lambda body: body[:2] + b"\x86\xdd" + body[4:]),
    ("with longer addresses", lambda body: body[:4] + b"\x08\x10" + body[6:]), ("empty", lambda body: b""))


def mended():
    """The first address that the target probed for is denied properly."""
    targets = []

    def step(frame):
        if link_local_probe(frame) and frame.target not in targets and len(targets) < 2:
            targets.append(frame.target)
            if len(targets) == 1:
                return [(0, frame), (0, Back(by_reply(frame, bytes.fromhex("020000090009"))))]
        return [(0, frame)]
    return step


@criterion("RFC 826", "malformed ARP packets about the address that is probed for change nothing", seconds=12,
           proof=from_target("the first probe is answered properly", mended()))
def malformed_arp(bench):
    def nonsense(frame, mac):
        proper = by_announcement(frame, mac).frame
        for _, change in MALFORMED:
            bench.peer.put(wire.Other(proper[:12] + ARP_TYPE.to_bytes(2, "big") + change(proper[14:])))
        return wire.Other(proper[:14])
    return keeps(bench, opposed(bench, nonsense, count=3), "no ARP packet told so")


# Many conflicts.

def tried(rival, count, within):
    limit = time.time() + within
    while len(rival.firsts) < count and time.time() < limit:
        time.sleep(0.05)
    return rival.firsts[:count]


def renamed(wanted_number, first=1):
    """The so manieth address that is probed for is the first once more."""
    order = []

    def change(frame):
        if frame.target not in order:
            order.append(frame.target)
        again = order.index(frame.target) == wanted_number
        return replace(frame, target=order[first - 1]) if again else frame
    return fields(link_local_probe, change)


@criterion("RFC 3927 §2.2.1", "an address that was taken is not tried again", seconds=24,
           proof=from_target("the sixth address is the second once more", renamed(5, 2)))
def new_each_time(bench):
    rival = opposed(bench, by_reply, count=100)
    # A host that returns to an address that is taken probes for it once more.
    tried(rival, 9, 22)
    order = [arp.target for arp in bench.peer.arps(link_local_probe)]
    changes = [address for before, address in zip([None, *order], order) if address != before]
    twice = [address for address in changes if changes.count(address) > 1]
    if twice:
        return failed(f"{twice[0]} was tried again", rival.firsts[-1])
    if len(changes) < 6:
        return failed(f"it tried {len(changes)} addresses within 22 s", rival.firsts[-1] if rival.firsts else None)
    return passed(f"{len(changes)} addresses, all different", rival.firsts[-1])


def hasty():
    """Behind each probe for a later address comes one for yet another."""
    targets = []

    def make(frame):
        if frame.target in targets:
            return None
        targets.append(frame.target)
        return replace(frame, target=f"169.254.100.{len(targets)}") if len(targets) > 9 else None
    return also(link_local_probe, make, 5)


@criterion("RFC 3927 §2.2.1, §9", "after ten conflicts at most one new address a minute, and on it goes", seconds=90,
           proof=from_target("after the tenth address, another follows in 5 s", hasty()))
def rate_limit(bench):
    rival = opposed(bench, by_reply, count=100)
    begin = bench.connected
    if len(tried(rival, 10, 40)) < 10:
        return failed(f"it tried {len(rival.firsts)} addresses within 40 s", rival.firsts[-1] if rival.firsts else None)
    tenth, gaps, fast = rival.firsts[9].at, [], []
    # One more may come at once: the eleventh conflict is the first that exceeds ten.
    while time.time() < tenth + 70:
        later = rival.firsts[9:]
        gaps = [after.at - before.at for before, after in zip(later, later[1:])]
        fast = [gap for gap in gaps[1:] if gap < 59]
        if fast or any(gap >= 59 for gap in gaps):
            break
        time.sleep(0.1)
    told = f"ten within {tenth - begin:.1f} s, then after " + (" and ".join(f"{gap:.1f}" for gap in gaps) or "more than 70") + " s"
    return (passed if not fast and any(gap >= 59 for gap in gaps) else failed)(told, later[-1])


# An address that is its own already.

def conflict(bench, address, mac=None):
    """Another host uses the address; the frame."""
    return bench.peer.put(wire.request("169.254.9.2", mac or bench.peer.mac(RIVAL), address))


def defences(bench, address, since, seconds):
    bench.until(since + seconds)
    return bench.peer.arps(lambda it: it.is_announcement and it.sender == address, since)


def held(bench, address):
    return address in bench.addresses() and not bench.went(address)


def settled(bench):
    bench.begin()
    return bench.settle_claim(bench.claim())


@criterion("RFC 3927 §2.5", "the first conflict over its own address: one announcement defends it", seconds=16,
           proof=from_target("later announcements are lost", dropped(announcement, keeping=lambda number: number <= 2)))
def defends_once(bench):
    claim = settled(bench)
    struck = conflict(bench, claim.address)
    told = defences(bench, claim.address, struck.at, 4)
    if len(told) != 1:
        return failed(f"{len(told)} announcements within 4 s", told[-1] if told else struck)
    if not held(bench, claim.address):
        return failed(f"{claim.address} was given up", struck)
    if told[0].destination_mac != wire.BROADCAST:
        return failed("not told to everybody", told[0])
    return passed(f"after {(told[0].at - struck.at) * 1000:.0f} ms, and kept", told[0])


@criterion("RFC 3927 §2.5", "a second conflict within ten seconds: it gives the address up, and claims another",
           seconds=24, proof=to_target("the second conflict is lost", dropped(arp, keeping=lambda number: number == 1)))
def second_conflict(bench):
    claim = settled(bench)
    conflict(bench, claim.address)
    bench.pause(3)
    if claim.address not in bench.addresses():
        return failed(f"{claim.address} was given up at the first conflict")
    struck = conflict(bench, claim.address)
    if not bench.await_went(claim.address, 1):
        return failed(f"{claim.address} is still on the interface a second later", struck)
    new = bench.claim(9, struck.at, but=(claim.address,))
    if len(new.probes) != 3:
        return failed(f"{new.address} was announced after {len(new.probes)} probes", new.announcement)
    used = bench.peer.arps(lambda it: it.sender == claim.address, struck.at + SLACK)
    if used:
        return failed(f"{claim.address} was still used", used[0])
    return passed(f"{claim.address} given up at once, {new.address} claimed", new.announcement)


def struck_again():
    """Each conflict comes once more, two seconds later."""
    return lambda frame: [(0, frame), (2, frame)] if arp(frame) else [(0, frame)]


@criterion("RFC 3927 §2.5", "two conflicts more than ten seconds apart are both defended against", seconds=28,
           proof=to_target("each conflict comes once more after 2 s", struck_again()))
def conflicts_apart(bench):
    claim = settled(bench)
    for wait in (10.6, 2):
        struck = conflict(bench, claim.address)
        told = defences(bench, claim.address, struck.at, wait)
        if not told:
            return failed("not defended", struck)
    if not held(bench, claim.address):
        return failed(f"{claim.address} was given up", struck)
    return passed("both defended, and kept", told[0])


@criterion("RFC 5227 §2.1.1, RFC 826", "a probe of another host for its own address is answered, and the address kept",
           seconds=16, proof=from_target("what it says afterwards is lost", dropped(after(announcement, arp, 2))))
def foreign_probe(bench):
    claim = settled(bench)
    asked = bench.peer.put(wire.probe(claim.address, bench.peer.mac(RIVAL)))
    answer = bench.peer.await_arp(lambda it: it.sender == claim.address, 0.5, asked.at)
    if answer is None:
        return failed("not answered within 0.5 s", asked)
    bench.until(asked.at + 3)
    again = bench.peer.arps(link_local_probe, asked.at)
    if again or not held(bench, claim.address):
        return failed(f"{claim.address} was given up", again[0] if again else asked)
    return passed(f"answered after {(answer.at - asked.at) * 1000:.0f} ms, and kept", answer)


@criterion("RFC 3927 §2.5, RFC 5227 §2.1.1", "probes of two hosts, twelve in three seconds, do not drive it from its address",
           seconds=18, proof=to_target("its own address is told as their sender", fields(
               probe, lambda frame: replace(frame, sender=frame.target))))
def many_foreign_probes(bench):
    claim = settled(bench)
    for number in range(12):
        asked = bench.peer.put(wire.probe(claim.address, bench.peer.mac(8 + number % 2)))
        bench.pause(0.25)
    if not held(bench, claim.address):
        return failed(f"{claim.address} was given up", asked)
    answers = bench.peer.arps(lambda it: it.sender == claim.address, asked.at - 3.1)
    return passed(f"{len(answers)} answers, and kept", answers[-1]) if answers else failed("none was answered", asked)


def second_address(frame):
    """From the moment when a second address is announced."""
    seen = second_address.__dict__.setdefault("seen", set())
    if announcement(frame):
        seen.add(frame.sender)
    return len(seen) > 1


def old_address_told():
    """Once a second address is announced, multicast DNS tells no IPv4 address any more."""
    silenced = records(without(A), lambda _: True)

    def step(frame):
        late = second_address(frame)
        return silenced(frame) if late and mdns(lambda it: it.message.is_response)(frame) else [(0, frame)]
    return step


@criterion("RFC 3927 §2.5, RFC 6762 §8.4", "the service is announced with the new address, and the old one told no more",
           seconds=26, needs={"service"}, proof=from_target(
               "no address is told after the second was announced", old_address_told()))
def service_moves(bench):
    claim = settled(bench)
    bench.tells(claim.address, 8, bench.connected)
    conflict(bench, claim.address)
    bench.pause(1)
    struck = conflict(bench, claim.address)
    new = bench.claim(9, struck.at, but=(claim.address,))
    told = bench.tells(new.address, 3, struck.at)
    record = next(it for it in told.message.records if it.type == A and it.data == address_bytes(new.address))
    if not record.flush:
        return failed("without the cache-flush bit", told)
    bench.until(told.at + 2)
    old = bench.peer.heard(lambda it: any(
        record.type == A and record.ttl and record.data == address_bytes(claim.address)
        for record in it.message.records + it.message.authorities), since=struck.at + SLACK, family=None)
    if old:
        return failed(f"{claim.address} was told afterwards", old[0])
    bench.reachable(new.address)
    return passed(f"{new.address} told {told.at - new.announcement.at:.2f} s after it was announced by ARP", told)
