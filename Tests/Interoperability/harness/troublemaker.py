"""Somebody on the LAN who disputes addresses."""

import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("troublemaker_program.py")


class Troublemaker:
    """`verb` and the rest as troublemaker_program.py says."""

    def __init__(self, host, verb, *rest):
        self.running = host.start(sys.executable, PROGRAM, "eth0", verb, *rest, name=f"troublemaker who does {verb}")
        # scapy takes its time to start.
        self.running.seen_object(lambda told: told["event"] == "ready", 30, "that it is up")

    def did(self, event):
        """What it did, each with the moment."""
        return [line.json for line in list(self.running.lines) if line.json and line.json["event"] == event]

    def stop(self):
        self.running.stop()
