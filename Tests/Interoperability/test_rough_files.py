"""Special files and file systems that do not answer, in paths of the command line or in a watched directory."""

import os
import pathlib
import sys
import time

import pytest
from deadlines import eventually
from harness.served import Served

RULE = "- rule: Evening\n  when: { time: \"19:00\" }\n  then: { turn on: Lamp }\n"


@pytest.fixture
def rules(tmp_path):
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "evening.yaml").write_text(RULE)
    return folder


def test_a_pipe_among_the_rules_is_told_and_edits_are_read_as_ever(lan, controller, rules, tmp_path):
    """A pipe in the rules directory is reported, and other files are still read."""
    served = Served(controller(lan.host()), tmp_path / "daemon", rules=rules)
    eventually(served.answers, 10, "its socket")
    os.mkfifo(rules / "pipe.yaml")
    served.running.seen(lambda line: "pipe.yaml: it is a pipe, not a regular file" in line.text, 10, "the pipe's fault")
    (rules / "night.yaml").write_text(RULE.replace("Evening", "Night"))
    served.running.seen(lambda line: "Night" in line.text, 10, "the new rule")
    served.running.terminate()
    assert served.running.ended(within=10) == 0
    # The daemon also starts if the pipe is in the directory.
    served.start()
    eventually(served.answers, 10, "its socket")
    served.running.terminate()
    assert served.running.ended(within=10) == 0


@pytest.mark.parametrize("words", [
    ("rules", "check", "--offline", "PIPE"),
    ("rules", "backtest", "PIPE"),
    ("rules", "run", "PIPE"),
    ("history", "import", "PIPE", "--plug", "Kettle"),
    ("history", "show", "Kettle", "--tariff", "PIPE"),
])
def test_a_pipe_that_a_person_names_is_refused_at_once(lan, controller, tmp_path, words):
    """A pipe as a file argument is refused at once with a hint."""
    pipe, recording = tmp_path / "pipe.yaml", tmp_path / "kettle.csv"
    os.mkfifo(pipe)
    recording.write_text("0,5\n1,5\n2,2000\n")
    person = controller(lan.host())
    person.does("history", "import", recording, "--plug", "Kettle", "--start", "2026-11-20T07:30")
    done = person.finish(*[pipe if word == "PIPE" else word for word in words])
    assert done.status == 1 and f"cannot read {pipe}: it is a pipe, not a regular file" in done.errors, done
    assert "hint: use a regular file" in done.errors, done


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("words, status", [
    (("history", "show", "Kettle", "--history", "SILENT"), 1),
    (("history", "repair", "--into", "SILENT", "--file", __file__), 1),
    (("history", "repair", "--into", "/nowhere", "--file", "SILENT/history.sqlite"), 1),
    (("rules", "run", "--state", "SILENT", "RULES"), None),
    (("daemon", "--no-dashboard", "--state", "SILENT"), None),
    (("daemon", "--no-dashboard", "--history", "SILENT"), None),
    (("daemon", "--no-dashboard", "--socket", "SILENT/socket"), None),
])
def test_a_folder_that_a_person_names_and_that_does_not_answer_is_reported(lan, controller, rules, tmp_path, words, status):
    """A folder argument on a file system that does not answer is reported with a hint."""
    host, silent = lan.host(), tmp_path / "silent"
    silent.mkdir()
    program = pathlib.Path(__file__).parent / "harness" / "silent_files_program.py"
    host.start(sys.executable, program, silent).seen(lambda line: line.text == "mounted", 10, "the silent file system")
    running = controller(host).start(*[str(word).replace("SILENT", str(silent)).replace("RULES", str(rules)) for word in words])
    running.seen(lambda line: f"cannot open {silent}" in line.text and "its file system does not respond" in line.text, 40, "the fault")
    running.seen(lambda line: "hint: " in line.text, 10, "a hint")
    if status is not None:
        assert running.ended(within=20) == status


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("verb, option", [
    ("run", "--state"), ("run", "--runtime"), ("status", "--state"), ("status", "--runtime"), ("controllers", "--state"),
    ("rotate-key", "--state")])
def test_a_plug_whose_folder_does_not_answer_ends_with_an_error(lan, programs, tmp_path, verb, option):
    """plugd with a folder on a file system that does not answer exits with an error."""
    host, silent = lan.host(), tmp_path / "silent"
    silent.mkdir()
    program = pathlib.Path(__file__).parent / "harness" / "silent_files_program.py"
    host.start(sys.executable, program, silent).seen(lambda line: line.text == "mounted", 10, "the silent file system")
    others = ["--state", tmp_path / "plug"] if option == "--runtime" else []
    more = ["--simulate", "lamp"] if verb == "run" else []
    told = host.finish(programs / "plugd", verb, *others, option, silent, *more, within=40)
    assert told.status == 1 and f"cannot open {silent}" in told.errors and "does not respond" in told.errors, told


@pytest.mark.time_limit(120)
def test_a_daemon_whose_rules_do_not_answer_goes_on_says_so_and_stops_in_time(lan, controller, rules, tmp_path):
    """A daemon whose rules directory does not answer reports this, continues to answer requests, and ends within 18 s after SIGTERM."""
    host = lan.host()
    served = Served(controller(host), tmp_path / "daemon", rules=rules)
    eventually(served.answers, 10, "its socket")
    program = pathlib.Path(__file__).parent / "harness" / "silent_files_program.py"
    host.start(sys.executable, program, rules).seen(lambda line: line.text == "mounted", 10, "the silent file system")
    served.running.seen(lambda line: f"cannot read {rules}: its file system does not respond" in line.text, 40, "the fault")
    assert served.answers()
    asked = time.monotonic()
    served.running.terminate()
    served.running.ended(within=20)
    assert time.monotonic() - asked < 18
