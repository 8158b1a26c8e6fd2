"""A name in a rule is bound to a plug's id: the rule still works after a forged announcement of the name and after a rename."""

import pathlib
import sys

import pytest

from harness.avahi import TYPE
from deadlines import eventually
from harness.served import Served

FORGE = pathlib.Path(__file__).with_name("harness") / "forge_program.py"
RULES = """\
- rule: By the door
  when: { plug: Hall, button: single }
  then:
    - toggle: Heater
"""


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    heater, hall = plug(lan.host(), "Heater"), plug(lan.host(), "Hall")
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    served = Served(controller(lan.host()), tmp_path / "daemon", "--no-dashboard", rules=rules).follows(2)
    served.controller.through(served.socket)
    served.heater, served.hall = heater, hall
    return served


def press(house, name):
    """Presses the button, and expects that the rule toggles the heater, which now has this name."""
    before = house.heater.status()["relay"]
    seen = len(house.running.lines)
    assert house.hall.press().status == 0
    house.running.seen(
        lambda line: line.json and line.json["event"] == "command" and line.json["plug"] == name and line.json["outcome"] == "done"
        and house.running.lines.index(line) >= seen, 10, f"that {name} is switched")
    assert house.heater.status()["relay"] != before


def forge(lan, name):
    stranger = lan.host()
    assert stranger.finish(sys.executable, FORGE, TYPE, name, stranger.ipv4, 19, 0.1, within=15).objects == [{"sent": 19}]


@pytest.mark.time_limit(150)
def test_nineteen_forged_packets_switch_no_rule_off(lan, house, controller):
    """When forged packets take over the plug's name, the plug chooses a new name and the rule still works."""
    press(house, "Heater")
    forge(lan, "Heater")
    house.heater.running.seen(lambda line: 'announced as "Heater (2)"' in line.text, 10, "that it has a new name")
    house.heater.running.seen(lambda line: 'another host has the name "Heater"' in line.text, 1, "the reason")
    press(house, "Heater")
    # A controller that starts now also knows the plug by its id.
    newcomer = controller(lan.host())
    newcomer.does("on", "Heater")
    assert house.heater.status()["relay"] == "on"
    assert newcomer.does("info", "Heater", "--json").objects[0]["id"] == house.heater.status()["id"]
    press(house, "Heater")
    eventually(lambda: house.heater.running.transcript().count('announced as "Heater" ') == 2, 80, "that it returns to its name")
    press(house, "Heater")


def test_a_rename_is_followed_and_told(lan, house, controller):
    """After a rename the rule switches the same plug, and the daemon reports the new name."""
    press(house, "Heater")
    identity = house.heater.status()["id"]
    person = controller(lan.host())
    person.does("rename", "Heater", "Radiator")
    told = house.running.seen_object(lambda told: told["event"] == "renamed", 15, "that the plug has a new name").json
    assert (told["before"], told["plug"], told["id"], told["rules"]) == ("Heater", "Radiator", identity, ["By the door"])
    press(house, "Radiator")
    rule = house.controller.does("rules", "state", "--json").objects[0]
    assert {"written": "Heater", "id": identity, "name": "Radiator"} in rule["plugs"], rule
    assert f"Heater: bound to plug {identity}, now called Radiator" in house.controller.does("rules", "state").output
