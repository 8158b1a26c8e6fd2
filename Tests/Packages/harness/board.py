"""A board with the installed packages."""

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
        """Installs the packages without any download: their dependencies are present."""
        return self.does("dpkg --install /root/*.deb && dpkg --audit")

    def simulate(self):
        """Configures the service to run a plug that has simulated parts and manages the network addresses."""
        self.system.write(DROP_IN, SIMULATED)
        self.does("systemctl daemon-reload")

    def unit(self, *names):
        """Returns properties of the service from systemd: a value, or a tuple for several names."""
        told = self.does(f"systemctl show plugd --property={','.join(names)}")
        values = dict(line.split("=", 1) for line in told.splitlines())
        return values[names[0]] if len(names) == 1 else tuple(values[name] for name in names)

    def status(self):
        return json.loads(self.does("plugd status"))

    def process_status(self):
        """Returns plugd's status from the kernel: capabilities, user, filters."""
        told = self.does(f"cat /proc/{self.unit('MainPID')}/status")
        return {name: value.strip() for name, value in (line.split(":", 1) for line in told.splitlines())}

    def log(self):
        return self.does("journalctl --unit=plugd --output=cat --no-pager")
