"""The controller of the Matter SDK on a host of the LAN, as the app of a home uses it."""

import itertools
import json
import os
import pathlib
import socket
import subprocess
import time

from deadlines import patient

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE / "controller_program.py"
PROJECT = HERE.parents[1]


class Refused(Exception):
    """The SDK failed; `kind` is the name of its exception."""

    def __init__(self, kind, words):
        super().__init__(f"{kind}: {words}")
        self.kind = kind


class Home:
    """Starts controller_program.py on a host, and sends it commands. Each home has its own fabric."""

    numbers = itertools.count(1)

    def __init__(self, host, folder, authorities):
        """`authorities` is the folder with the certificates that may issue those of devices."""
        environment = pathlib.Path(os.environ["SMARTPLUG_MATTER"])
        folder = pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        (root := folder / "root").mkdir()
        path = folder / "s"
        self.running = host.start(
            "unshare", "--mount", "--propagation", "private", HERE / "private_files", root, folder, authorities, PROJECT, environment,
            "--", "env", "PYTHONDONTWRITEBYTECODE=1", environment / "bin" / "python", PROGRAM, path, folder / "storage.json", authorities,
            name=f"Matter SDK {next(self.numbers)}")
        self.running.seen_object(lambda told: told.get("event") == "listening", 30, "that it listens")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._rest, self.events, self.values = b"", [], []
        self._answer(30)

    def leave(self):
        self._socket.close()

    def _line(self, within):
        """Returns the next line as an object, or None after `within` seconds. Reports are added to `events` and `values`."""
        end = time.monotonic() + within
        while b"\n" not in self._rest:
            self._socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                more = self._socket.recv(1 << 20)
            except TimeoutError:
                return None
            assert more, self.running.transcript()
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        told = json.loads(line)
        if "event" in told:
            self.events.append(told["event"])
        if "value" in told:
            self.values.append(told["value"])
        return told

    def _answer(self, within):
        end = time.monotonic() + patient(within)
        while (left := end - time.monotonic()) > 0:
            told = self._line(left)
            if told and "error" in told:
                raise Refused(told["error"], told["words"])
            if told and "done" in told:
                return told["done"]
        raise AssertionError(f"no answer within {within} s:\n{self.running.transcript()}")

    def does(self, what, within=40, **order):
        self._socket.sendall(json.dumps({"do": what, **order}).encode() + b"\n")
        return self._answer(within)

    def can(self, what, **order):
        """Returns True if the command succeeded."""
        try:
            self.does(what, **order)
            return True
        except Refused as refused:
            self.refused = refused
            return False

    @staticmethod
    def deviations(values):
        """Returns the deviations from Matter 1.3 of a device with these values of all attributes."""
        python = pathlib.Path(os.environ["SMARTPLUG_MATTER"]) / "bin" / "python"
        done = subprocess.run(
            [python, HERE / "data_model_program.py", "1.3"], input=json.dumps(values), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def read(self, node, path):
        """Returns the value of one attribute."""
        return self.does("read", node=node, paths=[path])["values"][path]

    def hears(self, wanted, within=15):
        """Waits for an event for which `wanted` is true, and returns the first. Events that were received earlier count, too."""
        return self._received(self.events, wanted, within, "event")

    def sees(self, path, wanted, within=20):
        """Waits for a reported value of the attribute for which `wanted` is true, and returns the value."""
        return self._received(
            self.values, lambda told: told["path"] == path and wanted(told["value"]), within, f"value of {path}")["value"]

    def _received(self, reports, wanted, within, what):
        end = time.monotonic() + patient(within)
        while True:
            for told in reports:
                if wanted(told):
                    return told
            left = end - time.monotonic()
            assert left > 0, f"no {what} within {within} s; received: {reports}\n{self.running.transcript()[-6000:]}"
            self._line(left)
