"""Tests of the LAN and the peers themselves, which the other tests use."""

from harness.avahi import Avahi
from deadlines import eventually
from harness.zeroconf_peer import ZeroconfBrowser, publish

DIFFICULT = r"Küche · Lamp.2 \ oben; links"


def test_avahi_finds_what_zeroconf_publishes(lan):
    # python-zeroconf would treat a dot in a name as the end of a label.
    avahi, other = lan.host(), lan.host()
    browser = Avahi(avahi).browse()
    publisher = publish(other, "Küche · Lamp", 4711, "id=1")
    browser.appeared("Küche · Lamp", within=5)
    browser.disappeared("Küche · Lamp", since=publisher.terminate(), within=3)


def test_zeroconf_finds_what_avahi_publishes(lan):
    avahi, other = lan.host(), lan.host()
    Avahi(avahi).publish(DIFFICULT, 4711, "id=1")
    browser = ZeroconfBrowser(other)
    found = browser.resolved(DIFFICULT, within=10)
    assert (found["port"], found["txt"], avahi.ipv4 in found["addresses"]) == (4711, {"id": "1"}, True)


def test_peers_find_each_other_without_ipv4(lan):
    avahi, other = lan.host(ipv4=False), lan.host(ipv4=False)
    Avahi(avahi).publish("Lamp", 4711)
    browser = ZeroconfBrowser(other, family="6")
    found = browser.resolved("Lamp", within=10)
    assert all(address.startswith("fe80::") for address in found["addresses"])


def test_avahi_finds_what_avahi_publishes(lan):
    first, second = Avahi(lan.host()), Avahi(lan.host())
    first.publish(DIFFICULT, 4711)
    browser = second.browse()
    browser.appeared(DIFFICULT, within=5)
    eventually(lambda: second.services() == {DIFFICULT: 4711}, 5, "the service listed once")


def test_avahi_renames_the_second_of_a_name(lan):
    """Avahi renames a service whose name is in use."""
    first, second = Avahi(lan.host()), Avahi(lan.host())
    assert first.publish("Lamp", 4711) == "Lamp"
    publisher = second.host.start("avahi-publish", "-s", "Lamp", "_smartplug._tcp", "4712")
    publisher.seen(lambda line: "Lamp #2" in line.text, 10, "a new name")


def test_an_interface_can_be_pulled_and_plugged_in(lan):
    host = lan.host()
    daemon = Avahi(host).daemon
    host.disconnect()
    daemon.seen(lambda line: "eth0.IPv4 no longer relevant" in line.text, 5, "the removal of the interface")
    host.connect()

    def arrivals():
        return [line for line in list(daemon.lines) if "New relevant interface eth0.IPv4" in line.text]

    eventually(lambda: len(arrivals()) == 2, 5, "the return of the interface")
