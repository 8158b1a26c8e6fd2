"""The scripted push server on a host of the LAN."""

import json
import pathlib
import socket
import sys
import time

from bind import TYPE
from deadlines import eventually
from name_server import NameServer

ZONE = "example.org"
PROGRAM = pathlib.Path(__file__).with_name("push_server.py")


class PushServer(NameServer):
    zone = ZONE

    def __init__(self, host, folder):
        self.host, self.address = host, host.ipv4
        self._control = folder / "control"
        folder.mkdir()
        self.running = host.start(sys.executable, PROGRAM, host.ipv4, ZONE, folder, name="push")
        self.running.seen_object(lambda line: line.get("ready"), 15, "that it is ready")

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
