"""A key and a name belong to one plug: no other plug gets them, whatever it claims and whoever is away."""

import pathlib


def claiming(plug, host, name, state, victim):
    """A plug that is new and claims the id of another one."""
    state.mkdir(mode=0o700)
    identity = state / "id"
    identity.write_bytes(pathlib.Path(victim.state, "id").read_bytes())
    identity.chmod(0o600)
    return plug(host, name, state=state, paired=False)


def test_a_plug_that_claims_the_id_of_a_paired_one_is_not_paired(lan, plug, controller, tmp_path):
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
    heater = plug(lan.host(), "Heater")
    heater.running.seen(lambda line: "announced as" in line.text, 10, "that it is announced")
    heater.running.terminate()
    heater.running.ended(within=5)
    other = plug(lan.host(), "heater")
    person = controller(lan.host())
    person.browse().found("heater")
    done = person.finish("on", "Heater")
    assert done.status == 1 and 'no plug named "Heater" answers' in done.errors, done
    done = person.finish("on", "HEATER")
    assert done.status == 1 and '"Heater" (' in done.errors and '"heater" (' in done.errors, done
    person.does("on", "heater")
    assert other.status()["relay"] == "on"
