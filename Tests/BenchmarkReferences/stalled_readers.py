"""Measures the time from a press to the command of a rule: undisturbed, and while a reader of the daemon's events stalls. Prints one
{"name", "value"} in milliseconds per press.

stalled_readers.py PROGRAMS PRESSES
PROGRAMS is the folder of plugd and plugctl, PRESSES the number of presses of each measurement.

Readers: a pipe that no program reads, the disk of the history (a locked database), and browsers that request the stream of events and
never read it. Two other programs report the press and the change of the relay, so both times include similar delays.
"""

import json
import os
import pathlib
import socket
import sqlite3
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interoperability")]

from deadlines import eventually  # noqa
from harness.lan import LAN  # noqa: E402
from harness.plugs import Controller, Plug  # noqa: E402
from harness.served import Served  # noqa: E402

RULES = """\
- rule: Hall
  when: { plug: Switch, button: single }
  limit: { firings: 100, per: 1 min }
  then:
    - toggle: Lamp
"""
BROWSERS = 10
# Presses that fill the pipe (4096 bytes), the buffers of the browsers, and the queue of the history.
WARM = 15


class House:
    """A switch that toggles a lamp by a rule, and two programs that follow them."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.lan = programs, folder, LAN()
        self.switch, lamp = (Plug(programs, self.lan.host(ipv6=False), name, folder / name) for name in ("Switch", "Lamp"))
        self.host = self.lan.host(ipv6=False)
        person = Controller(programs, self.lan.host(ipv6=False))
        self.watching = {kind: person.watch(plug.name) for kind, plug in (("button", self.switch), ("relay", lamp))}
        for running in self.watching.values():
            running.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
        self.rules = folder / "rules.yaml"
        self.rules.write_text(RULES)

    def events(self, kind):
        return [line for line in list(self.watching[kind].lines) if line.json and line.json["event"] == kind]

    def press(self):
        """Presses the button, and returns the milliseconds from the press to the change of the lamp; None if it does not change within
        5 s."""
        before = len(self.events("button")), len(self.events("relay"))
        assert self.switch.press().status == 0
        end = time.monotonic() + 5
        while len(self.events("button")) <= before[0] or len(self.events("relay")) <= before[1]:
            if time.monotonic() > end:
                return None
            time.sleep(0.01)
        return (self.events("relay")[-1].at - self.events("button")[before[0]].at) * 1000

    def measure(self, name, count, stall=lambda served: None, prepare=lambda controller: controller):
        served = Served(prepare(Controller(self.programs, self.host)), self.folder / name, "--no-dashboard", rules=self.rules)
        eventually(served.answers, 20, "the daemon's socket")
        eventually(lambda: self.press() is not None, 60, "the first command of the rule")
        stalled = stall(served)
        for _ in range(WARM):
            assert self.press() is not None, f"{name}: no command within 5 s"
        for _ in range(count):
            took = self.press()
            assert took is not None, f"{name}: no command within 5 s"
            print(json.dumps({"name": name, "value": took}), flush=True)
        del stalled
        served.kill()


def locked_history(served):
    """Locks the database of the history, so that no other process can write to it."""
    [path] = (served.folder / "history").glob("*.sqlite")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def silent_browsers(served):
    """Requests the stream of events several times, and reads nothing."""
    streams = []
    for _ in range(BROWSERS):
        stream = socket.socket(socket.AF_UNIX)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.connect(str(served.socket))
        stream.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        streams.append(stream)
    return streams


def main(programs, count):
    folder = pathlib.Path(tempfile.mkdtemp())
    for name in ("STATE", "CONFIG"):
        os.environ[f"XDG_{name}_HOME"] = str(folder / name.lower())
    house = House(pathlib.Path(programs), folder)
    count = int(count)
    house.measure("undisturbed", count)
    house.measure("unread pipe", count, prepare=Controller.with_unread_output)
    house.measure("stalled disk", count, stall=locked_history)
    house.measure("silent browsers", count, stall=silent_browsers)
    house.lan.close()


if __name__ == "__main__":
    # Each plug and each program is a separate machine in a real house, so they may use different cores here.
    os.sched_setaffinity(0, range(os.cpu_count()))
    main(*sys.argv[1:])
