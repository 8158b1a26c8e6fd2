"""A host's claim of a link-local address (RFC 3927 sections 2.2.1 and 2.4)."""

from dataclasses import replace

from conformance import wire
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.frame_alterations import (
    after, also, announcement, Back, changed, delayed, dropped, fields, from_target, link_local_probe, probe)

LATE = 0.15  # seconds by which a busy machine may delay the target


def claimed(bench):
    bench.begin()
    return bench.claim()


@criterion("RFC 3927 §2.2.1, RFC 5227 §2.1.1", "three probes are sent before an address is used", seconds=10,
           proof=from_target("the third probe is lost", dropped(probe, keeping=lambda number: number < 3)))
def three_arp_probes(bench):
    claim = claimed(bench)
    if len(claim.probes) != 3:
        return failed(f"{len(claim.probes)} probes before {claim.address} was announced", claim.announcement)
    return passed(f"three probes for {claim.address}", claim.probes[-1])


@criterion("RFC 3927 §2.2.1", "probes have no sender address", seconds=10, proof=from_target(
    "probes have the sender address 169.254.9.9", fields(probe, lambda frame: replace(frame, sender="169.254.9.9"))))
def probes_without_sender(bench):
    bench.begin()
    # Before the target has an address, each of its ARP requests must be a probe.
    asked = bench.peer.await_arp(lambda arp: arp.operation == wire.REQUEST, 3, bench.connected)
    if asked is None:
        return failed("no ARP request within 3 s")
    if not asked.is_probe:
        return failed(f"the first ARP request has the sender {asked.sender}", asked)
    claim = bench.claim()
    early = bench.peer.arps(lambda arp: not arp.is_probe, bench.connected, claim.announcement.at - 1e-6)
    if early:
        return failed("an ARP packet with a sender address before the announcement", early[0])
    return passed("sender 0.0.0.0 until the announcement", claim.probes[0])


@criterion("RFC 3927 §2.2.1, §2.5", "probes are broadcast, from the interface's own hardware address", seconds=10,
           proof=from_target("probes go to one host", changed(probe, destination_mac=bytes.fromhex("020000090002"))))
def probes_broadcast(bench):
    claim = claimed(bench)
    for arp in claim.probes:
        if arp.destination_mac != wire.BROADCAST:
            return failed("a probe that is not broadcast", arp)
        if (arp.sender_mac, arp.source_mac) != (bench.mac, bench.mac):
            return failed("a probe from a different hardware address", arp)
    return passed(f"{len(claim.probes)} probes, all broadcast", claim.probes[0])


@criterion("RFC 3927 §2.2.1", "probes leave the target hardware address empty", seconds=8, worst=WARN,
           proof=from_target("probes contain a target hardware address", changed(probe, target_mac=wire.BROADCAST)))
def probes_without_target_hardware(bench):
    bench.begin()
    arp = bench.expect_probe()
    if arp.target_mac != wire.NO_MAC:
        return warned(f"the target hardware address is {wire.mac_text(arp.target_mac)}", arp)
    return passed("the target hardware address is zero", arp)


@criterion("RFC 3927 §2.2.1", "the first probe is sent within one second after link-up", seconds=8, retried=1,
           proof=from_target("probes are delayed by 1.3 s", delayed(1.3, probe)))
def probe_wait(bench):
    begin = bench.begin()
    arp = bench.expect_probe(4)
    waited = arp.at - begin
    return (passed if waited <= 1 + LATE else failed)(f"first probe {waited:.2f} s after link-up", arp)


@criterion("RFC 3927 §2.2.1", "probes are one to two seconds apart", seconds=10, retried=1,
           proof=from_target("all but the first are delayed by 1.5 s", delayed(1.5, after(probe, probe))))
def probe_gaps(bench):
    claim = claimed(bench)
    gaps = [later.at - earlier.at for earlier, later in zip(claim.probes, claim.probes[1:])]
    told = " and ".join(f"{gap:.2f}" for gap in gaps) + " s apart"
    if len(gaps) < 2:
        return failed(f"only {len(claim.probes)} probes", claim.announcement)
    return (passed if all(0.97 <= gap <= 2 + LATE for gap in gaps) else failed)(told, claim.probes[-1])


@criterion("RFC 3927 §2.2.1, §2.4", "the address is announced two seconds after the last probe", seconds=10, retried=1,
           proof=from_target("announcements are delayed by 0.5 s", delayed(0.5, announcement)))
def announce_wait(bench):
    claim = claimed(bench)
    if not claim.probes:
        return failed("announced without a probe", claim.announcement)
    waited = claim.announcement.at - claim.probes[-1].at
    return (passed if 1.97 <= waited <= 2 + LATE else failed)(f"announced {waited:.2f} s after the last probe", claim.announcement)


@criterion("RFC 3927 §2.4", "the address is announced twice, two seconds apart, by broadcast", seconds=14, retried=1,
           proof=from_target("the second announcement is lost", dropped(announcement, keeping=lambda number: number == 1)))
def announcements(bench):
    claim = claimed(bench)
    bench.until(claim.announcement.at + 5)
    told = bench.peer.arps(lambda arp: arp.is_announcement, bench.connected)
    if len(told) != 2:
        return failed(f"{len(told)} announcements within 5 s", told[-1])
    gap = told[1].at - told[0].at
    if any(arp.destination_mac != wire.BROADCAST or arp.sender != claim.address for arp in told):
        return failed("an announcement is not broadcast, or for a different address", told[-1])
    return (passed if 1.97 <= gap <= 2 + LATE else failed)(f"two, {gap:.2f} s apart", told[1])


def from_address(bench, address, since, until):
    """Returns the first frame that was sent from the address between `since` and `until`, or None."""
    return next((frame for frame in list(bench.peer.frames) if since < frame.at < until
                 and address in (getattr(frame, "source", None), getattr(frame, "sender", None))), None)


@criterion("RFC 3927 §2.2.1", "an address is neither used nor on the interface before it is claimed",
           seconds=10, proof=from_target(
               "each probe is followed by a request from the address", also(
                   probe, lambda frame: wire.request("169.254.9.2", frame.sender_mac, frame.target), 0.1)))
def silent_before_claimed(bench):
    claim = claimed(bench)
    early = from_address(bench, claim.address, bench.connected, claim.announcement.at)
    if early:
        return failed("sent before the address was announced", early)
    last_probe = claim.probes[-1].at if claim.probes else claim.announcement.at
    if claim.usable < last_probe + 1.9:
        return failed(f"on the interface {claim.usable - last_probe:.2f} s after the last probe", claim.probes[-1])
    return passed(f"on the interface {claim.usable - last_probe:.2f} s after the last probe", claim.announcement)


def answered_probes(count):
    """Answers the third probe for each of the first `count` addresses, as another host would."""
    thirds, seen = [0], {}

    def step(frame):
        if not link_local_probe(frame):
            return [(0, frame)]
        seen[frame.target] = seen.get(frame.target, 0) + 1
        if seen[frame.target] != 3 or thirds[0] >= count:
            return [(0, frame)]
        thirds[0] += 1
        return [(0, frame), (0, Back(wire.reply(frame.target, bytes.fromhex("020000090009"), frame.sender_mac)))]
    return step


@criterion("RFC 3927 §2.2.1, §9", "an address is usable 4 to 7 seconds after link-up", seconds=10, retried=1,
           proof=from_target("another host has the first two addresses", answered_probes(2)))
def usable_in_time(bench):
    begin = bench.begin()
    claim = bench.claim(16)
    waited = claim.usable - begin
    return (passed if 3.98 <= waited <= 7 + LATE else failed)(f"usable {waited:.2f} s after link-up", claim.announcement)
