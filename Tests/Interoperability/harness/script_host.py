"""The program that runs one script, with the test in the role of the controller."""

import json
import os
import select
import signal
import socket
import subprocess
import time

AT = 1_700_000_000.5  # 2023-11-14 22:13:20 UTC
PATIENCE = 60  # seconds: on a busy machine, 1.5 s of processor time can take this long


class Ended(Exception):
    """The process ended without an answer. `status`: its exit code, or the negative number of the signal."""

    def __init__(self, status):
        super().__init__(f"ended with {signal.Signals(-status).name if status < 0 else status}")
        self.status = status


class ScriptHost:
    """One process of the script host. `before` contains the words in front of its command line."""

    def __init__(self, program, name="test.lua", before=()):
        self.name = name
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen([*before, program, name], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env={})
        theirs.close()
        self.socket = ours
        self._rest = b""

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, line):
        self.socket.sendall(line)

    def receive(self):
        """Reads the next line as an object."""
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._rest:
            if not select.select([self.socket], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the program does not answer")
            try:
                piece = self.socket.recv(1 << 16)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise Ended(self.process.wait(PATIENCE))
            self._rest += piece
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, message):
        try:
            self.send(json.dumps(message).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            raise Ended(self.process.wait(PATIENCE)) from None
        return self.receive()

    def load(self, source, at=AT, **fields):
        return self.ask({"load": {"name": self.name, "source": source, "at": at, **fields}})

    def call(self, handler=0, at=AT, event=None, **fields):
        event = {"id": "00", "rule": "test.lua:1", "why": "button pressed"} | (event or {})
        return self.ask({"call": {"handler": handler, "at": at, "event": event, **fields}})

    def says_nothing(self, seconds=0.05):
        """Returns True if no further line arrives within that time."""
        return not self._rest and not select.select([self.socket], [], [], seconds)[0]

    def memory(self, key="Anonymous"):
        """Returns this kind of memory in bytes, from the kernel's sum over all mappings."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as sums:
            for line in sums:
                if line.startswith(key + ":"):
                    return int(line.split()[1]) * 1024
        raise KeyError(key)

    def descriptors(self):
        return sorted(int(name) for name in os.listdir(f"/proc/{self.process.pid}/fd"))

    def status(self, key):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(key + ":"))
