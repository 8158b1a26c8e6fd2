"""Measures how long commands of plugctl and of kasa (python-kasa) take, in a house of three plugs with a daemon, on a LAN of network
namespaces. Prints one {"name", "value"} in milliseconds per run of a command.

command_lan.py BENCHMARKS PROGRAMS DAYS RUNS
BENCHMARKS is the program of the benchmarks, PROGRAMS the folder of plugd and plugctl, DAYS the length of the history, RUNS the number of
runs of each command.

command_lan.py --here RUNS COMMANDS
Measures the commands on this host. COMMANDS is a JSON array of names and command lines. The commands run in this order, RUNS times.

kasa controls a simulated plug of TP-Link, at a given address and with a given type, so it searches nothing.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(__file__).resolve()
HERE = PROGRAM.parent
sys.path[:0] = [str(HERE.parent / "Interoperability")]

from deadlines import eventually  # noqa
from harness.lan import LAN  # noqa: E402
from harness.plugs import Controller, Plug  # noqa: E402
from harness.served import Served  # noqa: E402

PLUGS = {"Lamp": "lamp", "Switch": "lamp", "Kettle": "kettle"}
RULE = "Hall"
RULES = f"""\
- rule: {RULE}
  when: {{ plug: Switch, button: single }}
  then:
    - toggle: Lamp
"""
# The time in seconds after which a command has failed.
LONGEST = 60


class House:
    def __init__(self, benchmarks, programs, days):
        self.programs = pathlib.Path(programs)
        self.folder = pathlib.Path(tempfile.mkdtemp())
        for name in ("STATE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = str(self.folder / name.lower())
        self.lan = LAN()
        self.plugs = {
            name: Plug(self.programs, self.lan.host(ipv6=False), name, self.folder / name, simulate=load) for name, load in PLUGS.items()}
        self.host = self.lan.host(ipv6=False)
        self.controller = Controller(self.programs, self.host)
        self.serve(benchmarks, days)
        self.fire()
        self.kasa_plug = self.lan.host(ipv6=False)
        self.kasa_plug.start(sys.executable, HERE / "kasa_plug.py").seen(lambda line: line.text == "ready", 10, "that it listens")

    def serve(self, benchmarks, days):
        """Starts the daemon with a history of DAYS. Waits until it has recorded all plugs, and their addresses are stored."""
        ids = [(plug.state / "id").read_text().split()[0] for plug in self.plugs.values()]
        served = self.folder / "served"
        served.mkdir()
        filled = self.host.finish(benchmarks, "--peer", "year", served / "history", days, *ids, within=900)
        assert filled.status == 0, filled
        rules = self.folder / "rules.yaml"
        rules.write_text(RULES)
        daemon = Served(self.controller, served, "--no-dashboard", rules=rules).follows(len(PLUGS), within=60)
        # The commands find the daemon, and by it the history.
        os.environ["SMARTPLUG_DAEMON"] = str(daemon.socket)
        eventually(
            lambda: {told["plug"] for told in self.controller.finish("history", "--json").objects} >= set(PLUGS), 60,
            "the names of the plugs in the history")
        addresses = self.folder / "state" / "smartplug" / "recent-addresses"
        eventually(
            lambda: addresses.exists() and len(addresses.read_text().splitlines()) == len(PLUGS), 30, "the stored addresses of the plugs")

    def fire(self):
        """Fires the rule once, so that there is a trace to explain."""
        assert self.plugs["Switch"].press().status == 0
        eventually(lambda: self.controller.finish("rules", "explain", RULE, "--json").objects, 30, "the trace of the rule")

    def commands(self):
        """The names and command lines. A command that repeats another one follows it."""
        def plugctl(*words, name=None):
            return name or words[0], [str(self.programs / "plugctl"), *words]

        def kasa(*words, kind="plug"):
            program = str(pathlib.Path(sys.executable).with_name("kasa"))
            return f"kasa {words[0]}", [program, "--host", self.kasa_plug.ipv4, "--type", kind, *words]

        return [
            plugctl("on", "Lamp"),
            kasa("on"),
            plugctl("off", "Lamp"),
            kasa("off"),
            plugctl("toggle", "Lamp"),
            plugctl("toggle", "Lamp", name="toggle, repeated at once"),
            kasa("toggle"),
            plugctl("dim", "Lamp", "30%"),
            kasa("light", "brightness", "30", kind="dimmer"),
            plugctl("info", "Lamp"),
            kasa("state"),
            plugctl("house"),
            plugctl("history", "--last", "30d"),
            kasa("energy", "--month", time.strftime("%Y-%m")),
            plugctl("chart", "Lamp"),
            plugctl("chart", "Lamp", "--energy", name="chart --energy"),
            plugctl("rules", "state", name="rules state"),
            plugctl("rules", "explain", RULE, name="rules explain"),
            plugctl("toggle", "Lamp", "--direct", name="toggle --direct"),
            plugctl("toggle", "Lamp", "--direct", name="toggle --direct, repeated at once"),
            plugctl("house", "--direct", name="house --direct"),
        ]

    def measure(self, runs):
        commands = self.commands()
        # This program runs again on the host, so that no measured time contains the change of namespaces.
        longest = (1 + runs) * len(commands) * LONGEST
        done = self.host.finish(sys.executable, PROGRAM, "--here", runs, json.dumps(commands), within=longest)
        assert done.status == 0, done
        print(done.output, flush=True)
        self.lan.close()


def measure_here(runs, commands):
    # The first round only loads the programs into memory.
    for number in range(1 + runs):
        for name, words in commands:
            began = time.monotonic()
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST)
            value = (time.monotonic() - began) * 1000
            if done.returncode != 0:
                sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
            if number > 0:
                print(json.dumps({"name": name, "value": value}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--here":
        measure_here(int(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        # The parent process may have blocked the signals that end the programs of this script.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # Each plug and each program is a separate machine in a real house, so they may use different cores here.
        os.sched_setaffinity(0, range(os.cpu_count()))
        House(*sys.argv[1:4]).measure(int(sys.argv[4]))
