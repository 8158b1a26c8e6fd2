"""Shows how far `swift build` is and writes its complete output to a file. If the build fails, prints its messages and exits
with 1.

usage: swift build ... 2>&1 | progress.py LABEL LOG

A terminal shows one line that changes; otherwise one line is printed every 15 s. The remaining time is not shown, because SwiftPM adds
steps during the build.
"""

import re
import shutil
import sys
import threading
import time

STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
COMPLETE = re.compile(r"Build (of .*)?complete!")
FETCHING = ("Fetching", "Fetched", "Creating working copy", "Computing version")
began = time.monotonic()
label, log = sys.argv[1:]
place, now = "reading the packages", ""


def spoken():
    seconds = time.monotonic() - began
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def show():
    while not ended.wait(1 if sys.stdout.isatty() else 15):
        line = f"{label}: {place}, {spoken()} so far"
        if sys.stdout.isatty():
            line = f"\r\033[K{line} · {now}"[: shutil.get_terminal_size().columns + 3]
        print(line, end="" if sys.stdout.isatty() else "\n", flush=True)


ended = threading.Event()
shows = threading.Thread(target=show, daemon=True)
shows.start()
messages, finished = [], False
try:
    with open(log, "w", encoding="utf-8") as kept:
        for line in sys.stdin:
            kept.write(line)
            finished = finished or COMPLETE.match(line) is not None
            if step := STEP.match(line):
                place, now = f"step {step[1]} of {step[2]}", step[3]
            else:
                messages.append(line)
                place = line.split("(")[0].strip() if line.startswith(FETCHING) else place
except KeyboardInterrupt:
    sys.exit(130)
finally:
    ended.set()
    shows.join()
if sys.stdout.isatty():
    print("\r\033[K", end="")
if finished:
    print(f"{label}: done in {spoken()}", flush=True)
else:
    sys.stderr.writelines(messages[-200:])
    sys.exit(1)
