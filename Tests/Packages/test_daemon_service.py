"""The daemon as a user service, in a clean system."""

import ctypes

import pytest

USER = "anna"
# Disables PAM, because a minimal system lacks the modules for logins.
MANAGER = """[Service]
PAMName=
Environment=XDG_RUNTIME_DIR=/run/user/%i
"""
# Creates the runtime folder without systemd-logind, which a minimal system lacks.
PLACE = """[Service]
ExecStart=
ExecStart=/bin/sh -c 'mkdir -p /run/user/%i && chmod 700 /run/user/%i && chown %i /run/user/%i'
ExecStop=
"""
UNIT = "smartplug-controller"
LANDLOCK_CREATE_RULESET, LANDLOCK_VERSION = 444, 1
KEPT = f"/home/{USER}/.local/state/smartplug"
# Three rules with programs that differ only in the file that they read.
READERS = "".join(
    f"- rule: {name}\n  when: {{ time: \"12:00\" }}\n  then:\n    - run: [cat, {KEPT}/{file}]\n"
    for name, file in (("Thief", "key"), ("Copyist", "copy"), ("Reader", "history/readable")))
# Settings of the unit that the system's version of systemd may not know.
NEWER = ("RestartSteps", "RestartMaxDelaySec")


@pytest.fixture(scope="module")
def person(board):
    """Returns a function that runs a command as a user with their own systemd."""
    board.does(f"useradd --create-home {USER}")
    uid = board.does(f"id --user {USER}").strip()
    board.system.write("/etc/systemd/system/user@.service.d/alone.conf", MANAGER)
    board.system.write("/etc/systemd/system/user-runtime-dir@.service.d/alone.conf", PLACE)
    board.does(f"systemctl daemon-reload && systemctl start user-runtime-dir@{uid} user@{uid}")

    def does(command):
        return board.does(
            f"setpriv --reuid={USER} --regid={USER} --init-groups "
            f"env HOME=/home/{USER} XDG_RUNTIME_DIR=/run/user/{uid} sh -c '{command}'")

    yield does
    board.does(f"systemctl stop user@{uid}")


def test_systemd_understands_it(person):
    """systemd-analyze reports no error in the user unit."""
    assert person("command -v systemd-analyze").strip()
    told = person(f"systemd-analyze verify --user --man=no {UNIT}.service 2>&1 || true").splitlines()
    assert [line for line in told if UNIT in line and not any(name in line for name in NEWER)] == []


def test_nobodys_daemon_is_started_by_installing_it(person, board):
    """Installing the package starts no user's daemon."""
    assert person(f"systemctl --user is-enabled {UNIT} || true").strip() == "disabled"
    assert board.system.processes("plugctl") == []


def test_it_runs_and_commands_go_through_it(person, board):
    """The enabled daemon runs with a seccomp filter, and plugctl uses its socket."""
    person(f"systemctl --user enable --now {UNIT}")
    board.system.waits_for("its socket", 15, lambda: person("stat -c %a $XDG_RUNTIME_DIR/smartplug/daemon.socket").strip() == "600")
    assert person("plugctl rules state 2>&1").startswith("plugctl: the daemon runs no rules")
    process = person(f"systemctl --user show {UNIT} --property=MainPID --value").strip()
    status = board.does(f"cat /proc/{process}/status")
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status


def test_it_is_started_again_when_it_is_killed(person, board):
    """systemd restarts a killed daemon."""
    person(f"systemctl --user kill --signal=KILL {UNIT}")
    board.system.waits_for(
        "the next daemon", 20, lambda: person(f"systemctl --user show {UNIT} --property=NRestarts --value").strip() == "1")
    board.system.waits_for("its answer", 15, lambda: "no rules" in person("plugctl rules state 2>&1"))


def test_a_script_runs_within_the_service(person, board):
    """A script runs in the service, without capabilities and with a seccomp filter."""
    person("mkdir -p ~/.config/smartplug/rules")
    board.system.write(f"/home/{USER}/.config/smartplug/rules/noon.lua", 'at("12:00", function() log("noon") end)\n')
    person(f"systemctl --user restart {UNIT}")
    board.system.waits_for("the script", 20, lambda: "noon.lua runs" in person("plugctl rules state 2>&1 || true"))
    [process] = board.system.processes("plugctl-script")
    status = board.does(f"cat {process.removesuffix('comm')}status")
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status and "CapEff:\t0000000000000000" in status


def test_nothing_was_denied(board):
    """The daemon's log contains no denied system call or file access."""
    told = board.does("journalctl --no-pager _COMM=plugctl").splitlines()
    assert told
    assert [line for line in told if "denied" in line or "not permitted" in line] == []


def test_a_program_of_a_rule_does_not_read_the_key(person, board):
    """The kernel refuses a rule's program the access to the key and to a copy of the key, because the daemon can restrict the program in spite
    of the unit's filters."""
    if ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION) <= 0:
        pytest.skip("this kernel has no Landlock (Linux 5.13)")
    person(f"cp {KEPT}/key {KEPT}/copy")
    person(f"echo readable >{KEPT}/history/readable")
    board.system.write(f"/home/{USER}/.config/smartplug/rules/readers.yaml", READERS)
    board.system.waits_for("the rules", 20, lambda: "Thief" in person("plugctl rules state 2>&1 || true"))
    for rule, words in ("Reader", "done"), ("Thief", "ermission denied"), ("Copyist", "ermission denied"):
        person(f"plugctl rules fire {rule}")
        board.system.waits_for("the outcome", 20, lambda: words in person(f"plugctl rules explain {rule} 2>&1 || true"))
