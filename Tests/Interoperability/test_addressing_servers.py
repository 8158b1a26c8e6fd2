"""A plug with common DHCP servers: its lease, and its behaviour when the server does not answer as expected."""

import time

import pytest

from deadlines import eventually
from harness.dhcp import SERVERS, Dnsmasq, Kea, Network
from harness.frames import Frames
from harness.interface_events import AddressEvents, is_link_local
from harness.link_packets import T1
from harness.together import cases, with_each

pytestmark = pytest.mark.time_limit(120)
SLACK = 1.0  # seconds of tolerance, because the test may notice the first of two moments late


def is_unicast_to(server):
    return lambda message: message.destination == server


def leased(events, network, within=15, since=0):
    return events.usable(network.holds, within, since)


@with_each(*SERVERS)
def case_a_lease_is_used_told_and_renewed(house, kind):
    """A lease is used, reported and renewed by unicast at T1."""
    network = Network.brief(kind)
    server = house.server(kind, network)
    host = house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    lamp = house.plug(host)
    bound = leased(events, network)
    acknowledged = frames.comes_dhcp("ACK", 1)
    assert acknowledged.at < bound.at, frames.transcript()
    check_kernel(host, network, bound.address)
    check_told(house, host, lamp, server, bound.address)
    # dnsmasq subtracts a random share from the configured times.
    renewal_time = int.from_bytes(acknowledged.packet.options[T1], "big")
    renewal = frames.comes_dhcp("REQUEST", network.renewal + 5, since=bound.at, wanted=is_unicast_to(server.host.ipv4))
    # The plug renews up to a twentieth earlier, so that plugs that started together do not stay synchronized (RFC 2131
    # section 4.4.5).
    assert 0.95 * renewal_time - SLACK <= renewal.at - acknowledged.at, frames.transcript()
    assert renewal.packet.client == bound.address and not renewal.packet.address(50), "not a valid renewal (RFC 2131 section 4.3.2)"
    frames.comes_dhcp("ACK", 1, since=renewal.at)
    assert not any(is_link_local(told.address) for told in events.events), "a link-local address was used before the lease"


def check_kernel(host, network, address):
    [found] = [held for held in host.addresses() if held["local"] == address]
    assert (found["prefixlen"], found["scope"], found["broadcast"]) == (network.prefix, "global", str(network.subnet.broadcast_address))
    assert 0 < found["valid_life_time"] <= network.lease + 60, "the kernel would not remove the address of a dead plug when the lease ends"
    [default] = [route for route in host.routes() if route["dst"] == "default"]
    assert (default["gateway"], default["dev"]) == (network.router, "eth0")


def check_told(house, host, lamp, server, address):
    """Expects the lease in `plugd status`, in the files that the plug publishes, and in `plugctl info`."""
    [lease] = eventually(
        lambda: [network["lease"] for network in lamp.networks() if network.get("lease")], 5, "the lease in plugd status")
    assert (lease["address"], lease["server"], lease["router"]) == (address, server.host.ipv4, server.network.router)
    assert 0 < lease["expiresIn"] <= server.network.lease
    handed = {name: lamp.handed_on(name) for name in ("resolv.conf", "ntp-servers")}
    assert [f"nameserver {one}" for one in server.network.name_servers] == [
        line for line in handed["resolv.conf"] if line.startswith("nameserver")], handed
    assert f"search {' '.join(server.network.search)}" in handed["resolv.conf"], handed
    assert handed["ntp-servers"] == server.network.time_servers, handed
    person = house.controller(house.link.host())
    info = person.does("info", lamp.name, "--json").output
    assert address in info and server.host.ipv4 in info, info


def case_the_owner_chose_the_address(house):
    """The plug uses the address of its configuration and asks no server. While another host has the address, the plug has a link-local
    one; it tries again every minute."""
    house.server(Dnsmasq)
    host, other = house.host(), house.host()
    other.run("ip", "address", "add", "198.51.100.20/24", "dev", "eth0")
    configuration = house.folder / "fixed.toml"
    configuration.write_text(
        '[network]\ninterface = "eth0"\naddress = "198.51.100.20/24"\nrouter = "198.51.100.1"\nname_servers = ["198.51.100.1", "9.9.9.9"]\n')
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    lamp = house.plug(host, interface=None, config=configuration)
    events.usable(is_link_local, 15)
    assert "198.51.100.20" not in [held["local"] for held in host.addresses()]
    other.run("ip", "address", "flush", "dev", "eth0")
    found = events.usable(lambda address: address == "198.51.100.20", 75)
    [held] = [held for held in host.addresses() if held["local"] == found.address]
    assert (held["prefixlen"], held["scope"]) == (24, "global")
    [default] = [route for route in host.routes() if route["dst"] == "default"]
    assert (default["gateway"], default["dev"]) == ("198.51.100.1", "eth0")
    servers = ["nameserver 198.51.100.1", "nameserver 9.9.9.9"]
    eventually(lambda: [line for line in lamp.handed_on("resolv.conf") if "nameserver" in line] == servers, 5, "the name servers")
    assert not frames.dhcp(), frames.transcript()


@with_each(*SERVERS)
def case_the_server_is_gone_at_T1_and_T2(house, kind):
    """A server that returns before T2 confirms the lease at T2. Then a lease of 20 s expires without a server, and the plug uses a
    link-local address until the server returns. The test does not wait for a longer lease to expire."""
    network = Network.brief(kind)
    server = house.server(kind, network)
    host = house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    house.plug(host)
    bound = leased(events, network)
    server.stop()
    renewing = frames.comes_dhcp("REQUEST", network.renewal + 5, since=bound.at, wanted=is_unicast_to(server.host.ipv4))
    server.start()
    rebinding = frames.comes_dhcp("REQUEST", 15, since=renewing.at + 0.1, wanted=is_unicast_to("255.255.255.255"))
    assert network.rebinding - network.renewal - SLACK <= rebinding.at - renewing.at, frames.transcript()
    assert rebinding.packet.client == bound.address and not rebinding.packet.address(54), "not a valid rebinding request (RFC 2131 section 4.3.2)"
    again = frames.comes_dhcp("ACK", 2, since=rebinding.at)
    server.stop()
    if network.lease > 20:
        return
    lost = events.removed(bound.address, 25, since=again.at)
    assert network.lease - SLACK <= lost.at - again.at, (again, lost)
    fallback = events.usable(is_link_local, 10, since=again.at)
    assert fallback.at > lost.at
    server.start()
    assert leased(events, network, 40, since=fallback.at).address == bound.address


@with_each(*SERVERS)
def case_the_server_knows_another_network_now(house, kind):
    """After the server's network changed, the plug gives up its lease and gets a new one."""
    server = house.server(kind, Network())
    host = house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    house.plug(host)
    bound = leased(events, server.network)
    host.pull_cable()
    server.host.run("ip", "address", "flush", "dev", "eth0")
    server.host.run("ip", "address", "add", "10.8.0.1/24", "broadcast", "+", "dev", "eth0")
    server.change(Network(first="10.8.0.50", last="10.8.0.60", router="10.8.0.1"))
    back = time.monotonic()
    host.plug_cable()
    asked = frames.comes_dhcp("REQUEST", 5, since=back)
    assert (asked.packet.address(50), asked.packet.address(54)) == (bound.address, None), "not a valid INIT-REBOOT request (RFC 2131 section 4.3.2)"
    if kind is Kea:  # Kea ignores addresses of networks that it does not know.
        frames.comes_dhcp("DISCOVER", 10, since=asked.at)
    else:
        frames.comes_dhcp("NAK", 5, since=asked.at)
    leased(events, server.network, 15, since=asked.at)
    assert [held["local"] for held in host.addresses() if not is_link_local(held["local"])] == [
        told.address for told in events.events if server.network.holds(told.address)][:1]
    assert [route["gateway"] for route in host.routes() if route["dst"] == "default"] == ["10.8.0.1"]


@with_each(*SERVERS)
def case_the_pool_is_exhausted(house, kind):
    """Without a free lease, the second plug uses a link-local address."""
    server = house.server(kind, Network(first="10.7.0.200", last="10.7.0.200"))
    hosts = [house.host(), house.host()]
    first, second = (house.until_end(AddressEvents(host)) for host in hosts)
    frames = house.until_end(Frames(hosts[1].port))
    house.plug(hosts[0], "Lamp")
    leased(first, server.network)
    house.plug(hosts[1], "Kettle")
    alone = second.usable(is_link_local, 15)
    time.sleep(5)
    assert {told.address for told in second.events if ":" not in told.address} == {alone.address}
    # The intervals between DISCOVER messages are 4 s, 8 s, 16 s ... (RFC 2131 section 4.1).
    assert 2 <= len(frames.dhcp("DISCOVER")) <= 5, frames.transcript()


@with_each(*SERVERS)
def case_an_offered_address_is_in_use(house, kind):
    """An offered address that another host uses is declined, and the plug uses the next one."""
    network = Network(first="10.7.0.200", last="10.7.0.201")
    house.server(kind, network)
    user = house.link.host(ipv4=False)
    user.run("ip", "address", "add", "10.7.0.200/24", "dev", "eth0")
    host = house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    house.plug(host)
    leased(events, network, 40)
    assert {held["local"] for held in host.addresses() if not is_link_local(held["local"])} == {"10.7.0.201"}, frames.transcript()
    given = [seen for seen in frames.dhcp("ACK") if seen.packet.yours == "10.7.0.200"]
    declined = frames.dhcp("DECLINE")
    assert len(given) == len(declined), frames.transcript()
    for seen in declined:
        assert seen.packet.address(50) == "10.7.0.200" and seen.packet.address(54), "not a valid DECLINE (RFC 2131 section 4.4.4)"
        following = [other.at for other in frames.dhcp("DISCOVER") if other.at > seen.at]
        assert following[0] - seen.at >= 9.95, "less than 10 s after a DECLINE (RFC 2131 section 3.1)"


def case_routes_without_classes_replace_the_router(house):
    """With classless routes (option 121) the plug ignores the router of option 3 (RFC 3442)."""
    routes = [("0.0.0.0/0", "10.7.0.77"), ("192.168.64.0/18", "10.7.0.78"), ("10.9.8.7/32", "10.7.0.79")]
    network = Network(routes=routes)
    house.server(Dnsmasq, network)
    host = house.host()
    events = house.until_end(AddressEvents(host))
    house.plug(host)
    leased(events, network)
    wanted = {("default", "10.7.0.77"), ("192.168.64.0/18", "10.7.0.78"), ("10.9.8.7", "10.7.0.79")}
    eventually(
        lambda: {(route["dst"], route["gateway"]) for route in host.routes() if "gateway" in route} == wanted, 5,
        lambda: f"{wanted}, but there are {host.routes()}")


def case_a_fifth_of_the_frames_is_lost(house):
    """With 20 % packet loss the plug still gets an address, and finally a lease."""
    network = Network()
    house.server(Dnsmasq, network)
    host = house.host()
    house.link.lose(20)
    events = house.until_end(AddressEvents(host))
    house.plug(host)
    events.usable(lambda address: is_link_local(address) or network.holds(address), 15)
    leased(events, network, 100)


@pytest.mark.parametrize("case", cases(globals()))
def test_a_server(verdicts, case):
    """Reports the verdict of one case."""
    verdicts.of(case)
