"""Fixtures of every test: a LAN, plugs, and hosts that sleep."""

import pytest

from deadlines import eventually
from sleeper import Sleeper
from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit  # noqa: F401


@pytest.fixture
def proxy(plug, tmp_path):
    """Returns a function that starts a plug as a sleep proxy, and waits until it serves: proxy(host)."""
    configuration = tmp_path / "plugd.toml"
    configuration.write_text("[sleep_proxy]\nenabled = true\n")

    def start(host, **options):
        lamp = plug(host, "Lamp", config=configuration, **options)
        eventually(
            lambda: lamp.answers() and lamp.status()["sleep_proxy"]["enabled"], 15,
            lambda: f"that the proxy serves:\n{lamp.running.transcript()}")
        return lamp

    return start


@pytest.fixture
def sleeper(lan, tmp_path):
    """Returns a function that makes a host which announces services and can sleep: sleeper(NAME, services={NAME: PORT})."""
    sleepers = []

    def make(name="media", services=None, host=None):
        path = tmp_path / f"sleeper{len(sleepers)}.socket"
        sleepers.append(Sleeper(host or lan.host(), path, name, {"Media": 7000} if services is None else services))
        return sleepers[-1]

    yield make
    for one in sleepers:
        one.leave()
