"""`plugctl rules check`: findings of the static analysis."""

import json
import os
import pathlib

LOOP = """\
- rule: Warm
  when: { plug: Heater, active power: { falls below: 10 W } }
  then: { turn on: Heater }
- rule: Cool
  when: { plug: Heater, active power: { rises above: 1000 W } }
  then: { turn off: Heater }
"""
FIGHT = """\
- rule: Evening
  when: { time: "19:00" }
  then: { turn on: Lamp }
- rule: Savings
  when: { time: "19:00" }
  then: { turn off: Lamp }
"""


def check(lan, controller, tmp_path, text, *options):
    rules = tmp_path / "rules.yaml"
    rules.write_text(text)
    return controller(lan.host()).finish("rules", "check", "--offline", *options, rules)


def test_a_loop_through_power_is_found(lan, controller, tmp_path):
    """A loop of two rules through a plug's power is a warning; with --strict it is a failure."""
    done = check(lan, controller, tmp_path, LOOP)
    assert done.status == 0 and done.output.strip() == "2 rules, no errors, 1 warning", done
    assert ":3:" in done.errors and "warning: possible endless loop" in done.errors, done
    assert "Heater rises above 1000 W" in done.errors and "hint:" in done.errors, done
    assert check(lan, controller, tmp_path, LOOP, "--strict").status == 1


def test_rules_that_fight_are_told_at_both_places(lan, controller, tmp_path):
    """Two rules that contradict each other at the same time are reported at both places."""
    done = check(lan, controller, tmp_path, FIGHT, "--json")
    found = [json.loads(line) for line in done.output.splitlines()]
    assert done.status == 0 and [(one["line"], one["rule"], one["severity"]) for one in found] == [
        (3, "Evening", "warning"), (6, "Savings", "warning")], done
    assert "Savings" in found[0]["message"] and "Evening" in found[1]["message"], found


def test_errors_come_first_begin_with_their_place_and_all_are_counted(lan, controller, tmp_path):
    """Errors are printed before warnings, each begins with its place, and the last line counts both."""
    done = check(lan, controller, tmp_path, FIGHT + "- rule: Night\n  when: { rule: Evenning }\n  then: { toggle: Fan }\n")
    lines = done.errors.splitlines()
    assert done.status == 1 and lines[0].startswith(f"{tmp_path}/rules.yaml:8:17: error:"), done
    assert 'hint: did you mean "Evening"?' in done.errors and lines[-1] == "3 rules, 1 error, 2 warnings", done


def test_the_sun_needs_a_place(lan, controller, tmp_path):
    """A rule about the sun needs a location."""
    rule = "- rule: Dusk\n  when: { sun: sunset }\n  then: { turn on: Lamp }\n"
    done = check(lan, controller, tmp_path, rule)
    assert done.status == 1 and "--location" in done.errors, done
    assert check(lan, controller, tmp_path, rule, "--location", "52.52,13.40").status == 0


def test_unknown_machines_are_found_offline(lan, controller, tmp_path):
    """The check reads machines.toml also with --offline, because it is a local file. An unknown machine is a warning, because the
    sleep proxy of a plug may know it later."""
    rule = "- rule: Film\n  when: { plug: Switch, button: single }\n  then: { wake: Servr }\n"
    done = check(lan, controller, tmp_path, rule)
    assert done.status == 0 and 'warning: no machine is called "Servr"' in done.errors, done
    assert check(lan, controller, tmp_path, rule, "--strict").status == 1
    machines = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "smartplug", "machines.toml")
    machines.parent.mkdir(parents=True, exist_ok=True)
    machines.write_text('[Server]\nmac = "02:00:00:00:99:99"\n')
    done = check(lan, controller, tmp_path, rule)
    assert done.status == 0 and 'hint: did you mean "Server"?' in done.errors, done
    assert check(lan, controller, tmp_path, rule.replace("Servr", "server"), "--strict").status == 0
