"""Home Assistant discovers plugs, is paired with them in its dialogs, and uses them without a broker or a daemon."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time

import pytest
import yaml

from core import INTEGRATION, HomeAssistant
from deadlines import eventually
from harness.wall_clock import WrongClock

TELEVISION_PORT = 4712
OLDEST_PRESS = 5  # seconds, as in the integration's const.py
MEASURED = {"activePower", "activeEnergy", "voltageRMS", "currentRMS", "apparentPower", "reactivePower", "powerFactor", "frequency"}
# Keys of the entities that every plug has. They equal the keys under which the entities are published by MQTT
# (Sources/PlugTopics/HomeAssistantDiscovery.swift).
ALWAYS = {"button", "tripped", "identify", "resetProtection", "firmware", "address"}


class House:
    """A lamp and a television with their owner, and Home Assistant, which is not paired with them at first."""

    def __init__(self, lan, plug, controller, folder):
        self.lamp = plug(lan.host(), "Lamp", state=folder / "lamp", paired=False)
        where = lan.host()
        self.start_television = lambda: plug(
            where, "Television", state=folder / "television", simulate="television", port=TELEVISION_PORT, paired=False)
        self.television = self.start_television()
        self.owner = controller(lan.host())
        for each in (self.lamp, self.television):
            self.owner.does("pair", each.name, "--code-file", each.setup_code())
        self.core = HomeAssistant(lan.host(), folder / "home-assistant", discovers=True)

    @staticmethod
    def code(plug):
        return plug.setup_code().read_text().split()[0]

    @staticmethod
    def plug_id(plug):
        return (pathlib.Path(plug.state) / "id").read_text().split()[0]

    def entity(self, plug, key):
        """Waits until the plug's device has an entity with that key, and returns the entity id."""
        def look():
            return self.core.entities(plug.name).get(f"{self.plug_id(plug)}_{key}")

        return eventually(look, 20, lambda: f"{key} of {plug.name}: {self.core.entities(plug.name)}\n{self.core.complaints()}")

    def flow(self, source, name):
        return eventually(
            lambda: self.core.flows(source).get(name), 20,
            lambda: f"a dialogue for {name}: {self.core.command('config_entries/flow/progress')}\n{self.core.complaints()}")

    def entry(self, plug):
        return next(one["entry_id"] for one in self.core.command("config_entries/get") if one["title"] == plug.name)

    def at_plug(self, plug):
        """Returns Home Assistant's entry in the plug's list of controllers, or None."""
        listed = self.owner.does("controllers", plug.name, "--json").objects
        return next((one for one in listed if one["name"].startswith("Home Assistant")), None)

    def repairs(self):
        """Returns the issues of the plugs in the list of repairs."""
        issues = self.core.command("repairs/list_issues")["issues"]
        return [one["translation_key"] for one in issues if one["issue_domain"] == "smartplug" or one["domain"] == "smartplug"]

    def remove_at_plug(self, plug):
        self.owner.does("controllers", plug.name, "--remove", self.at_plug(plug)["fingerprint"][:12], "--json")

    # The steps of the test, in order.

    def is_paired_where_it_was_found(self):
        core, flow = self.core, self.flow("zeroconf", "Lamp")
        self.flow("zeroconf", "Television")
        for wrong, error in (("ABCD", "invalid_code"), ("ABCD-EFGH-IJKL-MNOP", "wrong_code")):
            told = core.answers(flow, code=wrong)
            assert (told["type"], told["step_id"], told["errors"]) == ("form", "pair", {"base": error}), told
        told = core.answers(flow, code=self.code(self.lamp).lower())
        assert (told["type"], told["title"]) == ("create_entry", "Lamp"), told
        listed = core.command("config_entries/get")
        assert [one["title"] for one in listed if one["domain"] == "smartplug"] == ["Lamp"]

    def is_paired_where_a_person_adds_it(self):
        """Pairs with the code of an invitation."""
        core, code = self.core, self.owner.does("invite", "Television", "--as", "user", "--plain").output
        form = core.post("/api/config/config_entries/flow", {"handler": "smartplug"})
        options = form["data_schema"][0]["selector"]["select"]["options"]
        assert options == [{"value": self.plug_id(self.television), "label": "Television"}], \
            "the dialog does not offer exactly the one plug that is not set up"
        told = core.answers(form["flow_id"], plug="nonsense")
        assert told["errors"] == {"plug": "invalid_address"}, told
        told = core.answers(form["flow_id"], plug=self.plug_id(self.television))
        assert told["step_id"] == "pair", told
        told = core.answers(form["flow_id"], code=code)
        assert (told["type"], told["title"]) == ("create_entry", "Television"), told
        assert self.at_plug(self.television)["role"] == "user"
        eventually(lambda: not core.flows("zeroconf"), 10, lambda: f"no pending dialogs: {core.flows('zeroconf')}")

    def has_the_entities_that_it_has_by_mqtt(self):
        for plug, kind in ((self.lamp, "light"), (self.television, "switch")):
            assert self.entity(plug, kind).startswith(f"{kind}.")
            wanted = {f"{self.plug_id(plug)}_{key}" for key in {kind} | MEASURED | ALWAYS}
            eventually(
                lambda: set(self.core.entities(plug.name)) == wanted, 20,
                lambda: f"{set(self.core.entities(plug.name)) ^ wanted} of {plug.name}")
        found = self.core.command("config/entity_registry/list")
        disabled = {one["unique_id"].split("_")[1] for one in found if one["platform"] == "smartplug" and one["disabled_by"]}
        assert disabled == {"firmware", "address"}
        energy = self.core.sees(self.entity(self.television, "activeEnergy"), lambda state: state["state"] != "unknown")["attributes"]
        assert (energy["device_class"], energy["state_class"], energy["unit_of_measurement"]) == ("energy", "total_increasing", "Wh")

    def switches_and_dims(self):
        core, television = self.core, self.entity(self.television, "switch")
        watching = self.owner.watch("Television")
        watching.seen_object(lambda told: told["event"] == "snapshot", 10)
        core.does("switch", "turn_on", television)
        told = watching.seen_object(lambda told: told["event"] == "relay" and told["on"], 10, "the plug's own event").json
        assert told["cause"] == "controller" and told["controller"].startswith("Home Assistant"), told
        core.sees(television, lambda state: state["state"] == "on")
        self.owner.does("off", "Television")
        core.sees(television, lambda state: state["state"] == "off")
        core.does("switch", "turn_on", television)

        lamp = self.entity(self.lamp, "light")
        core.does("light", "turn_on", lamp, brightness=102)
        core.sees(lamp, lambda state: state["state"] == "on" and abs(state["attributes"]["brightness"] - 102) <= 1)
        assert self.lamp.status()["level"] == 40
        core.measures(self.entity(self.lamp, "activePower"), lambda power: power > 10)
        core.does("light", "turn_on", lamp, brightness=255, transition=1)
        core.sees(lamp, lambda state: state["attributes"].get("brightness") == 255)
        core.does("light", "turn_off", lamp, transition=1)
        core.sees(lamp, lambda state: state["state"] == "off")
        core.does("button", "press", self.entity(self.lamp, "identify"))

    def says_that_a_protection_tripped_and_resets_it(self):
        """A load of 4000 W trips the protection after five seconds."""
        core, lamp, protection = self.core, self.entity(self.lamp, "light"), self.entity(self.lamp, "tripped")
        core.sees(protection, lambda state: state["state"] == "off")
        self.lamp.load("4000 W")
        core.does("light", "turn_on", lamp)
        core.sees(protection, lambda state: state["state"] == "on", within=20)
        core.sees(lamp, lambda state: state["state"] == "off")
        self.lamp.load("40 W")
        assert core.refuses("light", "turn_on", lamp) == "A protection of Lamp has tripped. Reset it first"
        core.does("button", "press", self.entity(self.lamp, "resetProtection"))
        core.sees(protection, lambda state: state["state"] == "off")
        core.does("light", "turn_on", lamp)
        core.sees(lamp, lambda state: state["state"] == "on")

    def tells_presses_of_now_and_none_of_the_past(self):
        core, button = self.core, self.entity(self.lamp, "button")
        for count in range(1, 4):
            assert self.lamp.press(*(["--double"] if count % 2 else [])).status == 0
            eventually(lambda: len(core.presses(button)) == count, 10, lambda: f"{count} presses: {core.presses(button)}")
        # While the process of Home Assistant is stopped, the kernel of its host receives the event of the press. When the process resumes,
        # the press is too old to be reported.
        core.running.process.send_signal(signal.SIGSTOP)
        assert self.lamp.press().status == 0
        time.sleep(OLDEST_PRESS + 1.5)
        core.running.process.send_signal(signal.SIGCONT)
        assert self.lamp.press("--double").status == 0
        eventually(lambda: len(core.presses(button)) == 4, 15, lambda: f"4 presses: {core.presses(button)}")
        assert core.presses(button) == ["double", "single", "double", "double"]
        assert self.diagnostics(self.lamp)["events"]["presses_too_old"] == 1

    def diagnostics(self, plug):
        return self.core.asks("GET", f"/api/diagnostics/config_entry/{self.entry(plug)}")["data"]

    def keeps_its_secrets(self):
        told = self.diagnostics(self.lamp)
        assert told["connection"]["connected"] and told["state"]["level"] is not None and told["plug"]["role"] == "owner", told
        key = self.core.folder / ".storage" / "smartplug"
        kept = json.loads(key.read_text())["data"]
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        secrets = [kept["private_key"], self.code(self.lamp), *(key for keys in kept["plugs"].values() for key in keys)]
        places = [self.plug_id(self.lamp), self.lamp.host.ipv4, "Lamp"]
        for secret in [*secrets, *places]:
            assert secret not in json.dumps(told), f"{secret} in {told}"
        entries = (self.core.folder / ".storage" / "core.config_entries").read_text()
        log = self.core.running.transcript()
        for secret in secrets:
            assert secret not in entries and secret not in log

    def keys_of(self, plug):
        return json.loads((self.core.folder / ".storage" / "smartplug").read_text())["data"]["plugs"][self.plug_id(plug)]

    def takes_another_address(self):
        core = self.core
        form = core.post("/api/config/config_entries/flow", {"handler": "smartplug", "entry_id": self.entry(self.television)})
        assert form["step_id"] == "reconfigure", form
        lamp = f"{self.lamp.host.ipv4}:{self.owner.port('Lamp')}"
        television = f"{self.television.host.ipv4}:{TELEVISION_PORT}"
        for address, error in (("here", "invalid_address"), (lamp, "wrong_plug"), (television[:-1], "cannot_connect")):
            told = core.answers(form["flow_id"], address=address)
            assert told["errors"] == {"address": error}, told
        assert core.answers(form["flow_id"], address=television)["reason"] == "reconfigure_successful"

    def comes_back_when_the_plug_does(self):
        """The plug rotates its key, and Home Assistant stores the new key. After the plug's restart with the new key, Home Assistant is
        connected again and stores only that key."""
        core, television = self.core, self.entity(self.television, "switch")
        core.sees(television, lambda state: state["state"] == "on")
        before = self.keys_of(self.television)
        done = self.television.host.finish(self.television._plugd, "rotate-key", *self.television._places)
        assert done.status == 0, done
        self.owner.does("on", "Television", within=30)
        self.television.running.seen(lambda line: "the plug has a new key" in line.text, 20, "the new key")
        assert self.keys_of(self.television)[0] == before[0]
        self.television.running.stop()
        core.sees(television, lambda state: state["state"] == "unavailable")
        self.television = self.start_television()
        core.sees(television, lambda state: state["state"] in ("on", "off"), within=30)
        after = self.keys_of(self.television)
        assert len(after) == 1 and after != before
        button = self.entity(self.television, "button")
        assert self.television.press().status == 0
        eventually(lambda: core.presses(button) == ["single"], 10, lambda: f"a press: {core.presses(button)}")

    def asks_for_the_code_when_the_plug_knows_it_no_more(self):
        core, light = self.core, self.entity(self.lamp, "light")
        self.remove_at_plug(self.lamp)
        core.sees(light, lambda state: state["state"] == "unavailable")
        flow = self.flow("reauth", "Lamp")
        assert self.repairs() == ["config_entry_reauth"]
        told = core.answers(flow, code=self.code(self.lamp))
        if told["type"] == "form":
            assert told["errors"] == {"base": "pairing_closed"}, told
            self.lamp.press("--hold", "7")
            eventually(lambda: self.lamp.status()["pairingWindow"], 10, lambda: f"an open window: {self.lamp.status()}")
            told = core.answers(flow, code=self.code(self.lamp))
        assert told["reason"] == "reauth_successful", told
        core.sees(light, lambda state: state["state"] in ("on", "off"))
        assert not self.repairs()

    def comes_back_after_a_restart_and_has_counted(self, later):
        """Home Assistant is restarted with a clock that is six minutes ahead, so the recorder computes statistics. While Home Assistant
        does not run, the lamp is reset and gets a new key, so Home Assistant then asks for the lamp's code."""
        core, energy = self.core, self.entity(self.television, "activeEnergy")
        before = self.at_plug(self.television)["fingerprint"]
        core.restart(later.words, meanwhile=lambda: self.owner.does("reset", "Lamp", "--yes"))
        core.sees(self.entity(self.television, "switch"), lambda state: state["state"] in ("on", "off"), within=30)
        assert self.at_plug(self.television)["fingerprint"] == before, "a new controller was paired"
        light, flow = self.entity(self.lamp, "light"), self.flow("reauth", "Lamp")
        assert sorted(self.repairs()) == ["config_entry_reauth", "other_key"]
        assert core.states()[light]["state"] == "unavailable" and list(core.flows("reauth")) == ["Lamp"]
        assert core.answers(flow, code=self.code(self.lamp))["reason"] == "reauth_successful"
        core.sees(light, lambda state: state["state"] in ("on", "off"))
        assert not self.repairs()

        core.does("switch", "turn_off", self.entity(self.television, "switch"))
        assert self.television.status()["relay"] == "off"
        core.command("energy/save_prefs", device_consumption=[{"stat_consumption": energy}])

        def statistics():
            found = core.command(
                "recorder/statistics_during_period", start_time="1970-01-01T00:00:00Z", period="5minute", statistic_ids=[energy])
            return found.get(energy)

        counted = eventually(statistics, 60, lambda: f"statistics: {core.command('recorder/list_statistic_ids')}")
        assert counted[-1]["sum"] is not None, counted
        assert core.command("energy/validate")["device_consumption"] == [[]]

    def takes_leave_of_a_plug_that_is_removed(self):
        core = self.core
        core.asks("DELETE", f"/api/config/config_entries/entry/{self.entry(self.television)}")
        assert not core.entities("Television") and self.at_plug(self.television) is None
        kept = json.loads((core.folder / ".storage" / "smartplug").read_text())["data"]
        assert list(kept["plugs"]) == [self.plug_id(self.lamp)]
        self.flow("zeroconf", "Television")


@pytest.mark.time_limit(240)
def test_a_day_of_two_plugs(lan, plug, controller, tmp_path):
    """All steps are one test, because the start of Home Assistant takes longer than the steps."""
    house = House(lan, plug, controller, tmp_path)
    house.is_paired_where_it_was_found()
    house.is_paired_where_a_person_adds_it()
    house.has_the_entities_that_it_has_by_mqtt()
    house.switches_and_dims()
    house.says_that_a_protection_tripped_and_resets_it()
    house.tells_presses_of_now_and_none_of_the_past()
    house.keeps_its_secrets()
    house.takes_another_address()
    house.comes_back_when_the_plug_does()
    house.asks_for_the_code_when_the_plug_knows_it_no_more()
    house.comes_back_after_a_restart_and_has_counted(WrongClock(tmp_path, 360))
    house.takes_leave_of_a_plug_that_is_removed()
    ours = [line for line in house.core.complaints() if "smartplug" in line and "not been tested" not in line]
    assert not ours, ours


def test_its_types_are_right():
    """mypy finds no errors in the integration."""
    python = pathlib.Path(os.environ["SMARTPLUG_HOME_ASSISTANT"]) / "bin" / "python"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--implicit-reexport", "--follow-imports", "silent", "--explicit-package-bases",
         "--python-executable", python, "--python-version", "3.13", "--cache-dir", python.parents[1] / "mypy-cache", INTEGRATION / "smartplug"],
        env=os.environ | {"MYPYPATH": f"{INTEGRATION}:{INTEGRATION.parents[1] / 'python-smartplug'}"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_languages_say_the_same():
    """The English and German texts have the same keys and placeholders."""
    folder = INTEGRATION / "smartplug"

    def keys(told, path=""):
        if not isinstance(told, dict):
            return {(path, *sorted(part.split("}")[0] for part in told.split("{")[1:]))}
        return {key for name, inner in told.items() for key in keys(inner, f"{path}/{name}")}

    words = json.loads((folder / "strings.json").read_text())
    assert words == json.loads((folder / "translations" / "en.json").read_text())
    assert keys(words) == keys(json.loads((folder / "translations" / "de.json").read_text()))


def test_the_readme_has_each_point_of_the_quality_scale():
    """The table in the README has the states of quality_scale.yaml."""
    rules = yaml.safe_load((INTEGRATION / "smartplug" / "quality_scale.yaml").read_text())["rules"]
    states = {rule: told if isinstance(told, str) else told["status"] for rule, told in rules.items()}
    rows = [line.split("|") for line in (INTEGRATION.parent / "README.md").read_text().splitlines() if line.startswith("| ")]
    assert {row[2].strip(): row[3].strip() for row in rows[1:] if not row[2].startswith(" -")} == states
