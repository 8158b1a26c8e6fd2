"""A plug with a radio: its own network, which a phone joins, and the router's one. The radios are simulated by the kernel
(mac80211_hwsim); wpa_supplicant, hostapd and the DHCP server of the router are real."""

import re

import pytest

from deadlines import eventually
from harness.radios import PROGRAMS, Radios

pytestmark = pytest.mark.skipif(len(PROGRAMS) < 3, reason="hostapd, wpa_supplicant or iw is missing, or the guest is for another processor")
PASSWORD = "correct horse"
PAGE = "http://192.168.73.1"


@pytest.fixture
def radios(guest):
    radios = Radios(guest)
    yield radios
    radios.close()


@pytest.fixture
def lamp(plug, radios):
    return plug(network={"interface": "wlan0", "addressing": "manage"}, wifi={"interface": "wlan0", "control_folder": "/tmp/radios/control"}).start()


def own_network(lamp):
    """Waits for the plug's own network, and returns its name and password as the label has them."""
    lamp.says("opened the plug's own Wi-Fi network", within=40)
    [found] = re.findall(r"Wi-Fi setup +(\S+), password (\S+)", lamp.command("identity", "--config", lamp.file).text)
    return found


def submit(phone, name, password, more=""):
    fields = f"network={name.encode().hex()}&password={password.replace(' ', '+')}&country=DE{more}"
    return phone.does(f"wget -q -O - --post-data '{fields}' {PAGE}/join", within=20)


def has_lease(lamp):
    return any((network.get("lease") or {}).get("server") == "10.9.0.1" for network in lamp.status()["networks"])


def has_fixed_address(lamp, address):
    """True if the plug has this address, and no lease."""
    return any(
        any(held.startswith(address) for held in network["addresses"]) and "lease" not in network
        for network in lamp.status()["networks"])


def joined(lamp, within):
    """Waits until the plug has joined the router's network, and has an address of the router."""
    lamp.shows(lambda status: status["wifi"] == {"phase": "joined", "network": "home"}, "the plug in the router's network", within=within)
    eventually(lambda: has_lease(lamp), 30, lambda: f"a lease of the router: {lamp.status()['networks']}\n{lamp.log()}")


def opened(lamp, times):
    eventually(lambda: lamp.log().count("opened the plug's own") == times, 60, lambda: f"the plug's own network again:\n{lamp.log()}")


def test_a_phone_brings_the_plug_into_the_routers_network(radios, lamp, button):
    """The phone gets an address, and each name leads it to the page. A wrong password brings the plug's own network back, with the reason. With
    the right one the plug gets its address from the router. It keeps its connection when plugd starts again, and follows the router to a different
    channel. Held for more than ten seconds, the button opens the plug's own network, and the owner chooses the plug's address."""
    radios.serve("home", PASSWORD)
    name, password = own_network(lamp)
    assert radios.phone.join(name, password) == ["192.168.73.1", "192.168.73.1"]
    assert "192.168.73.1" in radios.phone.does("nslookup captive.apple.com 192.168.73.1")
    page = radios.phone.does(f"wget -q -O - {PAGE}/")
    assert "home" in page and "signal" in page, page
    assert "now connects to <b>home</b>" in submit(radios.phone, "home", "wrong horse")
    lamp.says("cannot be used: wrong-password", within=60)
    opened(lamp, 2)
    radios.phone.join(name, password)
    assert "the network has a different password" in radios.phone.does(f"wget -q -O - {PAGE}/")
    submit(radios.phone, "home", PASSWORD)
    joined(lamp, within=60)

    associated = radios.guest.does("cat /tmp/radios/router.log").count("associated")
    lamp.kill()
    lamp.start()
    joined(lamp, within=30)
    assert radios.guest.does("cat /tmp/radios/router.log").count("associated") == associated, "the plug left its network"

    radios.stop_router()
    lamp.shows(lambda status: status["wifi"]["phase"] == "searching", "that the router is gone", within=60)
    radios.serve("home", PASSWORD, channel=6)
    joined(lamp, within=90)

    button.press(12_000)
    opened(lamp, 3)
    radios.phone.join(name, password)
    submit(radios.phone, "home", PASSWORD, "&address=10.9.0.77/24&router=10.9.0.1")
    eventually(lambda: has_fixed_address(lamp, "10.9.0.77"), 90, lambda: f"the fixed address: {lamp.status()['networks']}\n{lamp.log()}")
    lamp.kill()
    lamp.start()
    eventually(lambda: has_fixed_address(lamp, "10.9.0.77"), 30, lambda: f"the fixed address: {lamp.status()['networks']}\n{lamp.log()}")
