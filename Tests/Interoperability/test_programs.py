"""Tests of plugctl in other programs: cursors of the whole house, output through a pipe, exit statuses, and the examples,
which are killed at random times."""

import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sys
import time

import pytest

from deadlines import eventually
from harness.plugs import Plug

EXAMPLES = pathlib.Path(__file__).parents[2] / "Controller" / "Examples"
RECEIVER = pathlib.Path(__file__).with_name("harness") / "receiver_program.py"
APART = 0.6  # seconds between two presses, so that they are not a double press
STEPS = [100, 60, 30, 0]
random = random.Random(int(os.environ.get("SMARTPLUG_SEED", "1")))


def events(lines):
    """Returns the events with a number and the gaps, in printed order."""
    told = [line.json for line in list(lines.lines) if line.json]
    return [line for line in told if "seq" in line or line["event"] == "gap"]


def marks(lines):
    return [(line["plug"], line.get("seq", line.get("to"))) for line in lines]


def snapshots(lines, *names):
    for name in names:
        lines.seen_object(lambda told: told["event"] == "snapshot" and told["plug"] == name, 10, f"the snapshot of {name}")


def press(plug, times=1):
    for _ in range(times):
        assert plug.press().status == 0
        time.sleep(APART)


def stopped(lines):
    lines.terminate()
    assert lines.ended(within=5) == 0, lines.transcript()


# Cursors.


def test_a_cursor_goes_on_for_all_plugs_at_once(lan, plug, controller, programs):
    """A cursor of the whole house resumes each plug after presses, a restart, a power cut, a rename and a new plug."""
    lamp, fan = plug(lan.host(), "Lamp"), plug(lan.host(), "Fan")
    person = controller(lan.host())
    first = person.watch("--from-now")
    snapshots(first, "Lamp", "Fan")
    press(lamp)
    press(fan)
    eventually(lambda: len(events(first)) == 4, 5, lambda: f"two presses:\n{first.transcript()}")
    told = events(first)
    stopped(first)
    # While no watch runs: more presses, a rename, a power cut, a restart and a new plug.
    press(lamp, 2)
    person.does("rename", "Fan", "Vent")
    press(fan)
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    shutil.rmtree(lamp.state / "run")
    lamp = Plug(programs, lamp.host, "Lamp", lamp.state)
    kettle = plug(lan.host(), "Kettle")
    kettle.running.seen(lambda line: "Kettle" in line.text, 10, "the announcement")
    press(kettle, 2)
    press(lamp)
    again = person.watch("--after", told[-1]["cursor"])
    snapshots(again, "Lamp", "Vent", "Kettle")

    def of(name, event):
        return [line for line in events(again) if (line["plug"], line["event"]) == (name, event)]

    eventually(
        lambda: of("Lamp", "button") and of("Vent", "button") and len(of("Kettle", "button")) == 2, 15,
        lambda: f"the missed events:\n{again.transcript()}")
    missed = events(again)
    gap, = of("Lamp", "gap")
    last = max(line["seq"] for line in told if line["plug"] == "Lamp")
    assert (gap["from"], gap["reason"]) == (last + 1, "powerLost"), gap
    assert len(of("Lamp", "button")) == 1 and of("Lamp", "button")[0]["seq"] > gap["to"]
    assert len(of("Vent", "button")) == 1, "not exactly one press under the new name"
    assert len(marks(missed)) == len(set(marks(missed))), "an event or a gap was printed twice"
    for name in ("Lamp", "Vent", "Kettle"):
        numbers = [number for plug_name, number in marks(missed) if plug_name == name]
        assert numbers == sorted(numbers)
    stopped(again)
    # Each line's cursor covers this line and all lines before it, of all plugs.
    for place in (0, len(missed) // 2, len(missed) - 1):
        rest = person.watch("--after", missed[place]["cursor"])
        snapshots(rest, "Lamp", "Vent", "Kettle")
        expected = set(marks(missed[place + 1:]))
        eventually(lambda: set(marks(events(rest))) >= expected, 10, lambda: f"{expected}:\n{rest.transcript()}")
        time.sleep(0.5)
        assert set(marks(events(rest))) == expected, (place, rest.transcript())
        stopped(rest)


def test_the_first_line_of_a_plug_has_a_cursor_and_readings_have_none(lan, plug, controller):
    """All lines except readings and levels have a cursor, including a plug's first line."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    first = person.watch("Lamp", "--from-now")
    snapshots(first, "Lamp")
    first.seen_object(lambda told: told["event"] == "reading", 5, "a reading")
    told = [line.json for line in list(first.lines) if line.json]
    assert all(("cursor" in line) == (line["event"] not in ("reading", "level")) for line in told), first.transcript()
    cursor = [line["cursor"] for line in told if line["event"] == "snapshot"][-1]
    first.process.kill()
    first.ended(within=5)
    press(lamp)
    again = person.watch("Lamp", "--after", cursor)
    eventually(lambda: len(events(again)) == 2, 10, lambda: f"the press:\n{again.transcript()}")
    assert [line["event"] for line in events(again)].count("button") == 1


@pytest.mark.parametrize("text, why", [
    ("Lamp", "neither an event number nor a cursor"),
    ("", "neither an event number nor a cursor"),
    ("c1", "truncated or damaged"),
    ("c1gIHb6p80ASNFZ4mrrAI880Y", "truncated or damaged"),
    ("c2gIHb6p80ASNFZ4mrrAI880YS", "different version"),
    ("c1" + "A" * 40_000, "too long for a cursor"),
])
def test_what_is_no_cursor_is_refused_at_once(lan, controller, text, why):
    """With an invalid cursor, plugctl exits with status 64, and prints an error and a hint."""
    done = controller(lan.host()).finish("watch", "--json", "--after", text)
    assert done.status == 64, done
    assert why in done.errors and "hint:" in done.errors and len(done.errors) < 2000, done
    assert not done.output


# The pipe.


def test_each_line_is_written_at_once_and_a_closed_pipe_ends_it(lan, plug, controller, programs):
    """Each line is flushed at once, and plugctl exits with 0 when the reader closes the pipe."""
    lamp = plug(lan.host(), "Lamp")
    host = lan.host()
    # After the reader has closed the pipe, plugctl has nothing to print. It must still notice the closed pipe.
    piped = host.start(
        "bash", "-c",
        f'"{programs}/plugctl" watch Lamp --json --from-now --dead-band 100kW --interval 1d | grep -m 1 --line-buffered snapshot; '
        'echo "${PIPESTATUS[0]}"')
    piped.seen(lambda line: "snapshot" in line.text, 10, "the snapshot")
    assert piped.ended(within=3) == 0
    assert piped.lines[-1].text == "0", piped.transcript()
    watch = controller(host).watch("Lamp", "--from-now")
    snapshots(watch, "Lamp")
    assert lamp.press().status == 0
    watch.seen_object(lambda told: told["event"] == "button", 5, "the press")


# Exit statuses.

GOOD_RULES = "- rule: Hall\n  when: { plug: Lamp, button: single }\n  then:\n    - toggle: Lamp\n"
STATUSES = {
    "--help": 0, "--version": 0, "nonsense": 64, "watch --nonsense": 64,
    "browse --for 200ms": 0, "browse --for never": 64, "browse --write file": 64,
    "resolve Lamp": 0, "resolve Nobody --wait 200ms": 1, "resolve": 64,
    "info Lamp": 0, "info Nobody --wait 200ms": 1,
    "on Lamp": 0, "on Nobody --wait 200ms": 1, "on Lamp Nobody": 2, "on": 64, "on Lamp --off-after 1ms": 64,
    "off Lamp": 0, "toggle Lamp": 0, "dim Lamp 30%": 0, "dim Lamp 130%": 64, "dim Nobody 30% --wait 200ms": 1,
    "on Lamp --once ": 64,
    "identify Lamp": 0, "reset Lamp --protection": 0, "reset Lamp": 1, "rename Lamp Lamp": 0, "rename Nobody Lamp --wait 200ms": 1,
    "set Lamp": 0, "set Nobody --wait 200ms": 1, "controllers Lamp": 0, "controllers Nobody --wait 200ms": 1,
    "pair Nobody --wait 200ms": 1, "unpair Nobody": 1,
    "watch Lamp --for 500ms": 0, "watch --json --for 500ms": 0, "watch Nobody --wait 200ms": 1, "watch Lamp Fan --after 4": 64,
    "watch --after 4": 64, "watch Lamp --after 4 --from-now": 64,
    "logs Lamp --for 500ms": 0, "logs Nobody --wait 200ms": 1,
    "rules check good.yaml": 0, "rules check bad.yaml": 1, "rules check none.yaml": 1,
    "history show Nobody": 1, "doctor --nonsense": 64,
}


def test_exit_statuses(lan, plug, controller, tmp_path):
    """Every command exits with the expected status, and failures print an error."""
    plug(lan.host(), "Lamp")
    host = lan.host()
    person = controller(host)
    (tmp_path / "good.yaml").write_text(GOOD_RULES)
    (tmp_path / "bad.yaml").write_text("- rule: [\n")
    person.does("info", "Lamp")
    wrong = []
    for words, status in STATUSES.items():
        done = person.finish(*(str(tmp_path / word) if word.endswith(".yaml") else word for word in words.split(" ")))
        if done.status != status:
            wrong.append(f"plugctl {words}: expected {status}: {done}")
        if status in (1, 64) and "--help" not in words and not done.errors.strip():
            wrong.append(f"plugctl {words} prints no error: {done}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_watch_is_done(lan, plug, controller, sign):
    """A signal ends a watch with status 0."""
    plug(lan.host(), "Lamp")
    watch = controller(lan.host()).watch("Lamp")
    snapshots(watch, "Lamp")
    watch.process.send_signal(sign)
    assert watch.ended(within=5) == 0, watch.transcript()


def test_a_full_disk_is_a_failure(lan, plug, programs):
    """A full disk ends a watch with status 1 and an error."""
    plug(lan.host(), "Lamp")
    done = lan.host().finish("sh", "-c", f'exec "{programs}/plugctl" watch Lamp --json >/dev/full')
    assert done.status == 1 and "No space left" in done.errors, done


def test_a_command_with_the_same_text_is_done_once(lan, plug, controller):
    """A repeated command with the same --once text is executed once and prints the first answer."""
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    first = person.does("toggle", "Lamp", "--json", "--once", "press 41").objects[0]
    assert person.does("toggle", "Lamp", "--json", "--once", "press 41").objects[0] == first, "the repeated command printed a different answer"
    assert person.does("info", "Lamp", "--json").objects[0]["on"] == first["on"]
    second = person.does("toggle", "Lamp", "--json", "--once", "press 42").objects[0]
    assert (second["on"], second["seq"]) == (not first["on"], first["seq"] + 1)


# The examples.


def example(host, programs, *words):
    return host.start("env", f"PATH={programs}:{os.environ['PATH']}", *words, name=str(words[0]).rsplit("/", 1)[-1])


def killed(running):
    running.process.kill()
    running.ended(within=5)


def relay_changes(watch, plug):
    return [line for line in events(watch) if (line["plug"], line["event"]) == (plug, "relay")]


def test_the_shell_script_acts_on_every_press_once(lan, plug, controller, programs):
    """The shell script, killed at random times, sets the lamp once per press."""
    button, _ = plug(lan.host(), "Hall Switch"), plug(lan.host(), "Hall Lamp")
    host = lan.host()
    person = controller(host)
    kept = pathlib.Path(os.environ["XDG_STATE_HOME"], "smartplug/examples/button-dims-Hall Lamp")

    def start():
        return example(host, programs, EXAMPLES / "button-dims-lamp.sh", "Hall Switch", "Hall Lamp")

    judge = person.watch("Hall Lamp", "--from-now")
    snapshots(judge, "Hall Lamp")
    script = start()
    eventually(kept.exists, 10, lambda: f"a first cursor:\n{script.transcript()}")
    total = 0
    for _ in range(4):
        press(button)
        time.sleep(random.uniform(0, 0.3))
        killed(script)
        press(button, 2)
        script = start()
        total += 3
        level = STEPS[total % 4]
        eventually(
            lambda: kept.read_text().split()[1:] == [str(level), "done"], 15,
            lambda: f"{total} presses, {level} %:\n{kept.read_text()}\n{script.transcript()}")
        lamp = person.does("info", "Hall Lamp", "--json").objects[0]
        assert lamp["on"] == (level > 0) and (level == 0 or lamp["level"] == level), (total, lamp)
    states = [STEPS[number % 4] > 0 for number in range(1, total + 1)]
    changes = [states[0]] + [after for before, after in zip(states, states[1:]) if before != after]
    eventually(lambda: len(relay_changes(judge, "Hall Lamp")) >= len(changes), 5, lambda: judge.transcript())
    assert [change["on"] for change in relay_changes(judge, "Hall Lamp")] == changes, judge.transcript()


def test_the_shell_script_waits_for_its_plug_without_being_busy(lan, plug, controller, programs):
    """The shell script waits for its plug without a busy loop."""
    host = lan.host()
    script = example(host, programs, EXAMPLES / "button-dims-lamp.sh", "Hall Switch", "Hall Lamp")
    script.seen(lambda line: line.error and "Hall Switch" in line.text, 10, "the missing plug")
    button, _ = plug(lan.host(), "Hall Switch"), plug(lan.host(), "Hall Lamp")
    kept = pathlib.Path(os.environ["XDG_STATE_HOME"], "smartplug/examples/button-dims-Hall Lamp")
    eventually(kept.exists, 25, lambda: f"a first cursor:\n{script.transcript()}")
    press(button)
    script.seen(lambda line: "a press: Hall Lamp to 60 %" in line.text, 5, "the press")
    assert len([line for line in script.lines if line.error]) < 10, script.transcript()
    usage = host.finish(EXAMPLES / "button-dims-lamp.sh", "Hall Switch")
    assert usage.status == 64 and "usage:" in usage.errors


def test_the_python_program_posts_each_cycle_once(lan, plug, controller, programs, tmp_path):
    """The Python program, killed during cycles, posts each cycle with one id and the right times."""
    washer = plug(lan.host(), "Washing Machine")
    host = lan.host()
    person = controller(host)
    kept, posted = tmp_path / "memory.json", tmp_path / "posted"
    receiver = host.start(sys.executable, RECEIVER, posted)
    address = receiver.seen(lambda line: line.text.startswith("http"), 5, "its address").text

    def start():
        return example(
            host, programs, EXAMPLES / "cycle-energy.py", "Washing Machine", address, "--quiet", "2", "--memory", kept)

    def memory():
        return json.loads(kept.read_text()) if kept.exists() else {"cycle": None, "unsent": []}

    def received():
        return [json.loads(line) for line in posted.read_text().splitlines()] if posted.exists() else []

    def running(wanted):
        eventually(lambda: (memory()["cycle"] is not None) == wanted, 10, lambda: f"{memory()}\n{program.transcript()}")

    assert washer.load("0 W").status == 0
    person.does("on", "Washing Machine")
    program = start()
    eventually(lambda: memory().get("cursor"), 10, lambda: f"a first cursor:\n{program.transcript()}")
    # The program is killed during a cycle, which ends while the program does not run.
    washer.load("360 W")
    running(True)
    time.sleep(2)
    killed(program)
    washer.load("0 W")
    program = start()
    eventually(lambda: {told["id"] for told in received()}, 15, lambda: f"a cycle:\n{program.transcript()}")
    # The relay ends the second cycle while the program does not run.
    washer.load("360 W")
    running(True)
    time.sleep(1)
    killed(program)
    asked_at = time.time()
    person.does("off", "Washing Machine")
    answered_at = time.time()
    time.sleep(2)
    program = start()
    eventually(lambda: len({told["id"] for told in received()}) == 2, 15, lambda: f"both:\n{program.transcript()}")
    eventually(lambda: not memory()["unsent"], 15, lambda: f"an empty queue:\n{memory()}")
    assert len(received()) > 2, "no cycle was posted again after a lost answer"
    cycles = {told["id"]: told for told in received()}
    assert len(cycles) == len({json.dumps(told, sort_keys=True) for told in received()}) == 2, "two posts with the same id differ"
    first, second = cycles.values()
    assert 0.15 < first["wattHours"] < 1 and 0.05 < second["wattHours"] < 1, (first, second)
    assert asked_at - 0.1 < moment(second["end"]) < answered_at + 0.1, "the end is not the time of the relay event"
    assert moment(first["begin"]) < moment(first["end"]) < moment(second["begin"]) < moment(second["end"])


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_the_swift_program_acts_on_every_press_once(lan, plug, controller, programs, tmp_path):
    """The Swift program, killed at random times, toggles the lamp once per press."""
    button, _ = plug(lan.host(), "Hall Switch"), plug(lan.host(), "Hall Lamp")
    host = lan.host()
    kept = tmp_path / "cursor"

    def start():
        return host.start(programs / "ButtonTurnsLamp", "Hall Switch", "Hall Lamp", kept)

    judge = controller(host).watch("Hall Lamp", "--from-now")
    snapshots(judge, "Hall Lamp")
    program = start()
    eventually(kept.exists, 10, lambda: f"a first cursor:\n{program.transcript()}")
    total = 0
    for _ in range(5):
        press(button)
        killed(program)
        press(button)
        time.sleep(random.uniform(0, 0.1))
        program = start()
        press(button)
        time.sleep(random.uniform(0, 0.2))
        killed(program)
        program = start()
        total += 3
        eventually(
            lambda: len(relay_changes(judge, "Hall Lamp")) == total, 10,
            lambda: f"{total} presses:\n{program.transcript()}\n{judge.transcript()}")
    time.sleep(1)
    assert len(relay_changes(judge, "Hall Lamp")) == total, judge.transcript()


def test_each_example_says_what_it_does_and_how_to_run_it():
    """Each example begins with its purpose and its usage."""
    for name in ("button-dims-lamp.sh", "cycle-energy.py", "ButtonTurnsLamp/Sources/ButtonTurnsLamp/ButtonTurnsLamp.swift"):
        file = EXAMPLES / name
        head = file.read_text()[:1500]
        assert re.search(rf"{file.stem}(\.\w+)? .*[A-Z\"]", head) and "interrupted" in head, name
        assert file.suffix == ".swift" or os.access(file, os.X_OK)
