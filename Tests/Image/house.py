"""A plug with the image, and its controller."""

import json
import os
import pathlib
import subprocess

from bundles import Bundles
from deadlines import eventually, patient
from plug_machine import PORT, Medium

PLUGCTL = pathlib.Path(os.environ["SMARTPLUG_PROGRAMS"]) / "plugctl"


class House:
    """A medium with its running machine, and a controller that is paired with the plug."""

    def __init__(self, work, is_logged=False):
        self.medium = Medium(work)
        self.bundles = Bundles(self.medium, work)
        self._environment = os.environ | {"XDG_STATE_HOME": str(work / "state"), "XDG_CONFIG_HOME": str(work / "config")}
        self._address = f"127.0.0.1:{self.medium.ports[PORT]}"
        self.machine = self.medium.boot(is_logged=is_logged)
        code = work / "code"
        code.write_text(self.machine.does("plugd identity --plain"))
        self.does("pair", "Lamp", "--code-file", code)

    def _command(self, *words):
        return [PLUGCTL, *words, "--address", self._address]

    def run(self, *words, within=60):
        return subprocess.run(
            self._command(*words), env=self._environment, capture_output=True, text=True, timeout=patient(within), check=False)

    def does(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def start(self, *words):
        """Starts plugctl in the background."""
        return subprocess.Popen(self._command(*words), env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def state(self):
        return json.loads(self.does("update", "Lamp", "--json"))

    def restart(self, within=300):
        """Waits until the machine restarts, and boots its medium."""
        eventually(lambda: not self.machine.is_up(), within, "the restart")
        self.machine.close()
        self.machine = self.medium.boot()

    def slot(self):
        return "A" if " rauc.slot=A " in self.machine.does("cat /proc/cmdline") else "B"
