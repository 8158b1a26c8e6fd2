"""Updates of the image over the network: plugctl sends signed bundles, the plug installs them into the other slot, and returns to the
previous system if the new one does not work."""

import json

import pytest

from bundles import foreign_keys
from deadlines import eventually, patient
from harness.guest import Gone
from house import House
from plug_machine import VARIABLES


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    house = House(tmp_path_factory.mktemp("update"))
    yield house
    house.machine.close()


def test_the_plug_restarts_with_the_new_system_when_it_is_off(house):
    """The relay keeps its state while the plug receives and installs a bundle, and the plug restarts when it is off."""
    identity = house.machine.does("plugd identity --plain")
    house.does("on", "Lamp")
    sent = house.start("update", "Lamp", house.bundles.working(1))
    output, _ = sent.communicate(timeout=patient(300))
    assert sent.returncode == 0 and "starts when the plug is off" in output, output
    assert "receiving, " in output and "installing " in output, output
    state = house.state()
    assert state["phase"] == "installed" and state["system"] == house.bundles.version and state["restartsWhenOff"], state
    assert json.loads(house.machine.does("plugd status"))["relay"] == "on"
    house.does("off", "Lamp")
    house.restart()
    assert house.slot() == "B"
    assert house.machine.does("plugd identity --plain") == identity
    # This connection proves that a controller reaches the plug.
    watching = house.start("watch", "Lamp")
    eventually(lambda: house.state()["phase"] == "idle", 60, lambda: house.state())
    watching.kill()
    watching.wait()
    assert house.state()["system"] == house.bundles.later(1)
    eventually(lambda: "B_TRY=0" in house.medium.read(VARIABLES), 20, "the report that the slot is good")
    assert "ORDER=B A" in house.medium.read(VARIABLES)


def test_a_bundle_that_must_not_be_installed_is_refused(house, tmp_path):
    later = house.bundles.later(2)
    truncated = tmp_path / "truncated.raucb"
    whole = house.bundles.small(later).read_bytes()
    truncated.write_bytes(whole[:-100])
    other = tmp_path / "letter.txt"
    other.write_text("hello")
    cases = [
        (house.bundles.small(later, keys=foreign_keys(tmp_path / "foreign")), "signature|certificate"),
        (house.bundles.small(later, board="smartplug-other"), "Compatible mismatch"),
        (house.bundles.small("0.0.1"), "older than"),
        (truncated, "signature|bundle"),
        (other, "not a bundle"),
    ]
    for bundle, reason in cases:
        done = house.run("update", "Lamp", bundle, within=120)
        text = done.stdout + done.stderr
        assert done.returncode == 1 and any(word in text for word in reason.split("|")), f"{bundle}: {text}"
        print(text.strip().splitlines()[-1])
    assert house.slot() == "B" and house.state()["system"] == house.bundles.later(1)


def test_a_system_that_does_not_start_is_replaced_by_the_previous_one(house):
    sent = house.start("update", "Lamp", house.bundles.broken(3), "--restart", "now")
    with pytest.raises(Gone):
        house.restart()
    house.machine = house.medium.boot()
    assert house.slot() == "B"
    output, _ = sent.communicate(timeout=patient(120))
    assert sent.returncode == 1 and "did not work: it did not start; the previous system runs again" in output, output
    assert house.state()["system"] == house.bundles.later(1)


def test_a_system_that_no_controller_reaches_is_replaced_by_the_previous_one(house):
    """After a restart without any controller, the plug takes the update back."""
    output = house.does("update", "Lamp", house.bundles.working(4), "--restart", "later")
    assert "installed" in output, output
    house.machine.does("touch /run/plugd/restart")
    house.restart()
    assert house.slot() == "A"
    house.restart(within=120)
    assert house.slot() == "B"
    state = house.state()
    assert (state["phase"], state["reason"]) == ("returned", "no controller has connected"), state


@pytest.mark.parametrize("percent", [0, 20, 40])
def test_a_power_cut_during_the_installation_loses_nothing(house, percent):
    """The plug starts with its system, and installs the bundle again. plugctl asks once per second, so after a later percentage the
    installation may end before the cut."""
    slot, system = house.slot(), house.state()["system"]
    sent = house.start("update", "Lamp", house.bundles.working(5 + percent), "--restart", "later", "--json")
    for line in sent.stdout:
        if line.startswith("{") and json.loads(line)["phase"] == "installing" and json.loads(line)["percent"] >= percent:
            break
    house.machine.close()
    sent.kill()
    sent.communicate()
    house.machine = house.medium.boot()
    assert house.slot() == slot and house.state()["system"] == system
    eventually(lambda: house.state()["phase"] == "installed", 120, lambda: house.state())
    house.does("off", "Lamp")
