"""A viewer that misuses key rotation: the plug keeps running, keeps its owner, and limits writes to flash."""

import pathlib
import sys

import pytest

from harness.plugs import Controller

PROGRAM = pathlib.Path(__file__).with_name("harness") / "rotation_program.py"


@pytest.fixture
def house(lan, plug, controller, programs, tmp_path):
    """Returns a plug, its owner, and a function that runs the attack as a viewer."""
    lamp = plug(lan.host(), "Lamp")
    owner = controller(lan.host())
    owner.browse().found("Lamp")
    viewer = Controller(programs, lan.host(), tmp_path / "viewer")
    code = tmp_path / "invitation"
    code.write_text(owner.does("invite", "Lamp", "--as", "viewer", "--plain").output + "\n")
    viewer.does("pair", "Lamp", "--code-file", code, "--controller", "Tablet")

    def attack(command, *words):
        resolved = owner.does("resolve", "Lamp", "--json").objects[0]
        key = tmp_path / "viewer" / "smartplug" / "key"
        done = viewer.host.finish(
            sys.executable, PROGRAM, command, resolved["addresses"][0], resolved["port"], key, *words, within=60)
        assert done.status == 0, done
        return done.objects[0]

    return lamp, owner, attack


def test_a_malformed_hello_with_an_announced_key_leaves_the_plug_running(house):
    lamp, owner, attack = house
    told = attack("crash")
    assert told["announced"] == "accepted" and "64" in told["ended"], told
    owner.does("on", "Lamp")
    assert lamp.running.is_running and lamp.status()["relay"] == "on"


def test_keys_that_nobody_proves_are_refused(house):
    """Announced keys without a proof of their private key are refused."""
    _, owner, attack = house
    told = attack("steal")
    assert "accepted" not in told.values(), told
    roles = {entry["name"]: entry["role"] for entry in owner.does("controllers", "Lamp", "--json").objects}
    assert roles == {"tests": "owner", "Tablet": "viewer"}


def test_announcements_in_a_loop_have_a_budget(house):
    """Repeated announcements are limited to a budget."""
    lamp, owner, attack = house
    told = attack("loop", 100)
    # A viewer's budget is 6 writes to flash at once and one more per 200 s. Each announcement costs two writes.
    assert 3 <= told["accepted"] <= 4 and told["refused"] >= 96, told
    owner.does("off", "Lamp")
    assert lamp.running.is_running
