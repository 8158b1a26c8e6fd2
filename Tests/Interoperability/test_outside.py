"""The daemon's configuration restricts programs and web hooks of rules and scripts, and refusals are reported."""

import ctypes
import os

import pytest

from deadlines import eventually
from harness.keys import controller_directory
from harness.served import Served

LANDLOCK_CREATE_RULESET, LANDLOCK_VERSION = 444, 1
RULES = """\
- rule: Program
  when: {{ plug: Kettle, button: single }}
  then:
    - run: [touch, {folder}/program]
- rule: Hook
  when: {{ plug: Kettle, button: double }}
  then:
    - web hook: http://192.0.2.7/secret
- rule: Thief
  when: {{ plug: Kettle, button: long }}
  then:
    - run: [cat, {key}]
- rule: Rotation
  when: {{ time: "12:00" }}
  then:
    - run: [cat, {next_key}]
- rule: Chart
  when: {{ time: "12:00" }}
  then:
    - run: [sh, -c, "cat {folder}/daemon/history/* >/dev/null"]
"""
SCRIPT = 'on("Kettle", "button", "pressed", function() run({{ "touch", "{folder}/script" }}) end)\n'


def has_landlock():
    return ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION) > 0


@pytest.fixture
def serve(lan, plug, controller, tmp_path):
    """Returns a function that starts the daemon with the rules and this configuration."""

    def start(text):
        plug(lan.host(), "Kettle", simulate="kettle")
        if text:
            file = tmp_path / "configuration" / "smartplug" / "daemon.toml"
            file.parent.mkdir(parents=True)
            file.write_text(text)
        rules = tmp_path / "rules"
        rules.mkdir()
        (rules / "rules.yaml").write_text(RULES.format(
            folder=tmp_path, key=controller_directory() / "key", next_key=controller_directory() / "next-key"))
        (rules / "script.lua").write_text(SCRIPT.format(folder=tmp_path))
        served = Served(controller(lan.host()), tmp_path / "daemon", "--no-dashboard", rules=rules).follows(1)
        served.controller.through(served.socket)
        return served

    return start


def fired(served, rule):
    """Fires the rule and returns the outcome of its only effect."""
    served.controller.does("rules", "fire", rule)
    return served.running.seen_object(
        lambda told: told["event"] == "effect" and told["rule"] == rule and told.get("outcome"), 15, f"the outcome of {rule}").json


def explained(served, rule, words):
    explain = "rules", "explain", rule, "--history", served.folder / "history"
    eventually(lambda: words in served.controller.finish(*explain).output, 15, lambda: f"{words} in its trace")


def test_what_is_turned_off_is_not_done(serve, tmp_path):
    """With run and web_hooks off, no program is run and no address is requested; `plugctl rules check` warns."""
    served = serve('[outside]\nrun = "off"\nweb_hooks = "off"\n')
    for rule in "Program", "script.lua:1":
        told = fired(served, rule)
        assert told["outcome"] == "failed" and "touch is not run: " in told["why"] and "daemon.toml" in told["why"], told
        explained(served, rule, 'has run = "off"')
    told = fired(served, "Hook")
    assert told["outcome"] == "failed" and "192.0.2.7:80 is not called" in told["why"] and "secret" not in told["why"], told
    assert not (tmp_path / "program").exists() and not (tmp_path / "script").exists()
    checked = served.controller.finish("rules", "check", "--offline", tmp_path / "rules" / "rules.yaml")
    assert checked.status == 0 and checked.errors.count("is not run") == 4 and "192.0.2.7:80 is not called" in checked.errors, checked


def test_what_is_named_is_done(serve, tmp_path):
    """Only the listed programs and addresses are used."""
    served = serve('[outside]\nrun = ["/usr/bin/touch"]\nweb_hooks = ["192.0.2.8"]\n')
    for rule, file in ("Program", "program"), ("script.lua:1", "script"):
        assert fired(served, rule)["outcome"] == "done"
        assert (tmp_path / file).exists()
    assert "which is /usr/bin/cat, is not run" in fired(served, "Thief")["why"]
    assert "does not list it in web_hooks" in fired(served, "Hook")["why"]


def test_a_broken_configuration_allows_nothing(serve, tmp_path):
    """With an error in daemon.toml, no program is run."""
    served = serve('[outside]\nrun = "on"\n')
    served.running.seen(lambda line: "daemon.toml:2: [outside] run: expected" in line.text, 5)
    assert "daemon.toml:2" in fired(served, "Program")["why"]
    assert not (tmp_path / "program").exists()


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock (Linux 5.13)")
def test_a_program_does_not_read_the_controllers_key(serve):
    """A rule's program cannot read the controller's key, nor the next key of a pending rotation."""
    key = controller_directory() / "key"
    served = serve(None)
    assert os.stat(key).st_mode & 0o777 == 0o600 and key.read_bytes()
    told = fired(served, "Thief")
    assert told["outcome"] == "failed" and "ermission denied" in told["why"], told
    explained(served, "Thief", "ermission denied")
    # The file of a key rotation that began after the daemon's start is protected, too.
    next_key = controller_directory() / "next-key"
    next_key.write_bytes(key.read_bytes())
    next_key.chmod(0o600)
    told = fired(served, "Rotation")
    assert told["outcome"] == "failed" and "ermission denied" in told["why"], told
    next_key.unlink()
    assert fired(served, "Chart")["outcome"] == "done"
    # The daemon and the user still have access to the key.
    served.kill()
    served.start()
    served.follows(1)


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock (Linux 5.13)")
def test_a_configuration_may_leave_keys_open(serve):
    """With keep_keys = false a rule's program may read the key."""
    served = serve("[outside]\nkeep_keys = false\n")
    assert fired(served, "Thief")["outcome"] == "done"
