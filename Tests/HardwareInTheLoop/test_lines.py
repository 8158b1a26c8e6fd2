"""Button and relay on the lines of a real kernel, with both interfaces of libgpiod."""

import statistics
import time

import pytest

from deadlines import eventually

both = pytest.mark.both


def shows(lines, values, name="RELAY", within=15, start=0):
    """Waits until the line has changed to each of these values, and expects no other change."""
    eventually(lambda: len(lines.changes(name, start)) >= len(values), within,
               lambda: f"{name} with the values {values}; it had {lines.changes(name, start)}")
    assert lines.changes(name, start) == values, lines.record()


@both
def test_each_press_toggles_the_relay_once(plug, lines, button):
    plug(button={"line": "BUTTON", "double_press_ms": 0}).start()
    before = len(lines.written("RELAY"))
    for count in range(1, 11):
        # libgpiod 1 reads the level some time after the edge, so a busy host may miss a shorter press.
        button.press(250)
        shows(lines, [n % 2 for n in range(1, count + 1)])
    assert len(lines.written("RELAY")) - before == 10, "the line was not written once per press"
    told = latencies(lines.record())
    print(f"release to relay, ms: median {statistics.median(told):.1f}, maximum {max(told):.1f} (20 ms of debouncing included)")


def latencies(record):
    """Returns the milliseconds from each release to the relay's next change."""
    releases = [change.at for change in record if change.name == "release"]
    relay = [change.at for change in record if change.name == "RELAY"]
    return [1000 * (min(at for at in relay if at > release) - release) for release in releases]


BOUNCING = [[2, 1] * 8 + [150] + [1, 2] * 8, [1, 2, 4, 1, 1, 3] * 5 + [120], [1] * 30 + [200] + [1] * 10]


@both
def test_a_bouncing_press_toggles_once(plug, lines, button):
    """A bouncing press toggles once. The press is repeated, up to 20 times, if a busy host delayed one of its edges by 15 ms or more."""
    running = plug(button={"line": "BUTTON", "debounce_ms": 40, "double_press_ms": 0}).start()
    for bounces in BOUNCING:
        for _ in range(20):
            before = len(lines.changes("RELAY"))
            late = button.press(*bounces)
            eventually(lambda: len(lines.changes("RELAY")) > before, 15, lambda: f"a toggle: {lines.record()[-9:]}")
            time.sleep(0.3)
            if late < 15:
                break
        assert late < 15, "the host is too busy for bounces of some milliseconds"
        assert len(lines.changes("RELAY")) == before + 1, lines.record()
    assert running.status()["relay"] == ("on" if lines.value("RELAY") else "off")


@both
def test_a_touch_shorter_than_the_debouncing_is_none(plug, lines, button):
    """A contact shorter than the debounce time is ignored."""
    plug(button={"line": "BUTTON", "debounce_ms": 150}).start()
    late = max(button.press(10) for _ in range(3))
    time.sleep(0.5)
    if late < 100:
        assert lines.changes("RELAY") == []
    before = lines.changes("RELAY")
    button.press(500)
    eventually(lambda: len(lines.changes("RELAY")) == len(before) + 1, 10, "a toggle")


@both
def test_an_active_high_button_and_an_active_low_relay(plug, lines, button):
    """The polarity of button and relay follows the configuration, also while plugd starts."""
    button.hold()  # An active-high contact is not pressed while its line is low.
    running = plug(
        relay={"line": "RELAY", "active_low": True}, button={"line": "BUTTON", "active_low": False, "bias": "as-is"}).start()
    assert lines.written("RELAY") in ([], [1]), "an active-low relay must be high when off, and never low"
    assert lines.value("RELAY") == 1
    button.lift(150)
    shows(lines, [0], start=1)
    assert running.status()["relay"] == "on"


@both
def test_chip_and_offset_say_which_line_it_is(plug, lines, button):
    """A line is selected by chip and offset if two lines have the same name."""
    plug(relay={"chip": "/dev/gpiochip0", "offset": 5}, button={"chip": "gpiochip0", "offset": 1}).start()
    button.press(120)
    shows(lines, [1], "DOUBLE")


@both
def test_an_orderly_stop_turns_off_where_it_shall(plug, lines, button):
    """With on_exit = "off" an orderly stop switches the relay off."""
    lines.last_when_let_go()
    running = plug(relay={"line": "RELAY", "on_exit": "off"}).start()
    button.press(120)
    shows(lines, [1])
    running.stop()
    assert (lines.changes("RELAY"), lines.value("RELAY")) == ([1, 0], 0)


@both
def test_an_orderly_stop_keeps_the_relay_where_the_chip_keeps_its_line(plug, lines, button):
    """With on_exit = "keep" the relay stays on during a stop and a start, if the chip keeps the line's value."""
    lines.last_when_let_go()
    running = plug(relay={"line": "RELAY", "on_exit": "keep"}).start()
    button.press(120)
    shows(lines, [1])
    running.stop()
    assert lines.value("RELAY") == 1
    running.start()
    assert lines.changes("RELAY") == [1], "the relay changed during stop or start"
    assert running.status()["relay"] == "on" and lines.value("RELAY") == 1


@both
def test_a_killed_plug_comes_back_without_a_glitch(plug, lines, button):
    """A killed and restarted plug does not change the relay."""
    lines.last_when_let_go()
    running = plug().start()
    button.press(120)
    shows(lines, [1])
    running.kill()
    assert lines.value("RELAY") == 1
    running.start()
    assert set(lines.written("RELAY")[1:]) <= {1} and lines.value("RELAY") == 1, lines.record()
    button.press(120)
    shows(lines, [1, 0])


@both
def test_a_service_manager_keeps_the_line_while_plugd_is_killed(guest, plug, lines, button):
    """Until a killed plugd has restarted, the service manager keeps the handle of the line open, so the relay stays on.
    Without an open handle this chip would reset the line."""
    running = plug().start(wrapped="keeper")
    button.press(120)
    shows(lines, [1])
    for round in range(1, 4):
        guest.does(f"kill -9 $(pidof plugd)")
        eventually(lambda: running.log().count("started ") > round and running.status(), 20, running.log)
        assert lines.value("RELAY") == 1
        assert set(lines.written("RELAY")[1:]) <= {1}, lines.record()
    button.press(120)
    shows(lines, [1, 0])


@both
def test_no_glitch_at_a_start_with_the_relay_off(plug, lines, button):
    """A start with the relay off does not write 1 to the line."""
    running = plug().start()
    button.press(120)
    shows(lines, [1])
    button.press(120)
    shows(lines, [1, 0])
    running.stop()
    before = len(lines.written("RELAY"))
    running.start()
    assert 1 not in lines.written("RELAY")[before:], lines.record()


@both
def test_a_latching_relay_gets_pulses_and_never_both_coils_at_once(plug, lines, button):
    plug(relay={"kind": "latching", "on_line": "COIL_ON", "off_line": "COIL_OFF", "pulse_ms": 200}).start()
    for _ in range(4):
        button.press(120, 30, 120)  # Two quick presses: the second pulse waits until the first is over.

    def is_over():
        # Neither coil has current between two pulses, so the record must also stay unchanged for 0.5 s.
        before = lines.record()
        time.sleep(0.5)
        is_quiet = lines.record() == before and lines.value("COIL_ON") == lines.value("COIL_OFF") == 0
        # plugd may handle the presses late. It turned the relay off when it started.
        return is_quiet and 1 in lines.written("COIL_ON")

    eventually(is_over, 5, lambda: f"pulses, and then both coils without current: {lines.record()}")
    on = off = 0
    pulses = []
    for change in lines.record():
        on, off = (change.value if change.name == "COIL_ON" else on), (change.value if change.name == "COIL_OFF" else off)
        assert not (on and off), f"both coils at once at {change.at}: {lines.record()}"
        if change.name in ("COIL_ON", "COIL_OFF") and change.value:
            pulses.append(change.name)
    assert pulses.count("COIL_ON") >= 1 and pulses.count("COIL_OFF") >= 1, pulses
    assert on == off == 0


@both
def test_a_line_in_use_names_who_holds_it(plug, lines):
    """A line in use is reported with the program that holds it."""
    plug(button=None).start()
    second = plug(button=None, plug={"name": "Second"})
    said = second.once("check")
    assert said.status == 1 and "RELAY" in said.text and "plugd relay" in said.text, said
    second.start().says("plugd relay")
    assert lines.written("RELAY") in ([], [0])


@both
@pytest.mark.parametrize("relay, words", [
    ({"line": "REALY"}, ["REALY", "RELAY?"]),
    ({"line": "DOUBLE"}, ["DOUBLE", "gpiochip0", "gpiochip1"]),
    ({"chip": "/dev/gpiochip7", "offset": 3}, ["gpiochip7", "gpiochip0", "gpiochip1"]),
    ({"chip": "/dev/gpiochip0", "offset": 99}, ["99"]),
], ids=["no such line", "two lines of this name", "no such chip", "beyond the chip's lines"])
def test_a_line_that_cannot_be_had_is_told(plug, relay, words):
    """An unavailable line is reported. plugd runs, because the line may become available later."""
    unwired = plug(relay=relay)
    said = unwired.once("check")
    assert said.status == 1 and all(word in said.text for word in words), said
    unwired.start().says(words[0])
