"""A house at a real mosquitto: published state, commands, and events without loss or duplicates."""

import json
import pathlib
import random
import time

import jsonschema
import pytest
import yaml

from harness.broker import Broker
from harness.brokered import BrokeredHouse
from deadlines import eventually

DOCUMENT = (pathlib.Path(__file__).parents[2] / "Documentation/reference/mqtt.md").read_text()
CONTRACT = yaml.safe_load((pathlib.Path(__file__).parents[2] / "Documentation/reference/asyncapi.yaml").read_text())


@pytest.fixture
def house(lan, plug, controller, tmp_path):
    return lambda *names, **how: BrokeredHouse(lan, plug, controller, tmp_path, names or ("Lamp",), **how)


def keeps_contract(kind, message):
    payload = CONTRACT["components"]["messages"][kind]["payload"]
    jsonschema.validate(message, {**payload, "components": CONTRACT["components"]})


def test_a_house_tells_its_plugs_and_keeps_to_the_contract(house):
    """The house publishes state, events and discovery as mqtt.md specifies, and retains no events."""
    home = house("Lamp", "Television/+# 💡")
    listener = home.broker.listen()
    for name in home.ids:
        home.says(listener, name, "availability", lambda message: message == "online")
        about = home.says(listener, name, "about")
        assert (about["name"], about["id"]) == (name, home.ids[name])
        state = home.says(listener, name, "state", lambda state: state.get("voltageRMS"))
        keeps_contract("about", about)
        keeps_contract("state", state)
        config = listener.has(f"homeassistant/device/smartplug_{home.ids[name]}/config", lambda config: config)
        assert config["dev"]["name"] == name
    listener.has("smartplug/home/availability", lambda message: message == "online")
    time.sleep(0.6)  # The house publishes a press at the earliest 0.5 s after it has published that the plug is online.
    assert home.plugs["Lamp"].press().status == 0
    press = home.says(listener, "Lamp", "event", lambda event: event["event"] == "button")
    assert (press["press"], press["plug"]) == ("single", home.ids["Lamp"])
    home.says(listener, "Lamp", "state", lambda state: state["on"])
    for event in listener.events(home.ids["Lamp"]):
        keeps_contract("event", event)
    # A later subscriber gets the retained states, and no event.
    late = home.broker.listen()
    home.says(late, "Lamp", "state", lambda state: state["on"])
    assert late.events(home.ids["Lamp"]) == []


def test_commands_are_carried_out_and_answered(house):
    """Valid commands are executed and answered; an invalid one is refused with a reason."""
    home = house()
    listener = home.broker.listen()
    home.says(listener, "Lamp", "state")
    set_topic = home.topic("Lamp", "set")
    answer = home.broker.ask(set_topic, '{"on":true}', "a")
    keeps_contract("answer", answer)
    assert (answer["done"], answer["on"]) == (True, True)
    event = home.says(listener, "Lamp", "event", lambda event: event.get("seq") == answer["seq"])
    assert (event["event"], event["on"], event["cause"]) == ("relay", True, "controller")
    answer = home.broker.ask(set_topic, '{"level":30}', "b")
    assert (answer["done"], answer["level"]) == (True, 30)
    home.broker.publish(set_topic, "OFF")
    home.says(listener, "Lamp", "state", lambda state: state["on"] is False and state["level"] == 30)
    refused = home.broker.ask(set_topic, '{"level":130}', "c")
    keeps_contract("answer", refused)
    assert (refused["done"], refused["reason"]) == (False, "outOfRange")
    assert "0 to 100" in refused["detail"]
    replayed = home.broker.ask(home.topic("Lamp", "replay"), json.dumps({"after": event["seq"] - 1}), "d")
    keeps_contract("events", replayed)
    assert replayed["events"][0] == event and replayed["more"] is False


def test_old_commands_switch_nothing(house):
    """Expired, retained and long queued commands are not executed."""
    home = house()
    listener = home.broker.listen()
    home.says(listener, "Lamp", "state")
    set_topic = home.topic("Lamp", "set")
    past = json.dumps({"on": True, "until": time.time() - 1})
    assert home.broker.ask(set_topic, past, "a")["reason"] == "deadlinePassed"
    # A command that the broker queued for an absent daemon expires after ten seconds; a retained command is always
    # ignored.
    home.broker.publish(set_topic, '{"on":true}', "-r")
    home.served.running.stop()
    home.broker.publish(set_topic, '{"on":true}')
    time.sleep(11)
    home.served.start()
    home.served.follows(1)
    home.says(listener, "Lamp", "availability", lambda message: message == "online")
    time.sleep(2)
    assert home.plugs["Lamp"].status()["relay"] == "off"
    assert not any(event["event"] == "relay" for event in listener.events(home.ids["Lamp"]))


def test_a_plug_that_goes_is_away_and_one_that_is_unpaired_is_removed(house):
    """A stopped plug is published as offline; an unpaired plug's retained messages are removed."""
    home = house("Lamp", "Television")
    listener = home.broker.listen()
    home.says(listener, "Television", "availability", lambda message: message == "online")
    home.plugs["Television"].running.stop()
    home.says(listener, "Television", "availability", lambda message: message == "offline")
    home.says(listener, "Lamp", "state")
    home.served.controller.does("unpair", "Television", "--here-only")
    gone = [home.topic("Television", leaf) for leaf in ("about", "state", "availability")]
    gone.append(f"homeassistant/device/smartplug_{home.ids['Television']}/config")
    for topic in gone:
        listener.has(topic, lambda message: message == "", within=25)
    late = home.broker.listen()
    home.says(late, "Lamp", "state")
    assert not any(home.ids["Television"] in topic for topic in late.newest)


@pytest.mark.time_limit(150)
def test_kills_lose_nothing_and_double_nothing(house, lan, tmp_path):
    """The daemon and the broker are killed at random times during presses: every event arrives, and none is
    duplicated."""
    home = house(broker=Broker(lan.host(), tmp_path / "mosquitto", persistent=True))
    lamp, plug = home.plugs["Lamp"], home.ids["Lamp"]
    heard = []

    def listen():
        return home.broker.listen("-c", "-i", "listener", "-x", "3600", topic="smartplug/#")

    listener = listen()
    home.says(listener, "Lamp", "availability", lambda message: message == "online")
    dice = random.Random(7)
    for round in range(8):
        for _ in range(dice.randint(1, 4)):
            assert lamp.press().status == 0
            time.sleep(dice.uniform(0.05, 0.4))
        if round % 2:
            home.served.kill()
            assert lamp.press().status == 0
            home.served.start()
        else:
            home.broker.kill()
            heard += listener.events(plug)
            listener.running.stop()
            assert lamp.press().status == 0
            home.broker.start()
            listener = listen()
        time.sleep(dice.uniform(0, 1.5))
    last = home.served.controller.does("watch", "Lamp", "--json", "--for", "1s", "--after", "0", within=20)
    numbers = {line["seq"]: line for line in last.objects if line["event"] in ("button", "relay")}

    def all_known():
        known = {event["seq"]: event for event in heard + listener.events(plug)}
        missing = sorted(set(numbers) - set(known))
        # Requests events that a killed broker had accepted but not delivered.
        replayed = home.broker.ask(home.topic("Lamp", "replay"), json.dumps({"after": missing[0] - 1}), f"{time.monotonic()}") \
            if missing else None
        if replayed and replayed["done"]:
            heard.extend(replayed["events"])
        return not missing

    eventually(all_known, 30, lambda: f"all of {sorted(numbers)}; {home.served.running.transcript()[-3000:]}")
    known = {event["seq"]: event for event in heard + listener.events(plug)}
    for number, line in numbers.items():
        assert known[number]["event"] == line["event"], number
    presses = sum(line["event"] == "button" for line in numbers.values())
    assert presses == sum(event["event"] == "button" for event in known.values()) >= 5


def test_a_broker_that_comes_late_or_starts_empty_gets_everything(house, lan, tmp_path):
    """A broker that starts after the house, or without its stored state, gets the current states and all events."""
    broker = Broker(lan.host(), tmp_path / "mosquitto")
    broker.kill()
    home = house(broker=broker)
    home.served.running.seen(lambda line: line.error and "cannot reach a broker" in line.text, 15)
    assert home.plugs["Lamp"].press().status == 0
    time.sleep(0.5)
    broker.start()
    listener = broker.listen()
    # The button was pressed without a broker; the event is published later.
    press = home.says(listener, "Lamp", "event", lambda event: event["event"] == "button", within=30)
    broker.kill()
    broker.start()
    empty = broker.listen()
    home.says(empty, "Lamp", "state", lambda state: state["on"], within=30)
    assert home.broker.ask(home.topic("Lamp", "replay"), json.dumps({"after": press["seq"] - 1}))["events"][0] == press


def test_a_broker_that_hangs_is_given_up_and_the_house_goes_on(house, lan, tmp_path):
    """A broker that hangs is disconnected after a timeout; the plug works meanwhile, and all presses arrive later."""
    broker = Broker(lan.host(), tmp_path / "mosquitto")
    home = house(broker=broker)
    listener = broker.listen()
    home.says(listener, "Lamp", "availability", lambda message: message == "online")
    broker.running.process.send_signal(19)
    try:
        for _ in range(3):
            assert home.plugs["Lamp"].press().status == 0
            time.sleep(0.6)
        assert home.served.sees("Lamp", "connected")
        home.served.running.seen(lambda line: line.error and "lost the connection to the broker" in line.text, 45)
    finally:
        broker.running.process.send_signal(18)
    eventually(
        lambda: len({event["seq"] for event in listener.events(home.ids["Lamp"]) if event["event"] == "button"}) == 3, 40,
        lambda: f"three presses:\n{listener.running.transcript()[-3000:]}")


def test_foreign_messages_hurt_nobody(house):
    """Oversized, malformed and very many messages do not crash the daemon, and at most two log lines report refusals."""
    home = house()
    listener = home.broker.listen()
    home.says(listener, "Lamp", "state")
    set_topic = home.topic("Lamp", "set")
    (home.folder / "large").write_bytes(b"x" * 1_000_000)
    home.broker.host.finish(*home.broker.client("mosquitto_pub", "-q", "1", "-t", set_topic, "-f", home.folder / "large"))
    home.broker.publish("smartplug/home/ffffffffffff/set", '{"on":true}')
    home.broker.publish(home.topic("Lamp", "state"), "not a state")
    flood = home.folder / "flood"
    flood.write_text("{}\n" * 30_000)
    with open(flood):
        home.broker.host.finish(
            "sh", "-c", f"exec mosquitto_pub -V 5 -h 127.0.0.1 -p {home.broker.port} -q 0 -t {set_topic} -l <{flood}", within=30)
    eventually(
        lambda: (home.broker.ask(set_topic, '{"on":true}', f"{time.monotonic()}") or {}).get("done"), 30,
        lambda: f"an answer:\n{home.served.running.transcript()[-3000:]}")
    assert home.served.running.is_running
    refusals = [line.text for line in home.served.running.lines if line.error and "refused" in line.text]
    assert len(refusals) <= 2, refusals


def test_the_broker_is_verified_and_knows_the_house(house, lan, tmp_path):
    """The house verifies the broker with the configured certificate authority. The broker verifies the house by a client certificate and by
    a password from a file."""
    keys = tmp_path / "keys"
    keys.mkdir()
    host = lan.host()
    make = f"""cd {keys}
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=authority -days 2
        for name in server client; do
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $name.key -out $name.csr -subj /CN=$name
            echo subjectAltName=IP:{host.ipv4} >extension
            openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out $name.pem -days 2 -extfile extension
        done
        chmod 644 *.key; touch users; mosquitto_passwd -b users house sesame; chmod 644 users"""
    assert host.finish("sh", "-ec", make, within=30).status == 0
    # The rights that mqtt.md documents.
    rights = tmp_path / "rights"
    rights.write_text("user house" + DOCUMENT.split("```\nuser house")[1].split("```")[0])
    broker = Broker(
        host, tmp_path / "mosquitto",
        [f"cafile {keys}/ca.pem", f"certfile {keys}/server.pem", f"keyfile {keys}/server.key", "require_certificate true",
         f"password_file {keys}/users", f"acl_file {rights}", "allow_anonymous false"], port=8883, encrypted=True)
    secret = tmp_path / "configuration" / "smartplug" / "broker-password"
    secret.parent.mkdir(parents=True)
    secret.write_text("sesame\n")
    secret.chmod(0o644)
    home = house(broker=broker, settings=(
        f'ca = "{keys}/ca.pem"', f'certificate = "{keys}/client.pem"', f'key = "{keys}/client.key"', 'user = "house"',
        'password_file = "broker-password"'))
    # A password file that other users may read is rejected.
    home.served.running.seen(lambda line: line.error and "broker-password" in line.text, 15)
    secret.chmod(0o600)
    home.served.running.seen(lambda line: line.error and f"{host.ipv4}:8883 is connected" in line.text, 30)
    words = ["--cafile", f"{keys}/ca.pem", "--cert", f"{keys}/client.pem", "--key", f"{keys}/client.key", "-u", "house", "-P", "sesame"]
    listener = host.start(
        "mosquitto_sub", "-V", "5", "-h", host.ipv4, "-p", "8883", "-F", "%j", "-t", "#", *words, name="mosquitto_sub")
    listener.seen_object(lambda told: told["topic"] == home.topic("Lamp", "state"), 15)
    assert "sesame" not in home.served.running.transcript()
    assert b"sesame" not in pathlib.Path(f"/proc/{home.served.running.process.pid}/cmdline").read_bytes()
    # A broker certificate of an unknown authority is rejected.
    home.served.running.stop()
    configuration = secret.with_name("broker.toml")
    configuration.write_text(configuration.read_text().replace(f"{keys}/ca.pem", f"{keys}/client.pem"))
    home.served.start()
    home.served.running.seen(lambda line: line.error and "cannot reach a broker" in line.text, 20)


def test_a_house_may_take_no_commands_and_tell_home_assistant_nothing(house):
    """With commands = false and discovery = false, commands are refused and nothing is published for Home Assistant."""
    home = house(settings=("commands = false", 'house = "floor-2"'), home_assistant={"discovery": False})
    listener = home.broker.listen()
    topic = f"smartplug/floor-2/{home.ids['Lamp']}"
    listener.has(f"{topic}/state", lambda state: state)
    assert home.broker.ask(f"{topic}/set", '{"on":true}')["reason"] == "notAllowed"
    assert not any(told.startswith("homeassistant") for told, _, _ in listener.messages)
