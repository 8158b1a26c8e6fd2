"""Measures plugs and controllers beyond the house, on links between network namespaces. Prints one {"name", "value"} per line.

wide_area_lan.py PROGRAMS REGISTRATIONS CHANGES MOVES SECONDS
PROGRAMS is the folder of plugd and plugctl, REGISTRATIONS the number of plugs that register themselves in BIND, CHANGES the number of
changes that a push server sends and of addresses that a router gets, MOVES the number of moves of a controller between the plug's house and
another one, and SECONDS the time for which the packets of an idle plug are counted.
"""

import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interoperability"), str(HERE.parent / "WideArea")]

from deadlines import eventually  # noqa: E402
from harness.lan import LAN  # noqa: E402
from harness.plugs import Controller, Plug  # noqa: E402

from bind import Bind  # noqa: E402
from push import ZONE, PushServer  # noqa: E402
from router import Internet, Router  # noqa: E402

# The delay of each frame on the way to and from the name server. It makes the round trips longer than everything else.
DELAY = 0.05
CABLE = pathlib.Path(__file__).with_name("delayed_cable.py")
OPENING = re.compile(r"^(?P<at>[0-9.]+) .* > [0-9.]+\.53: Flags \[S\]")
ACCEPTING = re.compile(r"^(?P<at>[0-9.]+) .*\.53 > .* Flags \[S\.\]")
ANSWER = re.compile(r"^(?P<at>[0-9.]+) .*\.53 > .* length (?P<length>[1-9][0-9]*)")


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


class Measurement:
    def __init__(self, programs, *numbers):
        self.programs = pathlib.Path(programs).resolve()
        self.registrations, self.changes, self.moves, self.seconds = map(int, numbers)
        self.lan = LAN()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        # The pairing of the plugs and of the controllers.
        os.environ.update(XDG_STATE_HOME=str(self.folder / "state"), XDG_CONFIG_HOME=str(self.folder / "configuration"), SMARTPLUG_DAEMON="")

    def plug(self, host, name, server, **options):
        configuration = self.folder / f"{name}.toml"
        configuration.write_text(f'{server.configuration}map_port = {"true" if "port" in options else "false"}\n')
        return Plug(self.programs, host, name, self.folder / name, config=configuration, **options)

    def run(self):
        self.register()
        self.push()
        self.move()
        self.lan.close()

    def register(self):
        """Measures the time from the first packet to the name server to its last answer, which confirms the records."""
        link, far = self.lan.link(), self.lan.link()
        server = Bind(far.host(ipv6=False), self.folder / "bind")
        between = link.host(ipv4=False, ipv6=False)
        between.connect("eth1", ipv4=False, ipv6=False, link=far)
        between.start(sys.executable, CABLE, "eth0", "eth1", DELAY).seen(lambda line: line.text == "ready", 5, "ready")
        for number in range(self.registrations):
            host = link.host(ipv6=False)
            capture = host.start("tcpdump", "-ttlni", "eth0", "tcp port 53", name="tcpdump")
            capture.seen(lambda line: "listening on" in line.text, 10, "that it captures")
            plug = self.plug(host, f"Plug {number}", server)
            self.is_registered(plug)
            time.sleep(0.3)
            lines = [line.text for line in capture.lines]
            opened, accepted, answered = ([float(found["at"]) for line in lines if (found := kind.match(line))] for kind in (OPENING, ACCEPTING, ANSWER))
            round_trip = accepted[0] - opened[0]
            tell("round trips", (answered[-1] - opened[0]) / round_trip)
            tell("exchanges", len(opened))
            plug.running.stop()

    @staticmethod
    def is_registered(plug):
        eventually(
            lambda: plug.answers() and plug.status()["wide_area"].get("name") == plug.name, 30,
            lambda: f"the registration:\n{plug.running.transcript()}")

    def push(self):
        """Measures the time from a change of a zone with a push server to the line of a browser."""
        link = self.lan.link()
        server, host = PushServer(link.host(ipv6=False), self.folder / "push"), link.host(ipv6=False)
        server.serve(host)
        running = Controller(self.programs, host).browsing("--domain", ZONE).running
        server.subscribed()
        for number in range(self.changes):
            name = f"Lamp{number}"
            began = time.monotonic()
            server.perform(add=server.plug(name))
            tell("push", running.seen_object(lambda line: line.get("name") == name, 10, name).at - began)
            time.sleep(0.2)
        running.stop()

    def move(self):
        """Measures the time from the end of each move to the next event that the controller receives, and then the idle packets."""
        internet = Internet(self.lan)
        place = internet.host()
        server = Bind(place, self.folder / "public bind", place.address)
        home, away = Router(internet, self.lan, self.folder / "home"), self.lan.link()
        other = Router(internet, away, self.folder / "away", maps=False)
        host = self.lan.host()
        home.serve(host)
        lamp = self.plug(host, "Lamp", server, port=4711)
        eventually(
            lambda: lamp.answers() and lamp.status()["wide_area"].get("mapping", {}).get("public"), 30,
            lambda: f"the mapping:\n{lamp.running.transcript()}")
        self.is_registered(lamp)
        time.sleep(2)  # The registration of the mapped address.
        traveller = away.host()
        other.serve(traveller)
        server.serve(traveller)
        person = Controller(self.programs, traveller)
        person.under(["env", f"SMARTPLUG_DOMAIN={server.zone}"])
        watching = person.watch()
        watching.seen_object(lambda record: record["event"] == "snapshot", 15, "the snapshot")
        first = last = lamp.status()["nextSequence"]
        for number in range(self.moves):
            link, gateway, name = (self.lan.home, home, "home") if number % 2 == 0 else (away, other, "away")
            traveller.pull_cable()
            traveller.join(link)
            traveller.plug_cable()
            eventually(lambda: gateway.serve(traveller) is None, 10, "the route")
            began = time.monotonic()
            last = lamp.status()["nextSequence"] + 1
            lamp.press()  # An event of the relay, and one of the button.
            event = watching.seen_object(lambda record: record.get("seq") == last, 30, f"event {last}")
            tell(name, event.at - began)
            time.sleep(1)
        seen = [line.json["seq"] for line in watching.lines if isinstance(line.json, dict) and line.json.get("seq", 0) >= first]
        tell("lost", len(set(range(first, last + 1)) - set(seen)))
        tell("repeated", len(seen) - len(set(seen)))
        watching.stop()
        self.count_idle_packets(host)
        self.readdress(lamp, home, server)

    def readdress(self, lamp, router, server):
        """Measures the time from a change of the router's external address to the corrected records."""
        name = f"plug-{lamp.status()['id']}"
        for number in range(self.changes):
            address = f"11.7.0.{100 + number % 100}"
            began = time.monotonic()
            router.change_address(address)
            while server.records(name, "A") != [address]:
                assert time.monotonic() < began + 30, lamp.running.transcript()
            tell("address", time.monotonic() - began)
            time.sleep(1)

    def count_idle_packets(self, host):
        """Counts the packets of an idle plug that leave its house, or that its router or its name server send to it."""
        capture = host.start("tcpdump", "-lni", "eth0", "port 53 or port 5350 or port 5351 or port 1900 or net 11.7.0.0/24", name="tcpdump")
        capture.seen(lambda line: "listening on" in line.text, 10, "that it captures")
        time.sleep(self.seconds)
        tell("idle packets", sum(" > " in line.text for line in capture.lines) * 60 / self.seconds)


# The parent process may have blocked the signals that end the programs of this script.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
Measurement(*sys.argv[1:]).run()
