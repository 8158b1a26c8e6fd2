"""The setup of a test in the phase "addressing". The target's interface initially has no address, and its cable is
disconnected."""

import fcntl
import socket
import struct
import sys
import time
from dataclasses import dataclass

from harness.lan import command

from conformance import dhcp, wire
from conformance.bench import SERVICE_TYPE, Bench
from conformance.criterion import failed
from conformance.kernel_addresses import KernelAddresses
from conformance.link_peer import Connection, LinkPeer
from conformance.records import A, SRV, address_bytes

MAC = bytes.fromhex("020000a1b2c3")
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
ECHO_PORT = 7777
ECHO = f"""
import socket, threading
def serve(peer):
    while data := peer.recv(4096):
        peer.sendall(data)
listener = socket.create_server(("", {ECHO_PORT}))
print("listening", flush=True)
while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
"""


@dataclass(frozen=True)
class Claim:
    """The target's claim of an address: the probes, the announcement, and the time when the interface had the
    address."""

    address: str
    probes: list
    announcement: wire.ARP
    usable: float


class AddressBench(Bench):
    peer_class = LinkPeer

    def __init__(self, number, target_class, programs, proof=None):
        self.connected = 0.0  # The time of the last cable connection or start of the target. Limits count from it.
        self.mac = MAC
        self.kernel = None  # The addresses that the target's kernel has on the interface.
        self._tamper = proof.proof.in_host if proof else None
        super().__init__(number, target_class, programs, None if self._tamper else proof)

    # The cable.

    def plug_in(self, mac=MAC, **settings):
        """Gives the target its interface, without an address and with the cable disconnected. `settings` are the interface's IPv6
        sysctls."""
        self.mac = mac
        if self.proxy:
            self.proxy.run("ip", "link", "add", "target", "type", "veth", "peer", "name", "eth0", "netns", self.host.pid)
            self.proxy.run("sysctl", "-qw", "net.ipv6.conf.target.disable_ipv6=1")
        else:
            self._make_veth(self._cable, "eth0", self.host)
            command("sysctl", "-qw", f"net.ipv6.conf.{self._cable}.disable_ipv6=1")
        for setting, value in settings.items():
            self.host.run("sysctl", "-qw", f"net.ipv6.conf.eth0.{setting}={value}")
        self.host.run("ip", "link", "set", "eth0", "address", wire.mac_text(mac), "up")
        self.kernel = KernelAddresses(self.host)
        self.listen()
        if self.proxy:
            time.sleep(0.2)  # The proxy tries to open a missing interface at least every 0.05 s.

    def set_cable(self, state):
        """Sets the carrier. Without a proxy, an ioctl sets it: starting a program would take longer, and the delay
        would count against the target."""
        if self.proxy:
            super().set_cable(state)
            return
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            name = self._cable.encode()
            flags, = struct.unpack_from("H", fcntl.ioctl(any_socket, GET_FLAGS, struct.pack("16s16x", name)), 16)
            flags = flags | UP if state == "up" else flags & ~UP
            fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sH14x", name, flags))

    def connect(self):
        """Connects the cable and returns the time."""
        self.connected = time.time()
        self.set_cable("up")
        return self.connected

    def disconnect(self, seconds=0.0):
        self.set_cable("down")
        time.sleep(seconds)

    # The target.

    def begin(self, carrier=True):
        """Starts the target and connects its cable. For a target that does not watch the carrier, the cable is
        connected before the start. With `carrier` False the cable stays disconnected. Returns the time of the later of
        the two steps."""
        if self.kernel is None:
            self.plug_in()
        watches = "carrier" in self._target_class.abilities
        if carrier and not watches:
            self.connect()
        self.target = self._target_class(self.host, self._programs)
        self.target.manage()
        self.connected = time.time()
        if watches or not carrier:
            self.target.ready()
        if carrier and watches:
            self.connect()
        return self.connected

    @property
    def began(self):
        return self.connected

    def restart(self, blank=False, mac=None, orderly=False):
        """Restarts the target and returns the time of the start. The target is killed as by a power cut, or stopped if `orderly`. With
        `blank` its stored state is deleted; `mac` sets a new hardware address."""
        if orderly:
            self.target.stop()
        else:
            self.target.running.process.kill()
        self.target.running.ended(5)
        self.host.run("ip", "address", "flush", "dev", "eth0")
        if mac:
            self.mac = mac
            self.host.run("ip", "link", "set", "eth0", "address", wire.mac_text(mac))
        if blank:
            self.target.forget()
        self.connected = time.time()
        self.target = self._target_class(self.host, self._programs)
        self.target.manage()
        return self.connected

    # Waits for packets of the target: probes, claims, DHCP messages, announcements.

    def probe(self, within, since, address=None):
        """Waits for the first probe for any link-local address, or for the given one. Returns None after `within` seconds without it."""
        return self.peer.await_arp(
            lambda arp: arp.is_probe and (arp.target == address if address else wire.is_link_local(arp.target)),
            within, since)

    def expect_probe(self, within=3.0, since=None, but=()):
        """Waits for the first probe for a link-local address that is not in `but`."""
        begin = self.connected if since is None else since
        probe = self.peer.await_arp(
            lambda arp: arp.is_probe and wire.is_link_local(arp.target) and arp.target not in but, within, begin)
        if probe is None:
            other = " other" if but else ""
            raise failed(f"no probe for a{'n' if other else ''}{other} link-local address within {within:g} s")
        return probe

    def claim(self, within=9.0, since=None, but=()):
        """Waits until the target announces a link-local address that is not in `but`, and has it on the interface.
        `within` counts from `since` (default: the last connection or start)."""
        begin = self.connected if since is None else since
        told = self.peer.await_arp(
            lambda arp: arp.is_announcement and wire.is_link_local(arp.sender) and arp.sender not in but, within, begin)
        if told is None:
            raise failed(f"no link-local address was announced within {within:g} s")
        return self._claimed(told, begin)

    def _claimed(self, told, begin):
        usable = self.kernel.await_came(told.sender, 2.0, begin)
        if usable is None:
            raise failed(f"{told.sender} was announced, but it is not on the interface", told)
        probes = self.peer.arps(lambda arp: arp.is_probe and arp.target == told.sender, begin, told.at)
        claim = Claim(told.sender, probes, told, usable)
        if self._tamper:
            self._tamper(self, claim.address)
        return claim

    def leased(self, server, within=12.0, since=None):
        """Waits until the interface has the address that the server offered, and returns the time."""
        begin = self.connected if since is None else since
        at = self.kernel.await_came(server.offered, max(0.0, begin + within - time.time()), begin)
        if at is None:
            raise failed(f"{server.offered} was not on the interface within {within:g} s", last(server.heard))
        if self._tamper:
            self._tamper(self, server.offered)
        return at

    def serve(self, **how):
        """Starts a DHCP server on the link."""
        server = dhcp.Server(self.peer, **how)
        self.peer.reactions.append(server.take)
        return server

    def silence(self, server):
        """Removes the DHCP server from the link, so that it no longer answers."""
        self.peer.reactions.remove(server.take)

    def asks(self, kind=None, since=None):
        """Returns the DHCP messages of that kind, or of all kinds, that arrived after `since` (default: the last
        connection or start)."""
        return self.peer.seen(dhcp.DHCPPacket, lambda it: kind in (None, it.contents.kind),
                              self.connected if since is None else since)

    def await_ask(self, kind, within, since=None, wanted=lambda _: True):
        begin = self.connected if since is None else since
        found = self.peer.await_one(
            dhcp.DHCPPacket, lambda it: kind in (None, it.contents.kind) and wanted(it), within, begin)
        if found is None:
            raise failed(f"no DHCP{dhcp.NAMES[kind] if kind else ' message'} within {within:g} s", last(self.asks()))
        return found

    def tells(self, address, within, since):
        """Waits until the target announces this address by multicast DNS, and returns the packet."""
        def wanted(packet):
            return packet.message.is_response and any(
                record.type == A and record.ttl and record.data == address_bytes(address)
                for record in packet.message.records)
        told = self.peer.first(wanted, within, since)
        if told is None:
            raise failed(f"{address} was not announced by multicast DNS within {within:g} s")
        return told

    def service_record(self):
        """Returns the last SRV record that the target sent for the service."""
        for packet in reversed(self.peer.heard(lambda it: it.message.is_response)):
            for record in packet.message.records:
                if record.type == SRV and record.ttl and record.name.under(SERVICE_TYPE):
                    return record
        raise failed(f"no SRV record of {SERVICE_TYPE} was sent")

    def service_port(self):
        return int.from_bytes(self.service_record().data[4:6], "big")

    def connection(self, address, port=None, host=4, source_port=40001):
        """Returns a TCP connection from a host of the peer to the target. The caller opens it."""
        source = self.peer.link_local(host) if wire.is_link_local(address) else self.peer.ipv4(host)
        return Connection(self.peer, source, host, address, self.mac, port or self.service_port(), source_port)

    def reachable(self, address):
        """Expects that the service accepts a connection at this address, and returns the segment that answered."""
        connection = self.connection(address)
        if not connection.open():
            raise failed(f"no TCP connection to {address} port {self.service_port()}", connection.answer)
        connection.close()
        return connection.answer

    def echo(self):
        """Starts a program on the target's host that echoes all input."""
        running = self.host.start(sys.executable, "-c", ECHO, name="the echo")
        running.seen(lambda line: line.text == "listening", 20, "'listening'")

    def settle_claim(self, claim):
        """Waits until the announcements of the claim are over."""
        self.until(claim.announcement.at + 2.3)
        return claim


def last(items):
    return items[-1] if items else None
