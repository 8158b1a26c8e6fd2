"""A HomeKit controller (aiohomekit) on a host of the LAN."""

import json
import pathlib
import socket
import sys
import time

PROGRAM = pathlib.Path(__file__).with_name("controller_program.py")
# Instance ids of the plug, see PlugAccessory.swift.
ON, IN_USE, POWER, ENERGY, BULB_ON, BRIGHTNESS, PRESS = "1.33", "1.34", "1.40", "1.41", "1.49", "1.50", "1.65"


class Refused(Exception):
    """aiohomekit failed; `kind` is the name of its exception."""

    def __init__(self, kind, words):
        super().__init__(f"{kind}: {words}")
        self.kind = kind


class Person:
    """Starts controller_program.py on a host, and sends it commands."""

    def __init__(self, host, path):
        self.running = host.start(sys.executable, PROGRAM, path, name="aiohomekit")
        self.running.seen_object(lambda told: told["event"] == "listening", 20, "that it listens")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._rest, self.events = b"", []
        self._answer(20)

    def leave(self):
        self._socket.close()

    def _line(self, within):
        """Returns the next line as an object, or None after `within` seconds. Events are added to `events`."""
        end = time.monotonic() + within
        while b"\n" not in self._rest:
            self._socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                more = self._socket.recv(65536)
            except TimeoutError:
                return None
            assert more, self.running.transcript()
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        told = json.loads(line)
        if "event" in told:
            self.events.append(told["event"])
        return told

    def _answer(self, within):
        while True:
            told = self._line(within)
            assert told is not None, f"no answer within {within} s:\n{self.running.transcript()}"
            if "error" in told:
                raise Refused(told["error"], told["words"])
            if "done" in told:
                return told["done"]

    def does(self, what, within=25, **order):
        self._socket.sendall(json.dumps({"do": what, **order}).encode() + b"\n")
        return self._answer(within)

    def can(self, what, **order):
        """Returns True if the command succeeded."""
        try:
            self.does(what, **order)
            return True
        except Refused as refused:
            self.refused = refused
            return False

    def hears(self, key, value, within=10):
        """Waits up to `within` seconds for an event with this value. An event that was received earlier and is still in
        `events` counts, too."""
        end = time.monotonic() + within
        while not any(event.get(key) == value for event in self.events):
            assert time.monotonic() < end, f"no event with {key} = {value}: {self.events}\n{self.running.transcript()}"
            self._line(end - time.monotonic())

    def hears_nothing(self, key, during=2):
        end = time.monotonic() + during
        while (left := end - time.monotonic()) > 0:
            self._line(left)
        assert not any(key in event for event in self.events), self.events
