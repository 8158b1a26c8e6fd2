"""Faulty configuration files: the reported errors, and the functions that still work."""

import pytest

from harness.chips import BUS
from deadlines import eventually
from test_meter import reads

METER = {"kind": "ade7953", "bus": BUS, "interval_s": 0.3}


def test_an_unknown_key_is_told_with_the_nearest_known(plug):
    """An unknown key in plugd.toml is an error that suggests the nearest known key."""
    said = plug(relay={"line": "RELAY", "activ_low": True}).refuses_to_start()
    assert "activ_low" in said and "active_low" in said and "plugd.toml:" in said, said


def test_the_same_line_for_two_parts_is_told(plug):
    """A line that two parts use is an error."""
    said = plug(light={"line": "RELAY"}).refuses_to_start()
    assert "RELAY" in said or "the same line" in said, said


@pytest.mark.parametrize("content", [
    "\\0\\377\\1nonsense", "", "voltage_gain = 1.01\\ncurrent_ga", "voltage_gain = 1e99",
], ids=["bytes", "empty", "cut off", "beyond belief"])
def test_a_damaged_calibration_is_loud_and_replaced_by_defaults(guest, plug, mains, lines, button, content):
    """A damaged calibration file is logged and replaced by defaults; measuring and the button work."""
    mains.feeds(230, 1, 230)
    running = plug(meter=METER)
    guest.does(f"mkdir -p -m 700 {running.folder}/state; printf '{content}' >{running.folder}/state/calibration.toml")
    running.start()
    running.says("calibration")
    warned = [line for line in running.log().splitlines() if "calibration" in line and ("warning" in line or "error" in line)]
    assert warned, running.log()
    reads(running, voltageRMS=230, activePower=230)
    button.press(120)
    eventually(lambda: lines.changes("RELAY") == [1], 10, "the relay")


@pytest.fixture
def switched_on(plug, mains, lines, button):
    """Starts a plug that is on, with a load that its meter measures."""
    mains.feeds(230, 1, 230)
    running = plug(meter=METER).start()
    button.press(120)
    eventually(lambda: lines.changes("RELAY") == [1], 10, "the relay")
    return running


def test_calibrating_on_a_resistive_load(switched_on, mains):
    """The chip measures voltage and current 3 % too low. A calibration with a load of 1000 W at 230 V corrects the readings, also after a
    restart."""
    mains.feeds(230 * 0.97, 1000 / 230 * 0.97, 1000 * 0.97**2)
    reads(switched_on, activePower=1000 * 0.97**2)
    done = switched_on.command("calibrate", "--power", "1000", "--voltage", "230")
    assert done.status == 0, done
    reads(switched_on, voltageRMS=230, activePower=1000, currentRMS=1000 / 230)
    switched_on.kill()
    switched_on.start()
    reads(switched_on, voltageRMS=230, activePower=1000)


@pytest.mark.parametrize("feeds, power, word", [
    ((230, 0.065, 15), "15", "at least 60"),
    ((230, 4, 920), "2500", ""),
    ((230, 6, 600), "600", "resistive"),
    ((0, 0, 0), "1000", ""),
], ids=["too small a load", "far from what is measured", "no resistive load", "nothing on"])
def test_calibrating_refuses_nonsense(guest, switched_on, mains, feeds, power, word):
    """A calibration with an unsuitable load is refused, and no calibration file is written."""
    mains.feeds(*feeds)
    done = switched_on.command("calibrate", "--power", power, "--voltage", "230")
    assert done.status == 1 and word in done.text, done
    print(done.text)
    assert guest.run(f"test -e {switched_on.folder}/state/calibration.toml").status != 0


def test_calibrating_refuses_a_plug_that_is_off(plug, mains):
    """A calibration is refused with a hint while the relay is off."""
    mains.feeds(230, 4, 920)
    done = plug(meter=METER).start().command("calibrate", "--power", "920")
    assert done.status == 1 and "the relay is off" in done.text and "hint:" in done.text, done
