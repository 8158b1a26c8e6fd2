"""The daemon's HTTP API lists, checks, backtests and changes rule files, with the results of the command line."""

import base64
import datetime
import http.client
import json
import time

import pytest

from deadlines import eventually
from harness.served import Served

NIGHT = '- rule: Night\n  when: { time: "03:00" }\n  then:\n    - turn off: Lamp\n'
KETTLE = "- rule: Tea\n  when:\n    plug: Kettle\n    active power: { rises above: 1 kW, for: 2 s }\n  then:\n    - notify: Tea\n"
PROGRAM = NIGHT + "    - run: [/bin/true]\n"


@pytest.fixture
def rules(tmp_path):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "night.yaml").write_text(NIGHT)
    return folder


@pytest.fixture
def person(lan, plug, controller):
    plug(lan.host(), "Lamp", simulate="lamp")
    return controller(lan.host())


@pytest.fixture
def served(person, rules, tmp_path):
    """A daemon with permission to edit, whose history has a kettle that ran twice per day for three days."""
    begin = datetime.datetime.now().replace(second=0, microsecond=0) - datetime.timedelta(days=3)
    times = [begin + datetime.timedelta(seconds=10 * count) for count in range(3 * 8640 - 60)]
    recording = tmp_path / "recording.csv"
    recording.write_text("".join(f"{at:%d/%m/%Y %H:%M:%S};{2000 if at.hour in (7, 16) and 10 <= at.minute < 14 else 0}\n" for at in times))
    folder = tmp_path / "daemon"
    folder.mkdir()
    person.does("history", "import", recording, "--plug", "Kettle", "--history", folder / "history")
    return Served(person, folder, "--edit-rules", rules=rules).follows(1)


def read(served, name):
    return served.get(f"/api/v1/rule-files/{name}")


def running(served):
    return {rule["rule"] for rule in served.get("/api/v1/rules")}


def test_a_changed_file_runs(served, rules):
    """A file that is created, changed or removed over the API changes the running rules. Old versions are refused."""
    made = served.ask("POST", "/api/v1/rule-files", {"file": "tea.yaml", "text": KETTLE})
    assert made.status == 201 and (rules / "tea.yaml").read_text() == KETTLE, made
    eventually(lambda: running(served) == {"Night", "Tea"}, 10, lambda: f"the new rule: {running(served)}")
    night = read(served, "night.yaml")
    assert night["text"] == NIGHT and night["file"]["editable"] and night["file"]["rules"] == ["Night"]
    text = NIGHT.replace("Night", "Late night")
    assert served.ask("POST", "/api/v1/rule-files/night.yaml", {"text": text, "version": night["version"]}).status == 200
    eventually(lambda: running(served) == {"Late night", "Tea"}, 10, lambda: f"the changed rule: {running(served)}")
    refused = served.ask("POST", "/api/v1/rule-files/night.yaml", {"text": NIGHT, "version": night["version"]})
    assert refused.status == 409 and "has changed" in refused.json["error"], refused
    assert (rules / "night.yaml").read_text() == text
    (rules / "tea.yaml").write_text("# by an editor\n" + KETTLE)
    assert served.ask("DELETE", "/api/v1/rule-files/tea.yaml", version=made.json["version"]).status == 409
    assert served.ask("DELETE", "/api/v1/rule-files/tea.yaml", version=read(served, "tea.yaml")["version"]).status == 204
    assert sorted(path.name for path in rules.iterdir()) == ["night.yaml"]
    eventually(lambda: running(served) == {"Late night"}, 10, lambda: f"the rules: {running(served)}")


def test_findings_are_those_of_the_command_line(served, rules):
    """A text has the same findings, with the same places, as `plugctl rules check` reports for the file."""
    text = KETTLE.replace("Kettle", "Kettel") + "- rule: Hall\n  when: { plug: Lamp, button: thrice }\n  then: { toggle: Lamp }\n"
    for wrong in (text, KETTLE.replace("Kettle", "Kettel"), NIGHT.replace("Night", "Dawn") + "    - turn on: Lamp\n"):
        found = served.ask("POST", "/api/v1/rule-checks", {"file": "tea.yaml", "text": wrong}).json["findings"]
        (rules / "tea.yaml").write_text(wrong)
        told = served.controller.finish("rules", "check", rules, "--json", "--history", served.folder / "history")
        keys = ("line", "column", "severity", "message", "hint")
        wanted = sorted([[one.get(key) for key in keys] for one in told.objects if one["file"].endswith("tea.yaml")], key=str)
        assert sorted([[one.get(key) for key in keys] for one in found], key=str) == wanted and found, (found, told)
        created = served.ask("POST", "/api/v1/rule-files", {"file": "other.yaml", "text": wrong})
        assert created.status in (201, 422)
        (rules / "other.yaml").unlink(missing_ok=True)
        (rules / "tea.yaml").unlink()


def test_programs_are_not_added(served, rules):
    """An action that leaves the house stays if the file already has it, but it cannot be added or changed."""
    for text in (PROGRAM, NIGHT + "    - web hook: http://127.0.0.1/\n"):
        refused = served.ask("POST", "/api/v1/rule-files", {"file": "other.yaml", "text": text.replace("Night", "Other")})
        assert refused.status == 422 and "runs a program" in refused.json["error"] and "daemon's machine" in refused.json["hint"], refused
    (rules / "night.yaml").write_text(PROGRAM)
    version = read(served, "night.yaml")["version"]
    changed = served.ask("POST", "/api/v1/rule-files/night.yaml", {"text": PROGRAM.replace("/bin/true", "/bin/false"), "version": version})
    assert changed.status == 422 and any(one["line"] == 5 for one in changed.json["findings"]), changed
    moved = served.ask("POST", "/api/v1/rule-files/night.yaml", {"text": PROGRAM.replace("03:00", "04:00"), "version": version})
    assert moved.status == 200 and (rules / "night.yaml").read_text() == PROGRAM.replace("03:00", "04:00"), moved


def test_a_backtest_is_the_one_of_the_command_line(served, rules):
    """The API has the firings that `plugctl rules backtest` finds."""
    answer = served.ask("POST", "/api/v1/rule-backtests", {"text": KETTLE, "days": 7})
    assert answer.status == 200 and answer.json["complete"], answer
    fired = [line["at"] for line in answer.json["lines"] if line["event"] == "firing"]
    (rules / "tea.yaml").write_text(KETTLE)
    told = served.controller.does("rules", "backtest", rules / "tea.yaml", "--last", "7d", "--json", "--history", served.folder / "history")
    assert fired == [line["at"] for line in told.objects if line["event"] == "firing"] and 5 <= len(fired) <= 6, (fired, told)
    assert served.ask("POST", "/api/v1/rule-backtests", {"text": "- rule: [", "days": 7}).status == 422
    sun = served.ask("POST", "/api/v1/rule-backtests", {"text": NIGHT.replace('time: "03:00"', "sun: sunset"), "days": 7})
    assert sun.status == 422 and "location" in sun.json["error"], sun


def test_an_abandoned_backtest_ends(served):
    """A backtest ends when its client closes the connection, so that the next one can run."""
    connection = http.client.HTTPConnection("daemon")
    connection.sock = served.connection()
    text = "".join(KETTLE.replace("Tea", f"Tea {count}").replace("1 kW", f"{count} W") for count in range(1, 400))
    connection.request("POST", "/api/v1/rule-backtests", json.dumps({"text": text, "days": 31}), {"Content-Type": "application/json", "Host": "localhost"})
    time.sleep(0.2)
    connection.close()
    answer = eventually(
        lambda: (asked := served.ask("POST", "/api/v1/rule-backtests", {"text": KETTLE, "days": 1})).status == 200 and asked, 9, "the next backtest")
    assert answer.json["complete"]


def test_editing_is_off_by_default(person, rules, tmp_path):
    """Without --edit-rules, an owner reads and checks the files, and each change is refused with a hint."""
    served = Served(person, tmp_path / "daemon", rules=rules).follows(1)
    assert not served.get("/api/v1/rule-files")["editing"]
    version = read(served, "night.yaml")["version"]
    assert served.ask("POST", "/api/v1/rule-checks", {"file": "night.yaml", "text": NIGHT}).json == {"findings": []}
    for answer in (
            served.ask("POST", "/api/v1/rule-files", {"file": "tea.yaml", "text": KETTLE}),
            served.ask("POST", "/api/v1/rule-files/night.yaml", {"text": "", "version": version}),
            served.ask("DELETE", "/api/v1/rule-files/night.yaml", version=version)):
        assert answer.status == 403 and "--edit-rules" in answer.json["hint"], answer
    assert [path.name for path in rules.iterdir()] == ["night.yaml"] and (rules / "night.yaml").read_text() == NIGHT


def test_only_owners_see_rule_files(person, rules, tmp_path):
    """Rule files may contain secrets, such as addresses of web hooks, so users and viewers may not read them."""
    for name, role in (("Olga", "owner"), ("Anna", "user"), ("Otto", "viewer")):
        typed = tmp_path / "typed"
        typed.write_text(f"{name} has a long password\n")
        told = person.host.finish("sh", "-c", 'typed=$1; shift; exec "$@" < "$typed"', "sh", typed, person.program, "daemon", "password", name, "--as", role)
        assert told.status == 0, told
    served = Served(person, tmp_path / "daemon", "--edit-rules", rules=rules).follows(1)
    for name in ("Anna", "Otto"):
        headers = {"Authorization": "Basic " + base64.b64encode(f"x:{name} has a long password".encode()).decode()}
        for method, path, body in (
                ("GET", "/api/v1/rule-files", None), ("GET", "/api/v1/rule-files/night.yaml", None), ("GET", "/api/v1/rule-files/night.yaml/log", None),
                ("POST", "/api/v1/rule-checks", {"file": "night.yaml", "text": NIGHT}), ("POST", "/api/v1/rule-backtests", {"text": NIGHT, "days": 1}),
                ("POST", "/api/v1/rule-files", {"file": "tea.yaml", "text": KETTLE})):
            answer = served.ask_tcp(method, path, body, headers)
            assert answer.status == 403 and "may not" in answer.json["error"], answer
