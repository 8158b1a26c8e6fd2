"""A computer whose kernel is suspended, and whose network card has no link meanwhile. Only `Scripts/test --full` runs this
test, because it boots a virtual machine."""

import re
import sys

import pytest

from deadlines import eventually
from harness.processes import Running
from harness.zeroconf_peer import ZeroconfBrowser
from machine import TAP, Machine
from observers import CONNECT, media, sleepers

CARD = "52:54:00:07:00:c8"


@pytest.fixture
def lamp(lan, proxy):
    return proxy(lan.host())


@pytest.fixture
def machine(lamp, tmp_path):
    machine = Machine(lamp.host, "10.7.0.200", CARD, tmp_path)
    yield machine
    machine.close()


@pytest.mark.time_limit(180)
def test_a_connection_wakes_a_suspended_machine(lan, lamp, machine):
    """The plug answers for the machine, and wakes it by a magic packet that tcpdump sees at the machine's network card. The
    client's connection then succeeds."""
    name = lamp.status()["sleep_proxy"]["name"]
    port = ZeroconfBrowser(lan.host(), service_type="_sleep-proxy._udp").resolved(name, 15)["port"]
    machine.serves(7000)
    assert machine.register(lamp.host.ipv4, port, "guest", {"Media": 7000}) == 0
    machine.suspends()
    eventually(
        lambda: sleepers(lamp).get("guest.local", {}).get("state") == "asleep", 20, lambda: f"it sleeps: {lamp.status()}")
    client = lan.host()
    assert media(client)["addresses"] == [machine.address]
    tcpdump = Running("tcpdump", ["tcpdump", "-i", TAP, "-c", "1", "-nn", "-xx", "ether proto 0x0842 or udp port 9"])
    tcpdump.seen(lambda line: "listening on" in line.text, 10, "that tcpdump listens")
    connecting = client.start(sys.executable, "-c", CONNECT, machine.address, 7000, 60)
    machine.wakes_by_magic(within=20)
    assert connecting.ended(60) == 0 and connecting.lines[0].text == "awake", connecting.transcript()
    assert tcpdump.ended(10) == 0
    dumped = "".join(re.findall(r"0x[0-9a-f]{4}:((?: +[0-9a-f]+)+)", tcpdump.transcript())).replace(" ", "")
    assert "ff" * 6 + CARD.replace(":", "") * 16 in dumped
    eventually(lambda: not sleepers(lamp), 15, lambda: f"no sleeper: {lamp.status()}")
    assert machine.guest.does("cd /sys/power/suspend_stats; echo $(cat success fail)").split() == ["1", "0"]
    kernel = machine.guest.does("dmesg")
    assert "PM: suspend exit" in kernel and kernel.count("NIC Link is Up") >= 2, kernel
