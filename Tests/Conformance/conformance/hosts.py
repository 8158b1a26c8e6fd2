"""Hosts whose cables end at an interface that the bench selects, not at a bridge."""

import json

from harness.lan import Host


class OwnHost(Host):
    def __init__(self, name):
        super().__init__(1, link=None)
        self.name = name

    @property
    def pid(self):
        return str(self._holder.process.pid)

    def stop_programs(self):
        for running in reversed(self.started):
            running.stop()


class TargetHost(OwnHost):
    """The target's host, with the interfaces eth0 and eth1. The bench owns their other ends."""

    def __init__(self):
        super().__init__("target")
        self.run("hostname", "lamp")

    def address(self, interface="eth0"):
        return f"10.9.0.{100 + int(interface[-1])}"

    def addresses(self):
        """The current addresses of eth0. Before eth0 has an address, the list contains the address that it will get."""
        shown = json.loads(self.run("ip", "-json", "address", "show"))
        eth0 = next((entry["addr_info"] for entry in shown if entry["ifname"] == "eth0"), [])
        return [address["local"] for address in eth0] or [self.address()]

    def set_up(self, interface, address=None):
        settings = f"net.ipv6.conf.{interface}"
        self.run("sysctl", "-qw", f"{settings}.accept_dad=0", f"{settings}.disable_ipv6=0",
                 # Removing an address must not remove the addresses that were added later.
                 f"net.ipv4.conf.{interface}.promote_secondaries=1")
        self.run("ip", "address", "add", address or f"{self.address(interface)}/24", "broadcast", "+", "dev", interface)
        self.run("ip", "link", "set", interface, "up")
        # Lets answers reach any source address, including one outside the link.
        self.run("ip", "route", "replace", "default", "dev", interface)
