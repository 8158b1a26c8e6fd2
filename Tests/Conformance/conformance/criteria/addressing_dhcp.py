"""What the host asks of a DHCP server, and how it uses what it gets (RFC 2131, RFC 2132, RFC 5227)."""

import re
from dataclasses import replace

from conformance import dhcp
from conformance.address_bench import last
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.dhcp import ACK, DECLINE, DISCOVER, NAK, REQUEST
from conformance.frame_alterations import (
    after, announcement, arp, delayed, dhcp as dhcp_packet, dropped, fields, from_target, in_host, options, probe,
    repeated, routable_announcement, routable_probe, to_target)

from conformance.criteria.addressing_claiming import LATE
from conformance.criteria.addressing_conflicts import conflict

NEEDED, WANTED = {1, 3, 6}, {15, 28, 42, 119, 121}
ASKS = dhcp_packet(DISCOVER, REQUEST)


def served(bench, **how):
    """The target begins where a server is; the server, and when the interface had the address."""
    bench.plug_in()
    server = bench.serve(**how)
    bench.begin()
    return server, bench.leased(server)


@criterion("RFC 2131 §4.4.1", "it asks for a server within a second of the link", seconds=8, needs={"dhcp"}, retried=True,
           proof=from_target("DHCP messages come 1.3 s later", delayed(1.3, dhcp_packet())))
def dhcp_at_once(bench):
    begin = bench.begin()
    asked = bench.await_ask(None, 5)
    waited = asked.at - begin
    return (passed if waited <= 1 + LATE else failed)(f"after {waited:.2f} s", asked)


@criterion("RFC 2131 §2, §4.1", "its messages are well formed: from 0.0.0.0 to everybody, checksums right, its own hardware "
           "address", seconds=10, needs={"dhcp"}, proof=from_target(
               "messages tell a relay", fields(dhcp_packet(), lambda frame: frame.with_contents(relay="10.9.0.9"))))
def dhcp_form(bench):
    served(bench)
    for asked in bench.asks():
        if asked.contents.client != "0.0.0.0":
            continue  # It renews.
        if asked.source != "0.0.0.0" or not asked.is_broadcast:
            return failed(f"from {asked.source} to {asked.destination}", asked)
        if (asked.packet.source_port, asked.packet.destination_port) != (dhcp.CLIENT, dhcp.SERVER):
            return failed("from or to another port", asked)
        if not asked.sums_right:
            return failed("a checksum is wrong", asked)
        if asked.contents.client_mac != bench.mac or asked.packet.source_mac != bench.mac:
            return failed("it tells another hardware address", asked)
        if asked.contents.operation != 1 or asked.contents.relay != "0.0.0.0":
            return failed("no request of a client", asked)
        if len(asked.packet.payload) < 300:
            return failed(f"{len(asked.packet.payload)} bytes, which old relays drop (RFC 1542 §2.1)", asked)
    return passed(f"{len(bench.asks())} messages", asked)


@criterion("RFC 2131 §4.4.1, RFC 4361 §6.1", "every message has the same client identifier", seconds=10, needs={"dhcp"},
           proof=from_target("REQUESTs are without", options(dhcp_packet(REQUEST), without={61})))
def client_identifier(bench):
    served(bench)
    told = {asked.contents.options.get(dhcp.CLIENT_ID) for asked in bench.asks()}
    if len(told) > 1 or None in told:
        return failed("not in every message, or not the same", last(bench.asks()))
    identifier = told.pop()
    if identifier[0] != 255 or len(identifier) < 7:
        return warned(f"it is of type {identifier[0]}, not of RFC 4361", last(bench.asks()))
    return passed(f"{identifier.hex()}", last(bench.asks()))


@criterion("RFC 2132 §3.14", "it tells a host name that is one", seconds=10, needs={"dhcp"}, proof=from_target(
    "the name is no host name", options(ASKS, o12=b"-my plug!")))
def dhcp_host_name(bench):
    served(bench)
    for asked in bench.asks(DISCOVER) + bench.asks(REQUEST):
        name = asked.contents.options.get(dhcp.HOST_NAME)
        if name is None:
            return failed("without a host name", asked)
        if not re.fullmatch(rb"(?i)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name):
            return failed(f"{name!r} is no host name (RFC 1123 §2.1)", asked)
    return passed(name.decode(), asked)


@criterion("RFC 2131 §4.3.6, RFC 2132 §9.8", "it tells what it wants to know: mask, routers, name servers and more",
           seconds=10, needs={"dhcp"}, proof=from_target("that list is left out", options(ASKS, without={55})))
def parameter_list(bench):
    served(bench)
    for asked in bench.asks(DISCOVER) + bench.asks(REQUEST):
        wanted = asked.contents.options.get(dhcp.PARAMETERS)
        if wanted is None or not NEEDED <= set(wanted):
            return failed("mask, routers and name servers are not all in the list", asked)
        if not WANTED <= set(wanted):
            return warned(f"without {' '.join(map(str, sorted(WANTED - set(wanted))))}", asked)
    return passed(f"options {' '.join(map(str, wanted))}", asked)


@criterion("RFC 2131 §4.3.2, §4.4.1", "it requests what one server offered, and tells the others which", seconds=10,
           needs={"dhcp"}, proof=from_target("REQUESTs name no server", options(dhcp_packet(REQUEST), without={54})))
def request_fields(bench):
    server, _ = served(bench)
    asked = bench.await_ask(REQUEST, 1)
    offer = last(server.given(dhcp.OFFER))
    told = asked.contents
    if told.address(dhcp.SERVER_ID) != server.address:
        return failed("it does not name the server", asked)
    if told.address(dhcp.REQUESTED) != server.offered or told.client != "0.0.0.0":
        return failed("it does not ask for what was offered, or tells an address that it has not", asked)
    if told.transaction != offer.contents.transaction:
        return failed("with another transaction than the offer's", asked)
    return passed(f"{server.offered} of {server.address}", asked)


@criterion("RFC 2131 §4.4.1", "an offer to another transaction, or to another client, is none", seconds=14, needs={"dhcp"},
           proof=to_target("it has the transaction and the client that were asked for", fields(
               dhcp_packet(dhcp.OFFER), lambda frame: frame.with_contents(
                   transaction=frame.contents.transaction & ~0x80000000, client_mac=bytes.fromhex("020000a1b2c3")))))
def foreign_offers(bench):
    bench.plug_in()
    server = bench.serve(answers=set())
    strange = "10.9.0.66"

    def mislead(seen):
        if isinstance(seen, dhcp.DHCPPacket) and seen.contents.kind == DISCOVER:
            asked = seen.contents
            server.say(asked, dhcp.OFFER, server.options, strange, transaction=asked.transaction ^ 0x80000000)
            server.say(asked, dhcp.OFFER, server.options, strange, client_mac=bytes.fromhex("020000090007"))
    bench.peer.reactions.append(mislead)
    bench.begin()
    first = bench.await_ask(DISCOVER, 5)
    bench.until(first.at + 6)
    asked = bench.asks(REQUEST)
    if asked:
        return failed("it requested what was not offered to it", asked[0])
    return passed("both ignored", first)


def settings_of(bench, address):
    return next((entry for entry in bench.entries() if entry["local"] == address), None)


@criterion("RFC 2131 §4.4.1, RFC 5227 §2.1", "what a server gives is probed for before it is used", seconds=12,
           needs={"dhcp"}, proof=from_target("those probes are lost", dropped(routable_probe)))
def lease_probed(bench):
    server, usable = served(bench)
    acknowledged = server.given(ACK)[0].at
    probes = bench.peer.arps(lambda it: it.is_probe and it.target == server.offered, acknowledged - 0.01, usable)
    if not probes:
        return failed("no ARP probe before it was used")
    if len(probes) < 3:
        return warned(f"{len(probes)} probes, not three", probes[-1])
    return passed(f"{len(probes)} probes, used {usable - acknowledged:.2f} s after the server's word", probes[-1])


@criterion("RFC 5227 §2.3", "what a server gave is announced when it is used", seconds=12, needs={"dhcp"}, worst=WARN,
           proof=from_target("those announcements are lost", dropped(routable_announcement)))
def lease_announced(bench):
    server, usable = served(bench)
    told = bench.peer.await_arp(
        lambda it: it.is_announcement and it.sender == server.offered, 3, usable - 0.3)
    if told is None:
        return warned("no announcement within 3 s")
    if told.at < server.given(ACK)[0].at or len(bench.peer.arps(lambda it: it.is_probe, 0, told.at)) < 1:
        return warned("announced before it was probed for", told)
    return passed(f"announced {told.at - server.given(ACK)[0].at:.2f} s after the server's word", told)


@criterion("RFC 2131 §4.4.1, RFC 2132 §3.3, §3.5", "mask, broadcast address and router are used as the server says",
           seconds=12, needs={"dhcp"}, proof=in_host(
               "the default route is deleted", "sh", "-c", "sleep 0.5; ip route delete default dev eth0"))
def lease_settings(bench):
    server, _ = served(bench)
    bench.pause(0.5)
    entry = settings_of(bench, server.offered)
    told = f"{entry['local']}/{entry['prefixlen']}, broadcast {entry.get('broadcast')}, scope {entry['scope']}"
    if (entry["prefixlen"], entry.get("broadcast"), entry["scope"]) != (24, "10.9.0.255", "global"):
        return failed(told, last(server.told))
    route = bench.host.finish("ip", "route", "get", "192.0.2.1")
    if f"via {bench.peer.ipv4(2)}" not in route.output or server.offered not in route.output:
        way = (route.output or route.errors).strip().splitlines()[0]
        return failed(f"to 192.0.2.1: {way}", last(server.told))
    return passed(f"{told}, router {bench.peer.ipv4(2)}", last(server.told))


@criterion("RFC 2131 §4.4.1, §3.1", "an address that another host has is declined, and the next search waits ten seconds",
           seconds=34, needs={"dhcp"}, proof=to_target("the other host's answers are lost", dropped(arp)))
def declines(bench):
    bench.plug_in()
    server = bench.serve()
    bench.peer.own(server.offered, 9)
    bench.begin()
    declined = bench.await_ask(DECLINE, 20)
    told = declined.contents
    if (told.address(dhcp.REQUESTED), told.address(dhcp.SERVER_ID), told.client) != (
            server.offered, server.address, "0.0.0.0"):
        return failed("it does not tell which address of which server", declined)
    if bench.came(server.offered):
        return failed(f"the interface got {server.offered} all the same", declined)
    server.offered = "10.9.0.78"
    anew = bench.await_ask(DISCOVER, 20, declined.at)
    waited = anew.at - declined.at
    if waited < 9.9:
        return failed(f"it searched again after {waited:.1f} s", anew)
    bench.leased(server, 5, anew.at)
    return passed(f"searched again after {waited:.1f} s, and took {server.offered}", anew)


@criterion("RFC 2131 §3.1, §4.4.1", "refused, it searches anew", seconds=14, needs={"dhcp"}, retried=True,
           proof=to_target("the refusal is lost", dropped(dhcp_packet(NAK))))
def refused(bench):
    bench.plug_in()
    server = bench.serve(refuses=True)
    bench.begin()
    bench.await_ask(REQUEST, 6)
    bench.pause(0.2)
    told = server.given(NAK)[0]
    # At once or after a while: refusing for ever must make no storm.
    anew = bench.peer.await_one(dhcp.DHCPPacket, lambda it: it.contents.kind == DISCOVER, 11, told.at)
    if anew is None:
        return failed("no DISCOVER within 11 s of the refusal", last(bench.asks()))
    server.refuses = False
    asked = [it for it in bench.asks(REQUEST) if it.at > told.at and it.at < anew.at]
    if asked or bench.came(server.offered, told.at - 0.5):
        return failed("it kept to what was refused", last(asked))
    return passed(f"a DISCOVER {anew.at - told.at:.1f} s after the refusal", anew)


@criterion("RFC 2131 §4.1, §4.4.1", "refused again and again, it makes no storm", seconds=26, needs={"dhcp"},
           proof=from_target("each DISCOVER comes ten times", lambda frame: [
               (0.05 * number, frame) for number in range(10 if dhcp_packet(DISCOVER)(frame) else 1)]))
def refused_for_ever(bench):
    bench.plug_in()
    bench.serve(refuses=True)
    begin = bench.begin()
    bench.until(begin + 20)
    asked = bench.asks()
    if len(asked) > 40:
        return failed(f"{len(asked)} messages within 20 s", asked[-1])
    return passed(f"{len(asked)} messages within 20 s", last(asked))


@criterion("RFC 2131 §4.4.5", "at T1 it renews, asking its server alone, and keeps the address without a gap", seconds=36,
           needs={"dhcp"}, proof=from_target("renewals go to everybody", fields(
               lambda frame: dhcp_packet(REQUEST)(frame) and frame.contents.client != "0.0.0.0",
               lambda frame: replace(frame, packet=replace(
                   frame.packet, destination="255.255.255.255", destination_mac=b"\xff" * 6)))))
def renews(bench):
    server, _ = served(bench, lease=20, t1=8, t2=15)
    acknowledged = server.given(ACK)[0].at
    asked = bench.await_ask(REQUEST, 13, acknowledged)
    waited = asked.at - acknowledged
    if asked.destination != server.address or asked.source != server.offered:
        return failed(f"from {asked.source} to {asked.destination}", asked)
    told = asked.contents
    if told.client != server.offered or told.address(dhcp.REQUESTED) or told.address(dhcp.SERVER_ID):
        return failed("not as a renewal is written (RFC 2131 §4.3.2)", asked)
    if not 7 <= waited <= 9.5:
        return failed(f"after {waited:.1f} s, not 8", asked)
    bench.until(acknowledged + 22)
    if bench.went(server.offered):
        return failed(f"{server.offered} was away from the interface meanwhile", asked)
    if server.offered not in bench.addresses():
        return failed(f"{server.offered} is gone", asked)
    return passed(f"after {waited:.2f} s, and kept", asked)


@criterion("RFC 2131 §4.4.5", "at T2 it asks every server, and keeps what one of them confirms", seconds=38,
           needs={"dhcp"}, proof=from_target("what it asks everybody for an address that it has is lost", dropped(
               lambda frame: dhcp_packet(REQUEST)(frame) and frame.contents.client != "0.0.0.0" and frame.is_broadcast)))
def rebinds(bench):
    server, _ = served(bench, lease=22, t1=5, t2=10)
    acknowledged = server.given(ACK)[0].at
    bench.silence(server)
    bench.until(acknowledged + 8)
    asked = bench.await_ask(REQUEST, 14, acknowledged, lambda it: it.is_broadcast)
    other = bench.serve(host=4, offered=server.offered, lease=60)
    waited = asked.at - acknowledged
    told = asked.contents
    if told.client != server.offered or told.address(dhcp.REQUESTED) or told.address(dhcp.SERVER_ID):
        return failed("not as a rebinding is written (RFC 2131 §4.3.2)", asked)
    if not 9 <= waited <= 12:
        return failed(f"after {waited:.1f} s, not 10", asked)
    other.say(told, ACK, other.options)
    bench.until(acknowledged + 24)
    if bench.went(server.offered) or server.offered not in bench.addresses():
        return failed(f"{server.offered} was lost, although another server confirmed it", asked)
    return passed(f"after {waited:.2f} s, and kept", asked)


@criterion("RFC 2131 §3.2, §4.4.2", "after a loss of power it asks for the address that it had", seconds=16, needs={"dhcp"},
           proof=from_target("after the first lease, REQUESTs are lost", dropped(
               after(routable_announcement, dhcp_packet(REQUEST)))))
def asks_for_the_same(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    back = bench.restart()
    asked = bench.await_ask(None, 4, back)
    told = asked.contents
    if told.kind != REQUEST:
        return failed("it began to search", asked)
    right = (told.address(dhcp.REQUESTED), told.client) == (server.offered, "0.0.0.0")
    if not right or told.address(dhcp.SERVER_ID) or not asked.is_broadcast:
        return failed("not as after a restart (RFC 2131 §4.3.2)", asked)
    usable = bench.leased(server, 5, back)
    return passed(f"a REQUEST for {server.offered}, used {usable - asked.at:.2f} s later", asked)


@criterion("RFC 2131 §3.2, §4.4.2", "refused there, it takes what is offered", seconds=18, needs={"dhcp"},
           proof=from_target("after the first lease, DISCOVERs are lost", dropped(
               after(routable_announcement, dhcp_packet(DISCOVER)))))
def refused_after_restart(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    old, server.offered = server.offered, "10.9.0.78"
    back = bench.restart()
    new = bench.leased(server, 14, back)
    if bench.came(old, back):
        return failed(f"the interface got {old} again, although it was refused", last(server.given(NAK)))
    return passed(f"{server.offered} {new - back:.1f} s later", last(server.heard))


@criterion("RFC 2131 §3.2, §4.4.2, RFC 5227 §2.1", "after the cable was out it asks for the address that it had, and probes "
           "for it anew", seconds=18, needs={"dhcp"}, proof=from_target(
               "after the announcements, probes are lost", dropped(after(announcement, probe, 1))))
def link_back_with_lease(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    bench.disconnect(1.0)
    back = bench.connect()
    asked = bench.await_ask(None, 4, back)
    if asked.contents.kind != REQUEST or asked.contents.address(dhcp.REQUESTED) != server.offered:
        return failed("it did not ask for the address that it had", asked)
    told = bench.peer.await_arp(lambda it: it.sender == server.offered, 6, back)
    probes = bench.peer.arps(lambda it: it.is_probe and it.target == server.offered, back)
    if not probes or (told and told.at < probes[0].at):
        return failed("it used it without a probe", told or asked)
    if told is None:
        return failed(f"{server.offered} was not announced within 6 s", asked)
    return passed(f"a REQUEST after {asked.at - back:.2f} s, announced after {told.at - back:.2f} s", asked)


@criterion("RFC 2131 §4.1", "without a server it goes on asking, ever more seldom", seconds=36, needs={"dhcp"}, worst=WARN,
           proof=from_target("each message comes once more after a second", repeated(1.0, dhcp_packet())))
def ever_more_seldom(bench):
    begin = bench.begin()
    bench.until(begin + 32)
    moments = [asked.at for asked in bench.asks()]
    gaps = [after - before for before, after in zip(moments, moments[1:])]
    told = ", ".join(f"{gap:.1f}" for gap in gaps) + " s apart"
    if len(gaps) < 2:
        return failed(f"{len(moments)} messages within 32 s", last(bench.asks()))
    right = all(low - LATE <= gap <= high + LATE for gap, (low, high) in zip(gaps, ((3, 5), (7, 9), (15, 17))))
    return (passed if right else warned)(told, last(bench.asks()))


@criterion("RFC 2131 §4.1", "without a server it makes no storm: at most eight messages in a minute", seconds=64,
           needs={"dhcp"}, proof=from_target("each message comes three times", lambda frame: [
               (0.3 * number, frame) for number in range(3 if dhcp_packet()(frame) else 1)]))
def no_storm(bench):
    begin = bench.begin()
    bench.until(begin + 60)
    asked = bench.asks()
    if not 3 <= len(asked) <= 8:
        return failed(f"{len(asked)} messages in a minute", last(asked))
    return passed(f"{len(asked)} messages in a minute", last(asked))


@criterion("RFC 5227 §2.4", "the first conflict over a leased address: one announcement defends it", seconds=16,
           needs={"dhcp"}, proof=from_target("later announcements are lost", dropped(
               announcement, keeping=lambda number: number <= 2)))
def lease_defended(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    struck = conflict(bench, server.offered)
    bench.until(struck.at + 3)
    told = bench.peer.arps(lambda it: it.is_announcement and it.sender == server.offered, struck.at)
    if len(told) != 1:
        return failed(f"{len(told)} announcements within 3 s", told[-1] if told else struck)
    if server.offered not in bench.addresses():
        return failed(f"{server.offered} was given up", struck)
    return passed(f"after {(told[0].at - struck.at) * 1000:.0f} ms, and kept", told[0])


@criterion("RFC 5227 §2.4, RFC 2131 §4.4.1", "a second conflict within ten seconds: it gives the leased address up", seconds=20,
           needs={"dhcp"}, proof=to_target("the second conflict is lost", dropped(
               lambda frame: arp(frame) and frame.sender == "10.9.0.77", keeping=lambda number: number == 1)))
def lease_given_up(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    conflict(bench, server.offered)
    bench.pause(2)
    struck = conflict(bench, server.offered)
    if not bench.await_went(server.offered, 1.5):
        return failed(f"{server.offered} is still on the interface 1.5 s later", struck)
    declined = bench.peer.await_one(dhcp.DHCPPacket, lambda it: it.contents.kind == DECLINE, 2, struck.at)
    if declined is None:
        return warned("given up, but the server is not told", struck)
    return passed("given up, and declined", declined)
