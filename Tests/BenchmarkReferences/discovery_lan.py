"""Measures service discovery on a LAN of namespaces, with Avahi and python-zeroconf as references. All measurements use IPv4. Prints one
{"name", "value"} per line.

discovery_lan.py BENCHMARKS SERVICES ROUNDS IDLE ANNOUNCING
BENCHMARKS is the program of the benchmarks, which also runs as the measured peers (--peer). SERVICES is the number of services per host,
ROUNDS the number of repetitions (twice as many for the first announcement, of one service), IDLE the seconds for which packets of idle hosts
are counted, and ANNOUNCING the seconds that a host needs to finish its announcements.
"""

import json
import pathlib
import re
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Interoperability"))

from zeroconf import DNSIncoming  # noqa: E402

from harness.avahi import Avahi, parsed  # noqa: E402
from harness.capture import Capture  # noqa: E402
from deadlines import eventually  # noqa
from harness.lan import LAN  # noqa: E402

TYPE = "_smartplug._tcp"
SRV = 33


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


def announced(capture):
    """Returns the time of the first announcement of each service."""
    times = {}
    for datagram in list(capture.datagrams):
        message = DNSIncoming(datagram.bytes)
        if message.is_response():
            for record in message.answers():
                if record.type == SRV:
                    times.setdefault(record.name, datagram.at)
    return times


def packets(host):
    """Returns the number of packets of the host so far, in both directions."""
    found = re.search(rf"{host.port}:(.*)", pathlib.Path("/proc/net/dev").read_text())
    counters = found.group(1).split()
    return int(counters[1]) + int(counters[9])


def told(running, event, within=60):
    return running.seen_object(lambda object: object["event"] == event, within, event).json


class Measurement:
    def __init__(self, benchmarks, services, rounds, idle, announcing):
        self.benchmarks, self.services, self.rounds = benchmarks, int(services), int(rounds)
        self.idle, self.announcing = float(idle), float(announcing)
        self.lan = LAN()

    def host(self):
        return self.lan.host(ipv6=False)

    def peer(self, host, part, count):
        return host.start(self.benchmarks, "--peer", part, count)

    def zeroconf(self, host, verb, *rest):
        return host.start(sys.executable, HERE / "zeroconf_services.py", verb, TYPE, self.services, *rest)

    def avahi(self, host, services=0):
        """Starts avahi-daemon with `services` static services, which it announces after this function has returned."""
        host.run("mkdir", "/run/services")
        for number in range(services):
            text = (HERE / "avahi.service").read_text().replace("NUMBER", str(number))
            # Each host has a private /run.
            folder = pathlib.Path(f"/proc/{host.process_id}/root/run/services")
            (folder / f"plug{number}.service").write_text(text)
        host.run("mount", "--bind", "/run/services", "/etc/avahi/services")
        return Avahi(host)

    def run(self):
        idle_ours, idle_avahi = self.start_idle()
        self.register_one()
        self.register_many()
        self.browse()
        self.finish_idle(idle_ours, idle_avahi)
        self.lan.close()

    def start_idle(self):
        """Starts publishers on isolated hosts. Prints their memory without services and the memory that the services add."""
        ours, theirs, bare = self.host(), self.host(), self.host()
        for host in (ours, theirs, bare):
            host.part()
        publisher = self.peer(ours, "publish", self.services)
        told(publisher, "registering")
        before = publisher.memory
        avahi = self.avahi(theirs, self.services)
        empty = self.avahi(bare)
        told(publisher, "announced")
        time.sleep(self.announcing)
        tell("memory before", before)
        tell("memory", publisher.memory - before)
        tell("memory of avahi-daemon before", empty.daemon.memory)
        tell("memory of avahi-daemon", avahi.daemon.memory - empty.daemon.memory)
        self.idle_since = time.monotonic()
        self.captures = Capture(ours.port), Capture(theirs.port)
        return (ours, packets(ours)), (theirs, packets(theirs))

    def finish_idle(self, ours, theirs):
        time.sleep(max(0, self.idle_since + self.idle - time.monotonic()))
        tell("idle seconds", time.monotonic() - self.idle_since)
        for name, (host, before) in (("idle packets", ours), ("idle packets of avahi-daemon", theirs)):
            tell(name, packets(host) - before)
        for name, capture in zip(("idle messages", "idle messages of avahi-daemon"), self.captures):
            tell(name, len(capture.datagrams))

    def register_one(self):
        host = self.host()
        for _ in range(2 * self.rounds):
            capture = Capture(host.port)
            peer = self.peer(host, "publish", 1)
            began = told(peer, "registering")["at"]
            eventually(lambda: announced(capture), 5, "the announcement of a service")
            tell("first announcement", min(announced(capture).values()) - began)
            peer.stop()
            capture.close()

    def register_many(self):
        def spread(host, publisher):
            capture = Capture(host.port)
            running = publisher()
            told(running, "announced", 120)
            time.sleep(1)
            capture.close()
            times = announced(capture)
            assert len(times) == self.services, f"{len(times)} services were announced"
            running.stop()
            time.sleep(1)
            return max(times.values()) - min(times.values())

        ours, theirs = self.host(), self.host()
        for _ in range(self.rounds):
            tell("registered", spread(ours, lambda: self.peer(ours, "publish", self.services)))
            tell("registered by python-zeroconf", spread(theirs, lambda: self.zeroconf(theirs, "publish", theirs.ipv4)))

    def browse(self):
        """Measures browsing from a cold start: first the services of this project's publisher, then those of Avahi."""
        ours = self.host()
        publisher = self.peer(ours, "publish", self.services)
        told(publisher, "announced")
        time.sleep(self.announcing)
        self.browse_all("")
        publisher.stop()
        # The services of the first publisher do not disturb this measurement, because no running host has cached them.
        self.avahi(self.host(), self.services)
        time.sleep(self.announcing)
        self.browse_all(" of avahi-daemon")

    def browse_all(self, whose):
        for _ in range(self.rounds):
            for name, browse, prepare in (
                ("", lambda host: self.seconds(self.peer(host, "browse", self.services)), lambda host: None),
                (" by python-zeroconf", lambda host: self.seconds(self.zeroconf(host, "browse")), lambda host: None),
                (
                    " by python-zeroconf, all at once",
                    lambda host: self.seconds(self.zeroconf(host, "browse-at-once")), lambda host: None),
                (" by avahi-browse", self.avahi_browse, self.avahi),
            ):
                self.browse_once(f"resolved{whose}{name}", browse, prepare)

    def seconds(self, running):
        return told(running, "resolved")["seconds"]

    def avahi_browse(self, host):
        began = time.monotonic()
        running = host.start("stdbuf", "--output=L", "avahi-browse", "-rpt", TYPE)

        def resolved():
            return {name for mark, name, _ in parsed(line.text for line in list(running.lines)) if mark == "="}

        eventually(lambda: len(resolved()) == self.services, 60, lambda: f"{len(resolved())} resolved by avahi-browse")
        return max(line.at for line in running.lines if line.text.startswith("=")) - began

    def browse_once(self, name, browse, prepare):
        host = self.host()
        prepare(host)
        # An avahi-daemon that was started for this browse announces its host first.
        time.sleep(self.announcing / 4)
        before = packets(host)
        tell(name, browse(host))
        time.sleep(1)
        tell(f"packets, {name}", packets(host) - before)
        for running in reversed(host.started):
            running.stop()


# The parent process may have blocked the signals that end the programs of this script.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
Measurement(*sys.argv[1:]).run()
