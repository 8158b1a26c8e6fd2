"""Tests of the data that a plug keeps after a kill, a power cut or a disk error, with the real programs."""

import shutil
import time

import pytest

from deadlines import eventually

POWER_LOST, STORAGE_FAILED = "powerLost", "storageFailed"


def snapshot(lines, within=10):
    return lines.seen_object(lambda told: told["event"] == "snapshot", within, "the snapshot")


def numbered(lines):
    """Returns the events with a number, and the gaps."""
    return [line.json for line in list(lines.lines) if line.json and ("seq" in line.json or line.json["event"] == "gap")]


def numbers(lines):
    return [told["seq"] for told in numbered(lines) if "seq" in told]


def press(lamp):
    """Presses the button and returns the relay's new state."""
    before = lamp.status()
    done = lamp.press()
    assert done.status == 0, done
    # Waits for the relay event, and for the button event, which follows when a double press is no longer possible.
    return eventually(
        lambda: (status := lamp.status())["nextSequence"] >= before["nextSequence"] + 2 and status["relay"], 5,
        "both events of a press")


def kill(lamp):
    lamp.running.process.kill()
    lamp.running.ended(within=5)


def up(lamp):
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    return lamp


def test_presses_while_nobody_listened_come_in_order_with_their_ages(lan, plug, controller):
    """A watch prints the presses since the end of the previous watch in order, with their ages."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    lines = person.watch("Lamp")
    snapshot(lines)
    press(lamp)
    lines.seen_object(lambda told: told["event"] == "button", 5, "the press")
    last = numbers(lines)[-1]
    lines.stop()
    pressed = []
    for _ in range(3):
        pressed.append(time.monotonic())
        press(lamp)
        time.sleep(0.7)  # The ages must differ, so time has to pass.
    lines = person.watch("Lamp", "--after", last)
    eventually(lambda: len(numbers(lines)) >= 6, 10, lambda: f"six events:\n{lines.transcript()}")
    told = {line.json["seq"]: line for line in lines.lines if line.json and "seq" in line.json}
    assert list(told) == list(range(last + 1, last + 7)), lines.transcript()
    for moment, line in zip(pressed, [line for line in told.values() if line.json["event"] == "relay"]):
        assert line.json["age"] == pytest.approx(line.at - moment, abs=0.6), lines.transcript()
    ages = [line.json["age"] for line in told.values()]
    assert ages == sorted(ages, reverse=True), lines.transcript()


def test_a_killed_plug_loses_nothing(lan, plug, controller):
    """A plug that is killed four times loses no event, and keeps its relay state."""
    host = lan.host()
    lamp = up(plug(host, "Lamp"))
    person = controller(lan.host())
    lines = person.watch("Lamp", "--after", 0)
    snapshot(lines)
    for number in range(4):
        on = press(lamp)
        kill(lamp)
        lamp = up(plug(host, "Lamp", state=lamp.state))
        assert lamp.status()["relay"] == on, f"after kill {number + 1}"
    # The events are the first start and, four times, two events of a press and the next start.
    eventually(lambda: len(numbers(lines)) >= 13, 20, lambda: f"thirteen events:\n{lines.transcript()}")
    assert numbers(lines) == list(range(1, 14)), lines.transcript()
    assert not [told for told in numbered(lines) if told["event"] == "gap"], lines.transcript()


def test_a_wiped_runtime_directory_is_a_gap_that_is_told(lan, plug, controller):
    """Without its runtime directory, the plug reports a gap with the reason of a power cut."""
    host = lan.host()
    lamp = up(plug(host, "Lamp"))
    person = controller(lan.host())
    lines = person.watch("Lamp", "--after", 0)
    snapshot(lines)
    press(lamp)
    eventually(lambda: numbers(lines) == [1, 2, 3], 5, lambda: lines.transcript())
    kill(lamp)
    shutil.rmtree(lamp.state / "run")
    lamp = up(plug(host, "Lamp", state=lamp.state))
    eventually(lambda: len(numbers(lines)) == 4, 20, lambda: f"the event of the start:\n{lines.transcript()}")
    gap, restarted = numbered(lines)[-2:]
    assert (gap["event"], gap["from"], gap["to"], gap["reason"]) == ("gap", 4, 1000, POWER_LOST), lines.transcript()
    assert (restarted["event"], restarted["seq"], restarted["powerLost"]) == ("restarted", 1001, True)


def test_a_stopped_plug_goes_on_at_the_next_number(lan, plug):
    """An orderly stop stores the next event number."""
    host = lan.host()
    lamp = up(plug(host, "Lamp"))
    press(lamp)
    lamp.running.terminate()
    assert lamp.running.ended(within=5) == 0
    assert (lamp.state / "sequence").read_text() == "4\n4\n"
    assert up(plug(host, "Lamp", state=lamp.state)).status()["nextSequence"] == 5


FULL = (
    "mkdir -p {state}.whole; cp -a {state}/. {state}.whole; mount -t tmpfs -o size=64k,mode=700 tmpfs {state}; "
    "cp -a {state}.whole/. {state}; cat /dev/zero >{state}/filling 2>/dev/null || true")
READ_ONLY = "mount --bind {state} {state}; mount -o remount,bind,ro {state}"


@pytest.mark.parametrize(
    ["prepare", "why"], [(FULL, "No space left on device"), (READ_ONLY, "Read-only file system")],
    ids=["full", "read-only"])
def test_a_disk_that_cannot_be_written_is_told_and_the_button_switches(lan, plug, controller, tmp_path, prepare, why):
    """A full or read-only disk is reported once. The button works, and a restarted plug continues the event numbers."""
    state = tmp_path / "state"
    state.mkdir()
    host = lan.host()
    options = dict(state=state, runtime=tmp_path / "run", prepare=prepare.format(state=state))
    lamp = up(plug(host, "Lamp", **options))
    told = lamp.running.transcript()
    assert f"{state}/sequence" in told and why in told and "hint:" in told, told
    lines = controller(lan.host()).watch("Lamp")
    snapshot(lines)
    was = lamp.status()["relay"]
    assert press(lamp) != was
    lines.seen_object(lambda told: told["event"] == "relay", 5, "the relay event")
    for _ in range(3):
        press(lamp)
    assert lamp.running.transcript().count(f"{state}/sequence") == 1, "the failure was not logged exactly once"
    last = lamp.status()["nextSequence"] - 1
    kill(lamp)
    lamp = up(plug(host, "Lamp", **options))
    assert lamp.status()["nextSequence"] == last + 2, "the event numbers in the mirror were lost"


def test_a_read_only_disk_is_nobody_elses_either(lan, plug, tmp_path):
    """A second plug on the same read-only state directory is refused."""
    state = tmp_path / "state"
    state.mkdir()
    host = lan.host()
    up(plug(host, "Lamp", state=state, runtime=tmp_path / "run1", prepare=READ_ONLY.format(state=state)))
    second = plug(host, "Kettle", state=state, runtime=tmp_path / "run2", prepare=READ_ONLY.format(state=state))
    assert second.running.ended(within=5) == 1
    told = second.running.transcript()
    assert f"{state} is in use" in told and "hint:" in told, told


def test_a_corrupted_boundary_is_told_kept_and_leapt_over(lan, plug, controller):
    """A corrupted sequence file is reported and renamed, and the event numbers skip far ahead."""
    host = lan.host()
    lamp = up(plug(host, "Lamp"))
    press(lamp)
    kill(lamp)
    (lamp.state / "sequence").write_bytes(b"\x00" * 5)
    shutil.rmtree(lamp.state / "run")
    lamp = up(plug(host, "Lamp", state=lamp.state))
    told = lamp.running.transcript()
    assert f"{lamp.state}/sequence is damaged" in told and "kept as sequence.damaged" in told and "hint:" in told, told
    assert (lamp.state / "sequence.damaged").read_bytes() == b"\x00" * 5
    press(lamp)
    lines = controller(lan.host()).watch("Lamp", "--after", 3)
    eventually(lambda: len(numbered(lines)) >= 4, 10, lambda: lines.transcript())
    gap, *events = numbered(lines)
    first = gap["to"] + 1
    assert (gap["event"], gap["from"], gap["reason"]) == ("gap", 4, STORAGE_FAILED) and first > 2**44, lines.transcript()
    assert [told["seq"] for told in events] == [first, first + 1, first + 2], lines.transcript()


def test_nowhere_to_write_at_all(lan, plug, tmp_path):
    """With a file in place of the state directory, the plug has no state, mirror, panel or key, and cannot be paired. It
    keeps running and logs this."""
    file = tmp_path / "file"
    file.write_text("not a folder")
    lamp = plug(lan.host(), "Lamp", state=file / "state", paired=False)
    lamp.running.seen(
        lambda line: "plugd status, press and load cannot reach this plug" in line.text, 10, "the warning about the panel")
    told = lamp.running.transcript()
    assert f"cannot make the directory {file}" in told and "a file exists where a directory is needed" in told, told
    assert "forgets its id" in told and "a restart of its firmware counts as a power failure" in told, told
    assert "stays off the network, but its button works" in told, told
    assert lamp.running.is_running
