"""Runs the demonstration house unattended and prints a timeline. The exit status is 1 if an expected event is missing.

The check uses only the lines that the programs print, the times at which they arrive, and /proc.
"""

import argparse
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

FOUND_WITHIN = 0.25  # seconds from a plug's announcement to the line of `plugctl browse`
GONE_WITHIN = 1.5  # seconds from a plug's SIGTERM to the line of `plugctl browse`


class Failure(Exception):
    pass


class Lines:
    """The lines of a process's output with the time at which each arrived."""

    def __init__(self, stream, parse=None):
        self.seen = []
        self.arrived = queue.Queue()
        self.parse = parse or (lambda line: line)
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for raw in stream:
            self.arrived.put((time.monotonic(), self.parse(raw.decode().rstrip("\n"))))
        self.arrived.put(None)

    def so_far(self):
        """Returns all lines that have arrived."""
        while not self.arrived.empty():
            item = self.arrived.get()
            if item is None:
                break
            self.seen.append(item)
        return self.seen

    def wait(self, what, matches, seconds, since=0.0):
        """Returns the time and the content of the first line since `since` that matches. Raises Failure after `seconds` or at the output's end."""
        for moment, line in self.seen:
            if moment >= since and matches(line):
                return moment, line
        deadline = time.monotonic() + seconds
        while True:
            try:
                item = self.arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failure(f"not seen within {seconds:g} s: {what}") from None
            if item is None:
                raise Failure(f"the output ended before: {what}")
            self.seen.append(item)
            if item[0] >= since and matches(item[1]):
                return item


class House:
    def __init__(self, options):
        self.options = options
        self.processes = []
        self.start_of_all = time.monotonic()

    def say(self, text, moment=None):
        moment = time.monotonic() if moment is None else moment
        print(f"{moment - self.start_of_all:8.3f} s  {text}", flush=True)

    def start(self, program, *arguments, output=subprocess.DEVNULL, errors=subprocess.DEVNULL, environment=None):
        command = [os.path.join(self.options.programs, program), *arguments]
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        self.processes.append(process)
        return process

    def run(self, program, *arguments):
        command = [os.path.join(self.options.programs, program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if done.returncode != 0:
            raise Failure(f"{program} {' '.join(arguments)} exited {done.returncode}: {done.stderr.strip()}")

    def follow(self, *arguments, **how):
        return Lines(self.start("plugctl", *arguments, output=subprocess.PIPE, **how).stdout, json.loads)

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Failure(f"did not stop on SIGTERM: {' '.join(process.args)}") from None


def check(house):
    options = house.options
    interface = ["--interface", options.interface]
    browser = house.follow("browse", "--json", *interface)
    plugs, logs = {}, {}
    for entry in options.plug:
        name, state, *arguments = entry.split("\t")
        process = house.start(
            "plugd", "run", "--name", name, "--state", state, *interface, *arguments, errors=subprocess.PIPE)
        plugs[name], logs[name] = (process, state), Lines(process.stderr)
    find_all(house, browser, logs)
    for name, (_, state) in plugs.items():
        house.run("plugctl", "pair", name, "--code-file", os.path.join(state, "setup-code"), *interface)
    house.say(f"{len(plugs)} plugs paired, each with the setup code in its state directory")
    watch = house.follow("watch", "--json", *interface)
    for name in plugs:
        watch.wait(f"a snapshot of {name}", lambda line: is_event(line, name, "snapshot"), 10)
    house.say(f"{len(plugs)} plugs followed")
    broker = Broker(house, options.broker) if options.broker else None
    beside = os.path.dirname(next(iter(plugs.values()))[1])
    daemon = house.follow(
        "daemon", "--json", "--rules", options.rules, "--state", os.path.join(beside, "daemon"), "--history",
        os.path.join(beside, "history"), "--socket", os.path.join(beside, "daemon.socket"), "--listen", "127.0.0.1:0",
        *interface, environment=broker and broker.environment)
    _, serving = daemon.wait("the dashboard's address", lambda line: line.get("event") == "serving", 10)
    daemon.wait("the daemon following all plugs", lambda line: line.get("plugs") == len(plugs), 10)
    judge_dashboard(house, plugs, serving["address"])
    judge_story(house, plugs, watch, daemon)
    judge_button(house, plugs, watch)
    if broker:
        judge_broker(house, plugs, watch, broker)
    tell_cost(house, plugs)
    judge_goodbye(house, plugs, browser)


def judge_dashboard(house, plugs, address):
    """Checks that the dashboard serves its page and that its API lists every plug."""
    def fetch(place):
        try:
            with urllib.request.urlopen(address.rstrip("/") + place, timeout=5) as answer:
                return answer.headers.get_content_type(), answer.read()
        except OSError as error:
            raise Failure(f"{address}{place}: {error}") from None

    kind, page = fetch("/")
    if kind != "text/html" or b"<script" not in page:
        raise Failure(f"the dashboard's page is {kind}, {len(page)} bytes")
    deadline = time.monotonic() + 10
    while True:
        told = {plug["plug"]: plug["state"] for plug in json.loads(fetch("/api/v1/house")[1])["plugs"]}
        if told == dict.fromkeys(plugs, "connected"):
            break
        if time.monotonic() > deadline:
            raise Failure(f"the dashboard lists {told}")
        time.sleep(0.05)
    house.say(f"dashboard at {address} lists {len(told)} plugs; its page has {len(page)} bytes")


def is_event(line, plug, event, **fields):
    return line.get("plug") == plug and line.get("event") == event and all(
        line.get(key) == value for key, value in fields.items())


def find_all(house, browser, logs):
    worst = 0.0
    for name, log in logs.items():
        announced, _ = log.wait(f"{name} announced", lambda line: "announced" in line, 20)
        found, line = browser.wait(
            f"{name} found", lambda line: line["event"] == "found" and line["name"] == name, 10)
        worst = max(worst, found - announced)
        house.say(f"found {name} ({max(0, found - announced) * 1000:.0f} ms after its announcement)", found)
    if worst > FOUND_WITHIN:
        raise Failure(f"a plug was found {worst * 1000:.0f} ms after its announcement, {FOUND_WITHIN * 1000:.0f} allowed")
    house.say(f"{len(logs)} plugs found")


def judge_story(house, plugs, watch, daemon):
    """Checks the rule: when the television is on, the light goes off and the amplifier on."""
    interface = ["--interface", house.options.interface]
    began = time.monotonic()
    house.run("plugctl", "on", "Ceiling Light", *interface)
    watch.wait("the light on", lambda line: is_event(line, "Ceiling Light", "relay", on=True), 5, began)
    house.say("Ceiling Light on (by plugctl)")
    if not house.options.traces:
        began = time.monotonic()
        house.run("plugd", "load", "--state", plugs["Television"][1], "on")
        house.say("the television is switched on by hand")
    seen, _ = watch.wait(
        "the television above 40 W", lambda line: is_rise(line), house.options.patience, began)
    fired, line = daemon.wait(
        "the rule firing", lambda line: line.get("event") == "firing" and line.get("plug") == "Television", 15, seen)
    rise, watts = last_rise(watch, fired)
    house.say(f"Television rose to {watts:.1f} W and stayed above 40 W", rise)
    house.say(f"rule \"{line['rule']}\" fired: {line['why']}", fired)
    for name, on in (("Ceiling Light", False), ("Amplifier", True)):
        moment, line = watch.wait(
            f"{name} {'on' if on else 'off'}", lambda line: is_event(line, name, "relay", on=on), 5, rise)
        house.say(
            f"{name} {'on' if on else 'off'}, confirmed by its event {line['seq']}: {moment - rise:.3f} s after the rise "
            f"(3 s of which the rule waits), {(moment - fired) * 1000:.1f} ms after the firing", moment)


def is_rise(line):
    return is_event(line, "Television", "reading") and line["activePower"] > 40


def last_rise(watch, before):
    """Returns the time and the power of the first reading in the last series of readings above 40 W until `before`.

    A peak at switch-on is a separate, earlier series."""
    began, watts = before, 0.0
    for moment, line in reversed(watch.so_far()):
        if moment > before or not is_event(line, "Television", "reading"):
            continue
        if not is_rise(line):
            break
        began, watts = moment, line["activePower"]
    return began, watts


def judge_button(house, plugs, watch):
    pressed = time.monotonic()
    house.run("plugd", "press", "--state", plugs["Kettle"][1])
    relay, _ = watch.wait(
        "the kettle's relay", lambda line: is_event(line, "Kettle", "relay", cause="button"), 5, pressed)
    press, line = watch.wait(
        "the press of the kettle's button", lambda line: is_event(line, "Kettle", "button", press="single"), 5, pressed)
    house.say(f"Kettle's button pushed: relay event printed {(relay - pressed) * 1000:.0f} ms later", relay)
    house.say(
        f"Kettle's event {line['seq']} \"single\" printed {(press - pressed) * 1000:.0f} ms later "
        "(100 ms of pushing and 300 ms of waiting for a second press included)", press)


class Broker:
    """mosquitto on its standard port, and a subscriber to all topics of the house. It needs its own network namespace."""

    def __init__(self, house, folder):
        os.makedirs(os.path.join(folder, "smartplug"))
        self.environment = {"XDG_CONFIG_HOME": folder}
        settings, configuration = os.path.join(folder, "smartplug", "broker.toml"), os.path.join(folder, "mosquitto.conf")
        for path, text in ((settings, '[broker]\nhost = "127.0.0.1"\ntls = "off"\n'), (configuration, "user root\nlistener 1883\nallow_anonymous true\n")):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        house.start("/usr/sbin/mosquitto", "-c", configuration)
        self._wait_for_port(1883, 10)
        listener = house.start("/usr/bin/mosquitto_sub", "-v", "-t", "smartplug/#", output=subprocess.PIPE)
        self.heard = Lines(listener.stdout, lambda line: line.partition(" ")[::2])

    @staticmethod
    def _wait_for_port(port, seconds):
        deadline = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise Failure(f"mosquitto does not listen: {error}") from None
                time.sleep(0.05)

    def told(self, topic, wanted, seconds, since=0.0):
        """Waits for a message that `wanted` accepts, as parsed JSON or else as text. `topic` is the end of the topic."""
        def matches(line):
            try:
                message = json.loads(line[1])
            except ValueError:
                message = line[1]
            return line[0].endswith(topic) and wanted(message)

        return self.heard.wait(f"a message of {topic} at the broker", matches, seconds, since)


def judge_broker(house, plugs, watch, broker):
    """Checks that the broker has every plug, receives its events and forwards a command."""
    ids = {}
    for name in plugs:
        _, (topic, _) = broker.told("/about", lambda message, name=name: message["name"] == name, 10)
        ids[name] = topic.split("/")[-2]
        broker.told(f"{ids[name]}/availability", lambda message: message == "online", 10)
    house.say(f"mosquitto_sub received messages of {len(ids)} plugs")
    began = time.monotonic()
    house.run("/usr/bin/mosquitto_pub", "-t", f"smartplug/home/{ids['Ceiling Light']}/set", "-m", "ON")
    seen, line = watch.wait("the light on", lambda line: is_event(line, "Ceiling Light", "relay", on=True), 5, began)
    heard, (topic, message) = broker.told(
        f"{ids['Ceiling Light']}/event", lambda event: event["event"] == "relay" and event["seq"] == line["seq"], 5, began)
    house.say(f"Ceiling Light on, by mosquitto_pub: its event {line['seq']} printed {(seen - began) * 1000:.0f} ms after the program was started", seen)
    house.say(f"mosquitto_sub printed: {topic} {message}", heard)


def tell_cost(house, plugs):
    ticks = os.sysconf("SC_CLK_TCK")
    seconds = 10.0

    def processor_time(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / ticks

    process = plugs["Kettle"][0]
    before = processor_time(process.pid)
    time.sleep(seconds)
    share = 100 * (processor_time(process.pid) - before) / seconds
    sizes = {}
    with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as rollup:
        for line in rollup:
            words = line.split()
            if words[0] in ("Rss:", "Anonymous:"):
                sizes[words[0][:-1]] = int(words[1]) / 1024
    house.say(
        f"plugd of the Kettle, not optimised, idle: {sizes['Rss']:.1f} MB resident, {sizes['Anonymous']:.2f} MB anonymous, "
        f"{share:.2f} % of a core over {seconds:g} s")


def judge_goodbye(house, plugs, browser):
    stopped = time.monotonic()
    plugs["Washing Machine"][0].send_signal(signal.SIGTERM)
    gone, _ = browser.wait(
        "the washing machine gone",
        lambda line: line["event"] == "lost" and line["name"] == "Washing Machine", GONE_WITHIN, stopped)
    house.say(f"Washing Machine stopped, gone from the browser after {gone - stopped:.3f} s", gone)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True, help="directory of plugd and plugctl")
    parser.add_argument("--rules", required=True)
    parser.add_argument("--interface", default="lo")
    parser.add_argument("--traces", action="store_true", help="the television is a recording, whose power rises without a user")
    parser.add_argument("--patience", type=float, default=15, help="seconds to wait for the television's rise")
    parser.add_argument("--broker", metavar="FOLDER", help="run mosquitto too, with its files in this folder")
    parser.add_argument("--plug", action="append", metavar="NAME<TAB>STATE<TAB>ARGUMENT...", required=True)
    house = House(parser.parse_args())
    failure = None
    try:
        check(house)
    except Failure as error:
        failure = error
    try:
        house.stop()
    except Failure as error:
        failure = failure or error
    if failure:
        print(f"demo check failed: {failure}", file=sys.stderr)
        return 1
    house.say("everything stopped")
    print("demo check passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
