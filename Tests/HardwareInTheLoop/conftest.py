"""Fixtures of every test. All tests of a run share one guest. It is booted again only if it has ended, or was closed because it did not
answer. Before each test, the simulated chips and lines are set to their initial state."""

import os
import pathlib
import tempfile

import pytest

from harness.chips import ADE7953, Chip
from harness.guest import Gone, Guest, packed
from harness.lines import Button, Lines
from harness.network import Network
from harness.plug import Controller, Plug
from harness.radios import PROGRAMS

HERE = pathlib.Path(__file__).parent
INTERFACES = ["libgpiod1", "libgpiod2"]
FAULT = "Oops|BUG:|Call Trace|WARNING:"


class Machine:
    """The guest, which is replaced when it no longer works."""

    def __init__(self):
        self._folder = pathlib.Path(os.environ["SMARTPLUG_GUEST"])
        self._place = tempfile.TemporaryDirectory(prefix="guest")
        work = pathlib.Path(self._place.name)
        # The guest for another processor cannot run the programs of this machine.
        is_native = (self._folder / "architecture").read_text().strip() == "amd64"
        self._archive = packed(HERE, [*(self._folder / "programs").iterdir(), *(PROGRAMS if is_native else [])], work)
        self._booted, self.guest = 0, None
        self.network = Network()

    def up(self):
        if self.guest is None or not self.guest.is_up():
            self._booted += 1
            work = pathlib.Path(self._place.name) / str(self._booted)
            work.mkdir()
            self.guest = Guest(self._folder, self._archive, work, self.network.card, self.network.within)
            print(f"the guest booted in {self.guest.boot_seconds:.1f} s")
        return self.guest

    def close(self):
        if self.guest:
            self.guest.close()
        self.network.close()
        self._place.cleanup()


@pytest.fixture(scope="session")
def machine():
    machine = Machine()
    yield machine
    machine.close()


@pytest.fixture
def guest(machine):
    """The guest without programs of an earlier test, and with all parts in their initial state."""
    guest = machine.up()
    chips = "/sys/kernel/debug/plug_i2c"
    guest.does(f"""
        for c in {chips}/*; do
            for f in error stuck nonsense energy_rate; do echo 0 >$c/$f; done
            echo Y >$c/present; echo 1 >$c/reset
        done
        for p in $(cat /run/started 2>/dev/null); do kill -9 $p 2>/dev/null; done
        killall -9 keeper 2>/dev/null  # The keeper restarts plugd, so it is killed first.
        while pidof plugd plugctl keeper >/dev/null; do
            killall -9 plugd plugctl keeper 2>/dev/null
            usleep 20000
        done
        rm -rf /run/started /tmp/* 2>/dev/null
        mount | grep -q /tmp/disk && umount -l /tmp/disk
        dmesg -c >/run/dmesg.before; true""")
    Lines(guest).forget()
    yield guest
    if guest.is_up():
        faults = guest.run(f"dmesg | grep -E -A 20 '{FAULT}'").text
        assert not faults, f"kernel errors:\n{faults}"


@pytest.fixture
def network(machine):
    """The network that the guest's card is connected to, with this machine as another host on it."""
    return machine.network


@pytest.fixture
def lines(guest):
    return Lines(guest)


@pytest.fixture
def button(guest):
    return Button(guest)


@pytest.fixture
def mains(guest):
    """The ADE7953 energy meter."""
    return ADE7953(guest)


@pytest.fixture
def chip(guest):
    """Returns a function for the other chips: chip(0x41)."""
    return lambda address: Chip(guest, address)


@pytest.fixture
def interface(request):
    """The libgpiod version in the guest. A test with the mark `both` runs with each version."""
    return getattr(request, "param", INTERFACES[0])


@pytest.fixture
def plug(guest, interface):
    """Returns a function that makes a plug, without starting it: plug(relay={"line": "RELAY", "active_low": True})."""
    made = []

    def make(**parts):
        made.append(Plug(guest, f"/lib/{interface}", f"/tmp/plug{len(made)}", parts))
        return made[-1]

    make.made = made
    return make


@pytest.fixture
def controller(guest):
    return Controller(guest, "/tmp/controller")


def pytest_generate_tests(metafunc):
    """The other tests use the first interface, so the short form runs these only with the second one."""
    if metafunc.definition.get_closest_marker("both"):
        metafunc.parametrize("interface", [pytest.param(INTERFACES[0], marks=pytest.mark.long), INTERFACES[1]], indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the output of plugd and the record of the lines to the report of a failed test."""
    report = yield
    if report.failed and call.when == "call":
        try:
            for made in getattr(item.funcargs.get("plug"), "made", []):
                report.sections.append((f"{made.folder}", made.log()))
            if "lines" in item.funcargs:
                report.sections.append(("lines", "\n".join(map(str, item.funcargs["lines"].record()[-60:]))))
        except (Gone, AssertionError) as error:
            report.sections.append(("guest", str(error)))
    return report
