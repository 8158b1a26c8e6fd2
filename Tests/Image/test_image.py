"""The image of the medium, in an emulated machine: what a user sees who writes it to a medium and starts the plug."""

import json
import os
import re
import subprocess

import pytest

from deadlines import eventually
from plug_machine import PORT, VARIABLES, Medium


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    file = tmp_path_factory.mktemp("key") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    return file


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("image")


@pytest.fixture(scope="module")
def medium(place):
    return Medium(place)


@pytest.fixture(scope="module")
def machine(medium):
    """The first boot."""
    machine = medium.boot()
    yield machine
    machine.close()


def listeners(machine):
    """The local TCP ports that accept connections."""
    lines = machine.does("cat /proc/net/tcp /proc/net/tcp6").splitlines()
    fields = [line.split() for line in lines if ":" in line.split()[0]]
    return {int(line[1].split(":")[1], 16) for line in fields if line[3] == "0A"}


def login(machine, key):
    """Runs a command by SSH, with a key and without passwords."""
    return subprocess.run(
        ["ssh", "-p", str(machine.ssh), "-i", key, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
         "-o", "BatchMode=yes", "-o", "ConnectTimeout=60", "root@127.0.0.1", "id --user"],
        capture_output=True, text=True, timeout=180, check=False)


def test_the_image_is_small():
    size = os.path.getsize(os.environ["SMARTPLUG_IMAGE"])
    print(f"{size / 1e6:.0f} MB")
    assert size <= 300_000_000


def test_the_first_boot_starts_slot_a_and_plugd(machine):
    """The first boot uses slot A and starts plugd, and no unit fails."""
    assert machine.state == "running", machine.does("systemctl --failed")
    assert " rauc.slot=A " in machine.does("cat /proc/cmdline")
    assert json.loads(machine.does("plugd status"))["relay"] == "off"
    ready = int(machine.does("systemctl show plugd --value --property=ActiveEnterTimestampMonotonic"))
    print(f"plugd was ready {ready / 1e6:.1f} s after the start of the kernel, in an emulated machine")


def test_the_system_cannot_be_written(machine):
    [mount] = re.findall(r"^\S+ / (\S+ \S+) ", machine.does("cat /proc/mounts"), re.MULTILINE)
    assert mount.startswith("squashfs ro,")
    assert machine.run("touch /usr/file /etc/file").status != 0


def test_the_data_partition_fills_the_medium(machine, medium):
    start, size = medium.partition("data")
    assert start + size > os.path.getsize(medium.file) - (2 << 20)
    [kind, blocks] = machine.does("stat --file-system --format='%T %b' /var").split()
    assert kind == "ext2/ext3" and int(blocks) * 4096 > size * 0.9


def test_only_plugd_accepts_connections(machine, key):
    """Without a key on the boot partition, no SSH server runs."""
    assert listeners(machine) == {PORT}
    assert login(machine, key).returncode == 255


def test_nothing_lets_a_user_log_in(machine):
    """All passwords are locked, and no console has a login."""
    assert {line.split(":")[1] for line in machine.does("cat /etc/shadow").splitlines()} <= {"*", "!*", "!"}
    assert machine.run("grep -hE 'getty|login' /proc/[0-9]*/comm").text == ""


def test_the_watchdog_is_armed(machine):
    assert machine.does("cat /sys/class/watchdog/watchdog0/identity /sys/class/watchdog/watchdog0/state").split("\n")[1] == "active"
    assert "i6300ESB" in machine.does("cat /sys/class/watchdog/watchdog0/identity")


def test_the_journal_is_in_memory_and_its_warnings_in_flash(machine):
    machine.does("echo '<4>a warning of the test' >/dev/kmsg; echo '<6>a message of the test' >/dev/kmsg")
    eventually(lambda: "a warning of the test" in machine.does("cat /var/log/warnings"), 20, "the warning")
    assert "a message of the test" not in machine.does("cat /var/log/warnings")
    assert machine.does("find /var/log -name '*.journal'") == ""
    assert ".journal" in machine.does("find /run/log/journal -type f")


@pytest.mark.long
def test_the_second_boot_keeps_the_state_and_opens_ssh_with_a_key(machine, medium, key):
    """The plug's identity and the machine's remain, and the key on the boot partition opens SSH."""
    identity = machine.does("plugd identity; cat /etc/machine-id")
    eventually(lambda: "A_TRY=0" in medium.read(VARIABLES), 20, "the report that the slot is good")
    machine.does("sync")
    machine.close()
    medium.put("authorized_keys", key.with_suffix(".pub").read_text())
    machine = medium.boot()
    try:
        assert " rauc.slot=A " in machine.does("cat /proc/cmdline")
        eventually(lambda: "relay" in machine.run("plugd status").text, 60, "plugd")
        assert machine.does("plugd identity; cat /etc/machine-id") == identity
        eventually(lambda: 22 in listeners(machine), 60, "the SSH server")
        done = login(machine, key)
        assert done.stdout.strip() == "0", done.stderr + machine.does("journalctl --unit=dropbear")
    finally:
        machine.close()


@pytest.mark.long
def test_a_corrupt_data_partition_is_replaced_and_a_failed_boot_starts_the_other_slot(machine, medium):
    """The plug starts although its data partition has random bytes and the previous boot did not finish."""
    machine.close()
    start, size = medium.partition("data")
    with medium.file.open("r+b") as file:
        for position in range(start, start + size, 8 << 20):
            file.seek(position)
            file.write(os.urandom(1 << 20))
    medium.put(VARIABLES, medium.read(VARIABLES).replace("A_TRY=0", "A_TRY=1"))
    machine = medium.boot()
    try:
        assert machine.state == "running", machine.does("systemctl --failed")
        assert " rauc.slot=B " in machine.does("cat /proc/cmdline")
        assert "cannot be repaired, and is formatted" in machine.does("journalctl --dmesg --priority=warning")
        assert machine.does("stat --file-system --format=%T /var").strip() == "ext2/ext3"
        assert json.loads(machine.does("plugd status"))["relay"] == "off"
    finally:
        machine.close()
