"""A key and a name belong to one plug: another plug cannot take them over by a claimed id or a similar name."""

import pathlib

from deadlines import eventually
from harness.served import Served

RULES = """\
- rule: By the door
  when: { plug: Hall, button: single }
  then:
    - toggle: Heater
"""


def claiming(plug, host, name, state, victim):
    """Starts a new plug with the id of another plug."""
    state.mkdir(mode=0o700)
    identity = state / "id"
    identity.write_bytes(pathlib.Path(victim.state, "id").read_bytes())
    identity.chmod(0o600)
    return plug(host, name, state=state, paired=False)


def test_a_plug_that_claims_the_id_of_a_paired_one_is_not_paired(lan, plug, controller, tmp_path):
    """A plug that claims the id of a paired plug is not paired without --replace."""
    heater = plug(lan.host(), "Heater")
    person = controller(lan.host())
    person.does("on", "Heater")
    paired = pathlib.Path(tmp_path, "state", "smartplug", "plugs")
    before = paired.read_bytes()
    hostile = claiming(plug, lan.host(), "Garden Lamp", tmp_path / "hostile", heater)
    code = hostile.setup_code()
    person.browse().found("Garden Lamp")
    done = person.finish("pair", "Garden Lamp", "--code-file", code)
    assert done.status == 1 and '"Heater"' in done.errors and 'plugctl pair "Garden Lamp" --replace' in done.errors, done
    assert paired.read_bytes() == before and hostile.status()["paired"] == 0
    person.does("off", "Heater")
    assert heater.status()["relay"] == "off"
    person.does("pair", "Garden Lamp", "--code-file", code, "--replace")
    assert paired.read_bytes() != before and hostile.status()["paired"] == 1


def test_a_plug_whose_name_differs_in_capitals_is_not_commanded_for_one_that_is_away(lan, plug, controller, tmp_path):
    """A command or a rule for an absent plug does not switch a plug whose name differs only in case."""
    heater = plug(lan.host(), "Heater")
    heater.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    heater.running.terminate()
    heater.running.ended(within=5)
    other, hall = plug(lan.host(), "heater"), plug(lan.host(), "Hall")
    person = controller(lan.host())
    person.browse().found("heater")
    done = person.finish("on", "Heater")
    assert done.status == 1 and '"Heater" is paired, but it is away' in done.errors, done
    done = person.finish("on", "HEATER")
    assert done.status == 1 and '"Heater" (' in done.errors and '"heater" (' in done.errors, done
    # A daemon that starts now binds its rule to the absent plug.
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    served = Served(controller(lan.host()), tmp_path / "daemon", "--no-dashboard", rules=rules).follows(2)
    assert hall.press().status == 0
    served.running.seen_object(lambda told: told["event"] == "notSent" and told["plug"] == "Heater", 10, "the report that nothing was sent")
    person.through(served.socket)
    for name in ("Heater", "HEATER"):
        assert person.finish("on", name).status == 1, name
    assert other.status()["relay"] == "off"
    person.does("on", "heater")
    assert other.status()["relay"] == "on"
    heater = plug(heater.host, "Heater", state=heater.state, paired=False)
    served.running.seen_object(lambda told: told.get("plugs") == 3, 20, "three followed plugs")
    assert hall.press().status == 0
    eventually(lambda: heater.status()["relay"] == "on", 10, lambda: "the switched relay")
    assert other.status()["relay"] == "on"
