"""The daemon is killed, stopped and started again: each press is dealt with once."""

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
    """A switch that toggles a lamp, and the daemons that have run the rule, one after the other."""

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
        """Of all daemons."""
        return [line.json for daemon in self.daemons for line in list(daemon.lines)
                if line.json and line.json["event"] in events]

    def press(self, times=1):
        """Waits each time until it was one: a second press too soon would make it a double one."""
        for _ in range(times):
            before = len(self.presses())
            assert self.switch.press().status == 0
            eventually(lambda: len(self.presses()) > before, 5, "the press to be seen")

    def presses(self):
        return {line.json["seq"] for line in list(self.watching["Switch"].lines)
                if line.json and line.json["event"] == "button"}

    def switchings(self):
        """Of the lamp, by a controller."""
        return [line.json for line in list(self.watching["Lamp"].lines)
                if line.json and line.json["event"] == "relay" and line.json["cause"] == "controller"]

    def fired(self):
        return {told["cause"] for told in self.told("firing", "resumed")}

    def held_back(self):
        return {told["cause"] for told in self.told("heldBack")}

    def accounted(self, presses, within):
        """Every press has fired or was told as held back, never both, and the lamp turned over once for each firing, but for those whose
        command was overtaken by the next one's."""
        def told():
            return "\n".join(f"daemon {number}:\n{daemon.transcript()}" for number, daemon in enumerate(self.daemons))

        eventually(lambda: len(self.presses()) == presses, 10, "all presses to be seen")
        eventually(lambda: self.fired() | self.held_back() == self.presses(), within, told)
        fired = self.fired()
        assert not fired & self.held_back(), told()
        assert not self.told("notSent", "gap", "notStored"), told()
        eventually(lambda: {line["cause"] for line in self.told("command")} == fired, 12, told)
        undone = [line for line in self.told("command") if line["outcome"] != "done"]
        assert all(line["why"] == "overtaken by a later command" for line in undone), told()
        overtaken = len({line["cause"] for line in undone})
        eventually(lambda: len(self.switchings()) >= len(fired) - 2 * overtaken, 5, told)
        turns = [line["on"] for line in self.switchings()]
        # One that was overtaken may have been carried out all the same, and if not, the next one changed nothing.
        assert len(turns) <= len(fired) and (len(fired) - len(turns)) % 2 == 0, told()
        assert all(one != other for one, other in zip(turns, turns[1:])), told()
        return fired


def test_every_press_counts_once_while_the_daemon_is_killed_again_and_again(lan, plug, controller, tmp_path):
    house = House(lan, plug, controller, tmp_path)
    house.start_and_settle()
    time.sleep(0.5)  # What it met is on the disk a tenth of a second later.
    chance = random.Random(4)
    for _ in range(30):
        house.press()
        if chance.random() < 0.4:
            # Before the press is stored, while it is, before the command is sent, before its answer came, or long after.
            time.sleep(chance.choice([0, 0.001, 0.002, 0.005, 0.02, 0.2]))
            house.kill()
            house.start()
    fired = house.accounted(presses=30, within=10)
    assert len(house.daemons) > 8 and len(fired) > 20, f"{len(house.daemons)} daemons, {len(fired)} firings"


def test_presses_of_long_ago_are_told_and_do_nothing(lan, plug, controller, tmp_path):
    house = House(lan, plug, controller, tmp_path)
    house.start_and_settle()
    house.press()
    house.accounted(presses=1, within=5)
    house.kill()
    house.press(times=3)
    time.sleep(6)
    house.start_and_settle()
    fired = house.accounted(presses=4, within=5)
    assert len(fired) == 1
    assert all("ago" in told["why"] for told in house.told("heldBack"))
    # Stopped in order and started again it tells none of this a second time.
    daemon = house.daemons[-1]
    daemon.terminate()
    assert daemon.ended(within=5) == 0
    daemon = house.start_and_settle()
    house.press()
    daemon.seen_object(lambda told: told["event"] == "command", 5, "the press of now")
    told = [line.json["event"] for line in daemon.lines if line.json and line.json["event"] != "serving"]
    assert told == ["following", "following", "firing", "commanded", "command"]


def test_plugs_that_swap_names_lose_nothing(lan, plug, controller, tmp_path):
    house = House(lan, plug, controller, tmp_path)
    house.start_and_settle()
    house.press(times=3)
    house.accounted(presses=3, within=5)
    time.sleep(0.5)  # Both plugs' last events are on the disk then.
    house.kill()
    hosts, states = (house.lamp.host, house.switch.host), (house.lamp.state, house.switch.state)
    for one in (house.switch, house.lamp):
        one.running.terminate()
        assert one.running.ended(within=5) == 0
    switch = plug(hosts[0], "Switch", state=states[0])
    lamp = plug(hosts[1], "Lamp", state=states[1])
    daemon = house.start_and_settle()
    # Each name in the rule means the plug that had it when the rule was read.
    before = switch.status()["relay"]
    assert lamp.press().status == 0
    done = daemon.seen_object(lambda told: told["event"] == "command", 5, "the press at the plug that was the switch").json
    assert done["outcome"] == "done" and switch.status()["relay"] != before
    assert not [line for line in daemon.lines if line.json and line.json["event"] == "gap"], daemon.transcript()


def test_one_daemon_a_directory(lan, plug, controller, tmp_path):
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
    rules = tmp_path / "rules.yaml"
    rules.write_text(TOGGLE)
    switch = plug(lan.host(), "Switch")
    plug(lan.host(), "Lamp")
    daemon = controller(lan.host()).daemon(rules, state=rules / "below a file")
    daemon.seen(lambda line: line.error and "cannot" in line.text and "may lose" in line.text, 5, "what is wrong")
    daemon.seen_object(lambda told: told.get("plugs") == 2, 10, "that it follows both")
    assert switch.press().status == 0
    daemon.seen_object(lambda told: told["event"] == "command" and told["outcome"] == "done", 5, "the lamp's answer")


def test_a_damaged_file_is_kept_aside(lan, plug, controller, tmp_path):
    rules, state = tmp_path / "rules.yaml", tmp_path / "state"
    rules.write_text(TOGGLE)
    state.mkdir()
    (state / "rules").write_text("garbage")
    plug(lan.host(), "Switch")
    daemon = controller(lan.host()).daemon(rules, state=state)
    daemon.seen(lambda line: line.error and "is damaged" in line.text, 5, "what is wrong")
    daemon.seen_object(lambda told: told["event"] == "following", 10, "the switch")
    assert (state / "rules.damaged").read_text() == "garbage"
