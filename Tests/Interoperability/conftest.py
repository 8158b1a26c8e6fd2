"""What every test gets: a LAN that is taken down after it, and the programs under test."""

import os
import pathlib
import signal

import pytest

from deadlines import patient
from harness.lan import LAN
from harness.plugs import Controller, Plug
from harness.together import Verdicts

LONGEST_TEST = 90  # seconds, where the test's mark `time_limit` says nothing else; each wait inside has its own, shorter limit


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
    """What programs remember of one test is not known in the next, nor to whoever runs the tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    # All hosts have one file system, and with it each other's sockets: commands go straight to the plugs, unless a test wants
    # otherwise (`Controller.through`).
    monkeypatch.setenv("SMARTPLUG_DAEMON", "")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)


@pytest.fixture(scope="module")
def verdicts(request, programs, tmp_path_factory):
    """Of the module's cases that were asked for, which run beside each other from here on."""
    asked = [item for item in request.session.items if item.module is request.module and "verdicts" in item.fixturenames]
    names = [item.callspec.params["case"] for item in asked]
    verdicts = Verdicts(request.module, names, programs, tmp_path_factory.mktemp("cases"))
    yield verdicts
    verdicts.close()


@pytest.fixture(scope="session")
def programs():
    folder = pathlib.Path(os.environ["SMARTPLUG_PROGRAMS"])
    for program in ("plugd", "plugctl", "plugctl-script"):
        assert (folder / program).exists(), f"{folder} holds no {program}; Scripts/test interoperability builds it"
    return folder


@pytest.fixture
def plug(programs, tmp_path):
    """Starts a plug on a host: plug(host, name, simulate="lamp", interface="lo", port=4711)."""
    started = []

    def start(host, name, **options):
        plug = Plug(programs, host, name, options.pop("state", tmp_path / f"plug{len(started)}"), **options)
        started.append(plug)
        return plug

    return start


@pytest.fixture
def controller(programs):
    """plugctl on a host: controller(host)."""
    return lambda host: Controller(programs, host)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A failure shows what every program of the test printed."""
    report = yield
    if report.failed and call.when == "call":
        report.sections += transcripts_of(item)
    return report


def transcripts_of(item):
    if "verdicts" in item.funcargs:
        return item.funcargs["verdicts"].transcripts(item.callspec.params["case"])
    return item.funcargs["lan"].transcripts if "lan" in item.funcargs else []
