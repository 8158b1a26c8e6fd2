"""Fixtures of every test: a LAN that is removed after the test, and the programs under test."""

import os
import pathlib
import signal

import pytest

from deadlines import patient
from harness.lan import LAN
from harness.plugs import Controller, Plug
from harness.together import Verdicts

LONGEST_TEST = 90  # seconds, unless the test has the mark `time_limit`; each wait inside has its own, shorter limit


@pytest.fixture
def lan():
    lan = LAN()
    yield lan
    lan.close()


@pytest.fixture(autouse=True)
def time_limit(request):
    mark = request.node.get_closest_marker("time_limit")
    seconds = patient(mark.args[0] if mark else LONGEST_TEST)

    def too_long(*_):
        raise TimeoutError(f"the test ran longer than {seconds} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(round(seconds))
    yield
    signal.alarm(0)


@pytest.fixture(autouse=True)
def own_memory(monkeypatch, tmp_path):
    """Gives each test its own state and configuration directories, separate from those of other tests and of the
    user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    # All hosts share one file system, and thus each other's sockets. Commands therefore go directly to the plugs,
    # unless a test selects a daemon (`Controller.through`).
    monkeypatch.setenv("SMARTPLUG_DAEMON", "")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


@pytest.fixture(scope="module")
def verdicts(request, programs, tmp_path_factory):
    """The verdicts of the module's requested cases. Creating them starts these cases, at most 12 in parallel."""
    asked = [item for item in request.session.items if item.module is request.module and "verdicts" in item.fixturenames]
    names = [item.callspec.params["case"] for item in asked]
    verdicts = Verdicts(request.module, names, programs, tmp_path_factory.mktemp("cases"))
    yield verdicts
    verdicts.close()


@pytest.fixture(scope="session")
def programs():
    folder = pathlib.Path(os.environ["SMARTPLUG_PROGRAMS"])
    for program in ("plugd", "plugctl", "plugctl-script"):
        assert (folder / program).exists(), f"{folder} contains no {program}; Scripts/test interoperability builds it"
    return folder


@pytest.fixture
def plug(programs, tmp_path):
    """Returns a function that starts a plug on a host: plug(host, name, simulate="lamp", interface="lo", port=4711)."""
    started = []

    def start(host, name, **options):
        plug = Plug(programs, host, name, options.pop("state", tmp_path / f"plug{len(started)}"), **options)
        started.append(plug)
        return plug

    return start


@pytest.fixture
def controller(programs):
    """Returns a function that makes a plugctl on a host: controller(host)."""
    return lambda host: Controller(programs, host)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the output of all programs of a failed test to its report."""
    report = yield
    if report.failed and call.when == "call":
        report.sections += transcripts_of(item)
    return report


def transcripts_of(item):
    if "verdicts" in item.funcargs:
        return item.funcargs["verdicts"].transcripts(item.callspec.params["case"])
    return item.funcargs["lan"].transcripts if "lan" in item.funcargs else []
