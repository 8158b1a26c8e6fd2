"""The host's use of a DHCP lease (RFC 2131, RFC 5227)."""

from dataclasses import replace

from conformance import dhcp
from conformance.address_bench import last
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.dhcp import ACK, DECLINE, DISCOVER, NAK, REQUEST
from conformance.frame_alterations import (
    after, announcement, arp, dhcp as dhcp_packet, dropped, fields, from_target, in_host, probe,
    routable_announcement, routable_probe, to_target)

from conformance.criteria.addressing_defence import conflict
from conformance.criteria.addressing_dhcp import served


def settings_of(bench, address):
    return next((entry for entry in bench.kernel.entries() if entry["local"] == address), None)


@criterion("RFC 2131 §4.4.1, RFC 5227 §2.1", "a leased address is probed before it is used", seconds=12,
           needs={"dhcp"}, proof=from_target("the probes are lost", dropped(routable_probe)))
def lease_probed(bench):
    server, usable = served(bench)
    acknowledged = server.given(ACK)[0].at
    probes = bench.peer.arps(lambda it: it.is_probe and it.target == server.offered, acknowledged - 0.01, usable)
    if not probes:
        return failed("no ARP probe before the address was used")
    if len(probes) < 3:
        return warned(f"{len(probes)} probes, not three", probes[-1])
    return passed(f"{len(probes)} probes, used {usable - acknowledged:.2f} s after the ACK", probes[-1])


@criterion("RFC 5227 §2.3", "a leased address is announced when it is used", seconds=12, needs={"dhcp"}, worst=WARN,
           proof=from_target("the announcements are lost", dropped(routable_announcement)))
def lease_announced(bench):
    server, usable = served(bench)
    told = bench.peer.await_arp(
        lambda it: it.is_announcement and it.sender == server.offered, 3, usable - 0.3)
    if told is None:
        return warned("no announcement within 3 s")
    if told.at < server.given(ACK)[0].at or len(bench.peer.arps(lambda it: it.is_probe, 0, told.at)) < 1:
        return warned("announced before it was probed", told)
    return passed(f"announced {told.at - server.given(ACK)[0].at:.2f} s after the ACK", told)


@criterion("RFC 2131 §4.4.1, RFC 2132 §3.3, §3.5", "mask, broadcast address and router from the server are used",
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


@criterion("RFC 2131 §4.4.1, §3.1", "an address in use by another host is declined, and the next search waits ten seconds",
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
        return failed("the DECLINE does not name the address and the server", declined)
    if bench.kernel.came(server.offered):
        return failed(f"the interface got {server.offered}, although another host has it", declined)
    server.offered = "10.9.0.78"
    anew = bench.await_ask(DISCOVER, 20, declined.at)
    waited = anew.at - declined.at
    if waited < 9.9:
        return failed(f"it searched again after {waited:.1f} s", anew)
    bench.leased(server, 5, anew.at)
    return passed(f"searched again after {waited:.1f} s, and accepted {server.offered}", anew)


@criterion("RFC 2131 §4.4.5", "at T1 it renews by unicast to its server and keeps the address without a gap", seconds=50,
           needs={"dhcp"}, proof=from_target("renewals are broadcast", fields(
               lambda frame: dhcp_packet(REQUEST)(frame) and frame.contents.client != "0.0.0.0",
               lambda frame: replace(frame, packet=replace(
                   frame.packet, destination="255.255.255.255", destination_mac=b"\xff" * 6)))))
def renews(bench):
    server, _ = served(bench, lease=44, t1=31, t2=37)
    acknowledged = server.given(ACK)[0].at
    asked = bench.await_ask(REQUEST, 36, acknowledged)
    waited = asked.at - acknowledged
    if asked.destination != server.address or asked.source != server.offered:
        return failed(f"from {asked.source} to {asked.destination}", asked)
    told = asked.contents
    if told.client != server.offered or told.address(dhcp.REQUESTED) or told.address(dhcp.SERVER_ID):
        return failed("not a valid renewal (RFC 2131 §4.3.2)", asked)
    if not 29 <= waited <= 32:
        return failed(f"renewed after {waited:.1f} s, not 31 s", asked)
    bench.until(acknowledged + 46)
    if bench.kernel.went(server.offered):
        return failed(f"{server.offered} was missing on the interface meanwhile", asked)
    if server.offered not in bench.kernel.now():
        return failed(f"{server.offered} was released", asked)
    return passed(f"renewed after {waited:.2f} s, and kept", asked)


@criterion("RFC 2131 §4.4.5", "at T2 it broadcasts to all servers and keeps the address if a server confirms it",
           seconds=50,
           needs={"dhcp"}, proof=from_target("its broadcast requests for an address that it has are lost", dropped(
               lambda frame: dhcp_packet(REQUEST)(frame) and frame.contents.client != "0.0.0.0" and frame.is_broadcast)))
def rebinds(bench):
    server, _ = served(bench, lease=44, t1=30, t2=35)
    acknowledged = server.given(ACK)[0].at
    bench.silence(server)
    asked = bench.await_ask(REQUEST, 40, acknowledged, lambda it: it.is_broadcast)
    other = bench.serve(host=4, offered=server.offered, lease=60)
    waited = asked.at - acknowledged
    told = asked.contents
    if told.client != server.offered or told.address(dhcp.REQUESTED) or told.address(dhcp.SERVER_ID):
        return failed("not a valid rebinding request (RFC 2131 §4.3.2)", asked)
    if not 33 <= waited <= 36.5:
        return failed(f"rebound after {waited:.1f} s, not 35 s", asked)
    other.say(told, ACK, other.options)
    bench.until(acknowledged + 46)
    if bench.kernel.went(server.offered) or server.offered not in bench.kernel.now():
        return failed(f"{server.offered} was lost, although another server confirmed it", asked)
    return passed(f"rebound after {waited:.2f} s, and kept", asked)


@criterion("RFC 2131 §3.2, §4.4.2", "after a power cut it requests its previous address", seconds=16, needs={"dhcp"},
           proof=from_target("after the first lease, REQUESTs are lost", dropped(
               after(routable_announcement, dhcp_packet(REQUEST)))))
def asks_for_the_same(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    back = bench.restart()
    asked = bench.await_ask(None, 4, back)
    told = asked.contents
    if told.kind != REQUEST:
        return failed("it started a new search", asked)
    right = (told.address(dhcp.REQUESTED), told.client) == (server.offered, "0.0.0.0")
    if not right or told.address(dhcp.SERVER_ID) or not asked.is_broadcast:
        return failed("not a valid request after a restart (RFC 2131 §4.3.2)", asked)
    usable = bench.leased(server, 5, back)
    return passed(f"a REQUEST for {server.offered}, used {usable - asked.at:.2f} s later", asked)


@criterion("RFC 2131 §3.2, §4.4.2", "after a NAK for its previous address it accepts the new offer",
           seconds=18, needs={"dhcp"}, proof=from_target("after the first lease, DISCOVERs are lost", dropped(
               after(routable_announcement, dhcp_packet(DISCOVER)))))
def refused_after_restart(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    old, server.offered = server.offered, "10.9.0.78"
    back = bench.restart()
    new = bench.leased(server, 14, back)
    if bench.kernel.came(old, back):
        return failed(f"the interface got {old} again, although the server refused it", last(server.given(NAK)))
    return passed(f"{server.offered} {new - back:.1f} s later", last(server.heard))


@criterion("RFC 2131 §3.2, §4.4.2, RFC 5227 §2.1", "after the cable is reconnected, it requests its previous "
           "address and probes it again", seconds=18, needs={"dhcp"}, proof=from_target(
               "after the announcements, probes are lost", dropped(after(announcement, probe, 1))))
def link_back_with_lease(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    bench.disconnect(1.0)
    back = bench.connect()
    asked = bench.await_ask(None, 4, back)
    if asked.contents.kind != REQUEST or asked.contents.address(dhcp.REQUESTED) != server.offered:
        return failed("it did not request its previous address", asked)
    told = bench.peer.await_arp(lambda it: it.sender == server.offered, 6, back)
    probes = bench.peer.arps(lambda it: it.is_probe and it.target == server.offered, back)
    if not probes or (told and told.at < probes[0].at):
        return failed("it used the address without a probe", told or asked)
    if told is None:
        return failed(f"{server.offered} was not announced within 6 s", asked)
    return passed(f"a REQUEST after {asked.at - back:.2f} s, announced after {told.at - back:.2f} s", asked)


@criterion("RFC 5227 §2.4", "the first conflict over a leased address is answered with one announcement", seconds=16,
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
    if server.offered not in bench.kernel.now():
        return failed(f"{server.offered} was released", struck)
    return passed(f"defended after {(told[0].at - struck.at) * 1000:.0f} ms, and kept", told[0])


@criterion("RFC 5227 §2.4, RFC 2131 §4.4.1", "after a second conflict within ten seconds it releases the leased address",
           seconds=20, needs={"dhcp"}, proof=to_target("the second conflict is lost", dropped(
               lambda frame: arp(frame) and frame.sender == "10.9.0.77", keeping=lambda number: number == 1)))
def lease_given_up(bench):
    server, usable = served(bench)
    bench.until(usable + 3)
    conflict(bench, server.offered)
    bench.pause(2)
    struck = conflict(bench, server.offered)
    if not bench.kernel.await_went(server.offered, 1.5):
        return failed(f"{server.offered} is still on the interface 1.5 s later", struck)
    declined = bench.peer.await_one(dhcp.DHCPPacket, lambda it: it.contents.kind == DECLINE, 2, struck.at)
    if declined is None:
        return warned("released, but without a DECLINE to the server", struck)
    return passed("released, and declined", declined)
