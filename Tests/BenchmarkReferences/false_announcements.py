"""Measures commands through the daemon of a house, first without disturbance and then while an attacker announces nonexistent plugs.
Prints one {"name", "value"} per line.

false_announcements.py PROGRAMS COMMANDS SECONDS
PROGRAMS is the folder of plugd and plugctl, COMMANDS the number of commands of each measurement, SECONDS the duration of the attack
before the measurement.
"""

import http.client
import json
import os
import pathlib
import socket
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interoperability")]

from deadlines import eventually  # noqa
from harness.lan import LAN  # noqa: E402
from harness.plugs import Plug  # noqa: E402

RATE = 1000
PLUGS = 3


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


class Commands:
    """Sends commands through one connection to the daemon's local socket."""

    def __init__(self, path):
        self.connection = http.client.HTTPConnection("localhost", timeout=20)
        self.connection.sock = socket.socket(socket.AF_UNIX)
        self.connection.sock.connect(str(path))
        self.on = False

    def send(self):
        """Toggles the relay and returns the milliseconds until the plug's answer."""
        self.on = not self.on
        began = time.perf_counter()
        self.connection.request(
            "POST", "/api/v1/plugs/Plug%200/relay", json.dumps({"on": self.on}), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        assert answer.status == 200, (answer.status, body)
        return took * 1000

    def measure(self, name, count):
        for _ in range(count):
            time.sleep(0.01)
            tell(name, self.send())


def answers(path):
    try:
        Commands(path)
        return True
    except OSError:
        return False


def main(programs, count, seconds):
    programs, count = pathlib.Path(programs), int(count)
    folder = pathlib.Path(tempfile.mkdtemp())
    for name in ("STATE", "CONFIG"):
        os.environ[f"XDG_{name}_HOME"] = str(folder / name.lower())
    lan = LAN()
    host = lan.host(ipv6=False)
    plugs = [Plug(programs, lan.host(ipv6=False), f"Plug {number}", folder / f"plug{number}") for number in range(PLUGS)]
    paired = (plugs[0].state / "id").read_text().split()[0]
    path = folder / "socket"
    daemon = host.start(
        programs / "plugctl", "daemon", "--json", "--state", folder / "daemon", "--history", folder / "history", "--socket", path,
        name="plugctl daemon")
    daemon.seen_object(lambda told: told.get("plugs") == PLUGS, 30, f"that it follows {PLUGS} plugs")
    eventually(lambda: answers(path), 10, "the daemon's socket")
    commands = Commands(path)
    commands.measure("warm", 20)
    commands.measure("undisturbed", count)
    stranger = lan.host(ipv6=False).start(sys.executable, HERE / "announcer.py", RATE, paired, name="a stranger")
    stranger.seen_object(lambda told: told["announced"] >= RATE * float(seconds), 60 + 5 * float(seconds), "the announcements")
    began, before = time.monotonic(), announced(stranger)
    commands.measure("disturbed", count)
    tell("announced a second", (announced(stranger) - before) / (time.monotonic() - began))
    lan.close()


def announced(stranger):
    """Returns the number of announcements so far. The announcer prints it ten times per second."""
    return [line.json["announced"] for line in list(stranger.lines) if line.json][-1]


if __name__ == "__main__":
    # In a real network the attacker is a separate machine, so the attacker may use different cores here.
    os.sched_setaffinity(0, range(os.cpu_count()))
    main(*sys.argv[1:])
