"""The plug and its follower are killed at random times under load. No event is duplicated, and only a power cut loses events, which the
plug reports as a gap.

A follower appends each received event to a file and resumes after the last number in that file, so that one append stores the event and the
cursor together. SMARTPLUG_KILL_ROUNDS is the number of kills, SMARTPLUG_SEED the seed of their kinds and times.
"""

import json
import os
import pathlib
import random
import shutil
import sys
import time
from collections import Counter

import pytest

from deadlines import eventually

ROUNDS = int(os.environ.get("SMARTPLUG_KILL_ROUNDS", "3"))
SEED = int(os.environ.get("SMARTPLUG_SEED", "1"))
WIRE = pathlib.Path(__file__).with_name("harness") / "wire_program.py"
PORT = 4711


class Follower:
    """`plugctl watch Lamp --json --after N >> file`, where N is the last number in the file."""

    def __init__(self, host, program, file):
        self.host, self.program, self.file = host, program, file
        self.torn = 0
        file.touch()
        self.start()

    def start(self):
        whole = self.file.read_bytes()
        complete = whole[:whole.rfind(b"\n") + 1]
        if complete != whole:  # A line that was incomplete when the process died had no effect.
            self.torn += 1
            os.truncate(self.file, len(complete))
        self.running = self.host.start(
            "sh", "-c", f'exec "{self.program}" watch Lamp --json --after {self.cursor} >>"{self.file}"', name="follower")

    def kill(self):
        self.running.process.kill()
        self.running.ended(within=5)

    @property
    def lines(self):
        return [json.loads(line) for line in self.file.read_text().splitlines(keepends=True) if line.endswith("\n")]

    @property
    def cursor(self):
        """The last number that was received or reported as lost."""
        return max((line.get("seq", line.get("to", 0)) for line in self.lines if "seq" in line or line["event"] == "gap"), default=0)


class Load:
    """Two controllers that send commands, one of which repeats each command until it is answered, and repeated button
    presses."""

    def __init__(self, host, plug_host, programs, state):
        command = f'"{programs / "plugctl"}"'
        self.commands = host.start(
            "sh", "-c", f"while :; do {command} on Lamp --json; {command} off Lamp --json; done", name="commands")
        self.insistent = host.start(sys.executable, WIRE, "insist", plug_host.ipv4, PORT, name="insistent")
        self.presses = plug_host.start(
            "sh", "-c", f'while :; do "{programs / "plugd"}" press --state "{state}" || sleep 0.05; done >/dev/null 2>&1',
            name="presses")

    def stop(self):
        for loop in (self.commands, self.insistent, self.presses):
            loop.process.kill()
            loop.ended(within=10)

    @property
    def answers(self):
        """The printed answers to those commands that caused an event."""
        lines = self.commands.lines + self.insistent.lines
        return [line.json for line in lines if line.json and "seq" in line.json]


class Lamp:
    """The plug, which is killed and restarted."""

    def __init__(self, plug, host, folder):
        self._start = lambda: plug(host, "Lamp", state=folder, port=PORT)
        self.runtime = folder / "run"
        self.running = self._start()

    def kill(self, power_lost=False):
        self.running.running.process.kill()
        self.running.running.ended(within=5)
        if power_lost:
            shutil.rmtree(self.runtime)
        self.running = self._start()


def kinds_of_death(chance):
    """Yields each kind once, so that three rounds cover all kinds, and then random kinds."""
    yield from ("plugd", "plugctl", "power")
    while True:
        yield chance.choices(("plugd", "plugctl", "power"), weights=(9, 9, 2))[0]


@pytest.mark.time_limit(60 + 6 * ROUNDS)
def test_killed_at_any_moment(lan, plug, programs, tmp_path):
    """The follower's file and the acknowledged commands match the plug's events after kills and power cuts at random
    times."""
    chance = random.Random(SEED)
    plug_host = lan.host()
    lamp = Lamp(plug, plug_host, tmp_path / "lamp")
    follower = Follower(lan.host(), programs / "plugctl", tmp_path / "followed.jsonl")
    load = Load(lan.host(), plug_host, programs, tmp_path / "lamp")
    deaths = Counter()
    for _, death in zip(range(ROUNDS), kinds_of_death(chance)):
        # Usually waits until the follower receives events again; without the wait, a process may be killed during its
        # start. Before a power cut it always waits, because two consecutive power cuts would be reported as one.
        if death == "power" or chance.random() < 0.7:
            seen = follower.cursor
            eventually(lambda: follower.cursor > seen, 15, lambda: f"anything after {seen} (seed {SEED}, {deaths})")
        time.sleep(chance.uniform(0, 0.3))
        if death == "plugctl":
            follower.kill()
            follower.start()
        else:
            lamp.kill(power_lost=death == "power")
        deaths[death] += 1
    load.stop()
    # After a second, the commands and presses in transit have caused their events.
    eventually(lambda: lamp.running.press().status == 0, 10, "an answer of the panel")
    time.sleep(1)
    last = lamp.running.status()["nextSequence"] - 1
    eventually(lambda: follower.cursor >= last, 15, lambda: f"event {last}, there is {follower.cursor} (seed {SEED})")
    judge(follower, load, deaths)


def judge(follower, load, deaths):
    told = f"seed {SEED}, {dict(deaths)}"
    seen, lost, cursor = {}, [], 0
    for line in follower.lines:
        if line["event"] == "gap":
            assert line["from"] == cursor + 1, f"{line} after {cursor} ({told})"
            assert line["reason"] == "powerLost", f"{line} ({told})"
            lost.append(range(line["from"], line["to"] + 1))
            cursor = line["to"]
        elif "seq" in line:
            assert line["seq"] == cursor + 1, f"{line} after {cursor} ({told})"
            cursor = line["seq"]
            seen[cursor] = line
    # Each power cut is reported once; nothing else loses events.
    assert len(lost) == deaths["power"], f"{lost} ({told})"
    answers = {answer["seq"]: answer["on"] for answer in load.answers}
    assert len(answers) == len(load.answers) > 0, f"two commands have one event ({told})"
    for number, on in answers.items():
        if not any(number in gap for gap in lost):
            event = seen.get(number, {})
            assert (event.get("cause"), event.get("on")) == ("controller", on), f"{number} {on}: {event} ({told})"
    # A repeated command was executed once: each effect has an answer. A plug after a power cut remembers no commands,
    # and the last command may not have been answered yet.
    effects = {number for number, event in seen.items() if event.get("controller") == "Insistent"}
    assert len(effects - answers.keys()) <= deaths["power"] + 1, f"{effects - answers.keys()} ({told})"
    print(f"{sum(deaths.values())} deaths {dict(deaths)}: {len(seen)} events, {len(lost)} gaps, {len(answers)} "
          f"commands acknowledged, {follower.torn} torn lines")
