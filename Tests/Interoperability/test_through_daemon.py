"""Commands use the daemon if it runs, and otherwise connect directly to the plugs, with the same result."""

import http.client
import json
import os
import signal
import socket
import time

import pytest

from deadlines import eventually, patient

HALL = """\
- rule: Hall
  when: { plug: Kettle, button: single }
  then:
    - toggle: Lamp
"""
FOREIGN_USER = 12345


class House:
    """A lamp and a kettle, and a host whose commands use its daemon."""

    def __init__(self, lan, plug, controller, tmp_path):
        self.plugs = {name: plug(lan.host(), name, simulate=name.lower()) for name in ("Lamp", "Kettle")}
        self.rules = tmp_path / "rules.yaml"
        self.rules.write_text(HALL)
        self.socket = tmp_path / "daemon.socket"
        host = lan.host()
        self.person, self.straight = controller(host), controller(host)
        self.person.through(self.socket)
        self.start()

    def start(self):
        self.daemon = self.straight.daemon(self.rules, "--controller", "the daemon", socket=self.socket)
        eventually(
            lambda: self.states() == {"Lamp": "connected", "Kettle": "connected"}, 15,
            lambda: f"two plugs in the daemon:\n{self.daemon.transcript()}")

    def states(self):
        """Returns the states of the plugs from the daemon by name, or an empty dictionary while the daemon does not answer."""
        connection = http.client.HTTPConnection("localhost", timeout=patient(5))
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.socket))
            connection.request("GET", "/api/v1/house")
            return {told["plug"]: told["state"] for told in json.load(connection.getresponse())["plugs"]}
        except OSError:
            return {}
        finally:
            connection.close()

    def stop(self):
        self.daemon.terminate()
        assert self.daemon.ended(within=5) == 0


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    return House(lan, plug, controller, tmp_path)


def cause_of_the_next(lines, seen):
    """Returns the controller that the plug's next relay event names."""
    def cause():
        return next((line.json["controller"] for line in lines.lines[seen:] if line.json and line.json["event"] == "relay"), None)

    return eventually(cause, 5, lambda: f"a relay's event:\n{lines.transcript()}")


@pytest.mark.parametrize("words", [["on", "Lamp"], ["off", "Lamp"], ["toggle", "Lamp"], ["dim", "Lamp", "30%"],
                                   ["reset", "Lamp", "--protection"], ["on", "Lamp", "Kettle"], ["on", "lamp"]])
def test_both_ways_print_the_same(house, words):
    """A command prints the same through the daemon and directly."""
    through = house.person.does(*words, "--json")
    straight = house.straight.does(*words, "--json", "--direct")
    toggled = words[0] == "toggle"  # The second command toggles the result of the first.

    def keys(done):
        return sorted((told["plug"], sorted(set(told) - {"seq"}), toggled or told.get("on"), told.get("level"))
                      for told in done.objects)

    assert keys(through) == keys(straight)
    assert (through.errors, straight.errors) == ("", "")


def test_the_plug_knows_by_whom(house):
    """A relay event names the daemon if the command used the daemon, and the name of --controller if it was given. After a direct command
    it names only the controller."""
    lines = house.straight.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    for person, words, who in ((house.person, [], "the daemon"), (house.person, ["--direct"], None),
                               (house.person, ["--controller", "somebody"], "somebody")):
        seen = len(lines.lines)
        person.does("toggle", "Lamp", *words)
        cause = cause_of_the_next(lines, seen)
        # The name in parentheses follows the name that was given at pairing.
        assert cause.endswith(f" ({who})") if who else not cause.endswith(" (the daemon)"), cause


def test_a_refusal_is_the_same(house):
    """A refusal is the same through the daemon and directly."""
    told = [house.person.finish("dim", "Kettle", "30%", "--json", *way) for way in ([], ["--direct"])]
    assert [done.status for done in told] == [1, 1]
    assert told[0].objects == told[1].objects and "error" in told[0].objects[0]
    assert told[0].errors == told[1].errors


def test_a_command_that_was_given_up_is_not_carried_out_later(house):
    """A suspended plug does not confirm a command, and does not execute it when it continues."""
    lamp = house.plugs["Lamp"]
    house.person.does("off", "Lamp")
    lamp.running.process.send_signal(signal.SIGSTOP)
    try:
        done = house.person.finish("on", "Lamp", "--json", within=15)
        assert done.status == 1 and "it will not be carried out after" in done.objects[0]["error"], done
        time.sleep(5.5)  # The daemon sent the command for the last time five seconds after the first time.
    finally:
        lamp.running.process.send_signal(signal.SIGCONT)
    # The answer to this command follows the answers to the earlier ones.
    house.person.does("identify", "Lamp")
    assert lamp.status()["relay"] == "off"


def test_a_part_that_cannot_be_done_is_told_by_the_status(house):
    """If a command succeeds for one plug and fails for another, the exit status is 2."""
    done = house.person.finish("on", "Lamp", "Nobody", "--json", "--wait", "1s")
    assert done.status == 2 and len(done.objects) == 2, done


def test_a_plug_that_the_daemon_does_not_know_is_looked_for(house, plug, lan):
    """If the daemon follows plugs only on a different interface, the command finds the plug by itself."""
    house.stop()
    house.daemon = house.straight.daemon(house.rules, "--interface", "lo", socket=house.socket)
    eventually(house.socket.exists, 10, "its socket")
    assert house.person.does("on", "Lamp", "--json").objects[0]["on"] is True


def test_without_the_daemon_all_goes_on(house):
    """Without the daemon, and with the socket of a killed one, commands connect directly."""
    house.stop()
    assert house.person.does("on", "Lamp", "--json").objects[0]["on"] is True
    house.start()
    house.daemon.process.kill()
    house.daemon.ended(within=5)
    assert house.socket.exists(), "the socket of the killed daemon is missing"
    done = house.person.does("off", "Lamp", "--json")
    assert done.objects[0]["on"] is False and done.errors == ""


def test_another_users_socket_is_not_spoken_to(house):
    """A socket of a different user is not used."""
    try:
        os.chown(house.socket, FOREIGN_USER, FOREIGN_USER)
    except OSError:
        pytest.skip("the socket's owner cannot be changed")
    done = house.person.does("on", "Lamp", "--json")
    assert "another user" in done.errors and done.objects[0]["on"] is True
    assert house.person.finish("rules", "state").status == 1


def test_rules_and_what_they_did(house):
    """`plugctl rules state` counts the firings of a rule."""
    assert house.person.does("rules", "state", "--json").objects[0]["firings"] == 0
    house.plugs["Kettle"].press()
    eventually(lambda: house.person.does("rules", "state", "--json").objects[0]["firings"] == 1, 5, "a firing")
    told = house.person.does("rules", "state")
    assert "Hall" in told.output and "fired      1 time" in told.output


def test_rules_are_the_daemons(controller, lan, tmp_path):
    """Without a daemon, rule commands fail with a hint."""
    person = controller(lan.host())
    person.through(tmp_path / "nobody.socket")
    done = person.finish("rules", "state")
    assert done.status == 1 and "no daemon is listening" in done.errors and "hint:" in done.errors


def test_alone_it_shows_the_house(house, lan, plug):
    """plugctl without a command lists all plugs, also unpaired ones."""
    plug(lan.host(), "Stranger", paired=False)
    for words in ([], ["--direct"]):
        told = eventually(
            lambda: (done := house.person.does(*words)) and "Stranger" in done.output and done, 10, "the stranger")
        rows = {line.split()[0]: line for line in told.output.splitlines() if line.strip()}
        assert " on" in rows["Lamp"] or " off" in rows["Lamp"]
        assert "not paired" in rows["Stranger"] and 'plugctl pair "Stranger"' in rows["Stranger"]

        def records_of_all():
            # A single search may end before the newest plug has answered.
            found = {record["plug"]: record for record in house.person.does("--json", *words).objects}
            return "Stranger" in found and found

        records = eventually(records_of_all, 10, "the record of each plug")
        assert {name: record["state"] for name, record in records.items()} == {
            "Lamp": "connected", "Kettle": "connected", "Stranger": "stranger"}
        assert {"id", "capabilities", "firmware", "on", "reading"} <= set(records["Lamp"])


def test_alone_it_shows_who_is_away(house):
    """Without a daemon, plugctl lists absent plugs as away."""
    house.stop()
    house.plugs["Kettle"].running.terminate()
    house.plugs["Kettle"].running.ended(within=5)
    records = {told["plug"]: told for told in house.person.does("--json").objects}
    assert (records["Lamp"]["state"], records["Kettle"]["state"]) == ("connected", "away")


def test_alone_without_plugs_it_says_what_to_do(controller, lan):
    """Without any plug, plugctl prints a hint."""
    done = controller(lan.host()).does()
    assert not done.output and "hint:" in done.errors and "plugctl doctor" in done.errors


def test_what_is_no_subcommand_is_said(controller, lan):
    """With an unknown subcommand, plugctl exits with status 64 and prints a hint."""
    for words in (["fly"], ["swich", "Lamp", "--over", "2s"]):
        done = controller(lan.host()).finish(*words)
        assert done.status == 64 and words[0] in done.errors and "hint:" in done.errors, done


def commands(part, path=()):
    yield path, part
    for below in part.get("subcommands", []):
        if below["commandName"] != "help":
            yield from commands(below, (*path, below["commandName"]))


def test_every_command_explains_itself(programs, lan):
    """Every command has an abstract, an example, and a description of each argument."""
    told = lan.host().finish(programs / "plugctl", "--experimental-dump-help")
    all_commands = list(commands(json.loads(told.output)["command"]))
    assert len(all_commands) > 20
    for path, part in all_commands:
        name = " ".join(("plugctl", *path))
        assert part.get("abstract", "").endswith("."), f"{name} has no abstract"
        assert name in part.get("discussion", "").split("Example")[-1], f"{name} has no example"
        for argument in part.get("arguments", []):
            assert argument.get("abstract") or not argument.get("shouldDisplay", True), f"{name}: {argument}"
