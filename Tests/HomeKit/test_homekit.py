"""A plug as a HomeKit accessory, tested with aiohomekit."""

import json
import pathlib
import sys
import time

import pytest

from deadlines import eventually
from harness.zeroconf_peer import ZeroconfBrowser
from person import BRIGHTNESS, BULB_ON, IN_USE, ON, POWER, PRESS, Refused

CONFIGURATION = "[homekit]\nenabled = true\n"
HAP_PYTHON = pathlib.Path(__file__).parents[1] / "BenchmarkReferences" / "hap_accessory.py"


class Accessory:
    """A plug with HomeKit enabled, with the setup code of its label and its HomeKit device id."""

    def __init__(self, plug, host, name, folder, more="", **options):
        self.configuration = folder / f"{name}.toml"
        self.configuration.write_text(CONFIGURATION + more)
        self._make = lambda: plug(host, name, config=self.configuration, state=folder / name, **options)
        self.plug = self._make()
        label = pathlib.Path(self.plug.state) / "homekit-code"
        eventually(label.exists, 10, lambda: f"a label:\n{self.plug.running.transcript()}")
        eventually(lambda: "deviceID" in self.status(), 10, lambda: f"HomeKit:\n{self.plug.running.transcript()}")
        self.code = label.read_text().split()[0]
        self.id = self.status()["deviceID"]

    def status(self):
        told = self.plug.host.finish(self.plug._plugd, "status", *self.plug._places)
        return (told.objects[0] if told.objects else {}).get("homekit", {})

    def relay(self):
        return self.plug.status()["relay"]

    def restart(self):
        self.plug.running.stop()
        self.plug = self._make()
        eventually(self.plug.answers, 10, lambda: self.plug.running.transcript())


@pytest.fixture
def outlet(lan, plug, tmp_path):
    return Accessory(plug, lan.host(), "Kettle", tmp_path, more='service = "outlet"\n')


@pytest.fixture
def lamp(lan, plug, tmp_path):
    return Accessory(plug, lan.host(), "Lamp", tmp_path)


def test_it_is_found_paired_switched_and_heard(outlet, person, controller, lan):
    """The accessory is discovered, paired, read and switched. HomeKit receives its events, and the plug's relay
    event names the controller."""
    somebody = person()
    found = somebody.does("find", device=outlet.id)
    assert (found["name"], found["paired"], found["category"]) == ("Kettle", False, 7), found
    watching = controller(lan.host()).watch("Kettle")
    watching.seen_object(lambda told: told["event"] == "snapshot", 15, "the plug")
    data = somebody.does("pair", device=outlet.id, code=outlet.code)
    assert outlet.status()["paired"] == 1
    services = somebody.does("accessories", device=outlet.id)[0]["services"]
    assert {service["type"].split("-")[0].lstrip("0") for service in services} == {"3E", "A2", "47", "89"}
    assert somebody.does("get", device=outlet.id, keys=[ON])[ON]["value"] is False
    somebody.does("subscribe", device=outlet.id, keys=[ON, IN_USE, POWER, PRESS])
    # HomeKit switches the plug, and the plug's followers receive the event with its cause.
    assert somebody.does("put", device=outlet.id, values={ON: True}) == {}
    switched = watching.seen_object(lambda told: told["event"] == "relay", 5, "the relay")
    who = data["iOSPairingId"][:8]
    assert (switched.json["on"], switched.json["cause"], switched.json["controller"]) == (True, "controller", f"HomeKit {who}")
    assert outlet.relay() == "on"
    somebody.hears(IN_USE, True, 15)
    reading = somebody.does("get", device=outlet.id, keys=[POWER])[POWER]["value"]
    assert reading > 1
    # plugctl and the button switch the plug: HomeKit receives the events.
    somebody.events.clear()
    controller(lan.host()).does("off", "Kettle")
    somebody.hears(ON, False)
    outlet.plug.press()
    somebody.hears(PRESS, 0)
    outlet.plug.press("--double")
    somebody.hears(PRESS, 1)


def test_a_lamp_is_dimmed_and_says_who_it_is(lamp, person):
    """A lamp is identified, dimmed within its limits, and keeps its level when it is off."""
    somebody = person()
    assert somebody.does("find", device=lamp.id)["category"] == 5
    somebody.does("identify", device=lamp.id)
    assert lamp.plug.status()["light"] != "off"
    somebody.does("pair", device=lamp.id, code=lamp.code)
    assert somebody.does("put", device=lamp.id, values={BRIGHTNESS: 101})[BRIGHTNESS]["status"] == -70410
    somebody.does("put", device=lamp.id, values={BULB_ON: True, BRIGHTNESS: 40})
    eventually(lambda: lamp.plug.status().get("level") == 40, 10, lambda: lamp.plug.status())
    assert lamp.relay() == "on"
    somebody.does("put", device=lamp.id, values={BULB_ON: False, BRIGHTNESS: 0})
    eventually(lambda: lamp.relay() == "off", 10, lambda: lamp.plug.status())
    assert lamp.plug.status()["level"] == 40, "the level was changed"


def test_the_first_adds_another_and_a_removed_one_is_refused(lamp, person):
    """The first controller adds a second one; a removed controller is refused, and removing the last admin removes all
    pairings."""
    first, second = person(), person()
    data = first.does("pair", device=lamp.id, code=lamp.code)
    with pytest.raises(Refused):
        second.does("pair", device=lamp.id, code=lamp.code)
    new = second.does("new_controller")
    first.does("add", device=lamp.id, identifier=new["iOSPairingId"], public_key=new["iOSDeviceLTPK"], permissions="User")
    second.does("know", device=lamp.id, data=data | new)
    second.does("subscribe", device=lamp.id, keys=[BULB_ON])
    first.does("put", device=lamp.id, values={BULB_ON: True})
    second.hears(BULB_ON, True)
    assert {(one["id"], one["admin"]) for one in first.does("pairings", device=lamp.id)} == {
        (data["iOSPairingId"], True), (new["iOSPairingId"], False)}
    with pytest.raises(Refused):
        second.does("remove", device=lamp.id, identifier=data["iOSPairingId"])
    lamp.restart()
    # The restarted plug has a new port, which the controllers learn from multicast DNS.
    eventually(lambda: second.can("put", device=lamp.id, values={BULB_ON: False}), 30, lambda: str(second.refused))
    eventually(lambda: first.can("remove", device=lamp.id, identifier=new["iOSPairingId"]), 30, lambda: str(first.refused))
    with pytest.raises(Refused):
        second.does("put", device=lamp.id, values={BULB_ON: True}, within=60)
    assert lamp.relay() == "off"
    first.does("remove", device=lamp.id, identifier=data["iOSPairingId"])
    eventually(lambda: lamp.status()["paired"] == 0, 10, lamp.status)
    assert second.does("pair", device=lamp.id, code=lamp.code)


def test_it_is_found_next_to_another_accessory(outlet, person, lan, tmp_path):
    """python-zeroconf finds the plug and an accessory of HAP-python, and one controller pairs with both."""
    there, state = lan.host(), tmp_path / "hap-python"
    browser = ZeroconfBrowser(lan.host(), service_type="_hap._tcp")
    other = there.start(sys.executable, HAP_PYTHON, "518-08-582", state, there.ipv4, name="HAP-python")

    def are_found():
        names = browser.services()
        return "Kettle" in names and any(name.startswith("Reference") for name in names)

    eventually(are_found, 20, lambda: f"both accessories: {browser.services()}\n{other.transcript()}")
    somebody = person()
    somebody.does("pair", device=json.loads(state.read_text())["mac"], code="518-08-582")
    somebody.does("pair", device=outlet.id, code=outlet.code)
    assert somebody.does("find", device=outlet.id)["name"] == "Kettle"


def test_a_wrong_code_does_not_pair(lamp, person):
    """A wrong code does not pair, and the next attempt is throttled."""
    somebody = person()
    with pytest.raises(Refused):
        somebody.does("pair", device=lamp.id, code="987-65-431" if lamp.code != "987-65-431" else "987-65-430")
    assert lamp.status()["paired"] == 0
    with pytest.raises(Refused) as waits:
        somebody.does("pair", device=lamp.id, code=lamp.code)
    assert waits.value.kind == "BackoffError"
    time.sleep(1.2)
    assert somebody.does("pair", device=lamp.id, code=lamp.code)
    assert lamp.status()["paired"] == 1


def test_a_protection_refuses_and_a_reset_forgets(lan, plug, person, controller, tmp_path):
    """While a protection is tripped, the plug refuses HomeKit's command to switch on. After a factory reset it is a new accessory."""
    lamp = Accessory(plug, lan.host(), "Heater", tmp_path, more='service = "outlet"\n')
    somebody, owner = person(), controller(lan.host())
    owner.does("set", "Heater", "power-limit", "2W")
    somebody.does("pair", device=lamp.id, code=lamp.code)
    somebody.does("put", device=lamp.id, values={ON: True})
    eventually(lambda: lamp.plug.status().get("tripped"), 20, lambda: lamp.plug.status())
    refused = somebody.does("put", device=lamp.id, values={ON: True})
    assert refused[ON]["status"] == -70412, refused
    assert lamp.relay() == "off"
    told = owner.does("homekit", "Heater", "--json").objects[0]
    assert (told["setupCode"], len(told["controllers"])) == (lamp.code, 1)
    assert told["setupPayload"].startswith("X-HM://")
    owner.does("homekit", "Heater", "--remove-all")
    assert lamp.status()["paired"] == 0
    with pytest.raises(Refused):
        somebody.does("put", device=lamp.id, values={ON: True}, within=60)
    refused = owner.finish("homekit", "Heater", "--remove", "nobody")
    assert refused.status == 1 and "no such controller" in refused.errors, refused
    audit = [line["kind"] for line in owner.does("audit", "Heater", "--json").objects if line["by"] == "homekit"]
    assert "paired" in audit and "removed" in audit, audit
    another = person()
    another.does("pair", device=lamp.id, code=lamp.code)
    owner.does("reset", "Heater", "--yes")
    # After the reset, the accessory has a new id and still the setup code of its label.
    eventually(lambda: lamp.status().get("deviceID") not in (None, lamp.id), 20, lamp.status)
    assert lamp.status()["paired"] == 0
    third = person()
    third.does("pair", device=lamp.status()["deviceID"], code=lamp.code)
