"""The setup of one test: a target on its own host, a peer at the other end of the cable, and optionally a proxy between
them."""

import pathlib
import sys
import time
from dataclasses import dataclass

from harness.lan import command

from conformance.conditions import gives, tells
from conformance.criterion import failed
from conformance.hosts import OwnHost, TargetHost
from conformance.peer import SLACK, Peer
from conformance.records import A, SRV, Name, Record, address_bytes, srv_data
from conformance.targets import PORT, TYPE

HERE = pathlib.Path(__file__).resolve().parent
LOCAL = Name(["local"])
SERVICE_TYPE = Name(TYPE.split(".")) + LOCAL
ENUMERATION = Name(["_services", "_dns-sd", "_udp"]) + LOCAL


@dataclass(frozen=True)
class Service:
    """The service that the target published, as seen in its packets."""

    instance: Name
    host: Name
    srv: Record
    address: str

    @property
    def rival(self):
        """The SRV record of another host with the same service name; its data is greater than the target's."""
        return Record(self.instance, SRV, 120, b"\xff" + srv_data(Name(["rival"]) + LOCAL, PORT)[1:], True)

    @property
    def rival_address(self):
        """The A record of another host with the same host name; its data is greater than the target's."""
        return Record(self.host, A, 120, address_bytes("250.0.0.9"), True)


class Bench:
    """`number` is part of the names of the interfaces. `proof` is the criterion whose alteration the proxy applies; None means
    no proxy."""

    peer_class = Peer

    def __init__(self, number, target_class, programs, proof=None):
        self.number = number
        self.host = TargetHost()
        self.proxy = None
        self.peer = None
        self.plugged = None  # The time just before the interface got its address.
        self._ports = []
        self._target_class, self._programs = target_class, programs
        self.target = None
        try:
            if proof:
                self._place_proxy(proof)
        except BaseException:
            self.close()
            raise

    # The cable.

    @property
    def _cable(self):
        return f"cable{self.number}"

    def _place_proxy(self, criterion):
        self.proxy = OwnHost("proxy")
        self._make_veth(self._cable, "peer", self.proxy)
        self._enable(self._cable)
        self.proxy.run("sysctl", "-qw", "net.ipv6.conf.peer.disable_ipv6=1")
        self.proxy.run("ip", "link", "set", "peer", "up")
        forwarding = self.proxy.start(sys.executable, HERE / "proxy.py", criterion.name, name="the proxy")
        forwarding.seen(lambda line: line.text == "forwarding", 20, "that it forwards")

    def _make_veth(self, here, there, host):
        command("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns",
                host.pid)
        self._ports.append(here)

    @staticmethod
    def _enable(port):
        """Enables the port, and keeps this machine's kernel from sending IPv6 packets on it."""
        command("sysctl", "-qw", f"net.ipv6.conf.{port}.disable_ipv6=1")
        command("ip", "link", "set", port, "up")

    def plug_in(self, address=None):
        """Gives the target its interface, with the cable connected."""
        if self.proxy:
            self.proxy.run("ip", "link", "add", "target", "type", "veth", "peer", "name", "eth0", "netns", self.host.pid)
            self.proxy.run("sysctl", "-qw", "net.ipv6.conf.target.disable_ipv6=1")
            self.proxy.run("ip", "link", "set", "target", "up")
        else:
            self._make_veth(self._cable, "eth0", self.host)
            self._enable(self._cable)
        self.listen()
        if self.proxy:
            time.sleep(0.2)  # The proxy tries to open a missing interface at least every 0.05 s.
        self.plugged = time.time()
        self.host.set_up("eth0", address)

    def listen(self):
        if self.peer is None:
            self.peer = self.peer_class(self._cable)
        else:
            self.peer.reopen()

    def unplug(self):
        """Removes the interface, as when a USB adapter is pulled."""
        self.host.run("ip", "link", "delete", "eth0")
        if not self.proxy:
            self._ports.remove(self._cable)

    def set_cable(self, state):
        """Sets the carrier `down` or `up`; the interface stays."""
        if self.proxy:
            self.proxy.run("ip", "link", "set", "target", state)
        else:
            command("ip", "link", "set", self._cable, state)

    def add_second_interface(self):
        """Adds a second interface of the target on the same link."""
        self.peer.join(self._add_interface(None))

    def add_other_link(self, address):
        """Adds an interface of the target on a different link that has no other host."""
        self._add_interface(address)

    def _add_interface(self, address):
        other = f"other{self.number}"
        self._make_veth(other, "eth1", self.host)
        self._enable(other)
        self.host.set_up("eth1", address)
        return other

    # The target.

    def start(self, name="Lamp"):
        """Starts the target. Does not wait for its packets."""
        if self.peer is None:
            self.plug_in()
        self.start_alone(name)

    def start_alone(self, name="Lamp"):
        """Starts the target on a host that may have no interface yet."""
        self.target = self._target_class(self.host, self._programs)
        self.target.start(name)

    @property
    def began(self):
        return self.target.registered_at if self.target else 0.0

    def announced(self, within=12, since=None):
        """Waits for the service's announcement, and returns the packet and the service in it."""
        begin = self.began if since is None else since
        packet = self.peer.first(tells(SRV, SERVICE_TYPE), within, begin)
        if packet is None:
            raise failed(f"no SRV record of {SERVICE_TYPE} was announced within {within} s")
        return packet, self.service(packet)

    def service(self, packet):
        """Returns the service in a packet with an SRV record, which may be a probe or a response."""
        srv = next(record for record in packet.message.records + packet.message.authorities
                   if record.type == SRV and record.name.under(SERVICE_TYPE))
        return Service(srv.name, srv.target, srv, packet.source)

    def settled(self, name="Lamp"):
        """Starts the target and waits until its announcements are over, so that they do not count as answers."""
        self.start(name)
        _, service = self.announced()
        self.settle()
        return service

    def settle(self):
        self.peer.quiet(4.3, 20)

    def answer(self, question, kind=None, within=1.0, **how):
        """Asks a question (name, type), and returns the question and the answer as packets, or None as the answer."""
        asked = self.peer.ask(question, **how)
        family = how.get("family", 4)
        return asked, self.peer.first(gives(question[0], kind or question[1]), within, asked, family)

    def pause(self, seconds=1.1):
        """Waits until the target may multicast a record again, which is one second after the previous multicast."""
        time.sleep(seconds)

    @staticmethod
    def until(moment):
        """Waits until `moment`, an absolute time in seconds, plus SLACK."""
        time.sleep(max(0.0, moment + SLACK - time.time()))

    def close(self):
        if self.peer:
            self.peer.close()
        hosts = [host for host in (self.host, self.proxy) if host]
        for host in hosts:
            host.stop_programs()
        for port in self._ports:
            command("ip", "link", "delete", port)
        for host in hosts:
            host.close()
