"""Tests the JSON Schema that editors use. An independent validator checks it. Rules that `rules check` accepts are valid, and
rules with misspelled keys are not."""

import json
import pathlib
import subprocess

import jsonschema
import pytest
import yaml

EXAMPLES = pathlib.Path(__file__).parents[2] / "Controller" / "Examples"

# Contains each kind of trigger, condition and action, and each setting.
EVERYTHING = """
- rule: 7
  when:
    - { plug: TV, active power: { rises above: 40W, for: 3 s, hysteresis: 2 W } }
    - { plug: TV, active power: { stays between: [5 W, 1.5 kW], for: 2 d } }
    - { plug: TV, active energy: { exceeds: 2 kWh, since: day } }
    - { plug: Hall, button: long }
    - { plug: Hall, relay: changed }
    - { plug: Hall, connection: lost, for: 2 min }
    - { plug: Hall, protection: overPower }
    - { plug: Washer, appliance: finished, cycle: programme }
    - { plug: Washer, appliance: probably finished }
    - { time: "07:30", weekdays: [mon, tuesday] }
    - { cron: "*/15 6-9 * * mon-fri" }
    - { cron: "@Daily" }
    - { sun: sunset, offset: -30 min, weekdays: sat }
    - { rule: Movie night }
  if:
    - time: { after: "17:00", before: { sunrise: 1 h } }
      weekdays: [sat, sun]
    - { plug: Lamp, level: { above: 30 %, below: 60 % }, connection: present }
    - any: [{ plug: Lamp, relay: on }, { not: { plug: TV, active power: { below: 5 W } } }]
  then:
    - turn on: { plug: [Fan, Heater], for: 15 min }
    - turn off: [Lamp, Floor Lamp]
    - dim: { plug: Lamp, by: -10 %, over: 2 s }
    - restore: Lamp
    - wait until: { plug: Lamp, relay: off }
      timeout: 5 min
      otherwise: go on
    - wait: 250 ms
    - notify: { title: Laundry, text: "{plug}: {why}" }
    - run: { command: [logger, done], timeout: 10 s }
    - web hook: { url: "https://house.example/hook", method: PUT, body: "{value}" }
  cooldown: 10 s
  mode: { queued: 5 }
  limit: { firings: 6, per: 1 h }
  late: { accept: 10 min }
  away: remember
- rule: Lamp
  when: { plug: Hall, button: single }
  if: { all: [{ plug: Lamp, relay: on }, { plug: TV, relay: off }] }
  then: { toggle: Lamp }
  mode: restart
"""

WRONG = [
    "- { rule: A, wen: { plug: TV, button: long }, then: { toggle: TV } }",
    "- { rule: A, when: { plug: TV, buton: long }, then: { toggle: TV } }",
    "- { rule: A, when: { plug: TV, button: often }, then: { toggle: TV } }",
    "- { rule: A, when: { button: long }, then: { toggle: TV } }",
    "- { rule: A, when: { plug: TV, button: long, cycle: defrost }, then: { toggle: TV } }",
    "- { rule: A, when: { plug: TV, active power: { rises above: 40 } }, then: { toggle: TV } }",
    "- { rule: A, when: { plug: TV, button: long }, then: { wait until: { plug: TV, relay: off } } }",
    "- { rule: A, when: { plug: TV, button: long }, then: { web hook: 'ftp://house.example' } }",
    "- { rule: A, when: { plug: TV, button: long }, then: { toggle: TV }, mode: { queued: 0x } }",
    "- { rule: A, when: { plug: TV, button: long } }",
    "- { rule: .., when: { plug: TV, button: long }, then: { toggle: TV } }",
    "- { rule: A, when: { plug: ., button: long }, then: { toggle: TV } }",
]


@pytest.fixture(scope="module")
def validator(programs):
    schema = json.loads(subprocess.run([programs / "plugctl", "rules", "schema"], capture_output=True, check=True, timeout=20).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def read(text):
    """Parses YAML with every scalar as text, because rules treat `on` and 07:30 as text."""
    return yaml.load(text, Loader=yaml.BaseLoader)


def taken(programs, folder, text):
    file = folder / "rules.yaml"
    file.write_text(text)
    return subprocess.run([programs / "plugctl", "rules", "check", file], capture_output=True, text=True, timeout=20)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_examples_are_valid(validator, file):
    assert not list(validator.iter_errors(read(file.read_text())))


def test_every_trigger_condition_action_and_setting_is_valid(validator):
    assert not [error.message for error in validator.iter_errors(read(EVERYTHING))]


@pytest.mark.parametrize("text", WRONG)
def test_rules_with_a_wrong_structure_are_rejected_by_schema_and_check(programs, validator, tmp_path, text):
    """Rules with a wrong structure are rejected by the schema and by `rules check`."""
    assert list(validator.iter_errors(read(text))), text
    assert taken(programs, tmp_path, text).returncode == 1


def test_an_additional_letter_in_any_key_is_invalid(validator):
    """An additional letter in any key makes the rules invalid."""
    rules = read(EVERYTHING)

    def changed(value):
        if isinstance(value, list):
            for index, element in enumerate(value):
                for other in changed(element):
                    yield value[:index] + [other] + value[index + 1:]
        elif isinstance(value, dict):
            for key, element in value.items():
                yield {(key + "x" if name == key else name): inner for name, inner in value.items()}
                for other in changed(element):
                    yield {**value, key: other}

    count = 0
    for file in changed(rules):
        count += 1
        assert not validator.is_valid(file), file
    assert count > 80
