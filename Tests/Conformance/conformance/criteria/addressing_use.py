"""A link-local address in use (RFC 3927 sections 2.5 and 2.6)."""

from dataclasses import replace

from conformance import wire
from conformance.criterion import criterion, failed, passed
from conformance.frame_alterations import fields, from_target, in_host, reply, request
from conformance.frames import IPV4, checksum
from conformance.records import address_bytes

from conformance.criteria.addressing_claiming import claimed


@criterion("RFC 3927 §2.5", "replies to ARP requests for a link-local address are broadcast", seconds=12,
           proof=from_target("replies are sent by unicast", fields(
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
                return failed("answered by unicast", answer)
    return passed("a broadcast and a unicast request, both answered by broadcast", answer)


def echo_request(bench, host, address):
    """Returns an ICMP echo request of the peer's host with that number. The kernel of the target's host answers it."""
    body = bytes([8, 0, 0, 0, 0, 1, 0, 1]) + bytes(24)
    body = body[:2] + checksum(body).to_bytes(2, "big") + body[4:]
    header = bytes([0x45, 0, 0, 20 + len(body), 0, 0, 0, 0, 64, 1, 0, 0])
    header += address_bytes(bench.peer.link_local(host)) + address_bytes(address)
    header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
    return wire.Other(bench.mac + bench.peer.mac(host) + IPV4.to_bytes(2, "big") + header + body)


@criterion("RFC 3927 §2.5", "the kernel's ARP requests are broadcast, including repeated ones", seconds=22,
           proof=from_target("requests are sent to one host", fields(
               request, lambda frame: replace(frame, destination_mac=bytes.fromhex("020000090006")))))
def kernel_requests_broadcast(bench):
    bench.plug_in()
    # Makes the entries of the target's neighbour table expire fast, so that its kernel repeats the ARP requests.
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
        return failed(f"only {len(asked)} ARP requests for its neighbour within 8 s", asked[-1] if asked else None)
    for arp in asked:
        if arp.destination_mac != wire.BROADCAST:
            return failed("a request by unicast", arp)
    return passed(f"{len(asked)} requests within 8 s, all by broadcast", asked[-1])


@criterion("RFC 3927 §2.1, §2.6.1", "the address has a 16-bit prefix, scope link and the broadcast address 169.254.255.255",
           seconds=10, proof=in_host(
               "it is set with scope global", "sh", "-c",
               "ip address delete {}/16 dev eth0; ip address add {}/16 broadcast 169.254.255.255 dev eth0"))
def address_settings(bench):
    claim = claimed(bench)
    entry = next((entry for entry in bench.kernel.entries() if entry["local"] == claim.address), None)
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
        return failed(told if not right else "no route to 169.254.0.0/16 is listed", claim.announcement)
    return passed(told, claim.announcement)
