"""The change from a link-local address to a routable one, and back (RFC 3927 sections 1.9 and 2.11)."""

from dataclasses import replace

from conformance import wire
from conformance.address_bench import ECHO_PORT, last
from conformance.alterations import records, rewritten
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.dhcp import ACK, DISCOVER, OFFER, REQUEST
from conformance.frame_alterations import (
    after, dhcp, dropped, from_target, halted, in_host, link_local_announcement, mdns, options, segment, to_target)
from conformance.records import A, address_text

HALTED = halted("its program is stopped as soon as it has a routable address", lambda address: not wire.is_link_local(address))
OLD_ROUTE = in_host(
    "the route to the network has a different source address", "sh", "-c",
    "ip address add 192.0.2.77/32 dev lo; ip rule add to 10.9.0.0/24 table 99; "
    "ip route add 10.9.0.0/24 dev eth0 src 192.0.2.77 table 99")
LINK_LOCAL_DATA = bytes((169, 254, 77, 7))
LATE_DISCOVER = 40  # seconds within which a host that found no server searches again and gets a lease


def alone_first(bench):
    """Lets the target claim a link-local address, then starts a server; returns the claim and the server."""
    bench.begin()
    claim = bench.settle_claim(bench.claim())
    return claim, bench.serve()


def without_routable(frame):
    """Removes addresses that are not link-local from multicast DNS."""
    return records(lambda record: None if record.type == A and record.data[:2] != b"\xa9\xfe" else record)(frame)


@criterion("RFC 3927 §1.9, §2.11, RFC 6762 §8.4", "when a server appears, the service is announced at the "
           "routable address and accepts connections there", seconds=34, needs={"dhcp", "service"}, proof=from_target(
               "no routable address is sent", lambda frame: without_routable(frame)
               if mdns(lambda it: it.message.is_response)(frame) else [(0, frame)]))
def to_routable(bench):
    claim, server = alone_first(bench)
    bench.tells(claim.address, 8, bench.connected)
    bench.reachable(claim.address)
    usable = bench.leased(server, LATE_DISCOVER)
    told = bench.tells(server.offered, 3, usable - 0.2)
    bench.reachable(server.offered)
    return passed(f"announced {told.at - usable:.2f} s after the interface had {server.offered}", told)


def with_link_local(message):
    """Adds a record with a link-local address to the answers for each of their A records."""
    more = tuple(replace(record, data=LINK_LOCAL_DATA) for record in message.answers if record.type == A)
    return replace(message, answers=message.answers + more)


@criterion("RFC 3927 §1.9, §2.6.1", "when a server appears, the link-local address is no longer announced",
           seconds=36, needs={"dhcp", "service"}, worst=WARN, proof=from_target("a link-local address is still sent", rewritten(
               with_link_local, mdns(lambda it: it.message.is_response))))
def told_alone(bench):
    claim, server = alone_first(bench)
    bench.tells(claim.address, 8, bench.connected)
    usable = bench.leased(server, LATE_DISCOVER)
    bench.until(usable + 3)
    asked = bench.peer.ask((bench.service_record().target, A), source=bench.peer.ipv4(2))
    answer = bench.peer.first(lambda it: it.message.is_response and any(
        record.type == A for record in it.message.answers), 1.5, asked)
    if answer is None:
        return failed("no answer within 1.5 s", asked)
    addresses = {address_text(record.data) for record in answer.message.records if record.type == A}
    if addresses != {server.offered}:
        return warned(f"it sends {' and '.join(sorted(addresses))}", answer)
    return passed(f"only {server.offered}", answer)


@criterion("RFC 3927 §1.9, §2.6.1", "when a server appears, new connections use the routable address", seconds=34,
           needs={"dhcp"}, proof=OLD_ROUTE)
def routable_preferred(bench):
    claim, server = alone_first(bench)
    bench.leased(server, LATE_DISCOVER)
    bench.pause(0.5)
    for address in ("10.9.0.9", "192.0.2.1"):
        route = bench.host.finish("ip", "route", "get", address).output
        if f"src {server.offered}" not in route:
            return failed(f"to {address}: {route.splitlines()[0].strip() if route else 'no route'}", last(server.told))
    for entry in bench.kernel.entries():
        if wire.is_link_local(entry["local"]) and not entry.get("deprecated") and entry.get("preferred_life_time"):
            return failed(f"{entry['local']} is still preferred", last(server.told))
    return passed(f"from {server.offered}", last(server.told))


@criterion("RFC 3927 §1.9", "when a server appears, a link-local address without connections is released", seconds=62,
           needs={"dhcp"}, proof=HALTED)
def link_local_dropped(bench):
    claim, server = alone_first(bench)
    usable = bench.leased(server, LATE_DISCOVER)
    # This test allows the target to keep the address for up to 40 s, for other hosts that still use it as the service's address.
    for _ in range(40):
        kept = [address for address in bench.kernel.now() if wire.is_link_local(address)]
        if not kept:
            break
        bench.pause(1)
    if kept:
        return failed(f"{kept[0]} is still on the interface after 40 s", last(server.told))
    gone = bench.kernel.went(claim.address)
    return passed(f"{claim.address} was released {max(0.0, gone - usable):.1f} s after the interface had {server.offered}",
                  last(server.told))


def opened(bench, claim, source_port=40001):
    """Opens a connection of a neighbour to the echo program on the target's host, at the link-local address."""
    connection = bench.connection(claim.address, ECHO_PORT, source_port=source_port)
    if not connection.open() or not connection.echoes(b"before"):
        raise failed(f"no connection to {claim.address}", connection.answer)
    return connection


@criterion("RFC 3927 §1.9", "when a server appears, a connection at the link-local address stays open",
           seconds=36, needs={"dhcp"},
           proof=to_target("after the ACK, its segments are lost", dropped(after(dhcp(ACK), segment))))
def connection_survives(bench):
    bench.plug_in()
    bench.echo()
    bench.begin()
    claim = bench.settle_claim(bench.claim())
    connection = opened(bench, claim)
    server = bench.serve()
    bench.leased(server, LATE_DISCOVER)
    for number in range(7):
        bench.pause(2)
        if not connection.echoes(b"after %d" % number):
            return failed(f"no echo on the connection {2 * number + 2} s after the interface had {server.offered}", last(server.told))
    if claim.address not in bench.kernel.now():
        return failed(f"{claim.address} was released", last(server.told))
    return passed("seven messages and their echoes within 14 s", last(server.told))


@criterion("RFC 3927 §1.9", "when a connection at the link-local address has ended, the address is released", seconds=70, needs={"dhcp"},
           proof=HALTED)
def dropped_when_ended(bench):
    bench.plug_in()
    bench.echo()
    bench.begin()
    claim = bench.settle_claim(bench.claim())
    connection = opened(bench, claim)
    server = bench.serve()
    bench.leased(server, LATE_DISCOVER)
    # A host may keep a link-local address without connections for about 30 s, for neighbours that do not know the new
    # address yet. The wait of 34 s is longer, so that only the connection can explain that the address is kept.
    for _ in range(17):
        bench.pause(2)
        if claim.address not in bench.kernel.now():
            return failed(f"{claim.address} was released while the connection was open", last(server.told))
    if not connection.echoes(b"at last"):
        return failed("no echo on the connection", last(server.told))
    connection.close()
    if not bench.kernel.await_went(claim.address, 20) or any(map(wire.is_link_local, bench.kernel.now())):
        return failed("a link-local address is still on the interface 20 s after the connection ended", last(server.told))
    return passed(f"{claim.address} was released", last(server.told))


@criterion("RFC 3927 §1.9", "if a server answers immediately, no link-local address is claimed", seconds=16, needs={"dhcp"},
           proof=to_target("offers are lost", dropped(dhcp(OFFER))))
def no_second_claim(bench):
    bench.plug_in()
    server = bench.serve()
    begin = bench.begin()
    bench.until(begin + 9)
    told = bench.peer.arps(link_local_announcement, begin)
    if told:
        return failed("a link-local address was announced nevertheless", told[0])
    if bench.kernel.now() != [server.offered]:
        return failed(f"the interface has {', '.join(bench.kernel.now()) or 'no address'}", last(server.told))
    return passed(f"only {server.offered}", last(server.told))


def ending(bench):
    """Gives a lease of 12 s, and removes the server as soon as the interface has the address. Returns the time of the
    ACK, and the server."""
    bench.plug_in()
    server = bench.serve(lease=12, t1=4, t2=8)
    bench.begin()
    bench.leased(server)
    bench.silence(server)
    return server.given(ACK)[0].at, server


@criterion("RFC 2131 §4.4.5", "an unrenewed lease expires on time", seconds=26, needs={"dhcp"}, proof=to_target(
    "the server's lease is longer", options(
        dhcp(OFFER, ACK), o51=(3600).to_bytes(4, "big"), o58=(5).to_bytes(4, "big"), o59=(3000).to_bytes(4, "big"))))
def lease_ends(bench):
    given, server = ending(bench)
    bench.until(given + 11)
    if server.offered not in bench.kernel.now():
        return failed(f"{server.offered} was released before the lease expired", last(server.heard))
    bench.kernel.await_went(server.offered, 4)
    gone = bench.kernel.went(server.offered)
    if gone is None:
        return failed(f"{server.offered} is still on the interface 15 s after a lease of 12 s", last(server.heard))
    if not 11 <= gone - given <= 13.5:
        return failed(f"the lease of 12 s ended after {gone - given:.1f} s", last(server.heard))
    return passed(f"the lease of 12 s ended after {gone - given:.1f} s", last(server.heard))


@criterion("RFC 3927 §1.9, §2.11, RFC 6762 §8.4", "after the lease has expired, the service is announced at "
           "a link-local address and accepts connections", seconds=36, needs={"dhcp", "service"},
           proof=from_target("link-local addresses are not announced", dropped(link_local_announcement)))
def to_link_local(bench):
    given, server = ending(bench)
    bench.tells(server.offered, 8, bench.connected)
    bench.reachable(server.offered)
    claim = bench.claim(given + 12 + 9 - bench.connected)
    told = bench.tells(claim.address, 3, claim.announcement.at - 0.3)
    bench.reachable(claim.address)
    if claim.usable > given + 12 + 7.3:
        return failed(f"{claim.address} was usable {claim.usable - given - 12:.1f} s after the lease expired", claim.announcement)
    return passed(f"{claim.address} was usable {claim.usable - given - 12:.1f} s after the lease expired", told)


@criterion("RFC 2131 §4.4.5, RFC 3927 §1.9", "a server that returns after the lease has expired makes it routable again",
           seconds=60, needs={"dhcp"}, proof=from_target("after a lease, DISCOVERs are lost", dropped(
               after(dhcp(REQUEST), dhcp(DISCOVER)))))
def server_back(bench):
    given, server = ending(bench)
    bench.until(given + 13)
    bench.peer.reactions.append(server.take)
    usable = bench.leased(server, 50, given + 12)
    return passed(f"{server.offered} again {usable - given - 12:.1f} s after the lease expired", last(server.told))
