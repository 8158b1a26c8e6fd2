"""The daemon stores everything that the plugs remember, despite kills, a full disk and clock changes, and rules are not
delayed.

SMARTPLUG_KILL_ROUNDS is the number of kills, SMARTPLUG_SEED the seed of their times.
"""

import os
import random
import time

import pytest

from harness.client import Client
from deadlines import eventually
from harness.history import History
from harness.keys import as_plugctl
from harness.lan import command
from harness.past import LONG_RUNNING, give_past, plug_milliseconds
from harness.wall_clock import WrongClock

ROUNDS = int(os.environ.get("SMARTPLUG_KILL_ROUNDS", "3"))
SEED = int(os.environ.get("SMARTPLUG_SEED", "1"))
PORT = 4711
HOUR = 3_600_000
TOGGLE = """\
- rule: Hall
  when: { plug: Switch, button: single }
  then:
    - toggle: Lamp
"""


class House:
    """Plugs, and a daemon that records them."""

    def __init__(self, lan, plug, controller, tmp_path):
        self.lan, self.plug, self.tmp_path = lan, plug, tmp_path
        self.host = lan.host()
        self.controller = controller(self.host)
        self.rules = tmp_path / "rules.yaml"
        self.rules.write_text(TOGGLE)
        self.history = History(tmp_path / "history")
        self.daemon = None
        # The time of the first sample of each plug with stored samples, in milliseconds of the plug's clock.
        self.begins = {}

    def add(self, name, hours=0):
        """Starts a plug with that many hours of samples."""
        plug = self.plug(self.lan.host(), name, port=PORT, as_user=LONG_RUNNING)
        plug.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
        if hours:
            plug.running.process.kill()
            plug.running.ended(within=5)
            self.begins[name] = give_past(plug.state / "run" / "mirror", hours)
            plug = self.plug(plug.host, name, port=PORT, state=plug.state, as_user=LONG_RUNNING)
            plug.running.seen(lambda line: "announced as" in line.text, 10, "the second announcement")
        return plug

    def remembered(self, plug):
        """Returns the plug's samples, read by the Python client: watts by milliseconds."""
        client = Client(self.host, plug.host.ipv4, PORT, as_plugctl(self.tmp_path / "client"))
        return {told["milliseconds"]: told["activePower"] for told in client.does("samples", within=30)}

    def start(self, **how):
        self.daemon = self.controller.daemon(self.rules, **how)
        return self.daemon

    def kill(self):
        self.daemon.process.kill()
        self.daemon.ended(within=5)

    def stop(self):
        self.daemon.terminate()
        assert self.daemon.ended(within=6) == 0, self.daemon.transcript()

    def has_past(self, name):
        """Returns True if the history contains the plug's oldest samples, which the daemon fetches last."""
        return self.begins[name] in self.history.starts(name)

    def records(self, *names, within=30):
        eventually(
            lambda: all(map(self.has_past, names)), within,
            lambda: f"the history of {names} from {self.begins} on:\n{self.daemon.transcript()}")


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    return House(lan, plug, controller, tmp_path)


def press(plug):
    """Presses the button and returns the number of the button event, which follows the relay event."""
    before = plug.status()["nextSequence"]
    assert plug.press().status == 0
    eventually(lambda: plug.status()["nextSequence"] >= before + 2, 5, "both events of a press")
    return before + 1


@pytest.mark.time_limit(90 + 4 * ROUNDS)
def test_however_often_the_daemon_is_killed_the_history_has_all_that_the_plugs_have(house):
    """Despite random kills of the daemon, the history contains every sample and event of all plugs."""
    plugs = [house.add("Switch", hours=10), house.add("Kettle", hours=5)]
    chance = random.Random(SEED)
    for number in range(ROUNDS):
        house.start()
        if number % 3 == 2:
            # Adds a plug with stored samples while the history of the others is nearly complete.
            plugs.append(house.add(f"Lamp {number}", hours=chance.randrange(1, 6)) if len(plugs) < 6 else plugs[0])
        if chance.random() < 0.5:
            press(plugs[0])
        time.sleep(chance.choice([0, 0.05, 0.2, 0.3, 0.5, 1]))  # The kill occurs before, during or after a write.
        house.kill()
    house.start()
    house.records(*house.begins)
    remembered = {plug.name: house.remembered(plug) for plug in plugs}
    house.stop()
    for name, samples in remembered.items():
        stored = house.history.samples(name)
        missing = sorted(set(samples) - set(stored))
        assert not missing, f"{name}: {len(missing)} of {len(samples)} are missing, from {missing[0]} to {missing[-1]}"
        assert all(stored[moment] == watts for moment, watts in samples.items())
    assert house.history.is_sound()
    events = house.history.events("Switch")
    assert events == list(range(events[0], plugs[0].status()["nextSequence"])), "an event is missing or stored twice"


def test_what_is_newest_comes_first_and_rules_fire_meanwhile(house, controller):
    """Backfill fetches the newest samples first, and rules fire meanwhile."""
    switch, _ = house.add("Switch", hours=48), house.add("Lamp", hours=48)
    others = [house.add(f"Plug {number}", hours=48) for number in range(2)]
    watching = controller(house.lan.host()).watch("Switch")
    watching.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    daemon = house.start()
    daemon.seen_object(lambda told: told.get("plugs") == 4, 10, "four followed plugs")
    delays = {True: [], False: []}

    def is_backfilling():
        return not all(map(house.has_past, house.begins))

    while len(delays[False]) < 3:
        backfilling = is_backfilling()
        sequence = press(switch)
        told = daemon.seen_object(lambda told: told["event"] == "firing" and told["cause"] == sequence, 5, "the firing")
        heard = watching.seen_object(lambda told: told.get("seq") == sequence, 5, "the press")
        delays[backfilling and is_backfilling()].append(told.at - heard.at)
    house.records(*house.begins)
    during, after = delays[True], delays[False]
    print(f"delay of the firing: {during} s during backfill, {after} s afterwards")
    assert during, "no rule fired during the backfill"
    for plug in others:
        order = house.history.starts(plug.name)
        # A chunk is one hour or longer. Within one answer of the plug, the oldest chunk comes first.
        assert all(later < earlier + 4 * HOUR for earlier, later in zip(order, order[1:])), order
        assert order[0] > plug_milliseconds() - 5 * HOUR and order[-1] < plug_milliseconds() - 20 * HOUR, order


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place)
    yield place
    command("umount", "--lazy", place)


def test_a_full_disk_is_said_and_nothing_is_lost(small_disk, house):
    """A full disk is reported with a hint; rules continue, and nothing is lost when there is space again."""
    switch, lamp = house.add("Switch"), house.add("Lamp")
    place, house.history = small_disk, History(small_disk)
    daemon = house.start(history=place)
    daemon.seen_object(lambda told: told.get("plugs") == 2, 10, "two followed plugs")
    sequence = press(switch)
    eventually(lambda: sequence in house.history.events("Switch"), 10, "the first press in the history")
    command("sh", "-c", f"cat /dev/zero >{place}/filling 2>/dev/null || true")
    pressed = []
    while not (said := [line for line in daemon.lines if line.error and "no space" in line.text]) and len(pressed) < 30:
        pressed.append(press(switch))
    assert said and "the rules keep running" in said[0].text, daemon.transcript()
    assert any(line.error and line.text.startswith("hint: free some space") for line in daemon.lines), daemon.transcript()
    pressed.append(press(switch))
    eventually(
        lambda: {line.json["cause"] for line in list(daemon.lines)
                 if line.json and line.json["event"] == "command"} >= set(pressed), 10, "a command for every press")
    (place / "filling").unlink()
    daemon.seen(lambda line: line.error and "is writable again" in line.text, 70, "the log line that the history is writable again")
    eventually(lambda: set(pressed) <= set(house.history.events("Switch")), 10, "every press in the history")
    remembered = house.remembered(lamp)
    house.stop()
    assert set(remembered) <= set(house.history.samples("Lamp"))
    assert house.history.is_sound()


def test_a_disk_that_stays_full_over_restarts_repeats_no_program(small_disk, house, tmp_path):
    """On a full disk, the daemon stores the actions of rules in a file that it allocated while there was space. A restart repeats no action."""
    marks = tmp_path / "marks"
    house.rules.write_text(
        "- rule: Bell\n  when: { plug: Switch, button: single }\n  then:\n"
        f"    - run: [sh, -c, 'echo $SMARTPLUG_EVENT_ID >>{marks}']\n")
    switch = house.add("Switch")

    def starts():
        house.start(state=small_disk).seen_object(lambda told: told.get("plugs") == 1, 10, "that it follows the switch")

    def ran():
        return marks.read_text().split() if marks.exists() else []

    starts()
    press(switch)
    eventually(lambda: len(ran()) == 1, 10, "the first program")
    command("sh", "-c", f"cat /dev/zero >{small_disk}/filling 2>/dev/null || true")
    for count in (2, 3):
        press(switch)
        eventually(lambda: len(ran()) == count, 10, lambda: f"program {count}: {ran()}")
        house.daemon.seen_object(lambda told: told["event"] == "storedInReserve", 10, "the full disk")
        # Waits until the daemon has also stored the end of the program.
        time.sleep(1)
        house.kill()
        starts()
    press(switch)
    eventually(lambda: len(ran()) == 4, 10, lambda: f"the fourth program: {ran()}")
    assert len(set(ran())) == 4, ran()


def test_one_daemon_a_history(house, tmp_path):
    """A second daemon with the same history exits with a hint."""
    house.add("Switch")
    first = house.start()
    first.seen_object(lambda told: told["event"] == "following", 10, "the switch")
    second = house.controller.daemon(house.rules, state=tmp_path / "another state")
    assert second.ended(within=5) == 1
    assert f"process {first.process.pid}" in second.transcript() and "hint:" in second.transcript(), second.transcript()


def test_a_clock_that_is_set_moves_what_was_recorded(house):
    """When a wrong wall clock is set to the right time, the recorded times are corrected."""
    house.add("Lamp", hours=1)
    clock = WrongClock.of_1970(house.tmp_path)
    house.controller.under(clock.words)
    house.start()
    house.records("Lamp")
    assert all(moment < 365 * 24 * HOUR for moment in house.history.wall_times("Lamp"))
    clock.is_set()
    now = time.time() * 1000
    eventually(
        lambda: all(now - 2 * HOUR < moment < now + HOUR for moment in house.history.wall_times("Lamp")), 20,
        lambda: f"the correct times: {house.history.wall_times('Lamp')}")
    house.stop()
    assert house.history.is_sound()


def test_a_history_that_cannot_be_used_is_said_and_the_rules_run(house):
    """Without a usable history, the daemon logs a warning and runs the rules."""
    switch = house.add("Switch")
    house.add("Lamp")
    daemon = house.start(history=house.rules / "below a file")
    daemon.seen(lambda line: line.error and "records no history" in line.text, 5, "the warning")
    daemon.seen_object(lambda told: told.get("plugs") == 2, 10, "two followed plugs")
    press(switch)
    daemon.seen_object(lambda told: told["event"] == "command" and told["outcome"] == "done", 5, "the lamp's answer")
