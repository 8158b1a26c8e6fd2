"""Shows the progress of a build: reads the output of SwiftPM and writes it to a file. If the build fails, prints its messages and exits
with 1.

usage: swift build ... 2>&1 | progress.py LABEL LOG

A terminal shows one line that changes; otherwise one line is printed every 15 s. The remaining time is not shown, because SwiftPM adds
steps during the build.
"""

import pathlib
import queue
import re
import shutil
import sys
import threading
import time

STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
EVERY = 15  # seconds


def spoken(seconds):
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


class Progress:
    def __init__(self, label):
        self._label, self._began, self._told = label, time.monotonic(), time.monotonic()
        self._terminal = sys.stdout.isatty()
        self._done = self._of = 0
        self._now = "reading the packages"
        self.finished = False

    def take(self, line):
        if line.startswith("Build complete!") or (line.startswith("Build of ") and " complete!" in line):
            self.finished = True
        if not (step := STEP.match(line)):
            if line.startswith(("Fetching", "Fetched", "Creating working copy", "Computing version")):
                self._now = line.split("(")[0].strip()
            return
        self._done, self._of, self._now = int(step[1]), int(step[2]), step[3]

    def tell(self):
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{self._line()} · {self._now}"[: width + 4], end="", flush=True)
        elif time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            print(self._line(), flush=True)

    def end(self):
        if self._terminal:
            print("\r\033[K", end="")
        if self.finished:
            print(f"{self._label}: done in {spoken(time.monotonic() - self._began)}", flush=True)

    def _line(self):
        line = self._label
        if self._of:
            line += f": step {self._done} of {self._of}"
        else:
            line += f": {self._now}"
        return line + f", {spoken(time.monotonic() - self._began)} so far"


def lines_of(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def main():
    label, log = sys.argv[1], pathlib.Path(sys.argv[2])
    progress, said, lines = Progress(label), [], queue.Queue()
    threading.Thread(target=lines_of, args=(sys.stdin, lines), daemon=True).start()
    with open(log, "w", encoding="utf-8") as kept:
        while True:
            try:
                line = lines.get(timeout=1)
            except queue.Empty:
                progress.tell()
                continue
            if line is None:
                break
            kept.write(line)
            progress.take(line.rstrip("\n"))
            if not STEP.match(line):
                said.append(line)
            progress.tell()
    progress.end()
    if not progress.finished:
        sys.stderr.writelines(said[-200:])
        sys.exit(1)


try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
