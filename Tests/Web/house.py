"""A small house on a LAN of network namespaces, its daemon, and a browser in the daemon's network."""

import os
import pathlib
import sys

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PORT = 7580
ADDRESS = f"http://127.0.0.1:{PORT}"
# Waits for an answer of the daemon: 150 attempts, 0.1 s apart.
ANSWERS = """\
import sys, time, urllib.request
for left in reversed(range(150)):
    try:
        urllib.request.urlopen(sys.argv[1] + "/health", timeout=2)
        break
    except OSError as error:
        if left == 0:
            sys.exit(str(error))
        time.sleep(0.1)
"""
TOGGLE = """\
- rule: Hall
  when: { plug: Switch, button: single }
  then:
    - toggle: Television
- rule: Bedtime
  when: { plug: Switch, button: double }
  then:
    - turn off: Lamp
"""


class House:
    """Each plug has its own host; the daemon and the browser share a network, as on a home computer."""

    def __init__(self, lan, plug, controller, directory, network):
        self._lan, self._plug = lan, plug
        self.directory = directory
        self.host = lan.host(network=network)
        # A failed test may have left rules that drop packets.
        self.host.run("nft", "flush", "ruleset")
        self._controller = controller(self.host)
        self.plugs = {}
        self.daemon = None
        self.rules = directory / "rules.yaml"
        self.rules.write_text(TOGGLE)

    def add(self, name, **options):
        self.plugs[name] = self._plug(self._lan.host(), name, **options)
        return self.plugs[name]

    def password(self, password, *words):
        """Sets a password of the dashboard; `words` are further arguments of `plugctl daemon password`."""
        typed = self.directory / "typed"
        typed.write_text(password + "\n")
        told = self.host.finish(
            "sh", "-c", 'typed=$1; shift; exec "$@" < "$typed"', "sh", typed, self._controller.program, "daemon", "password",
            *words)
        assert told.status == 0, told

    def does(self, *words):
        """Runs `plugctl` on the daemon's host, which must succeed."""
        return self._controller.does(*words)

    def start_daemon(self, *words):
        """Starts the daemon and waits until it answers; `words` are further options."""
        self.daemon = self._controller.start(
            "daemon", "--json", "--rules", self.rules, "--state", self.directory / "daemon", "--history", self.directory / "history",
            "--socket", self.directory / "daemon.socket", "--listen", f"127.0.0.1:{PORT}", *words)
        answer = self.host.finish(sys.executable, "-c", ANSWERS, ADDRESS, within=25)
        assert answer.status == 0 and self.daemon.is_running, f"the dashboard: {answer.errors}\n{self.daemon.transcript()}"
        return self.daemon

    def cut_page_off(self):
        """Drops the packets between the page and the daemon, without closing their connections."""
        self.host.run("nft", "add table inet page")
        self.host.run("nft", "add chain inet page input { type filter hook input priority 0; }")
        for side in ("dport", "sport"):
            self.host.run("nft", f"add rule inet page input tcp {side} {PORT} drop")

    def join_page(self):
        self.host.run("nft", "delete table inet page")

    def kill_daemon(self):
        """Kills the daemon with SIGKILL, as the kernel does when it has no free memory."""
        self.daemon.process.kill()
        self.daemon.ended(within=5)


def launch(playwright, network, directory):
    """Starts a browser in the network of a process. Playwright uses a pipe, which works across namespaces."""
    wrapper = pathlib.Path(directory) / "chromium"
    wrapper.write_text(f'#!/bin/sh\nexec nsenter --target {network} --net -- {CHROMIUM} "$@"\n')
    wrapper.chmod(0o755)
    return playwright.chromium.launch(
        executable_path=str(wrapper), args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"])
