#!/usr/bin/env python3
"""Measures the energy of each cycle of an appliance, such as a washing machine, and posts it to a web address:

    cycle-energy.py "Washing Machine" http://localhost:8080/cycles [--above 10] [--below 5] [--quiet 180]

A cycle begins when active power rises above 10 W. It ends when the power falls below 5 W and stays there for three minutes, or
when the plug is turned off. The posted end is the start of these three minutes, or the time at which the plug was turned off. Each post
is one JSON object: id, plug, begin, end (ISO 8601, UTC) and wattHours.

The program needs Python 3.9 and plugctl (in PATH), paired with the plug. It runs until it is interrupted. It stores its state in one
file that is replaced atomically: the cursor, the running cycle, and the cycles that are not posted yet. A running cycle continues if
the program ends and starts again: the plug continues to count energy, and its journal has the time at which it was turned off. A cycle
that begins and ends while the program does not run is not found. If more than 1,000 cycles are not posted, the oldest are dropped. If
the answer to a post is lost, the post is sent again with the same id and the same Idempotency-Key header, so that the receiver can
ignore it.
"""

import argparse
import datetime
import fcntl
import json
import os
import pathlib
import selectors
import subprocess
import sys
import time
import urllib.error
import urllib.request

LONGEST_PAUSE = 60  # seconds between two attempts
MOST_UNSENT = 1000  # cycles; limits the file while the receiver is unreachable
LONGEST_ANSWER = 10  # seconds


class Memory:
    """The persistent state of the program: a JSON object in a file."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        # Two processes would post each cycle twice. The lock ends with the process.
        self._lock = open(path.with_suffix(".lock"), "w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.known = {"cursor": None, "cycle": None, "unsent": []}
        if path.exists():
            self.known.update(json.loads(path.read_text()))

    def keep(self):
        """Replaces the file atomically, even if the power fails."""
        new = self._path.with_suffix(".new")
        with open(new, "w") as file:
            json.dump(self.known, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)


class Pause:
    """The pause between attempts: 1 s, doubled after each failure up to one minute."""

    def __init__(self):
        self.succeeded()

    def succeeded(self):
        self._seconds = 1
        self.until = 0.0

    def failed(self):
        self.until = time.monotonic() + self._seconds
        self._seconds = min(2 * self._seconds, LONGEST_PAUSE)


class Cycles:
    """Finds cycles in the lines of `plugctl watch --json`."""

    def __init__(self, memory, plug, above, below, quiet):
        self._memory, self._plug = memory, plug
        self._above, self._below, self._quiet = above, below, quiet
        self._energy = None

    def take(self, line):
        known = self._memory.known
        before = json.dumps(known)
        cycle = known["cycle"]
        self._energy = line.get("activeEnergy", self._energy)
        if "activePower" in line and self._energy is not None:
            power = line["activePower"]
            if cycle is None and power > self._above:
                known["cycle"] = {"begin": line["at"], "from": self._energy, "quietSince": None}
            elif cycle is not None:
                # Readings between two runs of `plugctl watch` are missing. An appliance that is quiet before and after counts as quiet in between.
                if power >= self._below:
                    cycle["quietSince"] = None
                elif cycle["quietSince"] is None:
                    cycle["quietSince"], cycle["to"] = line["at"], self._energy
                if cycle["quietSince"] and seconds(line["at"]) - seconds(cycle["quietSince"]) >= self._quiet:
                    self._ended(cycle["quietSince"], cycle["to"])
        elif line["event"] == "relay" and not line["on"] and cycle is not None:
            cycle["offSince"] = line["at"]
        # The first reading after the plug was turned off has the final energy.
        if known["cycle"] is not None and "offSince" in known["cycle"] and "activeEnergy" in line:
            self._ended(known["cycle"]["offSince"], self._energy)
        # The cursor is stored together with the effect of its line. Lines of readings are frequent and have no cursor.
        if "cursor" in line:
            known["cursor"] = line["cursor"]
        if json.dumps(known) != before:
            self._memory.keep()

    def _ended(self, at, energy):
        known = self._memory.known
        cycle, known["cycle"] = known["cycle"], None
        known["unsent"].append({
            "id": f"{self._plug} {cycle['begin']}", "plug": self._plug, "begin": cycle["begin"], "end": at,
            "wattHours": round(energy - cycle["from"], 3)})
        del known["unsent"][:-MOST_UNSENT]


def seconds(iso8601):
    return datetime.datetime.fromisoformat(iso8601.replace("Z", "+00:00")).timestamp()


def post(cycle, address):
    """Returns True if the cycle needs no further post. A permanent refusal is printed, and the cycle is dropped."""
    request = urllib.request.Request(
        address, json.dumps(cycle).encode(), {"Content-Type": "application/json", "Idempotency-Key": cycle["id"]})
    try:
        with urllib.request.urlopen(request, timeout=LONGEST_ANSWER):
            return True
    except urllib.error.HTTPError as error:
        print(f"{address} answered {cycle['id']} with status {error.code}", file=sys.stderr)
        return 400 <= error.code < 500 and error.code not in (408, 429)
    except OSError as error:
        print(f"{address}: {error}", file=sys.stderr)
        return False


class Watching:
    """`plugctl watch`, started again whenever it ends."""

    def __init__(self, plug, memory):
        self._plug, self._memory = plug, memory
        self._process = None
        self._rest = b""
        self.pause = Pause()

    def begin(self):
        cursor = self._memory.known["cursor"]
        place = ["--after", cursor] if cursor else ["--from-now"]
        self._process = subprocess.Popen(
            ["plugctl", "watch", self._plug, "--json", *place], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self._began = time.monotonic()
        self._rest = b""

    @property
    def output(self):
        return self._process.stdout if self._process else None

    def lines(self):
        """Returns the lines that have arrived; None at the end of the output."""
        piece = os.read(self.output.fileno(), 1 << 16)
        if not piece:
            return None
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [json.loads(line) for line in lines]

    def ended(self):
        status = self._process.wait()
        self._process.stdout.close()
        self._process = None
        if status == 64:  # a usage error, which a retry does not fix
            sys.exit(64)
        if time.monotonic() - self._began > LONGEST_PAUSE:
            self.pause.succeeded()
        self.pause.failed()


def main():
    options = argparse.ArgumentParser(description="Counts the energy of an appliance's cycles and posts it.")
    options.add_argument("plug")
    options.add_argument("address")
    options.add_argument("--above", type=float, default=10, metavar="W", help="a cycle begins above this power (default: 10)")
    options.add_argument("--below", type=float, default=5, metavar="W", help="the appliance is quiet below this power (default: 5)")
    options.add_argument("--quiet", type=float, default=180, metavar="S", help="a cycle ends after this time of quiet (default: 180)")
    options.add_argument("--memory", type=pathlib.Path, help="the file of the stored state (default: in the state directory)")
    asked = options.parse_args()
    home = pathlib.Path(os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state")
    name = "cycle-energy-" + asked.plug.replace("/", "_") + ".json"
    memory = Memory(asked.memory or home / "smartplug/examples" / name)
    cycles = Cycles(memory, asked.plug, asked.above, asked.below, asked.quiet)
    watching, posting = Watching(asked.plug, memory), Pause()
    with selectors.DefaultSelector() as selector:
        while True:
            now = time.monotonic()
            unsent = memory.known["unsent"]
            if unsent and now >= posting.until:
                if post(unsent[0], asked.address):
                    del unsent[0]
                    memory.keep()
                    posting.succeeded()
                else:
                    posting.failed()
                continue
            if not watching.output and now >= watching.pause.until:
                watching.begin()
                selector.register(watching.output, selectors.EVENT_READ)
            due = ([posting.until] if unsent else []) + ([] if watching.output else [watching.pause.until])
            if not selector.select(max(0, min(due) - now) if due else None):
                continue
            lines = watching.lines()
            if lines is None:
                selector.unregister(watching.output)
                watching.ended()
            for line in lines or []:
                cycles.take(line)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
