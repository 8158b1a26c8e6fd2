"""Programs start correctly whatever they inherit: ignored and blocked signals, closed descriptors, an empty
environment."""

import os
import pathlib
import pwd
import re
import signal
import subprocess
import sys

import pytest

from deadlines import eventually
from harness.served import Served

# Ignores and blocks signals, starts an alarm timer of 1 s, sets a file mode mask that removes all permissions of the owner, and executes the program.
CARELESS = """
import os, signal, sys
for number in signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM, signal.SIGINT])
signal.setitimer(signal.ITIMER_REAL, 1)
os.umask(0o700)
os.execv(sys.argv[1], sys.argv[1:])
"""
PARENT = [sys.executable, "-c", CARELESS]
CLOSED = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
BACKGROUND = ["nohup", "sh", "-c", 'trap "" INT QUIT; exec "$@"', "sh"]
UNLISTED = 54321  # a user without an entry in /etc/passwd
RULES = """\
- rule: Shell
  when: {{ plug: Kettle, button: single }}
  then:
    - run: [sh, -c, "echo run >>{folder}/marks; exit 3"]
"""


def standard_descriptors(process):
    def target(number):
        try:
            return os.readlink(f"/proc/{process}/fd/{number}")
        except FileNotFoundError:
            return None

    return [target(number) for number in range(3)]


def status(process, field):
    return re.search(rf"^{field}:\s+(\w+)", pathlib.Path(f"/proc/{process}/status").read_text(), re.MULTILINE).group(1)


def ignored(process):
    mask = int(status(process, "SigIgn"), 16)
    return {number for number in signal.valid_signals() if mask >> (number - 1) & 1}


@pytest.fixture
def daemon(lan, plug, controller, tmp_path):
    """Returns a function that starts a daemon with one rule, with these words in front of its command."""
    def start(*words):
        plug(lan.host(), "Kettle", simulate="kettle")
        rules = tmp_path / "rules.yaml"
        rules.write_text(RULES.format(folder=tmp_path))
        person = controller(lan.host())
        person.under(words)
        return Served(person, tmp_path / "daemon", "--no-dashboard", rules=rules)

    return start


def test_a_program_that_a_rule_runs_has_an_exit_status_although_the_parent_ignored_SIGCHLD(daemon, controller, tmp_path):
    """The exit status of a rule's program is known, although the parent ignored SIGCHLD."""
    served = daemon(*PARENT).follows(1)
    plain = controller(served.controller.host)
    plain.through(served.socket)
    plain.does("rules", "fire", "Shell")
    told = served.running.seen_object(lambda told: told["event"] == "effect" and told.get("outcome"), 15, "the end").json
    assert told["outcome"] == "failed" and "sh ended with status 3" in told["why"], told
    assert (tmp_path / "marks").read_text() == "run\n"
    process = served.running.process.pid
    assert not ignored(process) & {signal.SIGCHLD, signal.SIGALRM, signal.SIGUSR1}
    assert int(status(process, "Umask"), 8) & 0o722 == 0o022
    served.running.terminate()
    assert served.running.ended(within=15) == 0, served.running.transcript()


def test_a_notification_is_delivered_once_although_the_parent_ignored_SIGCHLD(lan, controller, tmp_path):
    program = tmp_path / "deliver"
    program.write_text(f"#!/bin/sh\necho delivered >>{tmp_path}/marks\n")
    program.chmod(0o755)
    file = tmp_path / "configuration" / "smartplug" / "notifications.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[lamp]\nkind = "command"\ncommand = "{program}"\n')
    person = controller(lan.host())
    person.under(PARENT)
    told = person.finish("notify", "Hello")
    assert told.status == 0 and told.output == "lamp: done", told
    assert (tmp_path / "marks").read_text() == "delivered\n"


def test_a_daemon_with_closed_descriptors_has_the_null_device_in_their_place(daemon):
    """A daemon started with closed descriptors 0 to 2 opens /dev/null in their place."""
    served = daemon(*CLOSED)
    eventually(served.answers, 15, lambda: f"its socket:\n{served.running.transcript()}")
    assert standard_descriptors(served.running.process.pid) == ["/dev/null"] * 3
    assert served.running.is_running


def test_signals_that_nohup_and_a_shell_ignore_for_a_background_program_stay_ignored(daemon):
    served = daemon(*BACKGROUND).follows(1)
    served.running.process.send_signal(signal.SIGHUP)
    assert signal.SIGHUP in ignored(served.running.process.pid)
    assert served.answers()


@pytest.mark.parametrize("words", [CLOSED, PARENT], ids=["closed descriptors", "careless parent"])
def test_a_plug_starts_whatever_its_parent_left(lan, programs, tmp_path, words):
    """plugd starts with ignored and blocked signals and with closed descriptors."""
    host, state = lan.host(), tmp_path / "plug"
    running = host.start(*words, programs / "plugd", "run", "--name", "-Lamp", "--state", state, "--simulate", "lamp", name="plugd")
    eventually(
        lambda: host.finish(programs / "plugd", "status", "--state", state).objects, 15, lambda: f"a plug:\n{running.transcript()}")
    process = running.process.pid
    assert int(status(process, "SigBlk"), 16) & 1 << signal.SIGCHLD - 1 == 0
    assert signal.SIGCHLD not in ignored(process)
    if words is CLOSED:
        assert standard_descriptors(process) == ["/dev/null"] * 3
    running.terminate()
    assert running.ended(within=15) == 0, running.transcript()


def test_the_host_of_a_script_opens_closed_descriptors(programs):
    """The script host opens /dev/null in the place of closed descriptors."""
    words = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", programs / "plugctl-script", "test.lua"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        try:
            eventually(
                lambda: pathlib.Path(f"/proc/{process.pid}/comm").read_text() == "plugctl-script\n"
                and standard_descriptors(process.pid)[1:] == ["/dev/null"] * 2, 10, lambda: "its descriptors")
        finally:
            process.stdin.close()


def as_user(number, programs, *words):
    """Runs plugctl as a user with an empty environment."""
    return subprocess.run(
        ["setpriv", f"--reuid={number}", "--regid=65534", "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin", programs / "plugctl", *words],
        capture_output=True, text=True, timeout=30)


def may_start(number, programs):
    return as_user(number, programs, "--version").returncode == 0


def test_a_user_without_a_home_folder_gets_an_error_that_names_HOME(programs):
    if not may_start(UNLISTED, programs):
        pytest.skip("another user cannot execute the programs in their folder")
    told = as_user(UNLISTED, programs, "daemon", "--no-dashboard")
    assert told.returncode != 0 and "/root" not in told.stderr, told
    assert f"user {UNLISTED} has no home directory: set HOME" in told.stderr and "--state" in told.stderr, told


def test_a_user_without_HOME_has_the_home_folder_of_the_list_of_users(programs):
    """Without HOME, plugctl uses the home folder of /etc/passwd. The home folder of this user never exists."""
    user = pwd.getpwnam("nobody")
    if not may_start(user.pw_uid, programs):
        pytest.skip("another user cannot execute the programs in their folder")
    told = as_user(user.pw_uid, programs, "daemon", "--no-dashboard")
    assert told.returncode != 0 and "/root" not in told.stderr, told
    assert f"cannot make the directory {user.pw_dir}: " in told.stderr, told
