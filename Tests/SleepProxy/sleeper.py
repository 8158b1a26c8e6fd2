"""A computer on the LAN that registers with a sleep proxy, sleeps, and is woken by a magic packet."""

import json
import pathlib
import socket
import sys

from deadlines import patient

PROGRAM = pathlib.Path(__file__).with_name("sleeper_program.py")


class Sleeper:
    """Starts sleeper_program.py on a host, and sends it commands."""

    def __init__(self, host, path, name, services):
        self.host, self.name, self.services = host, name, services
        self.running = host.start(
            sys.executable, PROGRAM, path, name, host.ipv4, host.hardware_address(), json.dumps(services), name="sleeper")
        self.running.seen_object(lambda told: told["event"] == "announced", 20, "that its services are announced")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw")

    @property
    def address(self):
        return self.host.ipv4

    def leave(self):
        self._socket.close()

    def does(self, what, within=25, **order):
        """Sends a command and returns its result."""
        self._socket.settimeout(patient(within))
        self._lines.write(json.dumps({"do": what, **order}) + "\n")
        self._lines.flush()
        answer = json.loads(self._lines.readline())
        assert "done" in answer, f"{what}: {answer}\n{self.running.transcript()}"
        return answer["done"]

    def register(self, **changes):
        """Registers with the best proxy that it finds, and returns {"code", "seconds", "bytes"}. Without an answer, `code` is None
        and the others are missing. `changes` replace parts of the registration: addresses, host, services, card, sequence, lease."""
        return self.does("register", **changes)

    @property
    def link_local(self):
        return self.host.addresses(family=6)[0]["local"]

    def sleeps(self, **changes):
        """Registers, and then neither sends nor answers anything until it is woken. `changes` are those of `register`."""
        answer = self.register(**changes)
        assert answer["code"] == 0, answer
        self.does("sleep")
        return answer

    def wakes(self):
        """Wakes up by itself, as when its lid is opened."""
        self.does("wake")

    @property
    def wakeups(self):
        """The number of magic packets that woke it."""
        return sum(1 for line in self.running.lines if line.json and line.json["event"] == "woken")

    def woken(self, within):
        """Waits until a magic packet woke it."""
        self.running.seen_object(lambda told: told["event"] == "woken", within, "that it was woken")
