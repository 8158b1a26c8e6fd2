"""Presses of the button, also while the I2C bus is stuck and while the disk does not accept writes."""

import pytest

from deadlines import eventually
from test_lines import shows

both = pytest.mark.both


@pytest.fixture
def seen(plug, controller):
    """Returns a function that starts a plug with a light, and a controller that follows it."""
    def start(**parts):
        running = plug(light={"line": "LIGHT"}, **parts)
        controller.introduce(running)
        running.start()
        controller.watch()
        return running

    return start


@both
def test_presses_reach_the_wire_each_once(seen, controller, button, lines):
    """Single, double and long presses are each sent once to a controller."""
    seen()
    button.press(120)
    controller.sees("button", press="single")
    controller.sees("relay", on=True, cause="button")
    button.press(120, 100, 120)
    controller.sees("button", press="double")
    button.press(1500)
    controller.sees("button", press="long")
    assert [told["press"] for told in controller.events("button")] == ["single", "double", "long"]
    numbers = [told["seq"] for told in controller.events() if "seq" in told and told["event"] != "snapshot"]
    assert numbers == sorted(set(numbers)), numbers


def test_a_hold_of_5_seconds_opens_the_pairing_window(seen, lines, button):
    running = seen()
    assert running.status()["pairingWindow"] is False
    button.press(6000)
    running.shows(lambda status: status["pairingWindow"], "an open window")
    assert lines.changes("RELAY") == [], "the relay switched"


def test_a_hold_of_15_seconds_warns_by_the_light_and_resets(seen, lines, button):
    """A hold of 12 s keeps the pairings, and the light blinks as a warning after 10 s. A hold of 16.5 s resets the plug."""
    running = seen()
    first = running.status()["paired"]
    button.press(12_000)
    light = [change.at for change in lines.record() if change.name == "LIGHT"]
    assert running.status()["paired"] == first == 1, "the button was released before 15 s, but a pairing was removed"
    held_until = next(change.at for change in lines.record() if change.name == "release")
    blinks = [at for at in light if held_until - 2 < at < held_until]
    assert len(blinks) >= 4, f"the light did not blink from 10 s on: {lines.record()}"
    button.press(16_500)
    running.shows(lambda status: status["paired"] == 0, "no pairings after the reset")
    button.press(120)
    eventually(lambda: lines.changes("RELAY"), 10, "a working button after the reset")


@both
def test_presses_toggle_while_the_i2c_bus_is_stuck(plug, lines, button, mains):
    """Presses toggle the relay within 2.5 s while the I2C bus of the meter is stuck, so that a transfer takes 5 s."""
    mains.feeds(230, 1, 230)
    meter = {"kind": "ade7953", "bus": "/dev/i2c-0", "interval_s": 0.2}
    running = plug(button={"line": "BUTTON", "double_press_ms": 0}, meter=meter).start()
    running.shows(lambda status: "activePower" in status, "a reading")
    mains.sticks(5000)
    running.shows(lambda status: "activePower" not in status, "no reading")
    latest = 0
    for count in range(1, 7):
        button.press(130)
        shows(lines, [n % 2 for n in range(1, count + 1)])
    latest = max(delays(lines))
    print(f"release to relay with a stuck bus: at most {latest * 1000:.1f} ms")
    assert latest < 2.5, "the relay waited for a transfer, which takes 5 s"


def delays(lines):
    record = lines.record()
    relay = [change.at for change in record if change.name == "RELAY"]
    return [min(at for at in relay if at > change.at) - change.at for change in record if change.name == "release"]


DISK = """mkdir -p /tmp/disk; dd if=/dev/zero of=/tmp/image bs=1M count=4 2>/dev/null; mke2fs -q -F /tmp/image 2>/dev/null
    losetup /dev/loop0 /tmp/image && mount -t ext4 /dev/loop0 /tmp/disk || mount -t ext4 -o loop /tmp/image /tmp/disk"""


@pytest.mark.parametrize("harm, cure", [
    ("fsfreeze --freeze /tmp/disk", "fsfreeze --unfreeze /tmp/disk"),
    ("dd if=/dev/zero of=/tmp/disk/full bs=1k 2>/dev/null; true", "rm /tmp/disk/full"),
    ("mount -o remount,ro /tmp/disk || echo u >/proc/sysrq-trigger", "mount -o remount,rw /tmp/disk"),
], ids=["hangs", "is full", "is read-only"])
def test_presses_toggle_while_the_disk(guest, plug, lines, button, harm, cure):
    """Presses toggle the relay while the disk hangs, is full or is read-only, and after the disk works again."""
    guest.does(DISK)
    running = plug(button={"line": "BUTTON", "double_press_ms": 0}).start(state="/tmp/disk/state")
    # The plugd of the previous test may hold its lines until its transfer on a stuck bus has ended.
    running.shows(lambda status: not status.get("faults"), "no faults of its parts")
    button.press(130)
    shows(lines, [1])
    guest.does(harm)
    try:
        for count in range(2, 8):
            button.press(130)
            shows(lines, [n % 2 for n in range(1, count + 1)])
        print(f"release to relay: at most {max(delays(lines)) * 1000:.1f} ms")
    finally:
        guest.run(cure)
    button.press(130)
    shows(lines, [n % 2 for n in range(1, 9)])
    assert running.is_running()
    running.kill()
    guest.does("umount /tmp/disk")
