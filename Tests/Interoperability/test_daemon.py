"""The daemon is killed, stopped and restarted: each press is handled once."""

import random
import time

from deadlines import eventually

TOGGLE = """\
- rule: Hall
  when: { plug: Switch, button: single }
  then:
    - toggle: Lamp
"""


class House:
    """A switch that toggles a lamp, and the daemons that ran the rule, one after the other."""

    def __init__(self, lan, plug, controller, tmp_path):
        self.lan = lan
        self.switch, self.lamp = plug(lan.host(), "Switch"), plug(lan.host(), "Lamp")
        self.host = lan.host()
        self.rules = tmp_path / "rules.yaml"
        self.rules.write_text(TOGGLE)
        self.controller = controller
        self.daemons = []
        person = controller(lan.host())
        self.watching = {name: person.watch(name) for name in ("Switch", "Lamp")}
        for name, lines in self.watching.items():
            lines.seen_object(lambda told: told["event"] == "snapshot", 10, f"the snapshot of {name}")

    def start(self):
        self.daemons.append(self.controller(self.host).daemon(self.rules))
        return self.daemons[-1]

    def start_and_settle(self):
        daemon = self.start()
        daemon.seen_object(lambda told: told.get("plugs") == 2, 10, "that it follows both")
        return daemon

    def kill(self):
        self.daemons[-1].process.kill()
        self.daemons[-1].ended(within=5)

    def told(self, *events):
        """The lines of all daemons with these events."""
        return [line.json for daemon in self.daemons for line in list(daemon.lines)
                if line.json and line.json["event"] in events]

    def press(self, times=1):
        """Presses the button and waits for each press to be reported, because a second press too soon makes a double
        press."""
        for _ in range(times):
            before = len(self.presses())
            assert self.switch.press().status == 0
            eventually(lambda: len(self.presses()) > before, 5, "the press")

    def presses(self):
        return {line.json["seq"] for line in list(self.watching["Switch"].lines)
                if line.json and line.json["event"] == "button"}

    def switchings(self):
        """The lamp's relay events that a controller caused."""
        return [line.json for line in list(self.watching["Lamp"].lines)
                if line.json and line.json["event"] == "relay" and line.json["cause"] == "controller"]

    def fired(self):
        return {told["cause"] for told in self.told("firing", "resumed")}

    def held_back(self):
        return {told["cause"] for told in self.told("heldBack")}

    def accounted(self, presses, within):
        """Expects that every press either fired or was reported as held back, and that the lamp toggled once per
        firing, except for commands that a later command overtook."""
        def told():
            return "\n".join(f"daemon {number}:\n{daemon.transcript()}" for number, daemon in enumerate(self.daemons))

        eventually(lambda: len(self.presses()) == presses, 10, "all presses")
        eventually(lambda: self.fired() | self.held_back() == self.presses(), within, told)
        fired = self.fired()
        assert not fired & self.held_back(), told()
        assert not self.told("notSent", "gap", "notStored"), told()
        eventually(lambda: {line["cause"] for line in self.told("command")} == fired, 12, told)
        undone = [line for line in self.told("command") if line["outcome"] != "done"]
        assert all(line["why"] == "replaced by a later command" for line in undone), told()
        overtaken = len({line["cause"] for line in undone})
        eventually(lambda: len(self.switchings()) >= len(fired) - 2 * overtaken, 5, told)
        turns = [line["on"] for line in self.switchings()]
        # An overtaken command may still have been executed. If it was not, the command that overtook it changed nothing.
        assert len(turns) <= len(fired) and (len(fired) - len(turns)) % 2 == 0, told()
        assert all(one != other for one, other in zip(turns, turns[1:])), told()
        return fired


def test_every_press_counts_once_while_the_daemon_is_killed_again_and_again(lan, plug, controller, tmp_path):
    """Each press toggles the lamp once or is reported as held back, although the daemon is killed while it handles presses."""
    house = House(lan, plug, controller, tmp_path)
    house.start_and_settle()
    time.sleep(0.5)  # The daemon stores followed plugs within 0.1 s.
    chance = random.Random(4)
    for _ in range(30):
        house.press()
        if chance.random() < 0.4:
            # The kill occurs before, during or after the storage of the press, before the command, before its answer, or later.
            time.sleep(chance.choice([0, 0.001, 0.002, 0.005, 0.02, 0.2]))
            house.kill()
            house.start()
    fired = house.accounted(presses=30, within=10)
    assert len(house.daemons) > 8 and len(fired) > 20, f"{len(house.daemons)} daemons, {len(fired)} firings"


def test_an_output_that_is_not_read_delays_no_rule(lan, plug, controller, tmp_path):
    """Each press toggles the lamp while no program reads the output of the daemon, whose pipe has room for a few lines."""
    house = House(lan, plug, controller, tmp_path)
    daemon = controller(house.host).with_unread_output().daemon(house.rules)

    def is_running():
        house.press()
        return house.switchings()

    eventually(is_running, 20, "the first switch")
    house.press(times=20)
    eventually(lambda: len(house.switchings()) >= 21, 10, lambda: f"{len(house.switchings())} switches")
    daemon.process.kill()
    assert all(line.error for line in daemon.lines), daemon.transcript()


def test_presses_of_long_ago_are_told_and_do_nothing(lan, plug, controller, tmp_path):
    """Presses that are too old when the daemon starts are reported as held back, and not executed."""
    house = House(lan, plug, controller, tmp_path)
    house.start_and_settle()
    house.press()
    house.accounted(presses=1, within=5)
    time.sleep(0.5)  # The daemon stores the outcome of the command within 0.1 s.
    house.kill()
    house.press(times=3)
    time.sleep(6)
    house.start_and_settle()
    fired = house.accounted(presses=4, within=5)
    assert len(fired) == 1
    assert all(told["why"].endswith(" s old") for told in house.told("heldBack"))
    # After an orderly stop and a start, the old presses are not reported again.
    daemon = house.daemons[-1]
    daemon.terminate()
    assert daemon.ended(within=5) == 0
    daemon = house.start_and_settle()
    house.press()
    daemon.seen_object(lambda told: told["event"] == "command", 5, "the new press")
    told = [line.json["event"] for line in daemon.lines if line.json and line.json["event"] != "serving"]
    assert told == ["following", "following", "firing", "commanded", "command"]


def test_plugs_that_swap_names_lose_nothing(lan, plug, controller, tmp_path):
    """When two plugs swap names, rules stay bound to the same plugs, and no event is lost."""
    house = House(lan, plug, controller, tmp_path)
    house.start_and_settle()
    house.press(times=3)
    house.accounted(presses=3, within=5)
    time.sleep(0.5)  # Waits until the daemon has stored the last events of both plugs.
    house.kill()
    hosts, states = (house.lamp.host, house.switch.host), (house.lamp.state, house.switch.state)
    for one in (house.switch, house.lamp):
        one.running.terminate()
        assert one.running.ended(within=5) == 0
    switch = plug(hosts[0], "Switch", state=states[0])
    lamp = plug(hosts[1], "Lamp", state=states[1])
    daemon = house.start_and_settle()
    # Each name in the rule means the plug that had the name when the rule was read.
    before = switch.status()["relay"]
    assert lamp.press().status == 0
    done = daemon.seen_object(lambda told: told["event"] == "command", 5, "the press at the previous switch").json
    assert done["outcome"] == "done" and switch.status()["relay"] != before
    assert not [line for line in daemon.lines if line.json and line.json["event"] == "gap"], daemon.transcript()


def test_one_daemon_a_directory(lan, plug, controller, tmp_path):
    """A second daemon with the same state directory exits with a hint."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(TOGGLE)
    plug(lan.host(), "Switch")
    host = lan.host()
    first = controller(host).daemon(rules)
    first.seen_object(lambda told: told["event"] == "following", 10, "the switch")
    second = controller(host).daemon(rules)
    assert second.ended(within=5) == 1
    assert "is in use by process" in second.transcript() and "hint:" in second.transcript()


def test_a_directory_that_cannot_be_used_is_said_and_the_rules_run(lan, plug, controller, tmp_path):
    """If the state directory cannot be used, the daemon logs a warning and still runs the rules."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(TOGGLE)
    switch = plug(lan.host(), "Switch")
    plug(lan.host(), "Lamp")
    daemon = controller(lan.host()).daemon(rules, state=rules / "below a file")
    daemon.seen(lambda line: line.error and "cannot" in line.text and "may lose" in line.text, 5, "the warning")
    daemon.seen_object(lambda told: told.get("plugs") == 2, 10, "that it follows both")
    assert switch.press().status == 0
    daemon.seen_object(lambda told: told["event"] == "command" and told["outcome"] == "done", 5, "the lamp's answer")


def test_a_damaged_file_is_kept_aside(lan, plug, controller, tmp_path):
    """A damaged state file is renamed to rules.damaged, and the daemon starts."""
    rules, state = tmp_path / "rules.yaml", tmp_path / "state"
    rules.write_text(TOGGLE)
    state.mkdir()
    (state / "rules").write_text("garbage")
    plug(lan.host(), "Switch")
    daemon = controller(lan.host()).daemon(rules, state=state)
    daemon.seen(lambda line: line.error and "is damaged" in line.text, 5, "the warning")
    daemon.seen_object(lambda told: told["event"] == "following", 10, "the switch")
    assert (state / "rules.damaged").read_text() == "garbage"
