"""Tests of the addressing modes auto, manage and observe, and of the capabilities that a plug keeps in them."""

import pathlib
import re
import time

import pytest

from deadlines import eventually
from harness.dhcp import Dnsmasq
from harness.frames import Frames
from harness.interface_events import AddressEvents, is_link_local
from harness.together import cases

pytestmark = pytest.mark.time_limit(90)
NET_ADMIN, NET_RAW = 1 << 12, 1 << 13
NOBODY = 65534


def watched(house, **how):
    host = house.host(**how)
    return host, house.until_end(Frames(host.port)), house.until_end(AddressEvents(host))


def observes(house, host, lamp, frames, because):
    """Expects that the plug reports in its log, its status and its info that it observes because of `because`, and that it
    does not manage the interface."""
    lamp.running.seen(lambda line: "eth0" in line.text and because in line.text, 10, f"the log line that it observes because of {because}")
    [told] = eventually(lambda: [network for network in lamp.networks() if network["name"] == "eth0"], 5, "eth0 in plugd status")
    assert told["role"] == "observe" and because in told["reason"], told
    person = house.controller(house.link.host())
    person.browse().found("Lamp", within=10)
    info = person.does("info", "Lamp", "--json").output
    assert "observe" in info and because in info, info
    time.sleep(2)
    own = bytes.fromhex(host.hardware_address().replace(":", ""))
    assert not [seen for seen in frames.dhcp() if seen.packet.hardware == own], frames.transcript()
    assert not [seen for seen in frames.arp() if seen.packet.is_probe and seen.packet.sender_hardware == own], frames.transcript()


def case_an_address_by_hand_is_left_alone(house):
    """In auto mode the plug does not change an address that it did not set."""
    house.server(Dnsmasq)
    host, frames, events = watched(house, ipv4=True)
    lamp = house.plug(host, addressing="auto")
    observes(house, host, lamp, frames, f"another program assigned the address {host.ipv4}")
    assert {address["local"] for address in host.addresses()} == {host.ipv4}


MANAGERS = {
    "NetworkManager": 'mkdir -p /run/NetworkManager/devices; printf "[device]\\nmanaged=full\\n" >/run/NetworkManager/devices/$INDEX',
    "dhcpcd": "mkdir -p /run/dhcpcd; echo $HOLDER >/run/dhcpcd/pid; echo $HOLDER >/run/dhcpcd/eth0.pid; echo $HOLDER >/run/dhcpcd.pid",
    "systemd-networkd": 'mkdir -p /run/systemd/netif/links; printf "ADMIN_STATE=configured\\nOPER_STATE=routable\\n" '
                        ">/run/systemd/netif/links/$INDEX",
    "connman": "mkdir -p /run/connman; echo $HOLDER >/run/connman/connman.pid",
}


def under_manager(house, name):
    """Creates the files that the network manager writes for an interface that it manages, and expects that the plug observes it."""
    host, frames, events = watched(house)
    index = host.run("cat", "/sys/class/net/eth0/ifindex").strip()
    host.run("sh", "-c", f"INDEX={index}; HOLDER=1; {MANAGERS[name]}")
    lamp = house.plug(host, addressing="auto")
    observes(house, host, lamp, frames, name)


def case_NetworkManager_has_the_interface(house):
    """The plug observes an interface that NetworkManager manages."""
    under_manager(house, "NetworkManager")


def case_dhcpcd_has_the_interface(house):
    """The plug observes an interface that dhcpcd manages."""
    under_manager(house, "dhcpcd")


def case_networkd_has_the_interface(house):
    """The plug observes an interface that systemd-networkd manages."""
    under_manager(house, "systemd-networkd")


def case_auto_manages_what_nobody_else_does(house):
    """In auto mode the plug manages an interface without another network manager."""
    server = house.server(Dnsmasq)
    host, _, events = watched(house)
    lamp = house.plug(host, addressing="auto")
    events.usable(server.network.holds, 15)
    assert [network["role"] for network in lamp.networks() if network["name"] == "eth0"] == ["manage"]


def case_observe_is_obeyed_without_anybody(house):
    """In observe mode the plug sends no DHCP message and sets no IPv4 address."""
    house.server(Dnsmasq)
    host, frames, events = watched(house)
    house.plug(host, addressing="observe")
    time.sleep(8)
    assert not frames.dhcp() and not [told for told in events.events if ":" not in told.address], frames.transcript()


def case_it_needs_two_privileges_and_keeps_no_others(house):
    """As an ordinary user the plug needs only the capabilities to configure the network and to receive frames."""
    server = house.server(Dnsmasq)
    host, frames, events = watched(house)
    state = pathlib.Path("/run/plug")  # The host's own folder; only root can access pytest's folder.
    host.run("install", "-d", "-o", str(NOBODY), "-m", "700", state)
    lamp = house.plug(
        host, state=state, runtime="/run/plug/runtime", paired=False, as_user=[
            "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all,+net_admin,+net_raw",
            "--inh-caps=-all,+net_admin,+net_raw", "--ambient-caps=-all,+net_admin,+net_raw", "--no-new-privs"])
    events.usable(server.network.holds, 15)
    assert privileges(lamp) == {"CapPrm": NET_ADMIN | NET_RAW, "CapEff": NET_ADMIN | NET_RAW}
    server.stop()
    server.host.run("ip", "link", "set", "eth0", "down")
    host.pull_cable()
    time.sleep(0.5)
    host.plug_cable()
    events.usable(is_link_local, 12)


def case_root_gives_up_all_but_two_privileges(house):
    """A plug that is started by root keeps only two capabilities."""
    server = house.server(Dnsmasq)
    host, _, events = watched(house)
    lamp = house.plug(host)
    events.usable(server.network.holds, 15)
    assert privileges(lamp) == {"CapPrm": NET_ADMIN | NET_RAW, "CapEff": NET_ADMIN | NET_RAW}
    assert status_of(lamp, "NoNewPrivs") == 1


def case_who_only_observes_keeps_none(house):
    """A plug in observe mode keeps no capability."""
    host, _, _ = watched(house, ipv4=True)
    lamp = house.plug(host, addressing="observe")
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    assert privileges(lamp) == {"CapPrm": 0, "CapEff": 0}


def privileges(lamp):
    return {name: status_of(lamp, name, base=16) for name in ("CapPrm", "CapEff")}


def status_of(lamp, name, base=10):
    text = pathlib.Path(f"/proc/{lamp.running.process.pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\w+)", text, re.MULTILINE).group(1), base)


@pytest.mark.parametrize("case", cases(globals()))
def test_roles(verdicts, case):
    """Reports the verdict of one case."""
    verdicts.of(case)
