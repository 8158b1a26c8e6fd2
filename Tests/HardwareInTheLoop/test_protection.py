"""Protections of the plug: their effect on the relay's line, and their events."""

import pytest

from harness.chips import BUS
from deadlines import eventually

METER = {"kind": "ade7953", "bus": BUS, "interval_s": 0.2}


@pytest.fixture
def guarded(plug, mains, controller):
    def start(**protection):
        mains.feeds(230, 0, 0)
        running = plug(meter=METER, protection=protection)
        controller.introduce(running)
        running.start()
        controller.watch()
        return running

    return start


def test_over_current_opens_the_relay_until_it_is_reset(guarded, mains, lines, button, controller):
    """Over-current opens the relay and locks it, also after a restart, until a press of the button."""
    running = guarded(rated_current_a=10)
    controller.does("on", "Plug")
    eventually(lambda: lines.changes("RELAY") == [1], 10, "the relay")
    mains.feeds(230, 60, 13800)
    eventually(lambda: lines.changes("RELAY") == [1, 0], 20, lambda: f"an open relay: {running.status()}")
    assert controller.sees("protection")["protection"] == "overCurrent"
    controller.sees("relay", on=False, cause="protection")
    mains.feeds(230, 0, 0)
    controller.fails("on", "Plug")
    running.kill()
    running.start()
    assert running.status()["tripped"] == "overCurrent", "the lock was lost in the restart"
    controller.fails("on", "Plug")
    assert lines.value("RELAY") == 0
    button.press(150)
    running.shows(lambda status: not status.get("tripped"), "no lock after the button was pressed")
    controller.does("on", "Plug")
    eventually(lambda: lines.value("RELAY") == 1, 10, "the relay")


def test_a_welded_relay_is_an_alarm(guarded, mains, controller):
    """Current while the relay is open is reported as a welded relay."""
    running = guarded(rated_current_a=10)
    controller.does("on", "Plug")
    mains.feeds(230, 4, 920)
    controller.sees("reading", activePower=920)
    controller.does("off", "Plug")
    told = controller.sees("protection", within=40)
    assert told["protection"] == "weldedRelay", told
    assert running.status()["tripped"] == "weldedRelay"


def test_over_voltage_opens_the_relay(guarded, mains, lines, controller):
    guarded(rated_current_a=10)
    controller.does("on", "Plug")
    mains.feeds(300, 1, 300)
    assert controller.sees("protection", within=40)["protection"] == "overVoltage"
    eventually(lambda: lines.value("RELAY") == 0, 10, "an open relay")
