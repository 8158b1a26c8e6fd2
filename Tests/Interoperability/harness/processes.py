"""Programs of a test: their output is stored with the time of each line, and they end with the test."""

import json
import pathlib
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

from deadlines import patient, TooLate


@dataclass
class Line:
    """A line of output. `at` is the time of its arrival (time.monotonic), and `error` is True for standard error."""
    at: float
    text: str
    error: bool

    @property
    def json(self):
        """The JSON object in this line of output, or None."""
        try:
            return None if self.error else json.loads(self.text)
        except ValueError:
            return None


class Running:
    """A started process. `lines` grows with its output; `seen` waits for a line."""

    def __init__(self, name, command):
        self.name = name
        self.lines = []
        self._arrived = threading.Condition()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            encoding="utf-8", errors="replace")
        self._readers = [self._read(self.process.stdout, False), self._read(self.process.stderr, True)]

    def _read(self, stream, error):
        def follow():
            for text in stream:
                with self._arrived:
                    self.lines.append(Line(time.monotonic(), text.rstrip("\n"), error))
                    self._arrived.notify_all()

        reader = threading.Thread(target=follow, daemon=True)
        reader.start()
        return reader

    def seen(self, wanted, within, what="a certain line"):
        """Waits up to `within` seconds for a line for which `wanted` is true, and returns the first."""
        within = patient(within)
        deadline = time.monotonic() + within
        looked_at = 0
        with self._arrived:
            while True:
                for line in self.lines[looked_at:]:
                    if wanted(line):
                        return line
                looked_at = len(self.lines)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TooLate(f"{self.name} did not print {what} within {within} s; it printed:\n{self.transcript()}")
                self._arrived.wait(left)

    def seen_object(self, wanted, within, what="a certain object"):
        """Like `seen`, for lines that contain a JSON object."""
        return self.seen(lambda line: isinstance(line.json, dict) and wanted(line.json), within, what)

    def transcript(self):
        return "\n".join(("! " if line.error else "  ") + line.text for line in list(self.lines))

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def memory(self):
        """The process's anonymous memory in kilobytes. The pages of the program file do not count, because several processes share them."""
        rollup = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Anonymous:\s+(\d+)", rollup, re.MULTILINE).group(1))

    def ended(self, within):
        """Waits up to `within` seconds for the end of the process, and returns the exit status."""
        within = patient(within)
        try:
            status = self.process.wait(within)
        except subprocess.TimeoutExpired:
            raise TooLate(f"{self.name} still runs after {within} s; it printed:\n{self.transcript()}") from None
        self._close()
        return status

    def _close(self):
        """Closes the pipes, because a test may start thousands of programs. A pipe stays open if a child of the program still
        holds it after 1 s."""
        for reader, pipe in zip(self._readers, (self.process.stdout, self.process.stderr)):
            reader.join(1)
            if not reader.is_alive():
                pipe.close()

    def terminate(self):
        """Sends SIGTERM and returns the time."""
        at = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return at

    def stop(self):
        """Sends SIGTERM, and SIGKILL if the process does not end within three seconds."""
        if self.is_running:
            self.terminate()
            try:
                self.process.wait(patient(3))
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self._close()
