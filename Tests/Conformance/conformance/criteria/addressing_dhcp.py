"""The messages of a DHCP client (RFC 2131, RFC 2132)."""

import re

from conformance import dhcp
from conformance.address_bench import MAC, last
from conformance.criterion import WARN, criterion, failed, passed, warned
from conformance.dhcp import DISCOVER, NAK, REQUEST
from conformance.frame_alterations import (
    delayed, dhcp as dhcp_packet, dropped, fields, from_target, options, repeated, to_target)

from conformance.criteria.addressing_claiming import LATE

NEEDED, WANTED = {1, 3, 6}, {15, 28, 42, 119, 121}
ASKS = dhcp_packet(DISCOVER, REQUEST)


def served(bench, **how):
    """Starts the target on a link with a server; returns the server, and the time when the interface had the
    address."""
    bench.plug_in()
    server = bench.serve(**how)
    bench.begin()
    return server, bench.leased(server)


@criterion("RFC 2131 §4.4.1", "DISCOVER is sent within one second after link-up", seconds=8, needs={"dhcp"}, retried=1,
           proof=from_target("DHCP messages are delayed by 1.3 s", delayed(1.3, dhcp_packet())))
def dhcp_at_once(bench):
    begin = bench.begin()
    asked = bench.await_ask(None, 5)
    waited = asked.at - begin
    return (passed if waited <= 1 + LATE else failed)(f"first message {waited:.2f} s after link-up", asked)


@criterion("RFC 2131 §2, §4.1", "messages are well formed: broadcast from 0.0.0.0, with valid checksums "
           "and its own hardware address", seconds=10, needs={"dhcp"}, proof=from_target(
               "messages name a relay", fields(dhcp_packet(), lambda frame: frame.with_contents(relay="10.9.0.9"))))
def dhcp_form(bench):
    served(bench)
    for asked in bench.asks():
        if asked.contents.client != "0.0.0.0":
            continue  # A renewal.
        if asked.source != "0.0.0.0" or not asked.is_broadcast:
            return failed(f"from {asked.source} to {asked.destination}", asked)
        if (asked.packet.source_port, asked.packet.destination_port) != (dhcp.CLIENT, dhcp.SERVER):
            return failed("from or to a wrong port", asked)
        if not asked.sums_right:
            return failed("a checksum is wrong", asked)
        if asked.contents.client_mac != bench.mac or asked.packet.source_mac != bench.mac:
            return failed("the hardware address differs from the interface's", asked)
        if asked.contents.operation != 1 or asked.contents.relay != "0.0.0.0":
            return failed("not a client's request", asked)
        if len(asked.packet.payload) < 300:
            return failed(f"{len(asked.packet.payload)} bytes, which old relays drop (RFC 1542 §2.1)", asked)
    return passed(f"{len(bench.asks())} messages", asked)


@criterion("RFC 2131 §4.4.1, RFC 4361 §6.1", "every message has the same client identifier", seconds=10, needs={"dhcp"},
           proof=from_target("REQUESTs have no client identifier", options(dhcp_packet(REQUEST), without={61})))
def client_identifier(bench):
    served(bench)
    told = {asked.contents.options.get(dhcp.CLIENT_ID) for asked in bench.asks()}
    if len(told) > 1 or None in told:
        return failed("a message has no client identifier or a different one", last(bench.asks()))
    identifier = told.pop()
    if identifier[0] != 255 or len(identifier) < 7:
        return warned(f"the identifier has type {identifier[0]}, not the type of RFC 4361", last(bench.asks()))
    return passed(f"{identifier.hex()}", last(bench.asks()))


@criterion("RFC 2132 §3.14", "messages contain a valid host name", seconds=10, needs={"dhcp"}, proof=from_target(
    "the name is not a valid host name", options(ASKS, o12=b"-my plug!")))
def dhcp_host_name(bench):
    served(bench)
    for asked in bench.asks(DISCOVER) + bench.asks(REQUEST):
        name = asked.contents.options.get(dhcp.HOST_NAME)
        if name is None:
            return failed("without a host name", asked)
        if not re.fullmatch(rb"(?i)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", name):
            return failed(f"{name!r} is not a valid host name (RFC 1123 §2.1)", asked)
    return passed(name.decode(), asked)


@criterion("RFC 2131 §4.3.6, RFC 2132 §9.8", "messages request mask, routers and name servers",
           seconds=10, needs={"dhcp"}, proof=from_target("the list of requested options is removed", options(ASKS, without={55})))
def parameter_list(bench):
    served(bench)
    for asked in bench.asks(DISCOVER) + bench.asks(REQUEST):
        wanted = asked.contents.options.get(dhcp.PARAMETERS)
        if wanted is None or not NEEDED <= set(wanted):
            return failed("mask, routers and name servers are not all in the list", asked)
        if not WANTED <= set(wanted):
            return warned(f"the list has no {' '.join(map(str, sorted(WANTED - set(wanted))))}", asked)
    return passed(f"options {' '.join(map(str, wanted))}", asked)


@criterion("RFC 2131 §4.3.2, §4.4.1", "REQUEST names the offered address and the chosen server", seconds=10,
           needs={"dhcp"}, proof=from_target("REQUESTs name no server", options(dhcp_packet(REQUEST), without={54})))
def request_fields(bench):
    server, _ = served(bench)
    asked = bench.await_ask(REQUEST, 1)
    offer = last(server.given(dhcp.OFFER))
    told = asked.contents
    if told.address(dhcp.SERVER_ID) != server.address:
        return failed("the server identifier is missing or wrong", asked)
    if told.address(dhcp.REQUESTED) != server.offered or told.client != "0.0.0.0":
        return failed("it does not request the offered address, or contains an address that it does not have", asked)
    if told.transaction != offer.contents.transaction:
        return failed("the transaction differs from the offer's", asked)
    return passed(f"{server.offered} of {server.address}", asked)


@criterion("RFC 2131 §4.4.1", "an offer for a different transaction or client is ignored", seconds=14, needs={"dhcp"},
           proof=to_target("the offers are sent to the target as their client", fields(
               dhcp_packet(dhcp.OFFER), lambda frame: frame.with_contents(client_mac=MAC))))
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
        return failed("it requested an address that was not offered to it", asked[0])
    return passed("both offers ignored", first)


@criterion("RFC 2131 §3.1, §4.4.1", "after a NAK it starts a new search", seconds=14, needs={"dhcp"}, retried=1,
           proof=to_target("the NAK is lost", dropped(dhcp_packet(NAK))))
def refused(bench):
    bench.plug_in()
    server = bench.serve(refuses=True)
    bench.begin()
    bench.await_ask(REQUEST, 6)
    bench.pause(0.2)
    told = server.given(NAK)[0]
    # The client may delay the search, because repeated NAKs must not cause a packet storm.
    anew = bench.peer.await_one(dhcp.DHCPPacket, lambda it: it.contents.kind == DISCOVER, 11, told.at)
    if anew is None:
        return failed("no DISCOVER within 11 s after the NAK", last(bench.asks()))
    server.refuses = False
    asked = [it for it in bench.asks(REQUEST) if it.at > told.at and it.at < anew.at]
    if asked or bench.kernel.came(server.offered, told.at - 0.5):
        return failed("it requested the refused address again", last(asked))
    return passed(f"a DISCOVER {anew.at - told.at:.1f} s after the NAK", anew)


@criterion("RFC 2131 §4.1, §4.4.1", "repeated NAKs do not cause a packet storm", seconds=26, needs={"dhcp"},
           proof=from_target("each message is sent ten times", lambda frame: [
               (0.05 * number, frame) for number in range(10 if dhcp_packet()(frame) else 1)]))
def refused_for_ever(bench):
    bench.plug_in()
    bench.serve(refuses=True)
    begin = bench.begin()
    bench.until(begin + 20)
    asked = bench.asks()
    if len(asked) > 25:
        return failed(f"{len(asked)} messages within 20 s", asked[-1])
    return passed(f"{len(asked)} messages within 20 s", last(asked))


@criterion("RFC 2131 §4.1", "without a server it keeps searching, at growing intervals",
           seconds=36, needs={"dhcp"}, worst=WARN,
           proof=from_target("each message is repeated after one second", repeated(1.0, dhcp_packet())))
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


@criterion("RFC 2131 §4.1", "without a server it sends at most eight messages per minute", seconds=64,
           needs={"dhcp"}, proof=from_target("each message is sent three times", lambda frame: [
               (0.3 * number, frame) for number in range(3 if dhcp_packet()(frame) else 1)]))
def no_storm(bench):
    begin = bench.begin()
    bench.until(begin + 60)
    asked = bench.asks()
    if not 3 <= len(asked) <= 8:
        return failed(f"{len(asked)} messages in one minute", last(asked))
    return passed(f"{len(asked)} messages in one minute", last(asked))
