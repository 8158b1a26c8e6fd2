"""Tests of the daemon's interfaces for rules: a user enables, disables, fires and explains rules. Also tests the programs
and web hooks of rules."""

import json
import pathlib
from urllib.parse import quote

import pytest

from deadlines import eventually
from harness.served import Served, Stream

RULES = """\
- rule: Movie night
  when: {{ plug: Kettle, button: single }}
  if: {{ plug: Lamp, relay: off }}
  then:
    - turn on: Lamp
    - notify: {{ title: Tea, text: "{{plug}}: {{why}}" }}
    - run: [sh, -c, "cat > {folder}/$SMARTPLUG_EVENT_ID"]
- rule: Hangs
  when: {{ plug: Kettle, button: double }}
  then:
    - run: {{ command: [sh, -c, "echo it hangs; sleep 600 & sleep 600"], timeout: 3 s }}
"""


@pytest.fixture
def served(lan, plug, controller, tmp_path):
    lamp, kettle = plug(lan.host(), "Lamp"), plug(lan.host(), "Kettle", simulate="kettle")
    rules, folder = tmp_path / "rules.yaml", tmp_path / "events"
    folder.mkdir()
    rules.write_text(RULES.format(folder=folder))
    served = Served(controller(lan.host()), tmp_path / "daemon", "--no-dashboard", rules=rules).follows(2)
    served.controller.through(served.socket)
    served.lamp, served.kettle, served.rules, served.events = lamp, kettle, rules, folder
    return served


def place(name, below):
    return f"/api/v1/rules/{quote(name, safe='')}/{below}"


def state(served, name):
    return next(rule for rule in served.get("/api/v1/rules") if rule["rule"] == name)


def lamp_is(served, on):
    eventually(lambda: served.lamp.status()["relay"] == ("on" if on else "off"), 5, "the lamp")


def test_a_rule_is_turned_off_from_the_command_line(served):
    """A disabled rule stays disabled after a kill of the daemon, until it is enabled."""
    person = served.controller
    told = person.finish("rules", "disable", "movie NIGHT")
    assert (told.status, told.output.strip()) == (0, "Movie night: off"), told
    eventually(lambda: not state(served, "Movie night")["enabled"], 5, "a rule that is off")
    assert "Movie night (turned off)" in person.finish("rules", "state").output
    served.kettle.press()
    served.running.seen_object(lambda told: told["event"] == "heldBack" and "turned off" in told["why"], 5, "a rule held back")
    # The setting survives a kill of the daemon.
    served.kill()
    served.start()
    served.follows(2)
    assert not state(served, "Movie night")["enabled"]
    enabled = person.does("rules", "enable", "Movie night", "--json").objects[0]
    assert enabled["enabled"] and enabled["rule"] == "Movie night"
    served.kettle.press()
    lamp_is(served, True)


def test_a_rule_is_run_once_and_explained(served):
    """A rule fired by hand runs once, and its trace is available."""
    person = served.controller
    fired = person.does("rules", "fire", "Movie night", "--json").objects[0]
    lamp_is(served, True)
    served.running.seen_object(lambda told: told["event"] == "firing" and told.get("id") == fired["id"], 5, "the firing")

    def trace():
        return next((one for one in served.get(place("movie night", "traces")) if one["id"] == fired["id"]), None)

    found = eventually(lambda: (one := trace()) and one["steps"] and one, 15, "its trace")
    assert found["outcome"] == "fired" and found["cause"] == "run by hand"
    assert any(step.get("plug") == "Lamp" for step in found["steps"])
    # `plugctl rules explain` gets the history's directory from the daemon. Without the daemon, it needs --history.
    assert served.get("/health")["history"] == str(served.folder / "history")
    assert "run by hand" in person.does("rules", "explain", "Movie night").output
    served.kill()
    told = person.finish("rules", "explain", "Movie night")
    assert told.status == 1 and "--history DIRECTORY" in told.errors, told
    served.start()
    served.follows(2)
    assert served.ask("GET", place("Movie nigt", "traces")).status == 404
    assert served.ask("POST", place("Movie night", "fire"), {}).status == 202


def test_what_cannot_be_done_says_what_to_try(served):
    """Errors of rule commands contain a suggestion or a hint."""
    person = served.controller
    told = person.finish("rules", "fire", "Movie nigt")
    assert told.status == 1 and "did you mean \"Movie night\"?" in told.errors, told
    served.kill()
    told = person.finish("rules", "enable", "Movie night")
    assert told.status == 1 and "no daemon is listening" in told.errors and "hint: " in told.errors, told


def test_a_program_gets_the_event_and_everybody_the_words(served):
    """A rule's notification has the title and the text of the rule, and the rule's program gets the event on standard input."""
    stream = Stream(served)
    stream.seen("house")
    served.kettle.press()
    _, _, words = stream.seen("notification")
    assert words["rule"] == "Movie night" and words["title"] == "Tea" and words["text"].startswith("Kettle: "), words
    served.running.seen_object(
        lambda told: told["event"] == "effect" and told["effect"] == "run" and told["outcome"] == "done", 10, "a program that ended")
    [file] = list(pathlib.Path(served.events).iterdir())
    event = json.loads(file.read_text())
    assert (event["id"], event["rule"], event["plug"]) == (file.name, "Movie night", "Kettle") and event["at"].endswith("Z")
    stream.close()


def test_a_program_that_hangs_is_ended_and_others_go_on(served):
    """A program above its timeout is killed, and other rules run meanwhile."""
    served.kettle.press("--double")
    # A press before this report would be part of the double press.
    served.running.seen_object(lambda told: told["event"] == "performing", 5, "a program that runs")
    served.kettle.press()
    lamp_is(served, True)
    told = served.running.seen_object(
        lambda told: told["event"] == "effect" and told["outcome"] == "failed", 15, "a program that was ended")
    assert "took longer than 3 s" in told.json["why"], told


def test_a_web_hook_carries_the_event(lan, plug, controller, tmp_path):
    """A web hook sends the event as JSON, with the event's id as idempotency key."""
    plug(lan.host(), "Kettle", simulate="kettle")
    host = lan.host()
    server = tmp_path / "server.py"
    heard = tmp_path / "heard"
    server.write_text(SERVER)
    host.start("python3", server, heard, name="server")
    rules = tmp_path / "rules.yaml"
    rules.write_text("- rule: Tea\n  when: { plug: Kettle, button: single }\n  then:\n    - web hook: http://127.0.0.1:8123/tea\n")
    served = Served(controller(host), tmp_path / "daemon", "--no-dashboard", rules=rules).follows(1)
    served.controller.through(served.socket)
    served.controller.does("rules", "fire", "Tea")
    done = served.running.seen_object(
        lambda told: told["event"] == "effect" and told["outcome"] == "done", 40, "an accepted web hook")
    path, key, body = json.loads(heard.read_text())
    told = json.loads(body)
    assert path == "/tea" and told["id"] == key and told["rule"] == "Tea" and "at" not in told, told
    # The path may contain a secret, so it is not printed.
    assert done.json["what"] == "POST http://127.0.0.1:8123/…", done


def test_a_file_that_is_broken_is_listed(served):
    """A rule file with an error is listed with its fault; its last valid version stays active."""
    before = state(served, "Movie night")
    served.rules.write_text("- rule: Movie night\n  when: { plug: Kettle, button: thrice }\n")
    faults = eventually(lambda: served.get("/api/v1/rules/faults"), 10, "a fault")
    assert faults[0]["file"] == str(served.rules) and "thrice" in faults[0]["words"] and "Movie night" in faults[0]["rules"]
    now = state(served, "Movie night")
    assert now["when"] == before["when"] and "thrice" in now["fault"]
    assert "thrice" in served.controller.finish("rules", "state").errors
    served.rules.write_text(RULES.format(folder=served.events))
    eventually(lambda: not served.get("/api/v1/rules/faults"), 10, "no fault")


SERVER = """\
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with open(sys.argv[1], "w") as file:
            json.dump([self.path, self.headers["Idempotency-Key"], body], file)
        self.send_response(204)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", 8123), Handler).serve_forever()
"""
