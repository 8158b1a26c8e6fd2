"""Broken brokers, and other clients of the same broker."""

import json
import pathlib
import sys
import time

from harness.broker import Broker
from harness.brokered import BrokeredHouse

PROGRAM = pathlib.Path(__file__).parent / "harness" / "broker_program.py"


class NoBroker:
    """A host with a port without a broker, a port for each kind of broken broker, and a port whose broker answers late."""

    def __init__(self, lan, folder, seconds):
        self.real = Broker(lan.host(), folder / "mosquitto")
        host = self.real.host
        self.manners = {"nobody": 1000, "closing": 1001, "rubbish": 1002, "silent": 1003, "late": 1004}
        for manner, port in self.manners.items():
            if manner != "nobody":
                words = [seconds, self.real.port] if manner == "late" else []
                program = host.start(sys.executable, PROGRAM, manner, port, *words, name=manner)
                program.seen(lambda line: line.text == "ready", 10, "that it listens")

    def settings(self, *lines, **_):
        hosts = json.dumps([f"{self.real.host.ipv4}:{port}" for port in self.manners.values()])
        return "\n".join(["[broker]", f"host = {hosts}", 'tls = "off"', *lines]) + "\n"


def complaints(home, words):
    return [line.text for line in list(home.served.running.lines) if line.error and words in line.text]


def test_what_is_no_broker_is_passed_over_and_a_late_one_is_used(lan, plug, controller, tmp_path):
    """Broken brokers of the list are skipped, and the last one, which delays each direction by a second, is used."""
    broker = NoBroker(lan, tmp_path, seconds=1)
    home = BrokeredHouse(lan, plug, controller, tmp_path, broker=broker)
    listener = broker.real.listen()
    assert home.plugs["Lamp"].press().status == 0
    home.served.running.seen(lambda line: line.error and ":1004 is connected" in line.text, 40)
    press = home.says(listener, "Lamp", "event", lambda event: event["event"] == "button")
    home.says(listener, "Lamp", "state", lambda state: state["on"])
    for number in range(3):
        assert broker.real.ask(home.topic("Lamp", "set"), json.dumps({"on": bool(number % 2)}), f"{number}")["done"]
    home.says(listener, "Lamp", "event", lambda event: event["event"] == "relay" and event["seq"] > press["seq"] + 1)
    numbers = [event["seq"] for event in listener.events(home.ids["Lamp"])]
    assert numbers == sorted(set(numbers))
    assert complaints(home, "lost the connection to the broker") == []


def test_a_house_with_more_than_a_thousand_descriptors_speaks_to_its_broker(lan, plug, controller, tmp_path):
    """In a house with many plugs, the connection to the broker has a descriptor above 1023. libmosquitto's own loop would not
    support it."""
    take = "import os, sys\nfor number in range(10, 1100): os.dup2(0, number)\nos.execvp(sys.argv[1], sys.argv[1:])"

    def with_descriptors(host):
        made = controller(host)
        made.under(["prlimit", "--nofile=4096", sys.executable, "-c", take])
        return made

    broker = Broker(lan.host(), tmp_path / "mosquitto")
    home = BrokeredHouse(lan, plug, with_descriptors, tmp_path, broker=broker)
    listener = broker.listen()
    home.says(listener, "Lamp", "state")
    assert broker.ask(home.topic("Lamp", "set"), '{"on":true}')["done"]


def test_a_broker_that_refuses_is_told_once_and_used_when_it_does_not(lan, plug, controller, tmp_path):
    """Each refusal is logged once. First the broker does not know the house, then it rejects the house's discovery messages, then it
    accepts all messages."""
    users, rights = tmp_path / "users", tmp_path / "rights"
    users.write_text("")
    rights.write_text("user house\ntopic readwrite smartplug/#\ntopic read homeassistant/status\nuser reader\ntopic read #\n")
    host = lan.host()
    broker = Broker(host, tmp_path / "mosquitto", [f"password_file {users}", f"acl_file {rights}", "allow_anonymous false"])
    secret = tmp_path / "secret"
    secret.write_text("sesame\n")
    secret.chmod(0o600)
    home = BrokeredHouse(
        lan, plug, controller, tmp_path, broker=broker, settings=('user = "house"', f'password_file = "{secret}"'))
    home.served.running.seen(lambda line: line.error and "cannot reach a broker" in line.text, 15)
    assert "uthori" in complaints(home, "cannot reach a broker")[0]
    for name in ("house", "reader"):
        assert host.finish("mosquitto_passwd", "-b", users, name, "sesame").status == 0
    users.chmod(0o644)
    broker.running.process.send_signal(1)
    home.served.running.seen(lambda line: line.error and "is connected" in line.text, 20)
    # The house may not write the topics of Home Assistant yet.
    home.served.running.seen(lambda line: line.error and "rejects homeassistant/" in line.text, 20)
    rights.write_text(rights.read_text().replace("user reader", "topic readwrite homeassistant/#\nuser reader"))
    broker.running.process.send_signal(1)
    listener = broker.listen("-u", "reader", "-P", "sesame")
    listener.has(f"homeassistant/device/smartplug_{home.ids['Lamp']}/config", lambda config: config, within=20)
    for words in ("cannot reach a broker", "rejects"):
        assert len(complaints(home, words)) == 1, complaints(home, words)


def test_a_broker_with_a_full_disk_loses_nothing_for_good(lan, plug, controller, tmp_path):
    """When mosquitto cannot store, it continues in memory. After a kill it restarts with an older state, and the house
    publishes everything again."""
    host = lan.host()
    disk = tmp_path / "disk"
    disk.mkdir()
    host.run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk))
    broker = Broker(host, tmp_path / "mosquitto", [
        "allow_anonymous true", "persistence true", f"persistence_location {disk}/", "autosave_interval 1"])
    home = BrokeredHouse(lan, plug, controller, tmp_path, broker=broker)
    listener = broker.listen()
    home.says(listener, "Lamp", "state")
    time.sleep(1.5)
    host.finish("sh", "-c", f"dd if=/dev/zero of={disk}/full bs=1k 2>/dev/null")
    assert home.plugs["Lamp"].press().status == 0
    press = home.says(listener, "Lamp", "event", lambda event: event["event"] == "button")
    home.says(listener, "Lamp", "state", lambda state: state["on"])
    broker.running.seen(lambda line: "No space left" in line.text, 10, "that its disk is full")
    broker.kill()
    broker.start()
    late = broker.listen()
    home.says(late, "Lamp", "state", lambda state: state["on"], within=30)
    home.says(late, "Lamp", "availability", lambda message: message == "online")
    assert broker.ask(home.topic("Lamp", "replay"), json.dumps({"after": press["seq"] - 1}))["events"][0] == press


def test_who_else_uses_the_topics_is_left_alone_and_put_right(lan, plug, controller, tmp_path):
    """Discovery messages of other devices stay; false messages on the house's own topics are replaced."""
    broker = Broker(lan.host(), tmp_path / "mosquitto")
    theirs = {"homeassistant/device/kettle/config": '{"dev":{}}', "homeassistant/switch/garden/pump/config": "not JSON"}
    for topic, message in theirs.items():
        broker.publish(topic, message, "-r")
    home = BrokeredHouse(lan, plug, controller, tmp_path, ("Lamp", "Television"), broker=broker)
    discovery = f"homeassistant/device/smartplug_{home.ids['Lamp']}/config"
    listener = broker.listen()
    # The discovery message is sent again with all sensors when the plug has reported a reading.
    listener.has(discovery, lambda config: "voltageRMS" in json.dumps(config))
    listener = broker.listen()
    ours = [home.topic("Lamp", leaf) for leaf in ("about", "availability")] + [discovery, "smartplug/home/availability"]
    before = {topic: listener.has(topic, lambda message: message) for topic in ours}
    for topic, false in zip(ours, ("", "offline", '{"dev":', "perhaps")):
        broker.publish(topic, false, "-r")
    # Home Assistant publishes this after its start.
    broker.publish("homeassistant/status", "online")
    time.sleep(1.5)
    late = broker.listen()
    for topic in ours:
        late.has(topic, lambda message, topic=topic: message == before[topic])
    home.served.controller.does("unpair", "Lamp", "--here-only")
    listener.has(discovery, lambda message: message == "", within=25)
    late = broker.listen()
    home.says(late, "Television", "availability")
    left = late.newest
    assert discovery not in left
    assert left["homeassistant/device/kettle/config"] == {"dev": {}}
    assert left["homeassistant/switch/garden/pump/config"] == "not JSON"
