"""A host's choice of a link-local address (RFC 3927 section 2.1)."""

from conformance import wire
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.frame_alterations import after, announcement, fields, from_target, link_local_probe, moved, probe
from conformance.records import address_bytes

OTHER_MAC = bytes.fromhex("020000a1b2c4")


@criterion("RFC 3927 §2.1", "addresses are between 169.254.1.0 and 169.254.254.255", seconds=14, proof=from_target(
    "probes are for an address outside the range", fields(link_local_probe, moved("169.254.255.7"))))
def address_range(bench):
    seen = set()
    bench.plug_in()
    bench.peer.reactions.append(lambda frame: deny(bench, frame, seen))
    bench.begin()
    bench.peer.await_arp(lambda arp: arp.is_probe and len(seen) >= 6, 14, bench.connected)
    for arp in bench.peer.arps(lambda arp: arp.is_probe):
        if not bytes((169, 254, 1, 0)) <= address_bytes(arp.target) <= bytes((169, 254, 254, 255)):
            return failed(f"{arp.target} is reserved", arp)
    if len(seen) < 2:
        return failed("it tried only one address", None)
    return passed(f"{len(seen)} addresses tried, all in the range", arp)


def deny(bench, frame, seen):
    if link_local_probe(frame) and frame.target not in seen:
        seen.add(frame.target)
        bench.peer.put(wire.reply(frame.target, bench.peer.mac(9), frame.sender_mac))


@criterion("RFC 3927 §2.1", "the same hardware address leads to the same first address", seconds=12, proof=from_target(
    "after the first probe, probes are for a different address", fields(after(probe, link_local_probe), moved("169.254.77.7"))))
def same_mac_same_address(bench):
    bench.begin()
    first = bench.expect_probe()
    second = bench.expect_probe(4, bench.restart(blank=True))
    told = f"{first.target}, and {second.target} after a restart without stored state"
    return (passed if first.target == second.target else failed)(told, second)


@criterion("RFC 3927 §2.1", "a different hardware address leads to a different first address", seconds=12,
           proof=from_target("all probes are for one address", fields(link_local_probe, moved("169.254.77.7"))))
def other_mac_other_address(bench):
    bench.begin()
    first = bench.expect_probe()
    second = bench.expect_probe(4, bench.restart(blank=True, mac=OTHER_MAC))
    told = f"{first.target}, and {second.target} with a different hardware address"
    return (passed if first.target != second.target else failed)(told, second)


OTHER_LATER = from_target("after an announcement, probes are for a different address", fields(
    after(announcement, link_local_probe), moved("169.254.77.7")))


def same_again(bench, **how):
    """Denies the target's first choice, so that it claims its second one. Then restarts the target, which should try
    the claimed address first."""
    bench.plug_in()
    seen = set()
    bench.peer.reactions.append(lambda frame: None if seen else deny(bench, frame, seen))
    bench.begin()
    claim = bench.settle_claim(bench.claim(12))
    again = bench.expect_probe(4, bench.restart(**how))
    told = f"it had {claim.address} and tried {again.target}"
    return (passed if claim.address == again.target else warned)(told, again)


@criterion("RFC 3927 §2.1", "the previous address is tried first after an orderly stop", seconds=20, worst=WARN,
           proof=OTHER_LATER)
def remembered_when_stopped(bench):
    return same_again(bench, orderly=True)


@criterion("RFC 3927 §2.1", "the previous address is tried first after a power cut",
           seconds=20, worst=WARN, proof=OTHER_LATER)
def remembered_without_power(bench):
    return same_again(bench)
