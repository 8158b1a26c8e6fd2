"""Plugs on a link without a DHCP server: they choose their own addresses (RFC 3927), and all functions work with
them."""

import time

import pytest

from deadlines import eventually
from harness.dhcp import Dnsmasq
from harness.frames import Frames
from harness.interface_events import AddressEvents, is_link_local
from harness.link_packets import EVERYBODY
from harness.together import cases
from harness.troublemaker import Troublemaker

pytestmark = pytest.mark.time_limit(150)
BY_HAND = "169.254.7.7"
PORT = 4711


def case_an_address_is_claimed_as_the_RFC_says(house):
    """An address is claimed as in RFC 3927 section 2, with three probes at least 1 s apart and two announcements. It is
    usable at least 4 s and at most 8 s after link-up."""
    host = house.host()
    host.pull_cable()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    house.plug(host)
    time.sleep(1)
    up = time.monotonic()
    host.plug_cable()
    usable = events.usable(is_link_local, 8)
    frames.comes(lambda packet: len(announcements(frames, usable.address)) == 2, 4, "the second announcement")
    assert 4 <= usable.at - up, frames.transcript()
    own = [seen for seen in frames.arp() if seen.packet.target == usable.address]
    probes = [seen.at for seen in own if seen.packet.is_probe]
    announced = announcements(frames, usable.address)
    assert len(probes) == 3 and max(probes) < min(announced), frames.transcript()
    assert all(1 <= gap for gap in gaps(probes)), frames.transcript()
    assert all(seen.packet.destination == EVERYBODY for seen in own), "a packet is not broadcast (RFC 3927 section 2.5)"
    [held] = host.addresses()
    assert (held["prefixlen"], held["scope"], held["broadcast"]) == (16, "link", "169.254.255.255")
    assert "169.254.1.0" <= usable.address and 1 <= int(usable.address.split(".")[2]) <= 254


def announcements(frames, address):
    return [seen.at for seen in frames.arp() if seen.packet.is_announcement and seen.packet.target == address]


def gaps(moments):
    return [after - before for before, after in zip(moments, moments[1:])]


def case_found_and_switched_over_IPv4(house):
    """A controller with only an IPv4 address finds the plug and switches it over IPv4."""
    host, other = house.host(), house.host(ipv6=False)
    other.run("ip", "address", "add", f"{BY_HAND}/16", "broadcast", "+", "dev", "eth0")
    lamp = house.plug(host)
    person = house.controller(other)
    person.browse().found("Lamp", within=12)
    assert switched_from(person, lamp) == {BY_HAND}
    assert all(is_link_local(address) or ":" in address for address in person.resolve("Lamp")["addresses"])


def case_found_and_switched_over_IPv6(house):
    """If both families work, the plug is switched over IPv6 link-local addresses."""
    host, other = house.host(), house.host()
    lamp = house.plug(host)
    person = house.controller(other)
    person.browse().found("Lamp", within=12)
    assert is_IPv6_link_local(switched_from(person, lamp))


def case_two_plugs_and_both_families(house):
    """A controller on the second plug's host finds and switches the first plug. The controller uses IPv6 if both families
    work."""
    hosts = [house.host(), house.host()]
    events = [house.until_end(AddressEvents(host)) for host in hosts]
    lamp, _ = house.plug(hosts[0], "Lamp"), house.plug(hosts[1], "Kettle")
    chosen = {told.usable(is_link_local, 12).address for told in events}
    assert len(chosen) == 2
    person = house.controller(hosts[1])
    browser = person.browse()
    browser.shows({"Lamp", "Kettle"})
    assert any(":" in address for address in person.resolve("Lamp")["addresses"])
    eventually(
        lambda: chosen & set(person.resolve("Lamp")["addresses"]), 8, lambda: f"an IPv4 address: {person.resolve('Lamp')}")
    assert is_IPv6_link_local(switched_from(person, lamp))
    # Without IPv6 the controller uses IPv4.
    hosts[1].run("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=1")
    assert switched_from(person, lamp) <= chosen


def switched_from(person, lamp):
    """Switches the plug off and on, and returns the addresses from which the controller was connected to the plug."""
    person.does("off", lamp.name)
    lines = person.watch(lamp.name)
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    person.does("on", lamp.name)
    lines.seen_object(lambda told: told["event"] == "relay" and told["on"], 5, "the relay on")
    peers = connected(lamp.host, local_port=PORT)
    lines.stop()
    return {remote for _, remote in peers}


def connected(host, local_port=None, remote_port=None):
    """Returns the pairs of local and remote address of the established connections."""
    chosen = [f"sport = :{local_port}"] if local_port else [f"dport = :{remote_port}"]
    lines = host.run("ss", "-Htn", "state", "established", f"( {chosen[0]} )").splitlines()
    return [tuple(bare(place) for place in line.split()[2:4]) for line in lines]


def bare(place):
    """Returns an address of `ss` without port, brackets and interface."""
    return place.rsplit(":", 1)[0].strip("[]").split("%")[0].removeprefix("::ffff:").strip("]")


def is_IPv6_link_local(addresses):
    return bool(addresses) and all(address.startswith("fe80:") for address in addresses)


def case_every_probe_is_denied(house):
    """After ten conflicts the plug waits a minute before it tries a new address. It claims that address if no host denies it any longer
    (RFC 3927 section 2.2.1)."""
    host, other = house.host(), house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    denier = Troublemaker(other, "deny")
    lamp = house.plug(host)
    eventually(lambda: len(denier.did("denied")) == 10, 60, lambda: f"ten conflicts: {frames.transcript()}")
    limited = denier.did("denied")[-1]["at"]
    time.sleep(max(0, limited + 58 - time.monotonic()))
    assert len(first_probes(frames)) == 10, f"ten different addresses, and none afterwards: {frames.transcript()}"
    assert not [told for told in events.events if is_link_local(told.address)]
    denier.stop()
    assert events.usable(is_link_local, 15).at - limited >= 60
    assert conflicts(lamp) == 10, lamp.networks()


def first_probes(frames):
    """Returns the time of the first probe for each address."""
    found = {}
    for seen in frames.arp():
        if seen.packet.is_probe:
            found.setdefault(seen.packet.target, seen.at)
    return found


def case_the_address_is_stolen(house):
    """The plug defends its address once, and releases it at a second conflict within ten seconds (RFC 3927 section
    2.5)."""
    host, other = house.host(), house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    lamp = house.plug(host)
    held = events.usable(is_link_local, 12)
    thief = Troublemaker(other, "steal", held.address, 3, 4)
    own = host.hardware_address().replace(":", "")

    def defences(since):
        return [seen for seen in frames.arp(since) if seen.packet.is_announcement and seen.packet.sender_hardware.hex() == own]

    eventually(lambda: len(thief.did("stole")) == 1, 5, "the first theft")
    first = thief.did("stole")[0]["at"]
    eventually(lambda: defences(first), 1, lambda: f"a defence: {frames.transcript()}")
    assert [address["local"] for address in host.addresses()] == [held.address]
    eventually(lambda: len(thief.did("stole")) == 2, 6, "the second theft")
    second = thief.did("stole")[1]["at"]
    assert len(defences(first)) == 1, frames.transcript()
    events.removed(held.address, 1, since=second)
    another = events.usable(is_link_local, 9, since=second)
    assert another.address != held.address
    assert conflicts(lamp) == 2, lamp.networks()


def conflicts(lamp):
    return sum(network["conflicts"] for network in lamp.networks())


def case_an_access_point_mirrors_what_it_hears(house):
    """Mirrored packets are not a conflict, because they contain the plug's own hardware address."""
    host, other = house.host(), house.host()
    frames, events = house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))
    mirror = Troublemaker(other, "mirror")
    house.plug(host)
    held = events.usable(is_link_local, 12)
    eventually(lambda: len(mirror.did("mirrored")) >= 5, 5, "all probes and announcements mirrored")
    time.sleep(1)
    assert [address["local"] for address in host.addresses()] == [held.address], frames.transcript()
    assert len(first_probes(frames)) == 1, frames.transcript()


def case_two_interfaces(house):
    """A plug with two interfaces gets a lease on the link with a server and a link-local address on the other."""
    server = house.server(Dnsmasq)
    host, alone = house.host(), house.another_link()
    host.connect("eth1", ipv4=False, link=alone)
    events = house.until_end(AddressEvents(host))
    lamp = house.plug(host, interface=["eth0", "eth1"])
    leased = events.usable(server.network.holds, 15)
    chosen = events.usable(is_link_local, 12)
    assert leased.address in [held["local"] for held in host.addresses("eth0")]
    assert [held["local"] for held in host.addresses("eth1")] == [chosen.address]
    other = alone.host(ipv4=False, ipv6=False)
    other.run("ip", "address", "add", f"{BY_HAND}/16", "broadcast", "+", "dev", "eth0")
    person = house.controller(other)
    person.browse().found("Lamp", within=12)
    assert switched_from(person, lamp) == {BY_HAND}
    assert {network["name"] for network in lamp.networks()} == {"eth0", "eth1"}


def case_IPv6_where_the_kernel_was_told_not_to(house):
    """Some systems set addr_gen_mode to none for a network manager that is not installed; the plug then creates the
    link-local address."""
    host, other = house.host(up=False), house.host()
    host.run("sysctl", "-qw", "net.ipv6.conf.eth0.addr_gen_mode=1")
    host.run("ip", "link", "set", "eth0", "up")
    events = house.until_end(AddressEvents(host))
    lamp = house.plug(host)
    events.usable(lambda address: address.startswith("fe80:"), 6)
    person = house.controller(other)
    person.browse().found("Lamp", within=12)
    assert is_IPv6_link_local(switched_from(person, lamp))


def case_the_IPv6_address_is_taken(house):
    """If duplicate address detection (RFC 4862 section 5.4) finds another host with the address, the plug chooses a new
    one (RFC 7217 section 6)."""
    host, other = house.host(up=False), house.host()
    taken = from_hardware_address(host.hardware_address())
    other.run("ip", "address", "add", f"{taken}/64", "dev", "eth0", "nodad")
    lamp = house.plug(host)
    events = house.until_end(AddressEvents(host))
    host.run("ip", "link", "set", "eth0", "up")
    events.usable(lambda address: address.startswith("fe80:") and address != taken, 10)
    assert taken not in [held["local"] for held in host.addresses(family=6)]
    person = house.controller(other)
    person.browse().found("Lamp", within=12)
    assert is_IPv6_link_local(switched_from(person, lamp))


def from_hardware_address(text):
    """Derives the address that the kernel chooses (RFC 4291 appendix A)."""
    bytes_ = bytes.fromhex(text.replace(":", ""))
    eight = bytes([bytes_[0] ^ 2]) + bytes_[1:3] + b"\xff\xfe" + bytes_[3:]
    return "fe80::" + ":".join(f"{int.from_bytes(eight[place:place + 2], 'big'):x}" for place in range(0, 8, 2))


@pytest.mark.parametrize("case", cases(globals()))
def test_alone(verdicts, case):
    """Reports the verdict of one case."""
    verdicts.of(case)
