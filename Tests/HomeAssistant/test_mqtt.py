"""Home Assistant discovers the plugs of a house by MQTT, and uses them."""

import time

import pytest

from core import HomeAssistant, minutes_clock
from harness.broker import Broker
from deadlines import eventually
from harness.installer import BUNDLE, Installer, publish
from harness.served import Served
from harness.wall_clock import WrongClock

LAMPS = ("Lamp", "Floor lamp", "Küche/+# 💡")
METERS = ("Television", "Amplifier", "Washing machine")


class House:
    """Six plugs, a daemon with a broker, and Home Assistant with the broker's address. The daemon and
    Home Assistant have the same shifted clock."""

    def __init__(self, lan, plug, controller, folder):
        self.clock = WrongClock(folder, minutes_clock(ahead=75))
        self.broker = Broker(lan.host(), folder / "mosquitto")
        self.installer = Installer(plug, lan.host(), folder / "television", "Television", simulate="television")
        self.installer.writes("board=board", "system=1", "phase=idle")
        self.plugs = {
            name: plug(lan.host(), name, simulate="lamp" if name in LAMPS else "television")
            for name in (*LAMPS, *METERS) if name != "Television"}
        configuration = folder / "configuration" / "smartplug"
        configuration.mkdir(parents=True)
        (configuration / "broker.toml").write_text(self.broker.settings())
        source = publish(folder / "source", "2")
        (configuration / "updates.toml").write_text(f'[updates]\nsource = "{source}"\nrestart = "now"\nbroker = true\n')
        daemon = controller(lan.host())
        daemon.under(self.clock.words)
        self.served = Served(daemon, folder / "daemon", "--no-dashboard")
        self.served.follows(len(LAMPS + METERS))
        self.core = HomeAssistant(lan.host(), folder / "home-assistant", self.clock.words)
        self.core.add("mqtt", {"broker": self.broker.host.ipv4, "port": self.broker.port})

    def entity(self, name, key):
        def look():
            return next((entity for unique, entity in self.core.entities(name).items() if unique.endswith(f"_{key}")), None)

        return eventually(look, 20, lambda: f"{key} of {name}: {self.core.entities(name)}\n{self.core.complaints()}")


@pytest.fixture
def home(lan, plug, controller, tmp_path):
    return House(lan, plug, controller, tmp_path)


@pytest.mark.time_limit(240)
def test_six_plugs_are_found_used_and_counted(home):
    """Six plugs are discovered; switching, dimming, presses, updates and energy statistics work."""
    core = home.core
    for name in LAMPS:
        assert home.entity(name, "light").startswith("light.")
    for name in METERS:
        core.sees(home.entity(name, "switch"), lambda state: state["state"] == "off")
    energy = home.entity("Television", "activeEnergy")
    kinds = core.sees(energy, lambda state: state["state"] not in ("unknown", "unavailable"))["attributes"]
    assert (kinds["device_class"], kinds["state_class"], kinds["unit_of_measurement"]) == ("energy", "total_increasing", "Wh")

    # Switching is confirmed by the plug's own event.
    television = home.entity("Television", "switch")
    watching = home.served.controller.watch("Television")
    watching.seen_object(lambda told: told["event"] == "snapshot", 10)
    core.does("switch", "turn_on", television)
    told = watching.seen_object(lambda told: told["event"] == "relay" and told["on"], 10)
    assert told.json["cause"] == "controller"
    core.sees(television, lambda state: state["state"] == "on")

    # The lamp is dimmed, and switched off and on.
    lamp = home.entity("Lamp", "light")
    core.does("light", "turn_on", lamp, brightness=102)
    core.sees(lamp, lambda state: state["state"] == "on" and abs(state["attributes"]["brightness"] - 102) <= 1)
    assert home.plugs["Lamp"].status()["level"] == 40
    core.measures(home.entity("Lamp", "activePower"), lambda power: power > 10)
    core.does("light", "turn_on", lamp, brightness=255, transition=1)
    core.sees(lamp, lambda state: state["attributes"].get("brightness") == 255)
    core.does("light", "turn_off", lamp)
    core.sees(lamp, lambda state: state["state"] == "off")
    core.does("light", "turn_on", lamp)
    core.sees(lamp, lambda state: state["state"] == "on")

    # Every press of the button is reported.
    button = home.entity("Küche/+# 💡", "button")
    plug = home.plugs["Küche/+# 💡"]
    for count in range(1, 6):
        assert plug.press(*(["--double"] if count % 2 else [])).status == 0
        eventually(lambda: len(core.presses(button)) == count, 10, lambda: f"{count} presses: {core.presses(button)}")
    assert core.presses(button) == ["double", "single", "double", "single", "double"]
    core.does("button", "press", home.entity("Lamp", "identify"))

    # A new system is offered, and installed on request.
    update = home.entity("Television", "update")
    found = core.sees(update, lambda state: state["attributes"].get("latest_version") == "2")
    assert (found["state"], found["attributes"]["installed_version"]) == ("on", "1")
    core.does("update", "install", update)
    assert home.installer.install("board=board", "system=1", "phase=installed", "new=2") == BUNDLE
    home.installer.restart("board=board", "system=2", "phase=trying", "new=2")
    core.sees(update, lambda state: state["attributes"].get("in_progress") is True, within=30)
    home.installer.writes("board=board", "system=2", "phase=idle")
    core.sees(update, lambda state: state["state"] == "off" and state["attributes"]["installed_version"] == "2", within=30)

    # A stopped plug is unavailable.
    floor = home.plugs["Floor lamp"]
    light = home.entity("Floor lamp", "light")
    floor.running.stop()
    core.sees(light, lambda state: state["state"] == "unavailable")

    # The energy page accepts the sensor, and the recorder computes its statistics.
    core.command("energy/save_prefs", device_consumption=[{"stat_consumption": energy}])

    def statistics():
        found = core.command(
            "recorder/statistics_during_period", start_time="1970-01-01T00:00:00Z", period="5minute", statistic_ids=[energy])
        return found.get(energy)

    eventually(statistics, 120, lambda: f"statistics: {core.command('recorder/list_statistic_ids')}")
    assert core.command("energy/validate")["device_consumption"] == [[]]
    assert not [line for line in core.complaints() if "mqtt" in line], core.complaints()


@pytest.mark.time_limit(180)
def test_both_may_be_started_again_and_a_plug_that_is_unpaired_goes(home):
    """After restarts of Home Assistant and the daemon all states return, and an unpaired plug is removed."""
    core = home.core
    light = home.entity("Lamp", "light")
    button = home.entity("Lamp", "button")
    core.sees(light, lambda state: state["state"] == "off")
    core.restart()
    core.sees(light, lambda state: state["state"] == "off")
    home.served.kill()
    core.sees(light, lambda state: state["state"] == "unavailable", within=40)
    # A press while the daemon does not run is reported after the daemon's restart.
    assert home.plugs["Lamp"].press().status == 0
    time.sleep(1)
    home.served.start()
    core.sees(light, lambda state: state["state"] == "on", within=30)
    eventually(lambda: core.presses(button) == ["single"], 15, lambda: f"one press: {core.presses(button)}")
    home.served.controller.does("unpair", "Amplifier", "--here-only")
    eventually(lambda: not core.entities("Amplifier"), 30, lambda: f"{core.entities('Amplifier')}")
    assert core.entities("Lamp")


@pytest.mark.time_limit(150)
def test_a_plug_without_a_daemon_is_found_and_used(lan, plug, tmp_path):
    """Home Assistant discovers and dims a plug that has its own connection to the broker, and receives the plug's presses."""
    clock = WrongClock(tmp_path, minutes_clock(ahead=75))
    broker = Broker(lan.host(), tmp_path / "mosquitto")
    host = lan.host()
    host.finish("sh", "-c", "mkdir -p /run/systemd/timesync && touch /run/systemd/timesync/synchronized")
    configuration = tmp_path / "plugd.toml"
    configuration.write_text(f'[mqtt]\nhost = "{broker.host.ipv4}"\ntls = "off"\n')
    lamp = plug(host, "Lamp", config=configuration, as_user=clock.words)
    core = HomeAssistant(lan.host(), tmp_path / "home-assistant", clock.words)
    core.add("mqtt", {"broker": broker.host.ipv4, "port": broker.port})
    light, button = (eventually(
        lambda key=key: next((one for unique, one in core.entities("Lamp").items() if unique.endswith(f"_{key}")), None), 20,
        lambda: f"{core.entities('Lamp')}\n{core.complaints()}") for key in ("light", "button"))
    # Waits until the entity has a state, because it accepts no commands before.
    core.sees(light, lambda state: state["state"] == "off")
    core.does("light", "turn_on", light, brightness=102)
    core.sees(light, lambda state: state["state"] == "on" and abs(state["attributes"]["brightness"] - 102) <= 1)
    assert lamp.status()["level"] == 40
    assert lamp.press("--double").status == 0
    eventually(lambda: core.presses(button) == ["double"], 10, lambda: f"a press: {core.presses(button)}")
    lamp.running.process.kill()
    core.sees(light, lambda state: state["state"] == "unavailable", within=40)
    assert not [line for line in core.complaints() if "mqtt" in line], core.complaints()
