"""The lines of `plugctl --json` have the documented keys, for each command of the schema."""

import json
import pathlib

import jsonschema
import pytest

from deadlines import eventually

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "Documentation" / "reference" / "records.schema.json").read_text())
RULE = "- rule: Hall\n  when: { plug: Kettle, button: single }\n  then:\n    - toggle: Lamp\n"
# Commands with one plug, in this order, with the words that follow the command.
ONE_PLUG = [
    ("house",), ("browse", "--for", "2s"), ("resolve", "Lamp"), ("info", "Lamp"), ("on", "Lamp"), ("off", "Lamp"), ("toggle", "Lamp"),
    ("dim", "Lamp", "30%"), ("identify", "Lamp"), ("set", "Lamp"), ("watch", "--for", "2s"), ("audit", "Lamp"), ("controllers", "Lamp"),
    ("invite", "Lamp"), ("invitations", "Lamp"), ("address", "Lamp", "192.0.2.7"), ("doctor",), ("logs", "Lamp", "--for", "1s"),
    ("chart", "Lamp", "--last", "1m"), ("tariff", "--currency", "EUR", "--price", "0.34"), ("budget", "--cost", "60"),
    ("rename", "Lamp", "Lounge"), ("new-code", "Lounge"),
]
# Commands that are tested with other fixtures: they need a daemon, an unpaired plug, HomeKit, Matter, a domain, a sleeping machine, an image or a radio.
OTHERS = {"history show", "rules state", "pair", "homekit", "matter", "domains", "wake", "update", "wifi"}


def check(command, lines):
    """Fails unless there are lines, each valid by the schema of the command."""
    assert lines, f"plugctl {command} --json printed nothing"
    schema = {**SCHEMA["commands"][command], "$defs": SCHEMA["$defs"]}
    for line in lines:
        jsonschema.validate(line, schema, cls=jsonschema.Draft202012Validator)


def test_each_command_of_the_schema_is_tested():
    assert {words[0] for words in ONE_PLUG} | OTHERS == set(SCHEMA["commands"])


def test_the_lines_of_commands_with_a_plug(lan, plug, controller):
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.browse().found("Lamp")
    for words in ONE_PLUG:
        done = person.finish(*words, "--json", within=20)
        assert done.status == 0 or words[0] == "doctor", (words, done)
        check(words[0], done.objects)


def test_the_lines_of_commands_with_a_daemon(lan, plug, controller, tmp_path):
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULE)
    person.through(tmp_path / "daemon.socket")
    person.daemon(rules)
    check("rules state", eventually(lambda: person.finish("rules", "state", "--json").objects, 10, "the rules"))
    lines = eventually(lambda: person.finish("history", "show", "Lamp", "--json").objects, 40, "the history")
    check("history show", lines)


def test_the_line_of_a_pairing(lan, plug, controller):
    lamp = plug(lan.host(), "Lamp", paired=False)
    person = controller(lan.host())
    check("pair", person.does("pair", "Lamp", "--code-file", lamp.setup_code(), "--json").objects)


def test_a_wrong_line_is_found():
    """A line with an unknown key, without a required key, or with a wrong type is not valid."""
    for line in ({"plug": "Lamp", "onn": True}, {"on": True}, {"plug": "Lamp", "on": "yes"}):
        with pytest.raises(jsonschema.ValidationError):
            check("on", [line])
