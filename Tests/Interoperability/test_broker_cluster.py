"""A house at a cluster of three brokers, each of which may be killed at any time."""

import json
import time

import pytest

from harness.broker import Cluster
from harness.brokered import BrokeredHouse
from deadlines import eventually


class Subscriber:
    """A subscriber at a node. It identifies events by their numbers, and requests missing events."""

    def __init__(self, node):
        self.node, self._listener, self._replayed = node, node.listen(topic="smartplug/#"), []

    def has(self, *how):
        return self._listener.has(*how)

    def asks(self, topic, message):
        """Sends a request and returns the answer. Without an answer it repeats the request with the same correlation
        data; the plug executes it once."""
        correlation = f"{time.monotonic()}"

        def answer():
            return self.node.ask(topic, json.dumps(message), correlation, "-W", "2")

        told = eventually(answer, 30, lambda: f"an answer to {message} on {topic}")
        assert told["done"], told
        return told

    def events(self, home, name):
        """Returns the events by number. Expects that all events with the same number are equal."""
        known = {}
        for event in self._listener.events(home.ids[name]) + [one for one in self._replayed if one["plug"] == home.ids[name]]:
            assert known.setdefault(event["seq"], event) == event
        return known

    def has_all(self, home, name, numbers):
        """Waits until the events with all these numbers have arrived, and requests missing events."""
        def look():
            missing = [number for number in numbers if number not in self.events(home, name)]
            if missing:
                self._replayed += self.asks(home.topic(name, "replay"), {"after": missing[0] - 1})["events"]
            return not missing

        eventually(look, 30, lambda: f"{sorted(numbers)} of {name}; there are {sorted(self.events(home, name))}")


def connections(home):
    """The addresses of the nodes to which the house connected, in order."""
    told = [line.text for line in list(home.served.running.lines) if line.error and "is connected" in line.text]
    return [text.split("the broker ")[1].split(":")[0] for text in told]


def pressed(home, name, count):
    """Presses the button `count` times. Returns the numbers of all relay and button events of the plug so far."""
    for _ in range(count):
        assert home.plugs[name].press().status == 0
        time.sleep(0.1)
    time.sleep(0.5)  # a press is reported when it can no longer become a double press
    lines = home.served.controller.does("watch", name, "--json", "--for", "500ms", "--after", "0", within=20).objects
    return [line["seq"] for line in lines if line["event"] in ("button", "relay")]


@pytest.mark.time_limit(150)
def test_any_node_may_be_killed_and_come_back(lan, plug, controller, tmp_path):
    """The house and all subscribers recover when the connected node is killed and started again."""
    cluster = Cluster([lan.host() for _ in range(3)], tmp_path / "cluster")
    home = BrokeredHouse(lan, plug, controller, tmp_path, ("Lamp", "Television"), broker=cluster)
    subscribers = [Subscriber(node) for node in cluster.nodes]
    eventually(lambda: connections(home) == [cluster.nodes[0].address], 15, lambda: f"a connection; {connections(home)}")
    # An ejabberd node sends only the retained messages that were published to it. Clients of other nodes request them.
    cluster.nodes[2].publish("smartplug/home/refresh", "")
    for subscriber in subscribers:
        subscriber.has("smartplug/home/availability", lambda message: message == "online")
        for name in home.ids:
            subscriber.has(home.topic(name, "availability"), lambda message: message == "online")
            subscriber.has(home.topic(name, "state"), lambda state: state.get("voltageRMS"))
            assert subscriber.has(home.topic(name, "about"), lambda about: about)["name"] == name
    for round in range(2):
        for subscriber in subscribers:
            assert subscriber.asks(home.topic("Television", "set"), {"on": bool(round)})["on"] == bool(round)
        # The node to which the house is connected is killed during presses.
        assert home.plugs["Lamp"].press().status == 0
        before = connections(home)
        victim = next(node for node in cluster.nodes if node.address == before[-1])
        victim.kill()
        numbers = {name: pressed(home, name, 2) for name in home.ids}
        eventually(
            lambda: len(now := connections(home)) > len(before) and now[-1] != victim.address, 15,
            lambda: f"another node; {connections(home)}")
        left = [subscriber for subscriber in subscribers if subscriber.node is not victim]
        for subscriber in left:
            for name, asked in numbers.items():
                subscriber.has_all(home, name, asked)
            subscriber.asks(home.topic("Lamp", "set"), {"identify": True})
        # The restarted node has the messages that were retained while it did not run.
        victim.start()
        late = Subscriber(victim)
        for name in home.ids:
            late.has(home.topic(name, "availability"), lambda message: message == "online")
            state = late.has(home.topic(name, "state"), lambda state: state.get("voltageRMS"))
            assert state["on"] == (home.plugs[name].status()["relay"] == "on")
        subscribers = [late if subscriber.node is victim else subscriber for subscriber in subscribers]
    # All three nodes form one broker again.
    numbers = pressed(home, "Lamp", 1)
    for subscriber in subscribers:
        subscriber.has_all(home, "Lamp", numbers[-2:])
