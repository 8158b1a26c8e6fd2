"""Tests of live updates by DNS Push Notifications (RFC 8765), with a scripted server whose records live for an hour."""

import json
import pathlib
import socket
import sys
import time

import pytest

from bind import TYPE
from deadlines import eventually

ZONE = "example.org"
PROGRAM = pathlib.Path(__file__).with_name("push_server.py")


class PushServer:
    def __init__(self, host, folder):
        self.host = host
        self._control = folder / "control"
        folder.mkdir()
        self.running = host.start(sys.executable, PROGRAM, host.ipv4, ZONE, folder, name="push")
        self.running.seen_object(lambda line: line.get("ready"), 15, "that it is ready")

    def serve(self, host):
        """Makes this the name server of the host."""
        host.run("sh", "-c", f"echo nameserver {self.host.ipv4} >/run/resolv.conf && mount --bind /run/resolv.conf /etc/resolv.conf")

    def perform(self, **command):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self._control))
            control.sendall(json.dumps(command).encode() + b"\n")
            assert control.recv(16) == b"done\n"

    @staticmethod
    def plug(name, port=4711, txt="id=000000000001", life=3600):
        instance = f"{name}.{TYPE}.{ZONE}."
        return [
            [f"{TYPE}.{ZONE}.", life, "PTR", instance], [instance, life, "SRV", f"0 0 {port} host-{name}.{ZONE}."],
            [instance, life, "TXT", f'"{txt}"'], [f"host-{name}.{ZONE}.", life, "A", "192.0.2.7"]]

    def told(self, **wanted):
        """The number of lines with these fields."""
        lines = [line.json for line in list(self.running.lines) if isinstance(line.json, dict)]
        return sum(all(line.get(key) == value for key, value in wanted.items()) for line in lines)

    @property
    def lists(self):
        """The number of questions for the list of plugs."""
        return self.told(query=f"{TYPE}.{ZONE}.", type="PTR")

    def subscribed(self, number=1):
        """Waits until the client has subscribed to the list so often, and got the first records."""
        eventually(
            lambda: self.told(subscribe=f"{TYPE}.{ZONE}.", type="PTR") >= number, 25,
            lambda: f"a subscription:\n{self.running.transcript()}")
        time.sleep(2)


@pytest.fixture
def server(lan, tmp_path):
    return PushServer(lan.host(), tmp_path / "push")


@pytest.fixture
def browse(lan, controller, server):
    """Returns a function that browses the domain on a new host."""
    def start():
        host = lan.host()
        server.serve(host)
        return controller(host).browsing("--domain", ZONE)

    return start


def test_changes_are_shown_at_once(server, browse):
    """New, changed and removed plugs are shown without a question for the list, which an answer permits to keep for an hour."""
    lamp = server.plug("Lamp")
    server.perform(add=lamp)
    browser = browse()
    browser.found("Lamp")
    server.subscribed()
    fan = server.plug("Fan", 4712, "id=000000000002")
    changed = time.monotonic()
    server.perform(add=fan)
    assert browser.found_at("Fan", within=3) - changed < 1
    server.perform(remove=lamp[2:3], add=server.plug("Lamp", txt="id=000000000003")[2:3])
    browser.told_text("Lamp", {"id": "000000000003"}, within=3)
    server.perform(remove=server.plug("Lamp", txt="id=000000000003"))
    browser.shows(["Fan"], within=3)
    assert server.lists == 1 and server.told(connected=True) == 1, server.running.transcript()
    eventually(lambda: server.told(unsubscribe=f"Lamp.{TYPE}.{ZONE}.") == 2, 5, lambda: server.running.transcript())


def test_a_closed_connection_loses_no_plug(server, browse):
    """The known plugs remain, and changes during the interruption are shown by the next session."""
    server.perform(add=server.plug("Lamp"))
    browser = browse()
    browser.found("Lamp")
    server.subscribed()
    server.perform(close=True)
    server.perform(add=server.plug("Fan", 4712))
    browser.found("Fan", within=25)
    server.subscribed(2)
    server.perform(remove=server.plug("Fan", 4712))
    browser.shows(["Lamp"], within=3)
    assert not any(line.json["event"] == "lost" and line.json["name"] == "Lamp" for line in browser.running.lines if line.json)
    assert server.lists == 1


@pytest.mark.parametrize("behaviour", [{"code": 4}, {"code": 11}, {"accepting": False}, {"offered": False}])
def test_without_a_session_the_zone_is_polled(server, browse, behaviour):
    """The server does not implement push, closes each connection, or has no entry in the zone."""
    server.perform(behaviour=behaviour, add=server.plug("Lamp", life=1))
    browser = browse()
    browser.found("Lamp")
    server.perform(add=server.plug("Fan", 4712, life=1))
    browser.found("Fan", within=25)
    server.perform(remove=server.plug("Lamp", life=1))
    browser.shows(["Fan"], within=25)
    assert server.lists > 1
    assert server.told(query=f"_dns-push-tls._tcp.{ZONE}.") <= 2 and server.told(connected=True) <= 3, server.running.transcript()


def test_a_flood_is_limited(server, browse):
    """A list with more records than the limit is polled, and a server that sends without end is left. The plugs remain."""
    server.perform(add=server.plug("Lamp", life=1))
    browser = browse()
    browser.found("Lamp")
    server.subscribed()
    server.perform(flood=3000)
    list_left = {"unsubscribe": f"{TYPE}.{ZONE}.", "type": "PTR"}
    eventually(lambda: server.told(**list_left) == 1, 10, lambda: f"the end of the subscription:\n{server.running.transcript()}")
    for _ in range(20):
        server.perform(flood=20_000)
    eventually(lambda: server.told(connected=False) == 1, 20, lambda: f"the end of the session:\n{server.running.transcript()}")
    server.perform(add=server.plug("Fan", 4712, life=1))
    browser.found("Fan", within=25)
    assert "Lamp" in browser.names()
