"""DHCP servers that send wrong, malformed or unrequested messages, or refuse."""

import time

import pytest

from harness.dhcp import Dnsmasq, Network, Scripted
from harness.frames import Frames
from harness.interface_events import AddressEvents, is_link_local
from harness.link_packets import NAME_SERVERS, ROUTERS, packed
from harness.together import cases

HONEST = "10.7.0.200"
LIED = "10.7.0.99"  # the address in the wrong answers of dhcp_program.py


def watched(house):
    host = house.host()
    return host, house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))


def believed_nothing(events, frames, *allowed):
    """Expects that the plug requested and used only the allowed addresses. All other addresses are from wrong answers."""
    asked = {seen.packet.address(50) for seen in frames.dhcp("REQUEST")} | {seen.packet.client for seen in frames.dhcp("REQUEST")}
    assert asked <= {None, "0.0.0.0", *allowed}, frames.transcript()
    used = {told.address for told in events.events if ":" not in told.address and not is_link_local(told.address)}
    assert used <= set(allowed), used


def case_every_lie_comes_before_the_truth(house):
    """Wrong answers are ignored, and the later correct answer is used. The wrong answers are malformed, truncated, with impossible
    addresses, for other clients, or from an unknown server."""
    house.server(Scripted, lies="all", address=HONEST, options={ROUTERS: packed("10.7.0.1")})
    host, frames, events = watched(house)
    lamp = house.plug(host)
    events.usable(lambda address: address == HONEST, 10)
    believed_nothing(events, frames, HONEST)
    assert lamp.running.is_running


def case_only_lies(house):
    """If all answers are wrong, the plug chooses a link-local address. Eight seconds later it has sent at most six DHCP messages."""
    house.server(Scripted, lies="all", answer="none")
    host, frames, events = watched(house)
    lamp = house.plug(host)
    events.usable(is_link_local, 10)
    time.sleep(8)
    believed_nothing(events, frames)
    assert len(frames.dhcp("DISCOVER", "REQUEST")) <= 6, frames.transcript()
    assert lamp.running.is_running


def case_options_are_overloaded(house):
    """Options in the fields for the server's name and the boot file are read (RFC 2132 section 9.3)."""
    house.server(
        Scripted, answer="overloaded", address=HONEST,
        options={ROUTERS: packed("10.7.0.1"), NAME_SERVERS: packed("10.7.0.2")})
    host, _, events = watched(house)
    house.plug(host)
    events.usable(lambda address: address == HONEST, 10)
    [held] = host.addresses()
    assert held["prefixlen"] == 24
    assert [route["gateway"] for route in host.routes() if route["dst"] == "default"] == ["10.7.0.1"]


def case_one_of_two_servers_only_lies(house):
    """With one server that sends only wrong answers, the plug uses the lease of the other."""
    house.server(Scripted, lies="all", answer="none")
    truthful = house.server(Dnsmasq)
    host, frames, events = watched(house)
    house.plug(host)
    leased = events.usable(truthful.network.holds, 15)
    believed_nothing(events, frames, leased.address)


def case_one_of_two_servers_refuses_what_it_offers(house):
    """With one server that refuses its own offers, the plug gets a lease from the other."""
    house.server(Scripted, answer="refusing", address="10.7.0.150")
    truthful = house.server(Dnsmasq)
    host, frames, events = watched(house)
    house.plug(host)
    leased = events.usable(truthful.network.holds, 60)
    believed_nothing(events, frames, leased.address, "10.7.0.150")
    assert len(frames.dhcp("DISCOVER")) <= 10, frames.transcript()


def case_one_of_two_servers_offers_and_is_silent(house):
    """With one server that does not answer requests, the plug gets a lease from the other."""
    house.server(Scripted, answer="mute", address="10.7.0.150")
    truthful = house.server(Dnsmasq)
    host, frames, events = watched(house)
    house.plug(host)
    leased = events.usable(truthful.network.holds, 60)
    believed_nothing(events, frames, leased.address, "10.7.0.150")


def case_the_offered_address_is_the_servers_own(house):
    """An offered address that the server itself uses is declined each time, and the plug uses a link-local address meanwhile."""
    server = house.server(Scripted)
    server.stop()
    Scripted(server.host, address=server.server)
    host, frames, events = watched(house)
    house.plug(host)
    events.usable(is_link_local, 12)
    time.sleep(8)
    assert server.server not in {told.address for told in events.events}
    # RFC 2131 section 3.1: ten seconds between a DECLINE and the next attempt.
    assert len(frames.dhcp("DISCOVER")) <= 3, frames.transcript()


def case_a_lease_of_a_second(house):
    """With a lease of one second the plug gets a leased or link-local address, and sends at most 40 DHCP messages in the next ten
    seconds."""
    house.server(Scripted, address=HONEST, lease=1)
    host, frames, events = watched(house)
    lamp = house.plug(host)
    events.usable(lambda address: is_link_local(address) or address == HONEST, 12)
    began = time.monotonic()
    time.sleep(10)
    assert len(frames.dhcp("DISCOVER", "REQUEST", since=began)) <= 40, frames.transcript()
    assert lamp.running.is_running


@pytest.mark.parametrize("case", cases(globals()))
def test_a_lie(verdicts, case):
    """Reports the verdict of one case."""
    verdicts.of(case)
