"""Two plugs with the same name: one keeps it, the other becomes "Lamp (2)"."""

import pytest

from harness.avahi import Avahi

BOTH = {"Lamp", "Lamp (2)"}
PLACES = pytest.mark.parametrize("beside", [True, False], ids=["on the same host", "on different hosts"])


@PLACES
def test_two_plugs_started_together(lan, plug, controller, beside):
    """One of two plugs with the same name is renamed."""
    here = lan.host()
    there = here if beside else lan.host()
    plug(here, "Lamp"), plug(there, "Lamp")
    controller(lan.host()).browse().shows(BOTH)


@PLACES
def test_a_second_plug_started_later(lan, plug, controller, beside):
    """A plug that starts later is renamed, and the first keeps its name."""
    here = lan.host()
    there = here if beside else lan.host()
    watcher = controller(lan.host())
    browser = watcher.browse()
    plug(here, "Lamp")
    browser.found("Lamp")
    port = watcher.port("Lamp")
    plug(there, "Lamp")
    browser.shows(BOTH)
    assert watcher.port("Lamp") == port != watcher.port("Lamp (2)"), "the first plug did not keep its name"


def test_two_plugs_whose_lans_are_joined(lan, plug, controller):
    """When two LANs with equally named plugs are joined, one plug is renamed."""
    first, second = lan.host(), lan.host()
    second.part()
    plug(first, "Lamp"), plug(second, "Lamp")
    browsers = [controller(host).browse() for host in (first, second)]
    for browser in browsers:
        browser.found("Lamp")
    second.join()
    browsers.append(controller(lan.host()).browse())
    for browser in browsers:
        browser.shows(BOTH)


@PLACES
def test_a_plug_beside_avahis_service_of_that_name(lan, plug, controller, beside):
    """A plug is renamed if Avahi already announces a service with its name."""
    here = lan.host()
    assert Avahi(here).publish("Lamp", 4711) == "Lamp"
    plug(here if beside else lan.host(), "Lamp")
    watcher = controller(lan.host())
    watcher.browse().shows(BOTH)
    assert watcher.port("Lamp") == 4711


@PLACES
def test_avahi_beside_a_plug_of_that_name(lan, plug, controller, beside):
    """Avahi renames its service if a plug already has the name."""
    here = lan.host()
    avahi = Avahi(here if beside else lan.host())
    plug(here, "Lamp")
    watcher = controller(lan.host())
    browser = watcher.browse()
    browser.found("Lamp")
    publisher = avahi.host.start("avahi-publish", "-s", "Lamp", "_smartplug._tcp", "4711")
    publisher.seen(lambda line: "Lamp #2" in line.text, 10, "a new name")
    browser.shows({"Lamp", "Lamp #2"})
    assert watcher.port("Lamp") != 4711
