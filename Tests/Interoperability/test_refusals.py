"""A refusal states what failed and why, and has a hint."""

from itertools import pairwise

import pytest


def test_a_second_plugd_on_the_same_state_directory(lan, plug, controller):
    """A second plugd with the same state directory exits with a hint, and the first one works."""
    host = lan.host()
    first = plug(host, "Lamp")
    person = controller(lan.host())
    person.browse().found("Lamp")
    second = plug(host, "Kettle", state=first.state)
    assert second.running.ended(within=5) == 1
    told = second.running.transcript()
    assert str(first.state) in told and "hint:" in told, told
    person.does("toggle", "Lamp")


def test_a_name_that_nobody_has_names_the_near_ones(lan, plug, controller):
    """An unknown name is refused with a similar name as a suggestion."""
    host = lan.host()
    plug(host, "Ceiling Light"), plug(host, "Kettle")
    person = controller(lan.host())
    person.browse().shows({"Ceiling Light", "Kettle"})
    done = person.finish("on", "Celing Light", within=20)
    assert done.status == 1 and not done.output, done
    assert 'hint: did you mean "Ceiling Light"?' in done.errors, done


def test_wrong_usage(lan, controller):
    """With wrong arguments, plugctl exits with status 64 and prints an error."""
    person = controller(lan.host())
    for words in (["dim", "Lamp", "loud"], ["dim", "Lamp", "130%"], ["fly"], ["browse", "--for", "soon"]):
        done = person.finish(*words)
        assert done.status == 64 and done.errors, f"{words}: {done}"


def test_pressing_a_plug_that_does_not_run(lan, programs, tmp_path):
    """`plugd press` without a running plug fails with a hint."""
    done = lan.host().finish(programs / "plugd", "press", "--state", tmp_path / "nobody")
    assert done.status == 1 and "hint:" in done.errors, done


def test_a_load_that_does_not_exist(lan, programs, tmp_path):
    """An unknown simulated load is an error that names it."""
    done = lan.host().finish(
        programs / "plugd", "run", "--name", "Lamp", "--state", tmp_path / "state", "--simulate", "perpetuum mobile")
    assert done.status in (1, 64) and "perpetuum mobile" in done.errors, done


def test_a_port_that_is_taken(lan, plug, controller):
    """If the plug's port is in use, plugd exits with an error that names the port, and with a hint."""
    host = lan.host()
    plug(host, "Lamp")
    person = controller(lan.host())
    port = person.port("Lamp")
    second = plug(host, "Kettle", port=port)
    assert second.running.ended(within=5) == 1
    told = second.running.transcript()
    assert f"port {port}" in told and "in use" in told and "hint:" in told, told
    person.does("toggle", "Lamp")


@pytest.mark.parametrize(
    ["content", "place", "expected"],
    [
        ("0,5\n1,six\n", "line 2", "watts as a number"), ("0,5\n\n10,5\n9,5\n", "line 4", "not before"),
        ("", "", "seconds,watts"),
    ], ids=["a word for watts", "a time that falls", "nothing"])
def test_a_malformed_recording(lan, programs, tmp_path, content, place, expected):
    """A malformed recording is an error with its line and the expected content."""
    recording = tmp_path / "television.csv"
    recording.write_text(content)
    done = lan.host().finish(
        programs / "plugd", "run", "--name", "Lamp", "--state", tmp_path / "state", "--simulate", recording)
    assert done.status == 1 and str(recording) in done.errors, done
    assert place in done.errors and expected in done.errors, done


def test_a_recording_that_is_not_there(lan, programs, tmp_path):
    """A missing recording is an error with a hint."""
    missing = tmp_path / "missing.csv.xz"
    done = lan.host().finish(
        programs / "plugd", "run", "--name", "Lamp", "--state", tmp_path / "state", "--simulate", missing)
    assert done.status == 1 and str(missing) in done.errors and "hint:" in done.errors, done


@pytest.mark.parametrize("words", [["rules", "check"], ["rules", "run"]])
def test_a_rule_file_with_an_error(lan, controller, tmp_path, words):
    """An error in a rule file is printed with its line, column and a caret."""
    rules = tmp_path / "rules.yaml"
    faulty = "when: { plug: Television, active power: { rises above: 40 V } }"
    rules.write_text(f"- rule: Movie night\n  {faulty}\n  then:\n    - turn off: Lamp\n")
    done = controller(lan.host()).finish(*words, rules)
    column = 3 + faulty.index("40 V")
    assert done.status == 1 and f"{rules}:2:{column}: error:" in done.errors and not done.output, done
    shown, caret = next(pair for pair in pairwise(done.errors.splitlines()) if faulty in pair[0])
    assert caret.endswith("^") and shown[len(caret) - 1:].startswith("40 V"), done
