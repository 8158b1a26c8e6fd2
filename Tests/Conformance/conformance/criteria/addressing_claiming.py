"""How a link-local address becomes the host's own, and what it then looks like (RFC 3927 sections 2.1 to 2.5)."""

from dataclasses import replace

from conformance import wire
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.frame_alterations import (
    Back, after, also, announcement, changed, delayed, dropped, fields, from_target, in_host,
    link_local_probe, moved, probe, reply, request)
from conformance.frames import IPV4, checksum
from conformance.records import address_bytes

LATE = 0.15  # seconds that a target may lose on a busy machine
OTHER_MAC = bytes.fromhex("020000a1b2c4")


def claimed(bench):
    bench.begin()
    return bench.claim()


@criterion("RFC 3927 §2.2.1, RFC 5227 §2.1.1", "three probes before an address is used", seconds=10,
           proof=from_target("the third probe is lost", dropped(probe, keeping=lambda number: number < 3)))
def three_arp_probes(bench):
    claim = claimed(bench)
    if len(claim.probes) != 3:
        return failed(f"{len(claim.probes)} probes before {claim.address} was announced", claim.announcement)
    return passed(f"three for {claim.address}", claim.probes[-1])


@criterion("RFC 3927 §2.2.1", "probes tell no sender address", seconds=10, proof=from_target(
    "probes tell the address that they are for", fields(probe, lambda frame: replace(frame, sender="169.254.9.9"))))
def probes_without_sender(bench):
    bench.begin()
    # Whatever else it asks for before it has an address is not its own to ask for.
    asked = bench.peer.await_arp(lambda arp: arp.operation == wire.REQUEST, 3, bench.connected)
    if asked is None:
        return failed("no ARP request within 3 s")
    if not asked.is_probe:
        return failed(f"the first ARP request comes from {asked.sender}", asked)
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
            return failed("a probe from another hardware address", arp)
    return passed(f"{len(claim.probes)} probes, all broadcast", claim.probes[0])


@criterion("RFC 3927 §2.2.1", "probes leave the target hardware address empty", seconds=8, worst=WARN,
           proof=from_target("probes tell one", changed(probe, target_mac=wire.BROADCAST)))
def probes_without_target_hardware(bench):
    bench.begin()
    arp = bench.expect_probe()
    if arp.target_mac != wire.NO_MAC:
        return warned(f"it is {wire.mac_text(arp.target_mac)}", arp)
    return passed("all zeroes", arp)


@criterion("RFC 3927 §2.2.1", "the first probe comes within a second of the link", seconds=8, retried=True,
           proof=from_target("probes come 1.3 s later", delayed(1.3, probe)))
def probe_wait(bench):
    begin = bench.begin()
    arp = bench.expect_probe(4)
    waited = arp.at - begin
    return (passed if waited <= 1 + LATE else failed)(f"after {waited:.2f} s", arp)


@criterion("RFC 3927 §2.2.1", "probes are one to two seconds apart", seconds=10, retried=True,
           proof=from_target("all but the first come 1.5 s later", delayed(1.5, after(probe, probe))))
def probe_gaps(bench):
    claim = claimed(bench)
    gaps = [later.at - earlier.at for earlier, later in zip(claim.probes, claim.probes[1:])]
    told = " and ".join(f"{gap:.2f}" for gap in gaps) + " s apart"
    if len(gaps) < 2:
        return failed(f"only {len(claim.probes)} probes", claim.announcement)
    return (passed if all(0.97 <= gap <= 2 + LATE for gap in gaps) else failed)(told, claim.probes[-1])


@criterion("RFC 3927 §2.2.1, §2.4", "announced two seconds after the last probe", seconds=10, retried=True,
           proof=from_target("announcements come 0.5 s later", delayed(0.5, announcement)))
def announce_wait(bench):
    claim = claimed(bench)
    if not claim.probes:
        return failed("announced without a probe", claim.announcement)
    waited = claim.announcement.at - claim.probes[-1].at
    return (passed if 1.97 <= waited <= 2 + LATE else failed)(f"after {waited:.2f} s", claim.announcement)


@criterion("RFC 3927 §2.4", "announced twice, two seconds apart, to everybody", seconds=14, retried=True,
           proof=from_target("the second announcement is lost", dropped(announcement, keeping=lambda number: number == 1)))
def announcements(bench):
    claim = claimed(bench)
    bench.until(claim.announcement.at + 5)
    told = bench.peer.arps(lambda arp: arp.is_announcement, bench.connected)
    if len(told) != 2:
        return failed(f"{len(told)} announcements within 5 s", told[-1])
    gap = told[1].at - told[0].at
    if any(arp.destination_mac != wire.BROADCAST or arp.sender != claim.address for arp in told):
        return failed("an announcement that is not broadcast, or of another address", told[-1])
    return (passed if 1.97 <= gap <= 2 + LATE else failed)(f"two, {gap:.2f} s apart", told[1])


def from_address(bench, address, since, until):
    """The first frame that was sent from an address in that time."""
    return next((frame for frame in list(bench.peer.frames) if since < frame.at < until
                 and address in (getattr(frame, "source", None), getattr(frame, "sender", None))), None)


@criterion("RFC 3927 §2.2.1", "nothing is sent from an address that is not its own yet, and the interface has it not",
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
    """The first so many third probes are answered by another host."""
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


@criterion("RFC 3927 §2.2.1, §9", "usable 4 to 7 seconds after the link", seconds=10, retried=True,
           proof=from_target("another host has the first two addresses", answered_probes(2)))
def usable_in_time(bench):
    begin = bench.begin()
    claim = bench.claim(16)
    waited = claim.usable - begin
    return (passed if 3.98 <= waited <= 7 + LATE else failed)(f"after {waited:.2f} s", claim.announcement)


@criterion("RFC 3927 §2.1", "addresses lie within 169.254.1.0 and 169.254.254.255", seconds=14, proof=from_target(
    "probes are for an address beyond", fields(link_local_probe, moved("169.254.255.7"))))
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
        return failed("it tried one address", None)
    return passed(f"{len(seen)} addresses tried, all within", arp)


def deny(bench, frame, seen):
    if link_local_probe(frame) and frame.target not in seen:
        seen.add(frame.target)
        bench.peer.put(wire.reply(frame.target, bench.peer.mac(9), frame.sender_mac))


@criterion("RFC 3927 §2.1", "the same hardware address begins with the same address", seconds=12, proof=from_target(
    "after the first probe, probes are for another address", fields(after(probe, link_local_probe), moved("169.254.77.7"))))
def same_mac_same_address(bench):
    bench.begin()
    first = bench.expect_probe()
    second = bench.expect_probe(4, bench.restart(blank=True))
    told = f"{first.target}, and when it began anew without memory {second.target}"
    return (passed if first.target == second.target else failed)(told, second)


@criterion("RFC 3927 §2.1", "another hardware address begins with another address", seconds=12,
           proof=from_target("all probes are for one address", fields(link_local_probe, moved("169.254.77.7"))))
def other_mac_other_address(bench):
    bench.begin()
    first = bench.expect_probe()
    second = bench.expect_probe(4, bench.restart(blank=True, mac=OTHER_MAC))
    told = f"{first.target}, with another hardware address {second.target}"
    return (passed if first.target != second.target else failed)(told, second)


OTHER_LATER = from_target("after an announcement, probes are for another address", fields(
    after(announcement, link_local_probe), moved("169.254.77.7")))


def same_again(bench, **how):
    """It is made to take its second choice, and begins anew."""
    bench.plug_in()
    seen = set()
    bench.peer.reactions.append(lambda frame: None if seen else deny(bench, frame, seen))
    bench.begin()
    claim = bench.settle_claim(bench.claim(12))
    again = bench.expect_probe(4, bench.restart(**how))
    told = f"it had {claim.address} and tried {again.target}"
    return (passed if claim.address == again.target else warned)(told, again)


@criterion("RFC 3927 §2.1", "the address that it had is tried first after it was stopped in order", seconds=20, worst=WARN,
           proof=OTHER_LATER)
def remembered_when_stopped(bench):
    return same_again(bench, orderly=True)


@criterion("RFC 3927 §2.1", "the same after a loss of power", seconds=20, worst=WARN, proof=OTHER_LATER)
def remembered_without_power(bench):
    return same_again(bench)


@criterion("RFC 3927 §2.5", "ARP requests for a link-local address are answered to everybody", seconds=12,
           proof=from_target("replies go to the asker alone", fields(
               reply, lambda frame: replace(frame, destination_mac=frame.target_mac))))
def replies_broadcast(bench):
    claim = bench.settle_claim(claimed(bench))
    for destination in (wire.BROADCAST, bench.mac):
        asked = bench.peer.put(wire.request(claim.address, bench.peer.mac(5), bench.peer.link_local(5), destination))
        answers = bench.peer.await_some(
            wire.ARP, lambda arp: arp.sender == claim.address and arp.operation == wire.REPLY, 2, 0.6, asked.at)
        if not answers:
            return failed("an ARP request was not answered within 0.6 s", asked)
        for answer in answers:
            if answer.destination_mac != wire.BROADCAST:
                return failed("answered to the asker alone", answer)
    return passed("a request to everybody and one to it alone, both answered to everybody", answer)


def echo_request(bench, host, address):
    """ICMP: what the host's kernel answers by itself."""
    body = bytes([8, 0, 0, 0, 0, 1, 0, 1]) + bytes(24)
    body = body[:2] + checksum(body).to_bytes(2, "big") + body[4:]
    header = bytes([0x45, 0, 0, 20 + len(body), 0, 0, 0, 0, 64, 1, 0, 0])
    header += address_bytes(bench.peer.link_local(host)) + address_bytes(address)
    header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
    return wire.Other(bench.mac + bench.peer.mac(host) + IPV4.to_bytes(2, "big") + header + body)


@criterion("RFC 3927 §2.5", "what the kernel asks by ARP goes to everybody too, also when it asks again", seconds=22,
           proof=from_target("requests go to one host", fields(
               request, lambda frame: replace(frame, destination_mac=bytes.fromhex("020000090006")))))
def kernel_requests_broadcast(bench):
    bench.plug_in()
    # What it knows of its neighbours ages fast.
    bench.host.run("sysctl", "-qw", "net.ipv4.neigh.eth0.base_reachable_time_ms=1000",
                   "net.ipv4.neigh.eth0.delay_first_probe_time=1")
    bench.begin()
    claim = bench.settle_claim(bench.claim())
    begin = claim.announcement.at
    for _ in range(16):
        bench.peer.put(echo_request(bench, 6, claim.address))
        bench.pause(0.5)
    asked = bench.peer.arps(
        lambda arp: arp.operation == wire.REQUEST and arp.sender == claim.address and not arp.is_announcement, begin)
    if len(asked) < 2:
        return failed(f"asked for its neighbour {len(asked)} times within 8 s", asked[-1] if asked else None)
    for arp in asked:
        if arp.destination_mac != wire.BROADCAST:
            return failed("a request to one host", arp)
    return passed(f"{len(asked)} requests within 8 s, all to everybody", asked[-1])


@criterion("RFC 3927 §2.1, §2.6.1", "the address has 16 bits of network, scope link, and broadcasts to 169.254.255.255",
           seconds=10, proof=in_host(
               "it is given to the interface with scope global", "sh", "-c",
               "ip address delete {}/16 dev eth0; ip address add {}/16 broadcast 169.254.255.255 dev eth0"))
def address_settings(bench):
    claim = claimed(bench)
    entry = next((entry for entry in bench.entries() if entry["local"] == claim.address), None)
    if entry is None:
        return failed(f"{claim.address} is not on the interface", claim.announcement)
    told = f"{claim.address}/{entry['prefixlen']}, broadcast {entry.get('broadcast')}, scope {entry['scope']}"
    right = (entry["prefixlen"], entry.get("broadcast"), entry["scope"]) == (16, "169.254.255.255", "link")
    return (passed if right else failed)(told, claim.announcement)


@criterion("RFC 3927 §2.6.1", "link-local addresses are reached without a router, from the link-local address", seconds=10,
           proof=in_host("the route is deleted", "ip", "route", "delete", "169.254.0.0/16", "dev", "eth0"))
def link_local_route(bench):
    claim = claimed(bench)
    found = bench.host.finish("ip", "route", "get", "169.254.200.1")
    words = found.output.split()
    told = found.output.splitlines()[0].strip() if found.output else found.errors.strip()
    right = found.status == 0 and "via" not in words and "eth0" in words and claim.address in words
    listed = bench.host.run("ip", "route", "show", "169.254.0.0/16")
    if not right or "dev eth0" not in listed:
        return failed(told if not right else "there is no route to 169.254.0.0/16", claim.announcement)
    return passed(told, claim.announcement)
