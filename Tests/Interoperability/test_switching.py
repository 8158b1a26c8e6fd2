"""A controller on one host, a plug on another: commands are confirmed, presses and loads are reported."""

import pytest

from deadlines import eventually


def test_commands_are_confirmed_by_the_plug(lan, plug, controller):
    """Each command that changes the relay causes one relay event, and the numbers of the events increase."""
    plug(lan.host(), "Lamp")
    person, watching = controller(lan.host()), controller(lan.host())
    lines = watching.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    numbers = []
    for verb, on in [("off", None), ("on", True), ("off", False), ("toggle", True)]:
        seen = len(lines.lines)
        person.does(verb, "Lamp")
        if on is None:
            continue  # The plug may already be off, which causes no event.
        relay = eventually(
            lambda: next((line.json for line in lines.lines[seen:] if line.json and line.json["event"] == "relay"), None),
            5, lambda: f"an event of plugctl {verb}:\n{lines.transcript()}")
        assert relay["on"] is on
        assert relay["plug"] == "Lamp" and 0 <= relay["age"] < 5 and relay["at"][:2] == "20"
        numbers.append(relay["seq"])
    assert numbers == sorted(set(numbers)), "event numbers repeat or are out of order"


def test_dimming(lan, plug, controller):
    """A watch prints the level that `plugctl dim` requested."""
    plug(lan.host(), "Lamp", simulate="lamp")
    person = controller(lan.host())
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    person.does("dim", "Lamp", "30%")
    lines.seen_object(
        lambda told: told["event"] == "level" and round(told["level"]) == 30, 10, "the requested level")


@pytest.mark.parametrize("press", ["single", "double", "long"])
def test_a_press_reaches_who_watches(lan, plug, controller, press):
    """Each kind of press is reported to a watch."""
    lamp = plug(lan.host(), "Television", simulate="television")
    lines = controller(lan.host()).watch("Television")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    done = lamp.press(*([] if press == "single" else [f"--{press}"]))
    assert done.status == 0, done
    button = lines.seen_object(lambda told: told["event"] == "button", 10, "the press").json
    assert button["press"] == press and isinstance(button["seq"], int)


def test_another_load_is_measured(lan, plug, controller):
    """A changed load is reported as a reading."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    person.does("on", "Lamp")
    assert lamp.load("250").status == 0
    lines.seen_object(
        lambda told: told["event"] == "reading" and 230 < told["activePower"] < 270, 10, "a reading near 250 W")


def test_a_killed_plug_is_followed_again_when_it_is_announced(lan, plug, controller):
    """A killed plug sends no goodbye, so browsers keep its name. The watch connects to the new port of the restarted plug as
    soon as the plug is announced."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    browser = person.browse()
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    lines.seen_object(lambda told: "refused" in told.get("reason", ""), 5, "the refused connection")
    killed = len(lines.lines)
    again = plug(host, "Lamp", state=lamp.state)
    announced = again.running.seen(lambda line: 'announced as "Lamp"' in line.text, 10, "the announcement").at
    back = eventually(
        lambda: next((line.at for line in lines.lines[killed:] if line.json and line.json["event"] == "snapshot"), None),
        5, lambda: f"a second snapshot:\n{lines.transcript()}")
    attempts = [line for line in lines.lines[killed:] if announced < line.at < back and "refused" in (line.json or {}).get("reason", "")]
    assert len(attempts) <= 1, f"more than one attempt failed after the announcement:\n{lines.transcript()}"
    assert browser.names() == {"Lamp"}
    person.does("toggle", "Lamp")


def test_a_restarted_plug_is_followed_again(lan, plug, controller):
    """The restarted plug has a new port; the watch finds it and reports the restart."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    lamp.running.terminate()
    lines.seen_object(lambda told: told["event"] == "disconnected", 10, "the disconnection")
    assert lamp.running.ended(within=5) == 0
    seen = len(lines.lines)
    plug(host, "Lamp", state=lamp.state)
    eventually(
        lambda: any(line.json and line.json["event"] == "snapshot" for line in lines.lines[seen:]), 15,
        lambda: f"a second snapshot:\n{lines.transcript()}")
    person.does("toggle", "Lamp")


def test_what_tripped_is_reset_on_purpose_and_only_so(lan, plug, controller):
    """A tripped protection refuses to switch on until it is reset explicitly."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    lamp.load("4000 W")
    person.does("on", "Lamp")
    tripped = lines.seen_object(lambda told: told["event"] == "protection", 15, "the tripped protection").json
    assert tripped["protection"] == "overPower", tripped
    lamp.load("40 W")
    person.does("off", "Lamp")
    refused = person.finish("on", "Lamp")
    assert refused.status == 1 and '`plugctl reset "Lamp" --protection`' in refused.errors, refused
    assert person.does("info", "Lamp", "--json").objects[0]["tripped"] == "overPower"
    assert person.does("reset", "Lamp", "--protection").output.strip() == "Lamp: protection reset; it is off"
    reset = lines.seen_object(lambda told: told["event"] == "protectionReset", 10, "the reset").json
    assert (reset["protection"], reset["cause"]) == ("overPower", "controller") and reset["controller"], reset
    assert person.does("reset", "Lamp", "--protection").output.strip() == "Lamp: no protection was tripped"
    told = person.does("on", "Lamp", "--json").objects[0]
    assert told["on"] is True and "tripped" not in told, told
    reading = lines.seen_object(
        lambda told: told["event"] == "reading" and told["activePower"] > 30, 10, "a reading of 40 W").json
    assert reading["frequency"] == 50 and reading["powerFactor"] == 1 and reading["reactivePower"] == 0, reading
    assert abs(reading["apparentPower"] - reading["activePower"]) <= 0.1, reading
