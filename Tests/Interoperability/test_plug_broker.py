"""A plug with its own connection to a real mosquitto: published state, commands, and events without loss or
duplicates."""

import json
import pathlib
import random
import time

import pytest

from harness.broker import Broker
from deadlines import eventually
from harness.served import socket_on
from test_broker import keeps_contract


class BrokeredPlug:
    """A lamp whose configuration names a broker, without a controller."""

    def __init__(self, lan, start, folder, *lines, broker=None, assistant="", clock=True, simulate="lamp", at=None, **options):
        self.host = lan.host()
        self.broker = broker or Broker(lan.host(), folder / "mosquitto")
        if clock:
            self.set_clock()
        host, port = at or (self.broker.host.ipv4, self.broker.port)
        self.configuration = folder / "plugd.toml"
        self.configuration.write_text("\n".join(
            ["[mqtt]", f'host = "{host}"', f"port = {port}", *(lines or ['tls = "off"']), assistant]) + "\n")
        self._start = lambda: start(
            self.host, "Lamp", simulate=simulate, config=self.configuration, state=folder / "lamp", **options)
        self.start()
        self.id = eventually(self._id, 10, "its id")

    def set_clock(self):
        """Creates the file of systemd-timesyncd that marks the clock as set; the host has its own /run."""
        self.host.finish("sh", "-c", "mkdir -p /run/systemd/timesync && touch /run/systemd/timesync/synchronized")

    def start(self):
        self.plug = self._start()
        self.plug.running.seen(lambda line: "announced as" in line.text, 15, "the announcement")

    def kill(self):
        self.plug.running.process.kill()
        self.plug.running.ended(within=5)

    def _id(self):
        file = pathlib.Path(self.plug.state) / "id"
        return file.exists() and file.read_text().split()[0]

    def topic(self, leaf):
        return f"smartplug/home/{self.id}/{leaf}"

    def says(self, listener, leaf, wanted=lambda message: True, within=15):
        return listener.has(self.topic(leaf), wanted, within)

    def press(self):
        assert self.plug.press().status == 0

    def stands(self):
        return self.plug.status()["broker"]

    def connected(self, within=20):
        eventually(lambda: self.stands()["connected"], within, lambda: f"a broker: {self.stands()}")
        return self


@pytest.fixture
def lamp(lan, plug, tmp_path):
    return lambda *lines, **how: BrokeredPlug(lan, plug, tmp_path, *lines, **how)


def test_a_plug_tells_what_a_house_tells_of_it(lamp):
    """The plug publishes the same messages that a daemon publishes for the plugs of its house."""
    one = lamp()
    listener = one.broker.listen()
    one.says(listener, "availability", lambda message: message == "online")
    about = one.says(listener, "about")
    assert (about["name"], about["id"], about["address"]) == ("Lamp", one.id, one.host.ipv4)
    keeps_contract("about", about)
    keeps_contract("state", one.says(listener, "state", lambda state: state.get("voltageRMS") and "at" in state))
    config = listener.has(f"homeassistant/device/smartplug_{one.id}/config", lambda config: config)
    assert [entry["t"] for entry in config["avty"]] == [one.topic("availability")]
    time.sleep(0.6)  # The plug publishes a press at the earliest 0.5 s after it has published that it is online.
    one.press()
    press = one.says(listener, "event", lambda event: event["event"] == "button")
    assert (press["press"], press["plug"]) == ("single", one.id) and press["age"] < 5 and "at" in press
    one.says(listener, "state", lambda state: state["on"])
    for event in listener.events(one.id):
        keeps_contract("event", event)
    assert not any(topic == "smartplug/home/availability" for topic in listener.newest), "the plug published the availability of a house"
    stands = one.stands()
    assert stands["connected"] and stands["server"] == f"{one.broker.host.ipv4}:{one.broker.port}" and stands["clockIsSet"]
    one.plug.running.stop()
    one.says(listener, "availability", lambda message: message == "offline")


def test_commands_are_carried_out_as_those_of_sessions_are(lamp, controller):
    """Commands from the broker are executed, answered and refused like those of sessions."""
    one = lamp()
    listener = one.broker.listen()
    one.says(listener, "state")
    answer = one.broker.ask(one.topic("set"), '{"on":true}', "a")
    keeps_contract("answer", answer)
    assert (answer["done"], answer["on"]) == (True, True)
    event = one.says(listener, "event", lambda event: event.get("seq") == answer["seq"])
    assert (event["event"], event["on"], event["cause"], event["controller"]) == ("relay", True, "controller", "MQTT broker")
    # Other followers of the plug get the same event.
    watched = controller(one.host).does("watch", "Lamp", "--json", "--for", "1s", "--after", "0", within=20).objects
    assert any(told.get("seq") == answer["seq"] and told["controller"] == "MQTT broker" for told in watched)
    assert one.broker.ask(one.topic("set"), '{"level":30}', "b")["level"] == 30
    assert one.broker.ask(one.topic("set"), f'{{"on":false,"until":{time.time() + 30}}}', "c")["on"] is False
    refused = one.broker.ask(one.topic("set"), '{"level":130}', "d")
    keeps_contract("answer", refused)
    assert refused["reason"] == "outOfRange"
    past = json.dumps({"on": True, "until": time.time() - 1})
    assert one.broker.ask(one.topic("set"), past, "e")["reason"] == "deadlinePassed"
    replayed = one.broker.ask(one.topic("replay"), json.dumps({"after": event["seq"] - 1}), "f")
    keeps_contract("events", replayed)
    again = replayed["events"][0]
    assert {**again, "age": 0, "at": ""} == {**event, "age": 0, "at": ""} and replayed["more"] is False
    # Requests to other plugs are ignored.
    assert one.broker.ask("smartplug/home/ffffffffffff/set", '{"on":true}', "g") is None


def test_retained_commands_and_those_of_its_absence_switch_nothing(lamp):
    """The plug does not execute retained commands, nor commands that the broker queued while the plug was away."""
    one = lamp()
    listener = one.broker.listen()
    one.says(listener, "state")
    one.broker.publish(one.topic("set"), '{"on":true}', "-r")
    one.kill()
    one.broker.publish(one.topic("set"), '{"on":true}')
    time.sleep(11)
    one.start()
    one.connected()
    time.sleep(2)
    assert one.plug.status()["relay"] == "off"
    assert not any(event["event"] == "relay" for event in listener.events(one.id))


def test_what_protection_refuses_the_broker_does_not_get(lamp, controller):
    """A command against a locked relay is refused, and the refusal is in the audit log."""
    one = lamp(**{"power-on": "locked-on"})
    listener = one.broker.listen()
    one.says(listener, "state", lambda state: state["on"])
    refused = one.broker.ask(one.topic("set"), '{"on":false}', "a")
    assert (refused["done"], refused["reason"]) == (False, "lockedOn")
    assert one.plug.status()["relay"] == "on"
    audit = controller(one.host).does("audit", "Lamp", "--json").objects
    assert any((entry["by"], entry.get("detail")) == ("broker", "switch: locked on") for entry in audit), audit


def test_without_a_clock_there_are_ages_and_what_ends_at_a_time_is_refused(lamp):
    """Without a set clock, messages have ages instead of times, and a command with a deadline is refused."""
    one = lamp(clock=False)
    listener = one.broker.listen()
    assert "at" not in one.says(listener, "state")
    time.sleep(0.6)
    one.press()
    press = one.says(listener, "event", lambda event: event["event"] == "button")
    keeps_contract("event", press)
    assert "at" not in press and press["age"] < 5
    assert one.stands()["clockIsSet"] is False
    refused = one.broker.ask(one.topic("set"), json.dumps({"on": False, "until": time.time() + 30}), "a")
    assert refused["reason"] == "unsupported" and "clock" in refused["detail"]
    assert one.broker.ask(one.topic("set"), '{"on":true}', "b")["done"]
    one.set_clock()
    one.says(listener, "state", lambda state: "at" in state)
    assert one.broker.ask(one.topic("set"), json.dumps({"on": False, "until": time.time() + 30}), "c")["done"]


@pytest.mark.time_limit(150)
def test_kills_lose_nothing_and_double_nothing(lamp, lan, tmp_path, controller):
    """plugd and the broker are killed at random times during presses: every event arrives, and none is duplicated."""
    one = lamp(broker=Broker(lan.host(), tmp_path / "mosquitto", persistent=True))
    heard = []

    def listen():
        return one.broker.listen("-c", "-i", "listener", "-x", "3600", topic="smartplug/#")

    listener = listen()
    one.says(listener, "availability", lambda message: message == "online")
    dice = random.Random(7)
    for round in range(8):
        for _ in range(dice.randint(1, 4)):
            one.press()
            time.sleep(dice.uniform(0.05, 0.4))
        if round % 2:
            one.kill()
            one.start()
        else:
            one.broker.kill()
            heard += listener.events(one.id)
            listener.running.stop()
            one.press()
            one.broker.start()
            listener = listen()
        time.sleep(dice.uniform(0, 1.5))
    told = controller(one.host).does("watch", "Lamp", "--json", "--for", "1s", "--after", "0", within=20)
    numbers = {line["seq"]: line for line in told.objects if line["event"] in ("button", "relay", "restarted")}

    def all_known():
        known = {event["seq"] for event in heard + listener.events(one.id)}
        missing = sorted(set(numbers) - known)
        # Requests events that a killed broker had accepted but not delivered.
        replayed = one.broker.ask(one.topic("replay"), json.dumps({"after": missing[0] - 1}), f"{time.monotonic()}") \
            if missing else None
        if replayed and replayed["done"]:
            heard.extend(replayed["events"])
        return not missing

    eventually(all_known, 30, lambda: f"all of {sorted(numbers)}; {one.plug.running.transcript()[-3000:]}")
    known = {event["seq"]: event for event in heard + listener.events(one.id)}
    for number, line in numbers.items():
        assert known[number]["event"] == line["event"], number
    assert not any(event["event"] == "gap" for event in known.values())
    presses = sum(line["event"] == "button" for line in numbers.values())
    assert presses == sum(event["event"] == "button" for event in known.values()) >= 5
    eventually(lambda: one.stands().get("waiting") == 0, 15, lambda: f"an empty queue to the broker: {one.stands()}")


def test_what_a_loss_of_power_takes_is_told_as_a_gap(lamp):
    """Events lost in a power cut are published as a gap."""
    one = lamp()
    listener = one.broker.listen()
    one.says(listener, "availability", lambda message: message == "online")
    one.press()
    last = one.says(listener, "event", lambda event: event["event"] == "relay")["seq"]
    one.kill()
    # The memory is lost in a power cut; flash is not.
    for file in (pathlib.Path(one.plug.state) / "run").glob("mirror*"):
        file.unlink()
    one.start()
    gap = one.says(listener, "event", lambda event: event["event"] == "gap", within=20)
    keeps_contract("event", gap)
    assert gap["from"] <= last < gap["to"] == gap["seq"] and gap["reason"] == "powerLost"
    restarted = one.says(listener, "event", lambda event: event["event"] == "restarted" and event["seq"] > gap["to"])
    assert restarted["powerLost"] is True


def test_a_broker_that_is_not_there_or_never_answers_costs_nothing(lamp, lan):
    """A missing broker, and one that accepts the connection and never answers, do not delay the relay. The second one costs at most 0.25 s
    of processor time in five seconds."""
    silent = socket_on(lan.host())
    silent.bind(("0.0.0.0", 1883))
    silent.listen()
    host = lan.hosts[-1]
    one = lamp(at=(host.ipv4, 1884))
    one.plug.running.seen(lambda line: "cannot reach a broker" in line.text, 20)
    stands = one.stands()
    assert stands["connected"] is False and "refused" in stands["reason"].lower()
    one.press()
    eventually(lambda: one.plug.status()["relay"] == "on", 3, "an immediate switch of the relay")
    one.configuration.write_text(one.configuration.read_text().replace("1884", "1883"))
    one.kill()
    one.start()
    one.press()
    eventually(lambda: one.plug.status()["relay"] == "off", 3, "an immediate switch of the relay")
    eventually(lambda: "did not answer in time" in one.stands()["reason"], 25, lambda: f"a reason: {one.stands()}")
    before = sum(map(int, pathlib.Path(f"/proc/{one.plug.running.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    time.sleep(5)
    after = sum(map(int, pathlib.Path(f"/proc/{one.plug.running.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    assert after - before <= 25, f"{after - before} ticks of a processor in five seconds"
    silent.close()


def test_a_password_that_others_may_read_is_none_and_the_check_says_so(lamp, lan, tmp_path, programs):
    """A password file that other users may read is rejected in the log and by `plugd check`."""
    host = lan.host()
    assert host.finish(
        "sh", "-ec", f"cd {tmp_path}; touch users; mosquitto_passwd -b users lamp sesame; chmod 644 users").status == 0
    broker = Broker(host, tmp_path / "mosquitto", [f"password_file {tmp_path}/users", "allow_anonymous false"])
    secret = tmp_path / "broker-password"
    secret.write_text("sesame\n")
    secret.chmod(0o644)
    one = lamp('tls = "off"', 'user = "lamp"', 'password_file = "broker-password"', broker=broker)
    one.plug.running.seen(lambda line: "broker-password" in line.text, 15)
    check = one.host.finish(programs / "plugd", "check", "--state", one.plug.state, "--config", one.configuration)
    assert check.status == 1 and "broker-password" in check.output, check
    secret.chmod(0o600)
    one.connected(30)
    check = one.host.finish(programs / "plugd", "check", "--state", one.plug.state, "--config", one.configuration)
    assert check.status == 0 and "broker: libmosquitto and its dependencies are available" in check.output, check
    assert "sesame" not in one.plug.running.transcript()


def test_a_reset_forgets_what_the_broker_has(lamp):
    """After a factory reset the plug publishes a gap with the reason `factoryReset`."""
    one = lamp()
    listener = one.broker.listen()
    one.says(listener, "availability", lambda message: message == "online")
    one.press()
    last = one.says(listener, "event", lambda event: event["event"] == "relay")["seq"]
    assert one.plug.press("--hold", "16").status == 0
    gap = one.says(listener, "event", lambda event: event["event"] == "gap", within=40)
    assert gap["reason"] == "factoryReset" and gap["from"] <= last <= gap["to"]
    one.says(listener, "availability", lambda message: message == "online")
