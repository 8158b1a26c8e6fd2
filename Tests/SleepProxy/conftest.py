"""Fixtures of every test: a LAN, plugs, and hosts that sleep."""

import importlib.util
import pathlib

import pytest

from deadlines import eventually
from sleeper import Sleeper

# The LAN, the programs and the time limit are those of the interoperability tests.
_file = pathlib.Path(__file__).parents[1] / "Interoperability" / "conftest.py"
_specification = importlib.util.spec_from_file_location("interoperability", _file)
_shared = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(_shared)
lan, plug, controller, programs = _shared.lan, _shared.plug, _shared.controller, _shared.programs
time_limit, own_memory = _shared.time_limit, _shared.own_memory
pytest_runtest_makereport = _shared.pytest_runtest_makereport


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
