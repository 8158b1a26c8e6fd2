"""After a disconnection, a follower gets all missed events before newer ones: each once, in order and with its age."""

import datetime
import pathlib
import time

import pytest

from deadlines import eventually
from harness.keys import controller_directory

APART = 0.6  # seconds between two presses, so that they are not a double press


def snapshot(lines):
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")


def told(lines, *events):
    return [line.json for line in list(lines.lines) if line.json and line.json["event"] in events]


def pressed(plug, times):
    """Presses the button and returns the time of each press."""
    moments = []
    for _ in range(times):
        moments.append(time.time())
        assert plug.press().status == 0
        time.sleep(APART)
    return moments


def stopped(lines):
    lines.terminate()
    assert lines.ended(within=5) == 0, lines.transcript()


@pytest.mark.parametrize("whole_house", [False, True])
def test_what_was_missed_is_printed_with_its_age(lan, plug, controller, whole_house):
    """A new watch prints the events since the end of the previous watch, once and with their ages."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    names = [] if whole_house else ["Lamp"]
    first = person.watch(*names)
    snapshot(first)
    stopped(first)
    moments = pressed(lamp, 3)
    again = person.watch(*names)
    eventually(lambda: len(told(again, "button")) == 3, 10, lambda: f"three presses:\n{again.transcript()}")
    presses = told(again, "button")
    now = time.time()
    for press, moment in zip(presses, moments):
        happened = datetime.datetime.fromisoformat(press["at"].replace("Z", "+00:00")).timestamp()
        assert 0 < happened - moment < 2, (press, moment)
        assert 0 < press["age"] <= now - moment, (press, moment, now)
    numbers = [line["seq"] for line in told(again, "relay", "button")]
    assert numbers == list(range(numbers[0], numbers[0] + 6)), "not the relay and button events of three presses in order"
    assert not told(again, "gap")
    stopped(again)
    third = person.watch(*names)
    snapshot(third)
    assert not told(third, "relay", "button"), "printed events were repeated"


def test_a_killed_watch_loses_nothing(lan, plug, controller):
    """After a kill, the next watch prints the events since the last printed one."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    first = person.watch("Lamp")
    snapshot(first)
    pressed(lamp, 1)
    eventually(lambda: told(first, "button"), 5, "the press")
    first.process.kill()
    first.ended(within=5)
    pressed(lamp, 1)
    again = person.watch("Lamp")
    eventually(lambda: told(again, "button"), 10, lambda: f"the press:\n{again.transcript()}")
    last = told(first, "button")[-1]["seq"]
    assert told(again, "button")[-1]["seq"] == last + 2, "the new press did not cause exactly a relay event and a button event"


def test_after_and_from_now_go_before_what_is_remembered(lan, plug, controller):
    """The options --after and --from-now override the stored cursor."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    first = person.watch("Lamp")
    snapshot(first)
    pressed(lamp, 1)
    eventually(lambda: told(first, "button"), 5, "the press")
    number = told(first, "button")[0]["seq"]
    stopped(first)
    pressed(lamp, 1)
    earlier = person.watch("Lamp", "--after", number - 1)
    eventually(lambda: told(earlier, "button"), 5, "the press")
    eventually(lambda: len(told(earlier, "button")) == 2, 5, lambda: f"both presses:\n{earlier.transcript()}")
    assert told(earlier, "button")[0]["seq"] == number
    stopped(earlier)
    later = person.watch("Lamp", "--from-now")
    snapshot(later)
    pressed(lamp, 1)
    eventually(lambda: told(later, "button"), 5, "the new press")
    assert len(told(later, "button")) == 1, later.transcript()


def test_two_watches_both_see_everything(lan, plug, controller):
    """Concurrent watches of one plug each print every event."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    watches = [person.watch("Lamp"), person.watch("Lamp"), person.watch()]
    for watch in watches:
        snapshot(watch)
    pressed(lamp, 3)
    for watch in watches:
        eventually(lambda: len(told(watch, "button")) == 3, 5, lambda: f"three presses:\n{watch.transcript()}")


def test_without_a_place_to_remember_watching_works(lan, plug, controller, tmp_path):
    """If the cursor cannot be stored, the watch prints a warning and works."""
    plug(lan.host(), "Lamp")
    (controller_directory() / "watch").write_text("in the way")
    watch = controller(lan.host()).watch("Lamp")
    snapshot(watch)
    warning = watch.seen(lambda line: line.error, 5, "a warning").text
    assert str(tmp_path) in warning and "the next watch cannot resume" in warning


def test_the_example_writes_each_event_once(lan, plug, programs, tmp_path):
    """The example program FollowPlug is killed three times, and its file still has each event once, because the last line of the file is
    the cursor."""
    lamp = plug(lan.host(), "Lamp")
    host = lan.host()
    kept = tmp_path / "events"

    def numbers():
        return [int(line.split()[0]) for line in kept.read_text().splitlines()] if kept.exists() else []

    def follow():
        return host.start(pathlib.Path(programs) / "FollowPlug", "Lamp", kept)

    example = follow()
    eventually(lambda: numbers(), 10, lambda: f"a first line:\n{example.transcript()}")
    for turn in range(3):
        pressed(lamp, 1)
        example.process.kill()
        example.ended(within=5)
        pressed(lamp, 1)
        example = follow()
        # The two presses caused two relay events and two button events.
        eventually(
            lambda: numbers()[-1] == numbers()[0] + 4 * (turn + 1), 10,
            lambda: f"all events:\n{kept.read_text()}\n{example.transcript()}")
    found = numbers()
    assert found == list(range(found[0], found[0] + 13)), kept.read_text()
