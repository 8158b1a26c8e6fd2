"""From a link-local address to a routable one and back (RFC 3927 sections 1.9 and 2.11)."""

from dataclasses import replace

from conformance import wire
from conformance.address_bench import ECHO_PORT, last
from conformance.alterations import records, rewritten
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.dhcp import ACK, DISCOVER, OFFER, REQUEST
from conformance.frame_alterations import (
    after, dhcp, dropped, from_target, halted, in_host, link_local_announcement, mdns, options, segment, to_target)
from conformance.records import A, address_text

HALTED = halted("it stands still as soon as it has a routable address", lambda address: not wire.is_link_local(address))
OLD_ROUTE = in_host(
    "a route to the network begins at another address", "sh", "-c",
    "ip address add 192.0.2.77/32 dev lo; ip rule add to 10.9.0.0/24 table 99; "
    "ip route add 10.9.0.0/24 dev eth0 src 192.0.2.77 table 99")
LINK_LOCAL_DATA = bytes((169, 254, 77, 7))
LATE_DISCOVER = 40  # seconds until a host that found no server looks again


def alone_first(bench):
    """The target has a link-local address, then a server begins; the claim and the server."""
    bench.begin()
    claim = bench.settle_claim(bench.claim())
    return claim, bench.serve()


def without_routable(frame):
    """Multicast DNS tells no address that is not link-local."""
    return records(lambda record: None if record.type == A and record.data[:2] != b"\xa9\xfe" else record)(frame)


@criterion("RFC 3927 §1.9, §2.11, RFC 6762 §8.4", "a server appears: the service is told at the routable address, and can be "
           "connected to there", seconds=34, needs={"dhcp", "service"}, proof=from_target(
               "no routable address is told", lambda frame: without_routable(frame)
               if mdns(lambda it: it.message.is_response)(frame) else [(0, frame)]))
def to_routable(bench):
    claim, server = alone_first(bench)
    bench.tells(claim.address, 8, bench.connected)
    bench.reachable(claim.address)
    usable = bench.leased(server, LATE_DISCOVER)
    told = bench.tells(server.offered, 3, usable - 0.2)
    bench.reachable(server.offered)
    return passed(f"told {told.at - usable:.2f} s after the interface had {server.offered}", told)


def with_link_local(message):
    """Each address in its answers is followed by a link-local one."""
    more = tuple(replace(record, data=LINK_LOCAL_DATA) for record in message.answers if record.type == A)
    return replace(message, answers=message.answers + more)


@criterion("RFC 3927 §1.9, §2.6.1", "a server appears: the link-local address is told no more, lest somebody begins there",
           seconds=36, needs={"dhcp", "service"}, worst=WARN, proof=from_target("one is told still", rewritten(
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
        return warned(f"it tells {' and '.join(sorted(addresses))}", answer)
    return passed(f"only {server.offered}", answer)


@criterion("RFC 3927 §1.9, §2.6.1", "a server appears: what begins anew begins from the routable address", seconds=34,
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
            return failed(f"{entry['local']} is preferred still", last(server.told))
    return passed(f"from {server.offered}", last(server.told))


@criterion("RFC 3927 §1.9", "a server appears: without a connection on it the link-local address is given up", seconds=62,
           needs={"dhcp"}, proof=HALTED)
def link_local_dropped(bench):
    claim, server = alone_first(bench)
    usable = bench.leased(server, LATE_DISCOVER)
    # For a while others may still hold it for the service's address.
    for _ in range(40):
        kept = [address for address in bench.kernel.now() if wire.is_link_local(address)]
        if not kept:
            break
        bench.pause(1)
    if kept:
        return failed(f"{kept[0]} is still on the interface after 40 s", last(server.told))
    gone = bench.kernel.went(claim.address)
    return passed(f"{claim.address} was given up {max(0.0, gone - usable):.1f} s after {server.offered} came",
                  last(server.told))


def opened(bench, claim, source_port=40001):
    """A connection of a neighbour's to a program on the target's host, at the link-local address."""
    connection = bench.connection(claim.address, ECHO_PORT, source_port=source_port)
    if not connection.open() or not connection.echoes(b"before"):
        raise failed(f"no connection to {claim.address}", connection.answer)
    return connection


@criterion("RFC 3927 §1.9", "a server appears: a connection at the link-local address lives on", seconds=36, needs={"dhcp"},
           proof=to_target("after the server's word, its segments are lost", dropped(after(dhcp(ACK), segment))))
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
            return failed(f"nothing comes back over it {2 * number + 2} s after {server.offered} came", last(server.told))
    if claim.address not in bench.kernel.now():
        return failed(f"{claim.address} is gone", last(server.told))
    return passed("seven messages and their echoes within 14 s", last(server.told))


@criterion("RFC 3927 §1.9", "when that connection has ended, the link-local address is given up", seconds=70, needs={"dhcp"},
           proof=HALTED)
def dropped_when_ended(bench):
    bench.plug_in()
    bench.echo()
    bench.begin()
    claim = bench.settle_claim(bench.claim())
    connection = opened(bench, claim)
    server = bench.serve()
    bench.leased(server, LATE_DISCOVER)
    # Longer than any host keeps it anyway for those who know no other address yet.
    for _ in range(17):
        bench.pause(2)
        if claim.address not in bench.kernel.now():
            return failed(f"{claim.address} was given up while the connection was there", last(server.told))
    if not connection.echoes(b"at last"):
        return failed("nothing comes back over the connection", last(server.told))
    connection.close()
    if not bench.kernel.await_went(claim.address, 20) or any(map(wire.is_link_local, bench.kernel.now())):
        return failed("a link-local address is still on the interface 20 s after the connection ended", last(server.told))
    return passed(f"{claim.address} was given up", last(server.told))


@criterion("RFC 3927 §1.9", "where a server is at once, no link-local address is claimed", seconds=16, needs={"dhcp"},
           proof=to_target("offers are lost", dropped(dhcp(OFFER))))
def no_second_claim(bench):
    bench.plug_in()
    server = bench.serve()
    begin = bench.begin()
    bench.until(begin + 9)
    told = bench.peer.arps(link_local_announcement, begin)
    if told:
        return failed("a link-local address was announced all the same", told[0])
    if bench.kernel.now() != [server.offered]:
        return failed(f"the interface has {', '.join(bench.kernel.now()) or 'no address'}", last(server.told))
    return passed(f"only {server.offered}", last(server.told))


def ending(bench):
    """A lease of 12 s whose server is gone as soon as it is given; when the server gave its word, and the server."""
    bench.plug_in()
    server = bench.serve(lease=12, t1=4, t2=8)
    bench.begin()
    bench.leased(server)
    bench.silence(server)
    return server.given(ACK)[0].at, server


@criterion("RFC 2131 §4.4.5", "a lease that nobody renews is over in time", seconds=26, needs={"dhcp"}, proof=to_target(
    "the server gives it for longer", options(
        dhcp(OFFER, ACK), o51=(3600).to_bytes(4, "big"), o58=(5).to_bytes(4, "big"), o59=(3000).to_bytes(4, "big"))))
def lease_ends(bench):
    given, server = ending(bench)
    bench.until(given + 11)
    if server.offered not in bench.kernel.now():
        return failed(f"{server.offered} was given up before its time", last(server.heard))
    bench.kernel.await_went(server.offered, 4)
    gone = bench.kernel.went(server.offered)
    if gone is None:
        return failed(f"{server.offered} is still on the interface after 15 s of 12", last(server.heard))
    if not 11 <= gone - given <= 13.5:
        return failed(f"over after {gone - given:.1f} s of 12", last(server.heard))
    return passed(f"over after {gone - given:.1f} s of 12", last(server.heard))


@criterion("RFC 3927 §1.9, §2.11, RFC 6762 §8.4", "the lease is over: a link-local address, the service is told there, and "
           "can be connected to", seconds=36, needs={"dhcp", "service"},
           proof=from_target("link-local addresses are not announced", dropped(link_local_announcement)))
def to_link_local(bench):
    given, server = ending(bench)
    bench.tells(server.offered, 8, bench.connected)
    bench.reachable(server.offered)
    claim = bench.claim(given + 12 + 9 - bench.connected)
    told = bench.tells(claim.address, 3, claim.announcement.at - 0.3)
    bench.reachable(claim.address)
    if claim.usable > given + 12 + 7.3:
        return failed(f"{claim.address} came {claim.usable - given - 12:.1f} s after the lease was over", claim.announcement)
    return passed(f"{claim.address} {claim.usable - given - 12:.1f} s after the lease was over", told)


@criterion("RFC 2131 §4.4.5, RFC 3927 §1.9", "the server is back after the lease was over: routable again", seconds=60,
           needs={"dhcp"}, proof=from_target("after a lease, DISCOVERs are lost", dropped(
               after(dhcp(REQUEST), dhcp(DISCOVER)))))
def server_back(bench):
    given, server = ending(bench)
    bench.until(given + 13)
    bench.peer.reactions.append(server.take)
    usable = bench.leased(server, 50, given + 12)
    return passed(f"{server.offered} again {usable - given - 12:.1f} s after the lease was over", last(server.told))
