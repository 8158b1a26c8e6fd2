"""A plug hands its sleeping computers over to a better sleep proxy. Only `Scripts/test --full` runs this test, because the
plug waits for a minute."""

import time

import pytest

from deadlines import eventually
from harness import zeroconf_peer
from observers import asleep, sleepers


@pytest.mark.time_limit(150)
def test_a_better_proxy_takes_over(lan, proxy, sleeper):
    """When a better proxy appears, the plug wakes the computer once, so that it can register there."""
    lamp, computer = proxy(lan.host()), sleeper()
    computer.sleeps()
    asleep(lamp, computer)
    other = lan.host()
    zeroconf_peer.publish(other, "10-10-10-10 Better", 5000, service_type="_sleep-proxy._udp")
    computer.woken(within=90)
    eventually(lambda: not sleepers(lamp), 5, lambda: f"no sleeper: {lamp.status()}")
    time.sleep(5)
    assert computer.wakeups == 1
