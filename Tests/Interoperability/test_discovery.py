"""Tests of discovery: the services that each browser finds, with their names and ports."""

import pytest

from harness.avahi import Avahi
from deadlines import eventually
from harness.zeroconf_peer import ZeroconfBrowser, publish

HOUSE = ["Television", "Amplifier", "Ceiling Light", "Refrigerator", "Washing Machine", "Kettle"]
DIFFICULT = r"Küche · Lamp.2 \ oben; links"


def test_a_house_is_the_same_to_everyone(lan, plug, controller):
    """plugctl, Avahi on the plugs' host and on another host, and python-zeroconf list the same names and ports."""
    here, there = lan.host(), lan.host()
    avahis = [Avahi(here), Avahi(there)]
    for name in HOUSE:
        plug(here, name)
    zeroconf = ZeroconfBrowser(there)
    browsers = [controller(host).browse() for host in (here, there)]
    for browser in browsers:
        browser.shows(HOUSE)
    house = {name: controller(there).port(name) for name in HOUSE}
    assert len(set(house.values())) == len(HOUSE) and 0 not in house.values()
    assert {name: controller(here).port(name) for name in HOUSE} == house
    eventually(lambda: zeroconf.services() == house, 10, lambda: f"{house}, but python-zeroconf: {zeroconf.services()}")
    for avahi in avahis:
        eventually(lambda: avahi.services() == house, 10, lambda: f"{house}, but Avahi: {avahi.services()}")


def test_plugs_are_found_when_they_are_announced(lan, plug, controller):
    """Browsers on the same host and on another host print a new plug after its announcement. The test prints the delays."""
    here, there = lan.host(), lan.host()
    browsers = {"on the same host": controller(here).browse(), "on another host": controller(there).browse()}
    plugs = [plug(here, name) for name in HOUSE]
    late = {}  # seconds; `Scripts/demo --check` limits them
    for started in plugs:
        announced = started.running.seen(lambda line: "announced as" in line.text, 10, "the announcement").at
        for where, browser in browsers.items():
            late[started.name, where] = browser.found_at(started.name, within=5) - announced
    print({who: f"{seconds * 1000:.0f} ms" for who, seconds in late.items()})


def test_a_browse_for_three_seconds_ends_and_lists_the_plug(lan, plug, controller):
    here, there = lan.host(), lan.host()
    plug(here, "Lamp")
    controller(there).browse().found("Lamp")
    done = controller(there).does("browse", "--json", "--for", "3s")
    found = [told for told in done.objects if told["event"] == "found"]
    assert {(told["name"], told["type"], told["interface"]) for told in found} == {("Lamp", "_smartplug._tcp", "eth0")}
    assert all(told["domain"].rstrip(".") == "local" for told in found)


def test_a_plug_with_a_difficult_name(lan, plug, controller):
    """A name with spaces, dots, a backslash and non-ASCII letters is resolved by zeroconf and Avahi."""
    here, there = lan.host(), lan.host()
    plug(here, DIFFICULT)
    browser = Avahi(there).browse()
    assert ZeroconfBrowser(there).resolved(DIFFICULT, within=10)["port"] == controller(there).port(DIFFICULT)
    browser.appeared(DIFFICULT, within=10)


def test_plugs_with_a_dimmer_are_a_subtype(lan, plug):
    """Only plugs with a dimmer are found under the subtype _dimmer."""
    here, there = lan.host(), lan.host()
    plug(here, "Lamp"), plug(here, "Television", simulate="television")
    avahi = Avahi(there)
    eventually(lambda: len(avahi.services()) == 2, 10, "both plugs")
    assert set(avahi.services("_dimmer._sub._smartplug._tcp")) == {"Lamp"}


@pytest.mark.parametrize("beside", [True, False], ids=["on the same host", "on another host"])
def test_plugctl_sees_what_avahi_publishes(lan, controller, beside):
    """plugctl prints a service of Avahi with its name and TXT record."""
    host = lan.host()
    browser = controller(host if beside else lan.host()).browse()
    Avahi(host).publish(DIFFICULT, 4711, "txtvers=1", "id=00aa00aa00aa")
    browser.told_text(DIFFICULT, {"txtvers": "1", "id": "00aa00aa00aa"}, within=10)


@pytest.mark.parametrize("beside", [True, False], ids=["on the same host", "on another host"])
def test_plugctl_sees_what_zeroconf_publishes(lan, controller, beside):
    """plugctl prints a service of python-zeroconf with its TXT record, and its removal after the goodbye."""
    host = lan.host()
    browser = controller(host if beside else lan.host()).browse()
    publisher = publish(host, "Küche", 4711, "txtvers=1", "id=00aa00aa00aa")
    browser.told_text("Küche", {"txtvers": "1", "id": "00aa00aa00aa"}, within=10)
    assert browser.lost("Küche", since=publisher.terminate(), within=5) < 5


def test_resolve_names_host_port_and_addresses(lan, controller):
    """`plugctl resolve` prints the name, host, port and addresses of a service."""
    host = lan.host()
    Avahi(host).publish("Lamp", 4711)
    found = controller(lan.host()).resolve("Lamp")
    assert (found["name"], found["host"].rstrip("."), found["port"]) == ("Lamp", "host1.local", 4711)
    assert host.ipv4 in found["addresses"]
