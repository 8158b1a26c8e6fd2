"""Random bytes from the network are discarded, and the service continues."""

import os
from contextlib import contextmanager

import pytest

from harness.noise import make_noise

DATAGRAMS = int(os.environ.get("SMARTPLUG_NOISE_DATAGRAMS", "20000"))

@contextmanager
def service_goes_on(lan, plug, controller, counter):
    """Starts a lamp, and yields its host and a controller. After the noise, this counter of `plugd status` is above 0, and the same process
    is still found and switched."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    browser = person.browse()
    browser.found("Lamp")
    yield host, person
    assert lamp.running.is_running and browser.running.is_running
    assert browser.names() == {"Lamp"}
    assert lamp.status()[counter] > 0
    person.does("toggle", "Lamp")
    controller(lan.host()).browse().found("Lamp")


@pytest.mark.parametrize("address", ["224.0.0.251", "ff02::fb%eth0", "the plug's own"])
def test_datagrams_at_the_discovery_port(lan, plug, controller, address):
    """Random datagrams at port 5353 are counted as malformed, and the plug works."""
    with service_goes_on(lan, plug, controller, "malformedDatagrams") as (host, _):
        make_noise(lan.host(), "datagrams", host.ipv4 if address == "the plug's own" else address, 5353, 2000)


@pytest.mark.time_limit(60 + DATAGRAMS // 1000)
def test_a_flood_of_datagrams_leaves_memory_as_it_was(lan, plug, controller):
    """The plug's memory grows by at most 256 kB after the first tenth of the datagrams. SMARTPLUG_NOISE_DATAGRAMS is the number of all datagrams."""
    host, noisy = lan.host(), lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    person.does("toggle", "Lamp")
    make_noise(noisy, "datagrams", "224.0.0.251", 5353, DATAGRAMS // 10, seed=1)
    before = lamp.running.memory
    make_noise(noisy, "datagrams", "224.0.0.251", 5353, DATAGRAMS - DATAGRAMS // 10, seed=2)
    grown = lamp.running.memory - before
    malformed = lamp.status()["malformedDatagrams"]
    print(f"{malformed} of {DATAGRAMS} datagrams were malformed; memory {before} kB, then {grown} kB more")
    assert malformed > DATAGRAMS / 2
    assert grown <= 256, f"{grown} kB more than {before} kB"
    person.does("toggle", "Lamp")
    controller(lan.host()).browse().found("Lamp")


def test_streams_at_the_plugs_port(lan, plug, controller):
    """Random bytes in connections are counted as malformed, and the plug works."""
    with service_goes_on(lan, plug, controller, "malformedSessions") as (host, person):
        make_noise(lan.host(), "streams", host.ipv4, person.port("Lamp"), 40)
