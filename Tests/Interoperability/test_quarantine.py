"""A daemon that crashes repeatedly on messages of one plug restarts without that plug, and the other plugs work."""

import pathlib
import signal
import time

import pytest

from deadlines import eventually
from harness.served import Served


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    plugs = {name: plug(lan.host(), name, simulate=name.lower()) for name in ("Lamp", "Kettle")}
    served = Served(controller(lan.host()), tmp_path)
    served.follows(2)
    served.plugs = plugs
    return served


def states(house):
    return {told["plug"]: (told["state"], told.get("reason", "")) for told in house.get("/api/v1/house")["plugs"]}


def died(house):
    return pathlib.Path(house.folder, "daemon", "died")


def dies_of(house, identity):
    """Simulates a crash during a message of that plug: kills the daemon, writes the crash report and starts the daemon."""
    house.running.process.kill()
    house.running.ended(within=5)
    died(house).write_text(f"{int(signal.SIGILL)} {identity} {int(time.time())}\n")
    house.start()


def test_a_daemon_that_dies_twice_of_a_plug_comes_back_without_it(house):
    """After two crashes on messages of one plug, the daemon disables that plug for 60 minutes, or until the user lifts the quarantine."""
    lamp = (house.plugs["Lamp"].state / "id").read_text().split()[0]
    dies_of(house, lamp)
    house.running.seen(lambda line: line.error and f"a message from plug {lamp}" in line.text, 10, "the cause of the crash")
    house.follows(2)
    dies_of(house, lamp)
    house.running.seen(lambda line: line.error and "that plug is disabled" in line.text, 10, "the quarantine")
    house.follows(1)
    eventually(lambda: states(house)["Kettle"][0] == "connected", 15, lambda: f"the kettle: {states(house)}")
    eventually(lambda: "disabled for 60 minutes" in states(house)["Lamp"][1], 15, lambda: f"the lamp: {states(house)}")
    assert states(house)["Lamp"][0] == "away"
    person = house.controller
    told = person.finish("daemon", "quarantine", "--directory", house.folder / "daemon")
    assert told.status == 0 and told.output.startswith("Lamp: disabled for"), told
    lifted = person.finish("daemon", "quarantine", "--directory", house.folder / "daemon", "--lift", "lamp")
    assert lifted.status == 0, lifted
    eventually(lambda: states(house)["Lamp"][0] == "connected", 60, lambda: f"the lamp: {states(house)}")
    again = person.finish("daemon", "quarantine", "--directory", house.folder / "daemon", "--lift", "lamp")
    assert again.status == 1 and "is not disabled" in again.errors, again


def test_a_fault_leaves_what_it_was_and_a_kill_leaves_nothing(house):
    """A crash leaves a report that the next start logs; a kill leaves none."""
    assert died(house).read_text() == ""
    assert died(house).stat().st_mode & 0o777 == 0o600
    house.running.process.send_signal(signal.SIGSEGV)
    house.running.ended(within=10)
    number, plug, at = died(house).read_text().split()
    assert number == "11" and abs(int(at) - time.time()) < 60
    assert plug == "-" or len(plug) == 12
    house.start()
    house.running.seen(lambda line: line.error and "crashed with signal 11" in line.text, 10, "the cause of the crash")
    house.follows(2)
    assert died(house).read_text() == ""
    house.running.process.kill()
    house.running.ended(within=5)
    assert died(house).read_text() == ""
