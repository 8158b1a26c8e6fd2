"""A plug that is stopped in an orderly way sends goodbye packets, and every browser removes it one second later."""

from harness.avahi import Avahi
from harness.zeroconf_peer import ZeroconfBrowser

LIMIT = 1.5  # seconds: a goodbye leaves the record a TTL of one second (RFC 6762 section 10.1)


def test_a_stopped_plug_disappears_from_every_browser(lan, plug, controller):
    """plugctl, Avahi and python-zeroconf remove a stopped plug within 1.5 s and keep the other one."""
    here, there = lan.host(), lan.host()
    avahis = [Avahi(here).browse(), Avahi(there).browse()]
    lamp = plug(here, "Lamp")
    plug(here, "Kettle")
    browsers = [controller(host).browse() for host in (here, there)]
    zeroconf = ZeroconfBrowser(there)
    for avahi in avahis:
        avahi.appeared("Lamp", within=10)
    for browser in browsers:
        browser.shows({"Lamp", "Kettle"})
    zeroconf.resolved("Lamp", within=10)

    stopped = lamp.running.terminate()
    assert lamp.running.ended(within=5) == 0
    took = {
        "plugctl on the same host": browsers[0].lost("Lamp", stopped, within=5),
        "plugctl": browsers[1].lost("Lamp", stopped, within=5),
        "Avahi on the same host": avahis[0].disappeared("Lamp", stopped, within=5),
        "Avahi": avahis[1].disappeared("Lamp", stopped, within=5),
        "python-zeroconf": zeroconf.removed("Lamp", stopped, within=5),
    }
    print({who: round(seconds, 2) for who, seconds in took.items()})
    assert max(took.values()) <= LIMIT, took
    assert all(browser.names() == {"Kettle"} for browser in browsers)
