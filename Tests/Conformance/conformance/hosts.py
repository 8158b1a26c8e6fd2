"""Hosts whose cables end where the bench says, not at a bridge."""

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
    """Its interfaces are eth0 and eth1, whose other ends are the bench's affair."""

    def __init__(self):
        super().__init__("target")
        self.run("hostname", "lamp")

    def address(self, interface="eth0"):
        return f"10.9.0.{100 + int(interface[-1])}"

    def addresses(self):
        """Those of eth0 as it is now; where there is no such interface, the one that it will have."""
        shown = json.loads(self.run("ip", "-json", "address", "show"))
        eth0 = next((entry["addr_info"] for entry in shown if entry["ifname"] == "eth0"), [])
        return [address["local"] for address in eth0] or [self.address()]

    def set_up(self, interface, address=None):
        settings = f"net.ipv6.conf.{interface}"
        self.run("sysctl", "-qw", f"{settings}.accept_dad=0", f"{settings}.disable_ipv6=0",
                 # An address does not take those with it that came later.
                 f"net.ipv4.conf.{interface}.promote_secondaries=1")
        self.run("ip", "address", "add", address or f"{self.address(interface)}/24", "broadcast", "+", "dev", interface)
        self.run("ip", "link", "set", interface, "up")
        # So that answers can go to whoever asks, wherever it says it is.
        self.run("ip", "route", "replace", "default", "dev", interface)
