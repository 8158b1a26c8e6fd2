"""Histories of artificial days, imported and read by `plugctl`."""

import json
import os
import subprocess


class History:
    """A history into which `plugctl` imports recordings."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder

    def run(self, *words, zone="Europe/Berlin", status=0):
        done = subprocess.run(
            [self.programs / "plugctl", *map(str, words), "--history", self.folder / "history"],
            capture_output=True, text=True, timeout=60, env={**os.environ, "TZ": zone, "LANG": "C.UTF-8"})
        assert done.returncode == status, done
        self.said = done.stderr
        return done.stdout if status == 0 else done.stderr

    def records(self, *words, **options):
        return [json.loads(line) for line in self.run("history", *words, "--json", **options).splitlines()]

    def holds(self, name, lines, **options):
        """Imports a recording of these lines."""
        file = self.folder / f"{name}.csv"
        file.write_text("\n".join(lines) + "\n")
        return self.run("history", "import", file, "--plug", name, **options)


def steady(day, watts, hours=range(24), step=10):
    """Returns the lines of a recording of these hours of a day, with a sample every `step` seconds."""
    return [f"{day} {hour:02}:{second // 60:02}:{second % 60:02};{watts}" for hour in hours for second in range(0, 3600, step)]


class Past:
    """A history of imported recordings of 20 November 2026, with rules and backtests."""

    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder

    def run(self, *words, status=0):
        done = subprocess.run(
            [self.programs / "plugctl", *map(str, words), "--history", self.folder / "history"],
            capture_output=True, text=True, timeout=60, env={**os.environ, "TZ": "Europe/Berlin", "LANG": "C.UTF-8"})
        assert done.returncode == status, done
        self.said = done.stderr
        return done.stdout if status == 0 else done.stderr

    def rules(self, text, name="rules.yaml"):
        file = self.folder / name
        file.write_text(text)
        return file

    def backtest(self, rules, *words):
        return [json.loads(line) for line in self.run("rules", "backtest", rules, *words, "--json").splitlines()]

    def holds(self, name, points):
        """Imports a recording with one sample per second. `points` are pairs: a second of 20 November 2026, and the watts from that second
        to the next pair. The last pair only ends the recording."""
        lines, (second, watts) = [], points[0]
        for begin, now in points[1:]:
            while second < begin:
                lines.append(f"20/11/2026 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02};{watts}")
                second += 1
            watts = now
        file = self.folder / f"{name}.csv"
        file.write_text("\n".join(lines) + "\n")
        self.run("history", "import", file, "--plug", name)


def hours(hour, minute=0, second=0):
    return hour * 3600 + minute * 60 + second


def firings(records, rule):
    return [record for record in records if record["event"] == "firing" and record["rule"] == rule]
