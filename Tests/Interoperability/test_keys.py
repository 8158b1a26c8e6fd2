"""Keys are rotated without new pairings, and setup codes are changed."""

import pathlib

import pytest

from deadlines import eventually
from harness.plugs import Controller
from harness.served import Served

RULE = "- rule: By the door\n  when: { plug: Hall, button: single }\n  then:\n    - toggle: Lamp\n"


def fingerprint(controller, plug="Lamp"):
    return next(entry["fingerprint"] for entry in controller.does("controllers", plug, "--json").objects if entry["self"])


@pytest.fixture
def memory(tmp_path):
    return tmp_path / "state" / "smartplug"


def test_a_controller_takes_another_key_while_its_daemon_runs(lan, plug, controller, tmp_path, memory):
    """A controller's key is rotated while its daemon runs. plugctl and the daemon then connect with the new key, and the previous
    key is refused."""
    lamp, hall = plug(lan.host(), "Lamp"), plug(lan.host(), "Hall")
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULE)
    served = Served(controller(lan.host()), tmp_path / "daemon", "--no-dashboard", rules=rules).follows(2)
    person = controller(lan.host())
    before = fingerprint(person)
    stolen = (memory / "key").read_bytes()
    told = person.does("rotate-key", "--json", within=30).objects
    assert {(entry["plug"], entry["knows"]) for entry in told[:-1]} == {("Lamp", True), ("Hall", True)}
    assert told[-1]["rotated"] is True
    after = fingerprint(person)
    assert after == told[-1]["fingerprint"] != before
    assert not (memory / "next-key").exists() and (memory / "key").stat().st_mode & 0o077 == 0
    assert fingerprint(person, "Hall") == after
    # The daemon was disconnected with the old key, and reconnects with the new one.
    for name in ("Lamp", "Hall"):
        served.sees(name, "connected", within=30)
    before = lamp.status()["relay"]
    hall.press()
    eventually(lambda: lamp.status()["relay"] != before, 10, lambda: f"the rule:\n{served.running.transcript()}")
    # The old key gives no access.
    (memory / "key").rename(memory / "kept")
    (memory / "key").write_bytes(stolen)
    (memory / "key").chmod(0o600)
    refused = controller(lan.host()).finish("on", "Lamp")
    assert refused.status == 1 and "no longer paired with this controller" in refused.errors, refused


def test_plugs_that_are_away_are_told_later(lan, plug, controller, memory):
    """The rotation waits for plugs that are away, and is completed by a second run."""
    lamp = plug(lan.host(), "Lamp")
    host = lan.host()
    hall = plug(host, "Hall")
    person = controller(lan.host())
    person.does("on", "Lamp", "Hall")
    before = (memory / "key").read_bytes()
    host.part()
    done = person.finish("rotate-key", "--wait", "2s", within=40)
    assert done.status == 2 and "Lamp: has the next key" in done.output and "run this command again" in done.output, done
    assert (memory / "key").read_bytes() == before
    person.does("off", "Lamp")
    host.join()
    person.browse().found("Hall")
    assert "this controller has a new key" in person.does("rotate-key", within=40).output
    assert (memory / "key").read_bytes() != before
    person.does("on", "Lamp", "Hall")
    assert (lamp.status()["relay"], hall.status()["relay"]) == ("on", "on")


def test_another_setup_code_pairs_and_the_label_does_not(lan, plug, controller, programs, tmp_path):
    """After two new setup codes only the last one pairs; the label's code is refused."""
    lamp = plug(lan.host(), "Lamp")
    owner = controller(lan.host())
    label = lamp.setup_code().read_text().split()[0]
    told = owner.does("new-code", "Lamp", "--json").objects[0]
    assert told["plug"] == "Lamp" and told["code"] != label
    plain = owner.does("new-code", "Lamp", "--plain").output.strip()
    assert plain not in (label, told["code"])
    codes = {"label": label, "first": told["code"], "last": plain}
    for name, code in codes.items():
        file = pathlib.Path(tmp_path, name)
        file.write_text(code + "\n")
        lamp.press("--hold", "5.5")
        eventually(lambda: lamp.status()["pairingWindow"], 10, "the pairing window")
        tablet = Controller(programs, lan.host(), tmp_path / f"tablet-{name}")
        done = tablet.finish("pair", "Lamp", "--code-file", file, "--controller", "Tablet")
        assert (done.status == 0) == (name == "last"), (name, done)
        assert code not in lamp.running.transcript()
    local = lamp.host.finish(lamp._plugd, "new-code", *lamp._places, "--plain")
    assert local.status == 0 and local.output.strip() not in codes.values(), local


def rotate(lamp, *words):
    done = lamp.host.finish(lamp._plugd, "rotate-key", *lamp._places, *words)
    assert done.status == 0, done
    return done.output


def pinned(memory):
    """Returns the pinned keys by plug: one key, or two keys with a comma during a rotation."""
    return {line.split(" ", 2)[2]: line.split(" ")[1] for line in (memory / "plugs").read_text().splitlines()}


def test_a_plug_takes_another_key_when_its_controllers_know_it(lan, plug, controller, memory):
    """A plug's key rotation is completed after all its controllers know the new key, also if the plug is killed in
    between."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.does("on", "Lamp")
    before = pinned(memory)["Lamp"]
    key = pathlib.Path(lamp.state, "key").read_bytes()
    assert "when these controllers have stored it: tests" in rotate(lamp)
    # The plug is killed during the rotation, and continues it after the restart.
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    lamp = plug(lamp.host, "Lamp", state=lamp.state, paired=False)
    person.does("off", "Lamp", within=30)
    lamp.running.seen(lambda line: "the plug has a new key" in line.text, 10, "the log line of the new key")
    assert pathlib.Path(lamp.state, "key").read_bytes() != key and not pathlib.Path(lamp.state, "next-key").exists()
    person.does("on", "Lamp", within=30)
    after = pinned(memory)["Lamp"]
    assert before not in after and "," not in after
    assert lamp.status()["relay"] == "on"
    assert "keyRotated" in [entry["kind"] for entry in person.does("audit", "Lamp", "--json").objects]


def test_who_was_not_there_when_the_plug_turned_is_told_to_pair_anew(lan, plug, controller):
    """After an immediate key rotation, a controller that did not learn the new key gets an error that asks to pair
    again."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.does("on", "Lamp")
    assert "the plug has a new key" in rotate(lamp, "--now")
    refused = person.finish("off", "Lamp", within=30)
    assert refused.status == 1 and "pair" in refused.errors and lamp.status()["relay"] == "on", refused
