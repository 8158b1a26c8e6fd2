"""Measures a plug that represents hosts that sleep, on links between network namespaces. Prints one {"name", "value"} per line.

sleep_proxy_lan.py PROGRAMS ECHO LINKS ROUNDS SECONDS
PROGRAMS is the folder of plugd, ECHO the program frame_echo, a minimal program in C that answers each SYN with a magic packet. LINKS is the
number of plugs, each on its own link with SLEEPERS hosts that sleep, ROUNDS the number of rounds, each with new plugs, and SECONDS the time
for which the processor time is measured.

A plug sends at most 16 wakes at once for the same cause, so in each round a SYN wakes each of its 16 sleepers once. This program acts as
all other hosts of the links.
"""

import json
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Interoperability"), str(HERE.parent / "Conformance")]

from harness.lan import LAN  # noqa: E402
from harness.plugs import Plug  # noqa: E402

from conformance import frames, messages, updates, wire  # noqa: E402
from conformance.conditions import gives, tells  # noqa: E402
from conformance.frames import GROUP_MACS, GROUPS, Packet  # noqa: E402
from conformance.messages import Message  # noqa: E402
from conformance.peer import packet_socket, receive  # noqa: E402
from conformance.records import A, PTR, SRV, TXT, Name, Record, address_bytes, srv_data, txt_data  # noqa: E402

LOCAL = Name(["local"])
PROXY_TYPE, MEDIA = Name(["_sleep-proxy", "_udp"]) + LOCAL, Name(["_media", "_tcp"]) + LOCAL
# The plug wakes at most 16 hosts at once for the same cause.
SLEEPERS, MANY, SERVICES, PORT = 16, 100, 10, 7000
CLIENT_CARD, CLIENT = bytes.fromhex("020000070001"), "10.7.0.250"
MAGIC = 0x0842.to_bytes(2, "big")
# The unrelated packets per second, and the number that is sent at once.
RATE, BURST = 1000, 10


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


class Sleeper:
    def __init__(self, number, services=1):
        self.card = bytes([2, 0, 0, 10, 0, number])
        self.address = f"10.7.0.{20 + number}"
        host = Name([f"h{number}"]) + LOCAL
        self.instance = Name([f"s0-{number}"]) + MEDIA
        self.records = [Record(host, A, 120, address_bytes(self.address), True)]
        for service in range(services):
            name = Name([f"s{service}-{number}"]) + MEDIA
            self.records += [
                Record(name, SRV, 120, srv_data(host, PORT + service), True), Record(name, TXT, 4500, txt_data(b"path=/films"), True),
                Record(MEDIA, PTR, 4500, name.encoded)]


class Link:
    """A cable at whose other end is a plug or the echo."""

    def __init__(self, host):
        self.host = host
        self.mac = bytes.fromhex(host.hardware_address().replace(":", ""))
        self.awake = {}
        self.port = None  # The port for registrations.
        self._socket = packet_socket(host.port)

    def put(self, value):
        """Sends a frame and returns the time just before."""
        frame = value if isinstance(value, bytes) else value.frame
        at = time.time()
        self._socket.send(frame)
        return at

    def first(self, wanted, within, what):
        """Receives frames, and answers ARP for the hosts that are awake, until `wanted` returns True for a frame. Returns its time, or None
        after `within` seconds if `what` is None."""
        end = time.time() + within
        while select.select([self._socket], [], [], max(0, end - time.time()))[0]:
            received = receive(self._socket)
            if received is None:
                continue
            frame, at = received
            if frame[12:14] == b"\x08\x06":
                asked = frames.address_text(frame[38:42])
                answer = frames.neighbour_answer(frame, self.awake[asked], {asked}) if asked in self.awake else None
                if answer:
                    self.put(answer)
            if wanted(frame, at):
                return at
        if what:
            raise SystemExit(f"not within {within} s: {what}")
        return None

    def serve(self, seconds):
        self.first(lambda *_: False, seconds, None)

    def found(self):
        """Waits until the plug advertises its proxy."""
        def wanted(frame, at):
            packet = frames.parsed(frame, at)
            if packet is None or packet.message is None or not tells(SRV, PROXY_TYPE)(packet):
                return False
            self.address = packet.source
            self.port = next(it.port for it in packet.message.records if it.type == SRV and it.name.under(PROXY_TYPE))
            return True
        self.first(wanted, 15, "the advertisement of the sleep proxy")

    def register(self, sleeper):
        """Registers a host that announced its services, and returns the seconds until the proxy answers multicast DNS for it."""
        self.awake[sleeper.address] = sleeper.card
        announcement = Message(0, messages.RESPONSE | messages.AUTHORITATIVE, (), tuple(sleeper.records))
        self.put(Packet(sleeper.address, GROUPS[4], announcement.encoded, source_mac=sleeper.card, destination_mac=GROUP_MACS[4]))
        self.serve(0.03)
        message = updates.registration(7, sleeper.records, updates.lease(3600), updates.owner(sleeper.card, 1))
        began = self.put(Packet(
            sleeper.address, self.address, message.encoded, source_port=40005, destination_port=self.port, source_mac=sleeper.card,
            destination_mac=self.mac))

        def wanted(frame, at):
            packet = frames.parsed(frame, at)
            return packet is not None and packet.message is not None and gives(sleeper.instance, SRV)(packet)
        return self.first(wanted, 5, f"an answer for {sleeper.instance}") - began

    def silence(self, seconds):
        """Lets all hosts fall asleep: they no longer answer. Waits for this time, so that the proxy notices that they are silent."""
        self.awake = {}
        self.serve(seconds)

    def answer_to_syn(self, address):
        """Sends a SYN, and returns the seconds until the magic packet."""
        began = self.put(wire.Segment(CLIENT, address, 40001, PORT, 1000, 0, wire.SYN, b"", CLIENT_CARD, self.mac))
        return self.first(lambda frame, _: frame[12:14] == MAGIC, 2, f"a magic packet after a SYN to {address}") - began


def noise():
    """Frames between other hosts: ARP, TCP, UDP, and multicast that is not multicast DNS."""
    one, other = bytes.fromhex("0200000b0001"), bytes.fromhex("0200000b0002")
    group = bytes.fromhex("01005e7ffffa")
    return [frame.frame for frame in (
        wire.request("10.7.0.201", one, "10.7.0.202"),
        wire.Segment("10.7.0.201", "10.7.0.202", 445, 50000, 1, 1, wire.ACK, bytes(1000), one, other),
        wire.Segment("10.7.0.202", "10.7.0.201", 50000, 445, 1, 1, wire.SYN, b"", other, one),
        Packet("10.7.0.201", "10.7.0.202", bytes(500), 0, 6000, 6001, 64, one, other),
        Packet("10.7.0.201", "239.255.255.250", bytes(300), 0, 1900, 1900, 4, one, group))]


class Measurement:
    def __init__(self, programs, echo, links, rounds, seconds):
        self.programs, self.echo = pathlib.Path(programs).resolve(), pathlib.Path(echo).resolve()
        self.links, self.rounds, self.seconds = int(links), int(rounds), int(seconds)
        self.lan = LAN()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.configuration = self.folder / "plugd.toml"
        self.configuration.write_text("[sleep_proxy]\nenabled = true\n")
        self.plugs = 0

    def plug(self, link):
        self.plugs += 1
        return Plug(
            self.programs, link.host, "Lamp", self.folder / f"plug{self.plugs}", memory=self.folder / f"memory{self.plugs}",
            config=self.configuration, addressing="observe")

    def run(self):
        self.wakes()
        self.many()
        self.lan.close()

    def wakes(self):
        """Measures the time from each registration to the proxy's first answer for the sleeper, and the time from a SYN to the magic
        packet. The measurements of the plug and of the echo alternate."""
        links = [Link(self.lan.link().host(ipv6=False)) for _ in range(self.links)]
        reference = Link(self.lan.link().host(ipv6=False))
        reference.host.start(self.echo, "eth0").seen(lambda line: line.text == "ready", 5, "ready")
        sleepers = [Sleeper(number) for number in range(SLEEPERS)]
        for _ in range(self.rounds):
            plugs = []
            for link in links:
                plugs.append(self.plug(link))
                link.found()
                for sleeper in sleepers:
                    tell("answering", link.register(sleeper))
            for link in links:
                link.silence(2.7 if link is links[0] else 0.3)
            for link in links:
                for sleeper in sleepers:
                    tell("echo", reference.answer_to_syn(sleeper.address))
                    tell("magic packet", link.answer_to_syn(sleeper.address))
                    # The plug sends the magic packet twice: by broadcast, and to the sleeper's card. This receives the second one.
                    link.serve(0.02)
            for plug, link in zip(plugs, links):
                plug.running.process.kill()
                plug.running.stop()
                link.serve(0.05)  # Discards the last packets of this plug.

    def many(self):
        """Measures the memory and the processor time of a plug with many sleepers."""
        link = Link(self.lan.link().host(ipv6=False))
        plug = self.plug(link)
        link.found()
        link.serve(3)
        tell("idle share", self.share(plug, link, []))
        before = plug.running.memory
        for number in range(MANY):
            link.register(Sleeper(number, SERVICES))
        link.silence(8)
        told = plug.status()["sleep_proxy"]["sleepers"]
        assert [one["state"] for one in told] == ["asleep"] * MANY, told
        tell("memory", plug.running.memory)
        tell("additional memory", plug.running.memory - before)
        tell("share", self.share(plug, link, noise()))

    def share(self, plug, link, packets):
        """Returns the share of one core in percent, while the packets arrive at RATE."""
        resting = subprocess.Popen(
            [self.echo.with_name("process_rest"), str(plug.running.process.pid), str(self.seconds)],
            stdout=subprocess.PIPE, text=True)
        began, sent = time.monotonic(), 0
        while resting.poll() is None:
            for _ in range(BURST if packets else 0):
                link.put(packets[sent % len(packets)])
                sent += 1
            link.serve(max(0, began + sent / RATE - time.monotonic()) if packets else 0.1)
        if packets:
            tell("rate", sent / (time.monotonic() - began))
        return float(resting.stdout.read().split()[1])


# The parent process may have blocked the signals that end the programs of this script.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
Measurement(*sys.argv[1:]).run()
