"""Conflicts with another host over an address that the target still probes (RFC 3927 section 2.2.1, RFC 5227 section 2.1.1)."""

import time
from dataclasses import replace

from conformance import wire
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import (
    also, arp, Back, changed, dropped, fields, from_target, link_local_probe, to_target)
from conformance.frames import ARP as ARP_TYPE

RIVAL = 9  # the number of the peer's host that conflicts with the target
NO_RIVAL = to_target("packets of the other host are lost", dropped(arp))


class Rival:
    """Another host that conflicts with the first `count` addresses that the target probes. It sends `says(probe, mac)`
    `delay` seconds after probe `number` (from 1) for the address. `take` is a reaction of the peer."""

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
    """Starts the target while the rival conflicts with it, and returns the rival."""
    bench.plug_in()
    rival = Rival(bench, says, **how)
    bench.peer.reactions.append(rival.take)
    bench.begin()
    return rival


def gives_way(bench, says, **how):
    rival = opposed(bench, says, **how)
    claim = bench.claim(14)
    if not rival.denied:
        return failed(f"it announced an address after fewer than {rival.number} probes", claim.announcement)
    denied = rival.denied[0]
    if claim.address == denied:
        return failed(f"{denied} was announced nevertheless", claim.announcement)
    if bench.kernel.came(denied):
        return failed(f"the interface got {denied}, although another host has it", rival.firsts[0])
    if len(claim.probes) != 3:
        return failed(f"{claim.address} was announced after {len(claim.probes)} probes", claim.announcement)
    return passed(f"{denied} was left to the other host, {claim.address} was probed three times", claim.announcement)


@criterion("RFC 3927 §2.2.1", "an answered probe makes it choose and probe a new address", seconds=14, proof=NO_RIVAL)
def denied_by_reply(bench):
    return gives_way(bench, by_reply)


@criterion("RFC 3927 §2.2.1", "an announcement of the probed address makes it choose a new address", seconds=14,
           proof=NO_RIVAL)
def denied_by_announcement(bench):
    return gives_way(bench, by_announcement, number=2)


@criterion("RFC 3927 §2.2.1", "an announcement by broadcast reply also makes it choose a new address",
           seconds=14, proof=NO_RIVAL)
def denied_by_announcing_reply(bench):
    return gives_way(bench, by_announcing_reply, number=2)


@criterion("RFC 3927 §2.2.1", "any ARP request from the probed address makes it choose a new address",
           seconds=14, proof=NO_RIVAL)
def denied_by_use(bench):
    return gives_way(bench, by_use, number=2)


@criterion("RFC 3927 §2.2.1", "a conflict within two seconds after the last probe makes it choose a new address",
           seconds=16, proof=NO_RIVAL)
def denied_at_last(bench):
    return gives_way(bench, by_reply, number=3, delay=1.6)


@criterion("RFC 3927 §2.2.1, RFC 5227 §2.1.1", "simultaneous probes for one address make it choose a new address",
           seconds=14, proof=NO_RIVAL)
def simultaneous_probe(bench):
    return gives_way(bench, by_probe)


def keeps(bench, rival, what):
    """Expects that the target claims its first address."""
    claim = bench.claim(14)
    if claim.address != rival.firsts[0].target:
        return failed(f"it left {rival.firsts[0].target} for {claim.address}, although {what}", claim.announcement)
    return passed(f"{claim.address} was announced", claim.announcement)


@criterion("RFC 3927 §2.2.1", "an ARP request for the probed address is not a conflict", seconds=12,
           proof=to_target("its request has no sender, like a probe", changed(arp, sender=wire.NOWHERE)))
def asked_for(bench):
    def asks(frame, mac):
        return wire.request(frame.target, mac, bench.peer.link_local(RIVAL))
    return keeps(bench, opposed(bench, asks), "the address was only requested")


@criterion("RFC 3927 §2.2.1, RFC 5227 §2.1.1", "its own frames, mirrored by the link, are not a conflict",
           seconds=16, proof=to_target("mirrored frames have a different hardware address", changed(
               arp, sender_mac=bytes.fromhex("020000090009"), source_mac=bytes.fromhex("020000090009"))))
def mirrored(bench):
    bench.plug_in()
    bench.peer.mirrors = True
    rival = Rival(bench, by_reply, count=0)
    bench.peer.reactions.append(rival.take)
    bench.begin()
    verdict = keeps(bench, rival, "it received only its own frames")
    bench.pause(4)
    address = rival.firsts[0].target
    if address not in bench.kernel.now():
        return failed(f"{address} was released, although it received only its own frames", verdict.packet)
    return verdict


MALFORMED = (
    ("too short", lambda body: body[:20]), ("of a different hardware type", lambda body: b"\0\x20" + body[2:]),
    ("of a different protocol", lambda body: body[:2] + b"\x86\xdd" + body[4:]),
    ("with longer addresses", lambda body: body[:4] + b"\x08\x10" + body[6:]), ("empty", lambda body: b""))


def mended():
    """Answers the first probe for the first address with a valid packet, so that the target loses this address."""
    targets = []

    def step(frame):
        if link_local_probe(frame) and frame.target not in targets and len(targets) < 2:
            targets.append(frame.target)
            if len(targets) == 1:
                return [(0, frame), (0, Back(by_reply(frame, bytes.fromhex("020000090009"))))]
        return [(0, frame)]
    return step


@criterion("RFC 826", "malformed ARP packets about the probed address are ignored", seconds=12,
           proof=from_target("the first probe is answered with a valid packet", mended()))
def malformed_arp(bench):
    def nonsense(frame, mac):
        proper = by_announcement(frame, mac).frame
        for _, change in MALFORMED:
            bench.peer.put(wire.Other(proper[:12] + ARP_TYPE.to_bytes(2, "big") + change(proper[14:])))
        return wire.Other(proper[:14])
    return keeps(bench, opposed(bench, nonsense, count=3), "all ARP packets were malformed")


# Many conflicts.

def tried(rival, count, within):
    limit = time.time() + within
    while len(rival.firsts) < count and time.time() < limit:
        time.sleep(0.05)
    return rival.firsts[:count]


def renamed(wanted_number, first=1):
    """Replaces the address in some probes. `wanted_number` (counted from 0) selects the replaced address in the order of the probed
    addresses, and `first` (counted from 1) selects its replacement."""
    order = []

    def change(frame):
        if frame.target not in order:
            order.append(frame.target)
        again = order.index(frame.target) == wanted_number
        return replace(frame, target=order[first - 1]) if again else frame
    return fields(link_local_probe, change)


@criterion("RFC 3927 §2.2.1", "an address that is in use is not tried again", seconds=24,
           proof=from_target("the sixth address is the second one again", renamed(5, 2)))
def new_each_time(bench):
    rival = opposed(bench, by_reply, count=100)
    # Waits for nine addresses. A probe for an earlier address after a probe for a different one shows that the target tries it again.
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
    """For the tenth and each later probed address, sends a probe for a further address 5 s after the first probe for
    that address."""
    targets = []

    def make(frame):
        if frame.target in targets:
            return None
        targets.append(frame.target)
        return replace(frame, target=f"169.254.100.{len(targets)}") if len(targets) > 9 else None
    return also(link_local_probe, make, 5)


@criterion("RFC 3927 §2.2.1, §9", "after ten conflicts it tries at most one new address per minute, and continues",
           seconds=90, proof=from_target("after the tenth address, the next one follows within 5 s", hasty()))
def rate_limit(bench):
    rival = opposed(bench, by_reply, count=100)
    begin = bench.connected
    if len(tried(rival, 10, 40)) < 10:
        return failed(f"it tried {len(rival.firsts)} addresses within 40 s", rival.firsts[-1] if rival.firsts else None)
    tenth, gaps, fast = rival.firsts[9].at, [], []
    # The eleventh address may follow at once, because only the eleventh conflict exceeds the limit of ten.
    while time.time() < tenth + 70:
        later = rival.firsts[9:]
        gaps = [after.at - before.at for before, after in zip(later, later[1:])]
        fast = [gap for gap in gaps[1:] if gap < 59]
        if fast or any(gap >= 59 for gap in gaps):
            break
        time.sleep(0.1)
    told = f"ten within {tenth - begin:.1f} s, then after " + (" and ".join(f"{gap:.1f}" for gap in gaps) or "more than 70") + " s"
    return (passed if not fast and any(gap >= 59 for gap in gaps) else failed)(told, later[-1])
