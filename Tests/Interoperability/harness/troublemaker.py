"""An attacker on the LAN who disputes addresses."""

import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("troublemaker_program.py")


class Troublemaker:
    """`verb` and the rest are arguments of troublemaker_program.py."""

    def __init__(self, host, verb, *rest):
        self.running = host.start(sys.executable, PROGRAM, "eth0", verb, *rest, name=f"troublemaker who does {verb}")
        # scapy needs time to start.
        self.running.seen_object(lambda told: told["event"] == "ready", 30, "that it is up")

    def did(self, event):
        """Returns its actions of this kind, each with the time."""
        return [line.json for line in list(self.running.lines) if line.json and line.json["event"] == event]

    def stop(self):
        self.running.stop()
