"""A plug is renamed and configured over the network, and keeps the settings."""

import datetime
import time

from deadlines import eventually


def snapshot(lines):
    return lines.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")


def announced(plug, name):
    plug.running.seen(lambda line: f'announced as "{name}"' in line.text, 15, f"the announcement as {name}")


def restarted(plug, host, lamp, **options):
    lamp.running.terminate()
    assert lamp.running.ended(within=5) == 0
    return plug(host, "Lamp", state=lamp.state, **options)


def test_a_plug_takes_another_name_and_who_watches_goes_on(lan, plug, controller):
    """A rename keeps the watch's connection, and survives a restart of the plug."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    person, watching = controller(lan.host()), controller(lan.host())
    browser = watching.browse()
    browser.found("Lamp")
    lines = watching.watch("Lamp")
    snapshot(lines)
    done = person.does("rename", "Lamp", "Lounge Lamp 🪴", "--json")
    assert done.objects == [{"plug": "Lamp", "name": "Lounge Lamp 🪴"}]
    browser.shows({"Lounge Lamp 🪴"})
    seen = len(lines.lines)
    person.does("toggle", "Lounge Lamp 🪴")
    eventually(
        lambda: any(line.json and line.json["event"] == "relay" for line in lines.lines[seen:]), 5,
        lambda: f"the event of the toggle:\n{lines.transcript()}")
    assert not [line for line in lines.lines if line.json and line.json["event"] == "disconnected"], lines.transcript()

    # The restarted plug uses the new name, although its configuration has the old one.
    killed = len(lines.lines)
    lamp = restarted(plug, host, lamp)
    announced(lamp, "Lounge Lamp 🪴")
    browser.shows({"Lounge Lamp 🪴"})
    eventually(
        lambda: any(line.json and line.json["event"] == "snapshot" for line in lines.lines[killed:]), 10,
        lambda: f"a snapshot under the new name:\n{lines.transcript()}")
    assert person.does("info", "Lounge Lamp 🪴", "--json").objects[0]["plug"] == "Lounge Lamp 🪴"


def test_who_follows_the_house_has_the_plug_once(lan, plug, controller):
    """After a rename, a watch of the house reports the plug only under its new name."""
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    lines = person.watch()
    snapshot(lines)
    person.does("rename", "Lamp", "Lounge")
    lines.seen_object(lambda told: told["event"] == "snapshot" and told["plug"] == "Lounge", 10, "a snapshot under the new name")
    seen = len(lines.lines)
    person.does("toggle", "Lounge")
    lines.seen_object(lambda told: told["event"] == "relay" and told["plug"] == "Lounge", 10, "the event of the toggle")
    assert not [line for line in lines.lines[seen:] if line.json and line.json["plug"] == "Lamp"], lines.transcript()


def test_a_name_that_is_taken_gets_a_number(lan, plug, controller):
    """A rename to a name in use adds a number; a second rename removes it."""
    host = lan.host()
    plug(lan.host(), "Television")
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    browser = person.browse()
    browser.shows({"Lamp", "Television"})
    done = person.does("rename", "Lamp", "Television", "--json")
    assert done.objects == [{"plug": "Lamp", "name": "Television (2)"}]
    browser.shows({"Television", "Television (2)"})
    person.does("on", "Television (2)")
    person.does("rename", "Television (2)", "Lamp")
    browser.shows({"Lamp", "Television"})
    lamp = restarted(plug, host, lamp)
    announced(lamp, "Lamp")


def test_a_name_that_no_plug_can_have_is_refused(lan, plug, controller):
    """An invalid name is refused, and the plug keeps its name."""
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    refused = person.finish("rename", "Lamp", "a\nb")
    assert refused.status == 1 and "control characters" in refused.errors, refused
    assert person.finish("rename", "Lamp", "x" * 64).status == 64
    assert person.does("info", "Lamp", "--json").objects[0]["plug"] == "Lamp"


def test_settings_are_shown_changed_and_obeyed_after_a_loss_of_power(lan, plug, controller):
    """Changed settings apply after a power cut. A command with an invalid setting is refused and changes no setting."""
    host = lan.host()
    lamp = plug(host, "Lamp", **{"power-on": "off"})
    person = controller(lan.host())
    told = person.does("set", "Lamp", "--json").objects[0]
    assert (told["plug"], told["powerOn"], told["autoOff"]) == ("Lamp", "off", 0)
    limit = told["powerLimit"]
    told = person.does("set", "Lamp", "power-on", "on", "auto-off", "2h", "power-limit", "1kW", "--json").objects
    assert told == [{"plug": "Lamp", "powerOn": "on", "autoOff": 7200, "powerLimit": 1000, "childLock": False, "lightOff": "never"}]
    person.does("off", "Lamp")
    assert lamp.status()["relay"] == "off"

    # Without its runtime directory, the plug treats the start as one after a power cut.
    lamp = restarted(plug, host, lamp, runtime=lamp.state.parent / "other", **{"power-on": "off"})
    announced(lamp, "Lamp")
    assert lamp.status()["relay"] == "on", lamp.running.transcript()
    assert person.does("set", "Lamp", "--json").objects == told

    refused = person.finish("set", "Lamp", "power-limit", f"{limit + 1}W", "power-on", "last")
    assert refused.status == 1 and "are allowed" in refused.errors, refused
    assert person.does("set", "Lamp", "--json").objects == told, "the refused command changed a setting"
    for words in (["power-on", "locked-on"], ["auto-off", "0s"], ["colour", "red"], ["auto-off"]):
        assert person.finish("set", "Lamp", *words).status == 64, words
    told = person.does(
        "set", "Lamp", "power-on", "configured", "auto-off", "configured", "power-limit", "configured", "--json").objects
    assert told == [{"plug": "Lamp", "powerOn": "off", "autoOff": 0, "powerLimit": limit, "childLock": False, "lightOff": "never"}]


def test_a_locked_button_only_resets_the_plug(lan, plug, controller):
    """A press of a locked button is neither executed nor reported, also after a restart. A hold of 15 seconds resets plug and lock."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    assert person.does("info", "Lamp", "--json").objects[0]["childLock"] is False
    assert person.does("set", "Lamp", "child-lock", "on", "--json").objects[0]["childLock"] is True
    assert person.finish("set", "Lamp", "child-lock", "maybe").status == 64

    def presses(*ways):
        """Presses the button in these ways; no press may be executed or recorded."""
        before = lamp.status()["nextSequence"]
        for way in ways:
            assert lamp.press(*way).status == 0
            time.sleep(3)  # A press takes at most 2 s, and would be recorded by then.
        after = lamp.status()
        assert (after["relay"], after["nextSequence"]) == ("off", before), lamp.running.transcript()

    presses([], ["--double"], ["--long"])
    lamp = restarted(plug, host, lamp)
    announced(lamp, "Lamp")
    presses([])
    assert "its button is off" in person.does("info", "Lamp").output
    assert person.does("on", "Lamp") and lamp.status()["relay"] == "on"
    lamp.press("--hold", "16")
    code = lamp.setup_code()
    eventually(
        lambda: person.finish("pair", "Lamp", "--replace", "--code-file", code).status == 0, 40,
        lambda: f"the pairing after the reset:\n{lamp.running.transcript()}")
    assert person.does("set", "Lamp", "--json").objects[0]["childLock"] is False
    relay = lamp.status()["relay"]
    lamp.press()
    eventually(lambda: lamp.status()["relay"] != relay, 10, lambda: f"the press:\n{lamp.running.transcript()}")


def test_the_light_is_dark_at_the_set_time_of_day(lan, plug, controller):
    """The times are those of the plug's zone. A plug whose clock was not set shows its light as in the day."""
    host, person = lan.host(), controller(lan.host())
    lamp = plug(host, "Lamp", prepare="export TZ='<+03>-3'")
    person.does("on", "Lamp")
    now = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=3)))
    begin, end = (f"{now + datetime.timedelta(hours=hours):%H:%M}" for hours in (-1, 1))
    assert person.does("set", "Lamp", "light-off", f"{begin}-{end}", "--json").objects[0]["lightOff"] == f"{begin}-{end}"
    assert lamp.status()["light"] != "dark", "the clock of this host was not set"
    host.run("sh", "-c", "mkdir -p /run/systemd/timesync && touch /run/systemd/timesync/synchronized")
    lamp = restarted(plug, host, lamp, prepare="export TZ='<+03>-3'")
    announced(lamp, "Lamp")
    assert lamp.status()["light"] == "dark"
    person.does("identify", "Lamp")
    assert lamp.status()["light"] == "identify"
    person.does("set", "Lamp", "light-off", f"{end}-{begin}")
    eventually(lambda: lamp.status()["light"] not in ("dark", "identify"), 20, lambda: lamp.status()["light"])
    refused = person.finish("set", "Lamp", "light-off", "22:00")
    assert refused.status == 64 and "22:00-07:00" in refused.errors, refused
    assert person.does("set", "Lamp", "light-off", "configured", "--json").objects[0]["lightOff"] == "never"


def test_a_load_above_the_limit_that_was_set_trips_it(lan, plug, controller):
    """A load above the power limit that a controller set trips the protection."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.does("set", "Lamp", "power-limit", "100W")
    person.does("on", "Lamp")
    assert lamp.load("250").status == 0
    eventually(lambda: lamp.status().get("tripped") == "overPower", 20, lambda: str(lamp.status()))


def test_a_plug_with_a_full_flash_refuses_and_is_as_it_was(lan, plug, controller):
    """With a full flash, changes are refused with a hint, and the plug is unchanged."""
    full = (
        "mkdir -p {state}.whole; cp -a {state}/. {state}.whole; mount -t tmpfs -o size=64k,mode=700 tmpfs {state}; "
        "cp -a {state}.whole/. {state}; cat /dev/zero >{state}/filling 2>/dev/null || true")
    host = lan.host()
    lamp = plug(host, "Lamp")
    person = controller(lan.host())
    person.does("rename", "Lamp", "Lounge")
    lamp.running.terminate()
    assert lamp.running.ended(within=5) == 0
    lamp = plug(host, "Lamp", state=lamp.state, prepare=full.format(state=lamp.state))
    announced(lamp, "Lounge")
    for words in (["rename", "Lounge", "Hall"], ["set", "Lounge", "power-on", "off"]):
        refused = person.finish(*words)
        assert refused.status == 1 and "flash cannot be written" in refused.errors and "hint:" in refused.errors, refused
    assert person.does("info", "Lounge", "--json").objects[0]["plug"] == "Lounge"


def test_a_factory_reset_forgets_the_name(lan, plug, controller):
    """A factory reset restores the configured name."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.does("rename", "Lamp", "Lounge")
    person.does("reset", "Lounge", "--yes")
    announced(lamp, "Lamp")
    person.browse().shows({"Lamp"})


def test_it_blinks_when_asked_which_one_it_is(lan, plug, controller):
    """`plugctl identify` makes the plug's light blink."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    told = person.does("identify", "Lamp", "--json").objects
    assert [record["plug"] for record in told] == ["Lamp"] and "error" not in told[0]
    assert lamp.status()["light"] == "identify"
