"""A board with the packages on it."""

import json

SIMULATED = """[Service]
ExecCondition=
ExecStart=
ExecStart=/usr/bin/plugd run --name Lamp --simulate lamp --addressing manage
"""
DROP_IN = "/etc/systemd/system/plugd.service.d/simulated.conf"
CONFIGURATION = "/etc/smartplug/plugd.toml"


class Board:
    def __init__(self, system, packages):
        self.system, self.does, self.tries = system, system.does, system.tries
        self.files_before = system.files()
        for name, file in packages.items():
            system.put(file, f"/root/{name}.deb")
        self.install()

    def install(self):
        """With nothing fetched: what the packages need is there."""
        return self.does("dpkg --install /root/*.deb && dpkg --audit")

    def simulate(self):
        """The service as it is, but with simulated parts, and the task to give its network addresses."""
        self.system.write(DROP_IN, SIMULATED)
        self.does("systemctl daemon-reload")

    def unit(self, *names):
        """Properties of the service, as systemd tells them; of one its value, of several a tuple."""
        told = self.does(f"systemctl show plugd --property={','.join(names)}")
        values = dict(line.split("=", 1) for line in told.splitlines())
        return values[names[0]] if len(names) == 1 else tuple(values[name] for name in names)

    def status(self):
        return json.loads(self.does("plugd status"))

    def process_status(self):
        """Of plugd, what the kernel tells: capabilities, user, filters."""
        told = self.does(f"cat /proc/{self.unit('MainPID')}/status")
        return {name: value.strip() for name, value in (line.split(":", 1) for line in told.splitlines())}

    def log(self):
        return self.does("journalctl --unit=plugd --output=cat --no-pager")
