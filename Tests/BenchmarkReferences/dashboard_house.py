"""Measures the dashboard of a house with many plugs in Chromium, with the same page from nginx as a reference, and the resources of the
daemon. Prints one {"name", "value"} per line.

dashboard_house.py BENCHMARKS PROGRAMS PLUGS DAYS SECONDS SETTLING PRESSES
BENCHMARKS is the program of the benchmarks, PROGRAMS the folder of plugd and plugctl, PLUGS the number of plugs, DAYS the length of the
history, SECONDS the time for which the idle daemon is watched, SETTLING the seconds of waiting before that, PRESSES the number of button
presses.
"""

import http.client
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import threading
import time
from datetime import datetime

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interoperability"), str(HERE.parent / "Web")]

from playwright.sync_api import sync_playwright  # noqa: E402

from deadlines import eventually  # noqa
from harness.lan import LAN  # noqa: E402
from harness.plugs import Plug  # noqa: E402

PORT = 7580
STATIC_PORT = 8080

# The time at which the page first shows a plug's power on the screen, in milliseconds since the navigation.
FIRST_WATTS = """
    window.firstWatts = new Promise((resolve, reject) => {
        setTimeout(() => reject('no watts within 20 s'), 20000)
        const look = () => {
            if (document.querySelector('main article data[value]'))
                requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
            else requestAnimationFrame(look)
        }
        look()
    })
"""

# Records the wall times at which the switch of the named plug changes.
WATCH_SWITCH = """
    name => {
        window.turns = []
        const found = [...document.querySelectorAll('[role=switch]')].find(one => one.getAttribute('aria-label') === name)
        new MutationObserver(() => window.turns.push(performance.timeOrigin + performance.now()))
            .observe(found, { attributes: true, attributeFilter: ['aria-checked'] })
    }
"""


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


def milliseconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


class Daemon:
    def __init__(self, house, *options):
        self.house = house
        self.running = house.host.start(
            house.programs / "plugctl", "daemon", "--json", "--state", house.folder / "daemon", "--socket",
            house.folder / "socket", *options, name="plugctl daemon")

    def follows(self, count):
        self.running.seen_object(lambda told: told.get("plugs") == count, 120, f"that it follows {count} plugs")

    def stop(self):
        self.running.terminate()
        self.running.ended(within=15)

    @property
    def processor(self):
        """The processor time so far in seconds. It is read from the process's clock, because /proc only counts ticks of 10 ms."""
        # The id of the clock that counts the time of all threads of the process (clock_getcpuclockid(3)).
        return time.clock_gettime(~self.running.process.pid << 3 | 2)

    @property
    def memory(self):
        """The resident anonymous memory in kilobytes."""
        return self.running.memory

    @property
    def resident(self):
        status = pathlib.Path(f"/proc/{self.running.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def rest(self, name, seconds):
        began, used = time.monotonic(), self.processor
        time.sleep(seconds)
        tell(f"processor{name}", (self.processor - used) / (time.monotonic() - began))
        if name != ", page":
            tell(f"memory{name}", self.memory)


class House:
    def __init__(self, benchmarks, programs, count, days, seconds, settling, presses):
        self.benchmarks, self.programs = benchmarks, pathlib.Path(programs)
        self.count, self.days, self.presses = int(count), days, int(presses)
        self.seconds, self.settling = float(seconds), float(settling)
        self.folder = pathlib.Path(tempfile.mkdtemp())
        for name in ("STATE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = str(self.folder / name.lower())
        self.lan = LAN()
        self.host = self.lan.host(ipv6=False)
        self.plugs = []

    def run(self):
        bare = Daemon(self, "--no-history", "--no-dashboard")
        time.sleep(5)
        tell("memory, no plugs", bare.memory)
        bare.stop()
        self.start_plugs()
        self.host.finish(self.benchmarks, "--peer", "year", self.folder / "history", self.days, *self.ids(), within=900)
        history = ("--history", self.folder / "history")
        for name, options in ((", no history", ("--no-history", "--no-dashboard")), (", no dashboard", (*history, "--no-dashboard"))):
            daemon = self.settled(*options)
            daemon.rest(name, self.seconds)
            daemon.stop()
        self.daemon = self.settled(*history, "--listen", f"127.0.0.1:{PORT}")
        self.daemon.rest("", self.seconds)
        tell("resident", self.daemon.resident)
        self.browse()
        self.crowd()
        self.lan.close()

    def start_plugs(self):
        hosts = [self.lan.host(ipv6=False) for _ in range(4)]
        for number in range(self.count):
            self.plugs.append(Plug(
                self.programs, hosts[number % len(hosts)], f"Plug {number}", self.folder / f"plug{number}", simulate="kettle"))
            time.sleep(0.05)

    def ids(self):
        return [(plug.state / "id").read_text().split()[0] for plug in self.plugs]

    def settled(self, *options):
        """Starts a daemon, waits until it follows all plugs, and then waits SETTLING seconds for its first backfill."""
        daemon = Daemon(self, *options)
        daemon.follows(self.count)
        time.sleep(self.settling)
        return daemon

    # Measurements in a browser

    def browse(self):
        wrapper = self.folder / "chromium"
        entering = " ".join(self.host.entering(["chromium"]))
        wrapper.write_text(f'#!/bin/sh\nexec {entering} "$@"\n')
        wrapper.chmod(0o755)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=str(wrapper), args=["--no-sandbox"])
            address = f"http://127.0.0.1:{PORT}/"
            self.static_page(browser, address)
            for _ in range(1 + self.presses // 15):
                tell("paint", self.first_watts(browser, address))
                tell("static paint", self.first_watts(browser, f"http://127.0.0.1:{STATIC_PORT}/"))
            self.press(browser, address)
            browser.close()

    def first_watts(self, browser, address):
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.add_init_script(FIRST_WATTS)
        page.goto(address, wait_until="commit")
        time_taken = page.evaluate("window.firstWatts")
        context.close()
        return time_taken

    def static_page(self, browser, address):
        """Serves the rendered DOM of the page with nginx: with its style sheets, and with scripts replaced by comments of equal size."""
        root = self.folder / "static"
        root.mkdir()
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(FIRST_WATTS)
        bodies = {}
        page.on("response", lambda answer: bodies.update({answer.url: answer}))
        page.goto(address)
        page.evaluate("window.firstWatts")
        text = page.content()
        total = 0
        for url, answer in list(bodies.items()):
            path = url.removeprefix(address)
            if not url.startswith(address) or path.startswith("api/v1/stream"):
                continue
            content = answer.body()
            total += len(content)
            if path.endswith(".js"):
                content = b"/*" + content.replace(b"*/", b"* ")[: max(0, len(content) - 4)] + b"*/"
            if path:
                file = root / path.split("?")[0]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        (root / "index.html").write_text(text)
        tell("page bytes", total)
        context.close()
        configuration = self.folder / "nginx.conf"
        configuration.write_text(
            f"user root; daemon off; pid {self.folder}/nginx.pid; error_log /dev/null; events {{}} http {{ access_log off; include /etc/nginx/mime.types; "
            f"server {{ listen 127.0.0.1:{STATIC_PORT}; root {root}; }} }}\n")
        self.folder.chmod(0o755)
        self.host.start("nginx", "-c", configuration)
        time.sleep(1)

    def press(self, browser, address):
        page = browser.new_page()
        page.add_init_script(FIRST_WATTS)
        page.goto(address)
        page.evaluate("window.firstWatts")
        self.daemon.rest(", page", 2 * self.settling)
        plug = self.plugs[self.count // 2]
        page.evaluate(WATCH_SWITCH, plug.name)
        for number in range(self.presses):
            assert plug.press().status == 0
            eventually(lambda: len(page.evaluate("window.turns")) > number, 5, "a change of the switch on the page")
            # Without this pause two presses would be a double press.
            time.sleep(0.6)
        turns = page.evaluate("window.turns")
        for event, shown in zip(self.relay_events(plug.name)[-len(turns):], turns):
            tell("shown", shown - event)
        page.close()

    def relay_events(self, name):
        answer = self.host.finish(
            sys.executable, "-c",
            f"import urllib.request as r; print(r.urlopen('http://127.0.0.1:{PORT}/api/v1/events?limit=1000').read().decode())")
        time.sleep(1)
        return [milliseconds(told["at"]) for told in json.loads(answer.output) if told["plug"] == name and told["event"] == "relay"]

    # Measurements with many readers of the event stream

    def crowd(self):
        before = self.daemon.memory
        alone = self.host.start(sys.executable, HERE / "stream_readers.py", PORT, 1, 0)
        tell("heard alone", self.heard(alone))
        alone.stop()
        readers = self.host.start(sys.executable, HERE / "stream_readers.py", PORT, 40, 10)
        readers.seen_object(lambda told: told["event"] == "reading", 20, "that all read")
        time.sleep(2 * self.settling)
        tell("heard in a crowd", self.heard(readers))
        tell("memory of readers", self.daemon.memory - before)
        readers.stop()

    def heard(self, readers):
        readers.seen_object(lambda told: told["event"] == "reading", 20, "that all read")
        plug = self.plugs[0]
        for number in range(self.presses // 3):
            assert plug.press().status == 0
            eventually(
                lambda: sum(line.json["event"] == "heard" for line in list(readers.lines) if line.json) > number, 5, "the event")
            time.sleep(0.6)
        return statistics.median(
            line.json["late"] for line in list(readers.lines) if line.json and line.json["event"] == "heard")


if __name__ == "__main__":
    # The browser and the plugs may use all cores; the measured program is the daemon.
    os.sched_setaffinity(0, range(os.cpu_count()))
    House(*sys.argv[1:]).run()
