"""Changes at run time: cables, networks, cards and interface names change, and the plug is killed, frozen or moved. The plug
keeps its address if the network still permits it, and otherwise gets a new one."""

import pathlib
import signal
import socket
import time

import pytest

from deadlines import eventually
from harness.dhcp import Dnsmasq, Network
from harness.frames import Frames
from harness.interface_events import AddressEvents, inside, is_link_local
from harness.link_packets import ARP
from harness.together import cases

pytestmark = pytest.mark.time_limit(120)
PORT = 4711
BY_HAND = "169.254.7.7"


def watched(house, **how):
    host = house.host(**how)
    return host, house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))


def held(host, interface="eth0"):
    return {address["local"] for address in host.addresses(interface)}


def asked(frames, since, address):
    """Expects an INIT-REBOOT request (RFC 2131 section 4.3.2): it names the address, but no server and no client
    address."""
    request = frames.comes_dhcp("REQUEST", 8, since=since).packet
    assert (request.address(50), request.address(54), request.client) == (address, None, "0.0.0.0"), frames.transcript()


def case_a_connection_survives_the_arrival_of_DHCP(house):
    """After the plug gets a lease, new connections use the leased address. The link-local address stays until the existing connections have
    ended (RFC 3927 section 1.9)."""
    host, frames, events = watched(house, ipv6=False)
    other = house.host(ipv6=False)
    other.run("ip", "address", "add", f"{BY_HAND}/16", "broadcast", "+", "dev", "eth0")
    other.run("ip", "address", "add", "10.7.0.50/24", "broadcast", "+", "dev", "eth0")
    lamp = house.plug(host)
    chosen = events.usable(is_link_local, 12).address
    person = house.controller(other)
    person.browse().found("Lamp", within=6)
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    assert locals_of(host) == {chosen}
    server = house.server(Dnsmasq)
    leased = events.usable(server.network.holds, 70)
    time.sleep(3)
    assert locals_of(host) == {chosen}, "the connection did not stay at its link-local address"
    for turn in ("on", "off", "on"):
        person.does(turn, "Lamp")
        lines.seen_object(lambda told: told["event"] == "relay" and told["on"] == (turn == "on"), 5, f"{turn} on the old connection")
    newcomer = person.watch("Lamp")
    newcomer.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    assert locals_of(host) == {chosen, leased.address}
    [old] = [address for address in host.addresses() if address["local"] == chosen]
    assert old.get("deprecated") or old["preferred_life_time"] == 0, "the link-local address is not deprecated"
    # RFC 3927 section 1.9: an announced link-local address would get new connections forever.
    eventually(lambda: IPv4_of(person.resolve("Lamp")) == [leased.address], 5, lambda: f"only {leased.address} announced")
    lines.stop()
    events.removed(chosen, 45, since=leased.at)
    assert held(host) == {leased.address}
    person.does("off", "Lamp")
    assert newcomer.is_running and lamp.running.is_running


def IPv4_of(resolved):
    return [address for address in resolved["addresses"] if ":" not in address]


def locals_of(host):
    """Returns the local addresses of the plug's connections."""
    lines = host.run("ss", "-Htn", "state", "established", f"( sport = :{PORT} )").splitlines()
    return {line.split()[2].rsplit(":", 1)[0].strip("[]").removeprefix("::ffff:").split("%")[0] for line in lines}


def case_the_cable_is_pulled_and_plugged_in_with_a_server(house):
    """After a reconnection the plug requests its previous lease and keeps the address."""
    server = house.server(Dnsmasq)
    host, frames, events = watched(house)
    house.plug(host)
    first = events.usable(server.network.holds, 15)
    for away in (1, 3):
        host.pull_cable()
        time.sleep(away)
        back = time.monotonic()
        host.plug_cable()
        asked(frames, back, first.address)
        acknowledged = frames.comes_dhcp("ACK", 3, since=back)
        again = eventually(lambda: [address for address in host.addresses() if address["local"] == first.address], 3, "the address")
        assert again and acknowledged.packet.yours == first.address
    assert not any(is_link_local(told.address) for told in events.events)


def case_the_cable_is_pulled_and_plugged_in_alone(house):
    """After a reconnection without a server, the plug tries its previous address first, and probes it (RFC 3927 section 2.1)."""
    host, frames, events = watched(house)
    house.plug(host)
    first = events.usable(is_link_local, 12)
    host.pull_cable()
    time.sleep(2)
    back = time.monotonic()
    host.plug_cable()
    eventually(lambda: len(probes(frames, back, first.address)) == 3, 8, lambda: f"three probes: {frames.transcript()}")
    eventually(lambda: announced(frames, back, first.address), 5, lambda: f"an announcement: {frames.transcript()}")
    assert held(host) == {first.address}


def probes(frames, since, address):
    return [seen for seen in frames.arp(since) if seen.packet.is_probe and seen.packet.target == address]


def announced(frames, since, address):
    return [seen for seen in frames.arp(since) if seen.packet.is_announcement and seen.packet.target == address]


def case_another_network(house):
    """The plug moves from a network with a server to one whose server has different addresses, then to one without a server, and back to
    the first."""
    server = house.server(Dnsmasq)
    second, third = house.another_link(), house.another_link()
    other = second.host()
    other.run("ip", "address", "add", "10.8.0.1/24", "broadcast", "+", "dev", "eth0")
    elsewhere = Dnsmasq(other, Network(first="10.8.0.50", last="10.8.0.60", router="10.8.0.1"))
    host, frames, events = watched(house)
    lamp = house.plug(host)
    first = events.usable(server.network.holds, 15)
    moved = move(host, second)
    leased = events.usable(elsewhere.network.holds, 20, since=moved)
    assert held(host) == {leased.address} and first.address != leased.address
    moved = move(host, third)
    chosen = events.usable(is_link_local, 12, since=moved)
    person = house.controller(third.host(ipv4=False, detects_duplicates=True))
    person.browse().found("Lamp", within=10)
    person.does("on", "Lamp")
    pulled = time.monotonic()
    move(host, house.link)
    events.removed(chosen.address, 30, since=pulled)
    eventually(lambda: first.address in held(host), 15, "the first network's address again")
    assert lamp.running.is_running


def move(host, link):
    host.pull_cable()
    host.join(link)
    time.sleep(0.5)
    moved = time.monotonic()
    host.plug_cable()
    return moved


def case_killed_and_started_again_with_a_server(house):
    """A restarted plug requests its stored lease, and the address is never removed."""
    server = house.server(Dnsmasq)
    host, frames, events = watched(house)
    lamp = house.plug(host)
    first = events.usable(server.network.holds, 15)
    eventually(lambda: remembered(lamp, first.address), 5, "the lease in the state directory")
    died = kill(lamp)
    assert first.address in held(host)
    again = house.plug(host, state=lamp.state)
    asked(frames, died, first.address)
    again.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    time.sleep(2)
    assert held(host) == {first.address}
    assert not [told for told in events.events if told.event == "removed" and told.address == first.address], "the address was removed"
    assert not frames.dhcp("DISCOVER", since=died), frames.transcript()


def case_killed_and_started_again_alone(house):
    """A restarted plug keeps its link-local address and announces it again."""
    host, frames, events = watched(house)
    lamp = house.plug(host)
    first = events.usable(is_link_local, 12)
    eventually(lambda: remembered(lamp, first.address), 5, "the address in the state directory")
    died = kill(lamp)
    again = house.plug(host, state=lamp.state)
    eventually(lambda: announced(frames, died, first.address), 10, lambda: f"an announcement: {frames.transcript()}")
    assert held(host) == {first.address} and again.running.is_running
    assert {told.address for told in events.events if is_link_local(told.address)} == {first.address}


def remembered(lamp, address):
    file = pathlib.Path(lamp.state) / "networks"
    return file.exists() and address in file.read_text()


def kill(lamp):
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    return time.monotonic()


def case_the_card_has_another_address(house):
    """A new hardware address is a new host (RFC 3927 section 2.2, RFC 2131 section 2): the plug gets a new lease."""
    server = house.server(Dnsmasq)
    host, frames, events = watched(house)
    house.plug(host)
    events.usable(server.network.holds, 15)
    changed = time.monotonic()
    new = "02:00:00:12:34:56"
    # Most drivers and network managers take the link down for the change.
    host.run("ip", "link", "set", "eth0", "down")
    host.run("ip", "link", "set", "eth0", "address", new)
    host.run("ip", "link", "set", "eth0", "up")
    acknowledged = frames.comes_dhcp("ACK", 15, since=changed, wanted=lambda message: message.hardware == mac(new))
    eventually(lambda: held(host) == {acknowledged.packet.yours}, 5, "the new card's address")
    own = [seen for seen in frames.arp(acknowledged.at) if seen.packet.sender == acknowledged.packet.yours]
    assert all(seen.packet.sender_hardware == mac(new) for seen in own), frames.transcript()


def case_the_card_has_another_address_at_once(house):
    """After a change of the hardware address without a link-down, as on a virtual interface, the plug claims an IPv4 address for the new
    hardware address."""
    host, frames, events = watched(house)
    house.plug(host)
    events.usable(is_link_local, 12)
    changed = time.monotonic()
    new = "02:00:00:12:34:57"
    host.run("ip", "link", "set", "eth0", "address", new)

    def claimed():
        seen = [one for one in frames.arp(changed) if one.packet.is_announcement and one.packet.sender_hardware == mac(new)]
        return seen and seen[0].packet.sender in held(host)

    eventually(claimed, 12, lambda: f"an address claimed for the new card: {frames.transcript()}")


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def case_the_interface_has_another_name(house):
    """Without --interface, the plug uses the interface under its new name."""
    server = house.server(Dnsmasq)
    host, frames, events = watched(house)
    lamp = house.plug(host, interface=None)
    events.usable(server.network.holds, 15)
    changed = time.monotonic()
    host.run("ip", "link", "set", "eth0", "down")
    host.run("ip", "link", "set", "eth0", "name", "wlan0")
    host.run("ip", "link", "set", "wlan0", "up")
    frames.comes_dhcp("ACK", 15, since=changed)
    eventually(lambda: any(server.network.holds(address) for address in held(host, "wlan0")), 5, "an address")
    eventually(lambda: "wlan0" in [network["name"] for network in lamp.networks()], 5, "the name in plugd status")
    person = house.controller(house.host())
    person.browse().found("Lamp", within=10)
    person.does("on", "Lamp")


def case_the_process_is_frozen(house):
    """A frozen process, like a suspended machine, handles overdue timers afterwards and keeps its address. The plug is
    frozen before T1, which counts from the request and which the plug shortens by up to 5 % (RFC 2131 section 4.4.5)."""
    server = house.server(Dnsmasq, Network(lease=120, t1=31, t2=100))
    host, frames, events = watched(house)
    lamp = house.plug(host)
    first = events.usable(server.network.holds, 15)
    requested = frames.dhcp("REQUEST")[-1].at
    time.sleep(max(0, requested + 27 - time.monotonic()))
    lamp.running.process.send_signal(signal.SIGSTOP)
    time.sleep(6)
    # The answer may arrive before `send_signal` returns.
    woken = time.monotonic()
    lamp.running.process.send_signal(signal.SIGCONT)
    frames.comes_dhcp("ACK", 5, since=woken)
    time.sleep(2)
    assert held(host) == {first.address} and lamp.running.is_running
    assert len(frames.dhcp("REQUEST", since=woken)) <= 2, frames.transcript()


def case_frozen_while_it_probes(house):
    """Probes that were due while frozen are not sent in a burst, but at least one second apart (RFC 3927 section
    2.2.1)."""
    host, frames, events = watched(house)
    lamp = house.plug(host)
    frames.comes(lambda packet: isinstance(packet, ARP) and packet.is_probe, 5, "a probe")
    lamp.running.process.send_signal(signal.SIGSTOP)
    time.sleep(5)
    lamp.running.process.send_signal(signal.SIGCONT)
    chosen = events.usable(is_link_local, 12)
    moments = [seen.at for seen in probes(frames, 0, chosen.address)]
    assert all(after - before >= 0.9 for before, after in zip(moments, moments[1:])), frames.transcript()


def case_only_arp_for_its_own_address_is_answered_and_to_all(house):
    """ARP requests for the plug's link-local address are answered by broadcast (RFC 3927 section 2.5)."""
    host, frames, events = watched(house)
    other = house.host(ipv6=False)
    other.run("ip", "address", "add", f"{BY_HAND}/16", "broadcast", "+", "dev", "eth0")
    house.plug(host)
    chosen = events.usable(is_link_local, 12).address
    asked_at = time.monotonic()
    with inside(other, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sender:
        sender.sendto(b"?", (chosen, 9))
        answer = frames.comes(
            lambda packet: isinstance(packet, ARP) and packet.operation == 2 and packet.sender == chosen, 3, "an answer",
            since=asked_at)
    assert answer.packet.destination == b"\xff" * 6, frames.transcript()


@pytest.mark.parametrize("case", cases(globals()))
def test_life(verdicts, case):
    """Reports the verdict of one case."""
    verdicts.of(case)
