"""Events in the life of a daemon: its host is suspended, its network fails and returns, plugs disappear and appear."""

import os
import signal
import time
from datetime import datetime

import pytest

from deadlines import eventually
from harness.served import Served, Stream


def presses(served, name):
    """Returns the numbers of the presses in the daemon's history, in the order of the history."""
    return [told["seq"] for told in served.get("/api/v1/events", plug=name, limit=1000) if told["event"] == "button"]


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    """Starts a lamp, and a daemon that follows it."""
    lamp = plug(lan.host(), "Lamp")
    served = Served(controller(lan.host()), tmp_path / "daemon").follows(1)
    served.sees("Lamp", "connected")
    return lamp, served


def press(lamp):
    """Presses the button, with a pause that prevents a double press."""
    assert lamp.press().status == 0
    time.sleep(0.6)


@pytest.mark.time_limit(120)
def test_what_happened_while_the_host_slept_is_there_soon_after_it_woke_up(house):
    """After a suspended process resumes, the history gets all presses within 20 s."""
    lamp, served = house
    press(lamp)
    os.kill(served.running.process.pid, signal.SIGSTOP)
    press(lamp)
    # The plug disconnects after 45 s of silence.
    time.sleep(50)
    press(lamp)
    os.kill(served.running.process.pid, signal.SIGCONT)
    eventually(lambda: len(presses(served, "Lamp")) == 3, 20, lambda: f"three presses: {presses(served, 'Lamp')}")
    served.sees("Lamp", "connected")


def test_what_happened_without_a_network_is_told_once_it_is_back(house):
    """A press without a network is in the history after the cable is connected again."""
    lamp, served = house
    served.controller.host.pull_cable()
    press(lamp)
    served.controller.host.plug_cable()
    eventually(lambda: len(presses(served, "Lamp")) == 1, 15, "the press during the outage")
    served.sees("Lamp", "connected")


@pytest.mark.time_limit(120)
def test_plugs_that_go_are_away_and_those_that_come_are_there(lan, plug, house):
    """The stream reports a killed plug as away, and a new or restarted plug as connected."""
    lamp, served = house
    stream = Stream(served)
    stream.seen("house")
    fan = plug(lan.host(), "Fan")
    stream.seen("plug", lambda told: (told["plug"], told["state"]) == ("Fan", "connected"), 15)
    fan.running.process.kill()
    stream.seen("plug", lambda told: (told["plug"], told["state"]) == ("Fan", "away") and told["reason"], 60)
    plug(lan.host(), "Fan", state=fan.state)
    stream.seen("plug", lambda told: (told["plug"], told["state"]) == ("Fan", "connected"), 30)


def test_a_reader_that_was_away_goes_on_where_it_was(house):
    """A reader of the event stream that reconnects with its last id gets exactly the missed events."""
    lamp, served = house
    stream = Stream(served)
    stream.seen("house")
    press(lamp)
    place, _, told = stream.seen("event", lambda told: told["event"] == "button")
    stream.close()
    press(lamp)
    press(lamp)
    again = Stream(served, after=place)
    heard = [again.seen("event", lambda told: told["event"] == "button")[2]["seq"] for _ in range(2)]
    assert [told["seq"], *heard] == presses(served, "Lamp")
    assert not [kind for _, kind, _ in again.messages if kind == "house"]


def test_a_reader_of_a_killed_daemon_gets_the_whole_house_from_the_next_one(house):
    """If the daemon was restarted, a reconnecting reader gets the whole house."""
    lamp, served = house
    stream = Stream(served)
    place, _, _ = stream.seen("house")
    served.kill()
    press(lamp)
    served.start()
    served.follows(1)
    again = Stream(served, after=place)
    assert again.seen("house")[2]["plugs"][0]["plug"] == "Lamp"
    eventually(lambda: len(presses(served, "Lamp")) == 1, 10, "the press between the two daemons")


def test_the_course_of_power_has_no_hole_where_the_daemon_was_started_anew(lan, plug, controller, tmp_path):
    """Samples from the time when the daemon was down are fetched, so that the power series has no gap."""
    plug(lan.host(), "Kettle", simulate="kettle")
    served = Served(controller(lan.host()), tmp_path / "daemon").follows(1)
    time.sleep(8)
    served.kill()
    time.sleep(5)
    served.start()
    served.follows(1)
    began = time.time()

    def times():
        told = served.get("/api/v1/plugs/Kettle/power", columns=4000)
        return [point["at"] for point in told]

    def seconds(text):
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def whole():
        points = [seconds(at) for at in times()]
        newest = points and points[-1] > began + 5
        return newest and points[0] < began - 10 and max(b - a for a, b in zip(points, points[1:])) < 3

    eventually(whole, 25, lambda: f"samples of every second: {times()}")
