"""The addresses that the target's kernel has on an interface, and when each was added and removed."""

import json
import re
import time


class KernelAddresses:
    """Watches the addresses of `host` with `ip monitor`. The time of a change is the time when its line arrived from
    the program."""

    def __init__(self, host, interface="eth0"):
        self._host, self._interface = host, interface
        self._monitor = host.start("ip", "monitor", "address", "dev", interface)

    def _changes(self):
        """Yields the reported changes as triples: the time, True for an added and False for a removed address, the address."""
        shift = time.time() - time.monotonic()
        for line in list(self._monitor.lines):
            told = re.match(r"(Deleted )?\d+: \S+\s+inet6? ([0-9a-f.:]+)/", line.text)
            if told:
                yield line.at + shift, told[1] is None, told[2]

    def came(self, address, since=0.0):
        """Returns the time of the first report after `since` that the address was added or refreshed, or None."""
        return next((at for at, new, which in self._changes() if new and which == address and at > since), None)

    def went(self, address, since=0.0):
        return next((at for at, new, which in self._changes() if not new and which == address and at > since), None)

    def await_came(self, address, within, since=0.0):
        limit = time.time() + within
        while True:
            at = self.came(address, since)
            if at or time.time() > limit:
                return at
            time.sleep(0.02)

    def await_went(self, address, within):
        """Returns True as soon as the interface does not have the address, or False if it still has it after that many seconds."""
        limit = time.time() + within
        while address in self.now():
            if time.time() > limit:
                return False
            time.sleep(0.1)
        return True

    def entries(self, family="inet"):
        """The entries of `ip address`, one per address."""
        shown = json.loads(self._host.run("ip", "-json", "address", "show", "dev", self._interface))
        return [entry for entry in shown[0]["addr_info"] if entry["family"] == family]

    def now(self, family="inet"):
        return [entry["local"] for entry in self.entries(family)]
