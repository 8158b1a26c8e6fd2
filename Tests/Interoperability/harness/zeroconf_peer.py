"""python-zeroconf on a host of the LAN."""

import pathlib
import sys

from harness.avahi import TYPE

PROGRAM = pathlib.Path(__file__).with_name("zeroconf_program.py")


def start(host, verb, *rest, interfaces="all", family="4", service_type=TYPE):
    return host.start(sys.executable, PROGRAM, verb, service_type, interfaces, family, *rest, name=f"python-zeroconf {verb}")


def publish(host, name, port, *txt, service_type=TYPE):
    publisher = start(host, "publish", name, port, host.ipv4, *txt, service_type=service_type)
    publisher.seen_object(lambda told: told["event"] == "published", 10, "that the service is published")
    return publisher


class ZeroconfBrowser:
    def __init__(self, host, interfaces="all", family="4", service_type=TYPE):
        self.running = start(host, "browse", interfaces=interfaces, family=family, service_type=service_type)

    def resolved(self, name, within):
        return self._told("resolved", name, within).json

    def removed(self, name, since, within):
        return self._told("removed", name, within).at - since

    def _told(self, event, name, within):
        return self.running.seen_object(
            lambda told: told["event"] == event and told["name"] == name, within, f"{event} {name}")

    def services(self):
        """The resolved services so far: ports by name."""
        objects = [line.json for line in list(self.running.lines) if line.json]
        return {told["name"]: told["port"] for told in objects if told["event"] == "resolved"}
