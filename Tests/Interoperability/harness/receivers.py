"""Receivers of notifications: a desktop on a message bus, an ntfy server, a replacement for sendmail, a command."""

import json
import pathlib
import sys

from deadlines import eventually

HERE = pathlib.Path(__file__).parent
# Debian's Python, which has the modules for D-Bus.
SYSTEM_PYTHON = "/usr/bin/python3"


class Desktop:
    """A session bus with a service that shows notifications. `manner` is an option of desktop_program.py."""

    def __init__(self, host, folder, *capabilities, manner=None):
        path = folder / "bus"
        self.address = f"unix:path={path}"
        host.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", f"--address={self.address}")
        eventually(path.exists, 5, "the session bus")
        self.running = host.start(
            "env", f"DBUS_SESSION_BUS_ADDRESS={self.address}", SYSTEM_PYTHON, HERE / "desktop_program.py", *capabilities,
            *([manner] if manner else []), name="desktop")
        self.running.seen(lambda line: line.text == "ready", 10, "that the desktop is ready")

    @property
    def shown(self):
        return objects(self.running)


class Ntfy:
    """An ntfy server that answers each message with the next of these statuses, and all further ones with the last status."""

    def __init__(self, host, *answers):
        self.running = host.start(sys.executable, HERE / "ntfy_program.py", *answers, name="ntfy")
        port = self.running.seen_object(lambda told: "port" in told, 10, "the port").json["port"]
        self.address = f"http://127.0.0.1:{port}"

    @property
    def messages(self):
        return [told for told in objects(self.running) if "path" in told]


class Program:
    """A program that stores the arguments and the input of each call in a new file. `fails` sets its exit status."""

    def __init__(self, folder, name):
        self.folder = folder / f"{name}.given"
        self.folder.mkdir()
        self.path = folder / name
        self.path.write_text(
            f'#!/bin/sh\nfile=$(mktemp {self.folder}/XXXXXX)\n{{ printf "%s\\n" "$*"; cat; }} >"$file"\nmv "$file" "$file.whole"\n'
            f"[ ! -e {self.path}.status ] || {{ echo 'not now' >&2; exit $(cat {self.path}.status); }}\n")
        self.path.chmod(0o755)

    def fails(self, status):
        file = pathlib.Path(f"{self.path}.status")
        file.write_text(str(status)) if status else file.unlink()

    @property
    def given(self):
        """The arguments and the input of each call."""
        files = sorted(self.folder.glob("*.whole"), key=lambda file: file.stat().st_mtime_ns)
        return [tuple(file.read_bytes().split(b"\n", 1)) for file in files]


def objects(running):
    return [line.json for line in list(running.lines) if isinstance(line.json, dict)]


def settings(tmp_path, text):
    """Writes notifications.toml into the configuration directory of the test's programs."""
    file = tmp_path / "configuration" / "smartplug" / "notifications.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def token(tmp_path, text, mode=0o600):
    file = tmp_path / "ntfy-token"
    file.write_text(text)
    file.chmod(mode)
    return file


def event_of(given):
    return json.loads(given[1])
