"""Interfaces that appear late, are removed and return, or have addresses of only one family."""

import pytest

from deadlines import eventually
from harness.zeroconf_peer import ZeroconfBrowser


def switched(controller, name):
    """Expects that the commands `off` and `on` succeed."""
    controller.does("off", name)
    controller.does("on", name)


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_a_host_with_one_family_only(lan, plug, controller, family):
    """With only IPv4 or only IPv6 addresses the plug is found and switched."""
    only = {"ipv4": family == "ipv4", "ipv6": family == "ipv6"}
    plug(lan.host(**only), "Lamp")
    person = controller(lan.host(**only))
    person.browse().found("Lamp")
    switched(person, "Lamp")
    addresses = person.resolve("Lamp")["addresses"]
    assert addresses and all((":" in address) == (family == "ipv6") for address in addresses)


def test_an_interface_that_appears_later(lan, plug, controller):
    """Without an interface the plug logs once that it waits, and its button works. When an interface appears, the plug is found."""
    late = lan.host(connected=False)
    lamp = plug(late, "Lamp")
    browser = controller(lan.host()).browse()
    lamp.running.seen(lambda line: "waiting for one" in line.text, 5, "the log line that it waits for an interface")
    before = lamp.status()["relay"]
    assert lamp.press().status == 0
    eventually(lambda: lamp.status()["relay"] != before, 5, "a relay that follows the button")
    late.connect()
    browser.found("Lamp", within=10)
    switched(controller(lan.host()), "Lamp")
    assert lamp.running.transcript().count("waiting for one") == 1


def test_plugctls_own_interface_appears_later(lan, plug, controller):
    """A `plugctl browse` that started without an interface finds the plug after the interface appears."""
    plug(lan.host(), "Lamp")
    late = lan.host(connected=False)
    browser = controller(late).browse()
    late.connect()
    browser.found("Lamp", within=10)


def test_an_interface_that_goes_down_and_comes_up(lan, plug, controller):
    """A watch reports a press that was made while the plug's interface was down."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    person.browse().found("Lamp")
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    host.run("ip", "link", "set", "eth0", "down")
    assert lamp.press().status == 0
    host.run("ip", "link", "set", "eth0", "up")
    lines.seen_object(lambda told: told["event"] == "button", 20, "the press made while the interface was down")
    switched(person, "Lamp")


@pytest.mark.parametrize("whose", ["the plug's", "the controller's"])
def test_a_cable_that_is_pulled_and_plugged_in(lan, plug, controller, whose):
    """A watch reports a press that was made while the cable was disconnected."""
    host, other = lan.host(), lan.host()
    lamp = plug(host, "Lamp")
    person = controller(other)
    browser = person.browse()
    browser.found("Lamp")
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    away = host if whose == "the plug's" else other
    away.pull_cable()
    if away is other:
        browser.shows(set())
    assert lamp.press().status == 0
    away.plug_cable()
    lines.seen_object(lambda told: told["event"] == "button", 20, "the press made while the cable was out")
    browser.shows({"Lamp"})
    switched(person, "Lamp")


def test_an_interface_that_is_pulled_and_plugged_in(lan, plug, controller):
    """After the plug's interface was removed and added again, a new controller finds and switches the plug."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    controller(lan.host()).browse().found("Lamp")
    host.disconnect()
    host.connect()
    newcomer = controller(lan.host())
    newcomer.browse().found("Lamp", within=10)
    switched(newcomer, "Lamp")
    assert lamp.running.is_running


def test_two_interfaces_on_the_same_lan(lan, plug, controller):
    """With two interfaces on one link, as with a cable and Wi-Fi, a plug receives its own packets and keeps its
    name."""
    host = lan.host()
    host.connect("eth1")
    plug(host, "Lamp"), plug(host, "Kettle")
    people = [controller(host), controller(lan.host())]
    browsers = [person.browse() for person in people]
    for person, browser in zip(people, browsers):
        browser.shows({"Lamp", "Kettle"})
        switched(person, "Lamp")
        addresses = person.resolve("Lamp")["addresses"]
        assert len(addresses) == len(set(addresses)), addresses
    told = "\n".join(browser.running.transcript() for browser in browsers)
    assert "lost" not in told and "Lamp (2)" not in told, told


def test_a_new_address_is_announced(lan, plug, controller):
    """When a host's address changes, only the new address is announced."""
    host = lan.host(ipv6=False)
    plug(host, "Lamp")
    person = controller(lan.host())
    person.browse().found("Lamp")
    # systemd sets this, too. Otherwise the kernel removes the second address of a network together with the first.
    host.run("sysctl", "-qw", "net.ipv4.conf.eth0.promote_secondaries=1")
    host.run("ip", "address", "add", "10.7.0.99/24", "dev", "eth0")
    host.run("ip", "address", "delete", f"{host.ipv4}/24", "dev", "eth0")
    eventually(lambda: person.resolve("Lamp")["addresses"] == ["10.7.0.99"], 10, "the new address and only that")
    switched(person, "Lamp")


def test_on_loopback_a_plug_stays_on_its_host(lan, plug, controller):
    """A plug on the loopback interface is found on its own host only."""
    host = lan.host()
    plug(host, "Lamp", interface="lo")
    plug(host, "Kettle")
    other = controller(lan.host()).browse()
    ZeroconfBrowser(host, interfaces="127.0.0.1").resolved("Lamp", within=10)
    other.found("Kettle")
    assert other.names() == {"Kettle"}
