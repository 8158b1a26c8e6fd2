"""DHCP messages (RFC 2131 section 2, RFC 2132) as bytes, and a scripted server."""

import struct
from dataclasses import dataclass, field, replace

from conformance.frames import Packet, checksum
from conformance.records import address_bytes, address_text

CLIENT, SERVER = 68, 67
DISCOVER, OFFER, REQUEST, DECLINE, ACK, NAK, RELEASE, INFORM = range(1, 9)
NAMES = dict(enumerate(("DISCOVER", "OFFER", "REQUEST", "DECLINE", "ACK", "NAK", "RELEASE", "INFORM"), 1))
MASK, ROUTER, NAME_SERVERS, HOST_NAME = 1, 3, 6, 12
REQUESTED, LEASE, KIND, SERVER_ID, PARAMETERS, MAXIMUM_SIZE, T1, T2, CLIENT_ID = 50, 51, 53, 54, 55, 57, 58, 59, 61
COOKIE = bytes((99, 130, 83, 99))
EVERYBODY = "255.255.255.255"


@dataclass(frozen=True)
class Message:
    operation: int
    transaction: int
    client_mac: bytes
    options: dict  # bytes by code, as sent
    seconds: int = 0
    flags: int = 0
    client: str = "0.0.0.0"  # ciaddr
    yours: str = "0.0.0.0"  # yiaddr
    relay: str = "0.0.0.0"

    @property
    def kind(self):
        return self.options.get(KIND, b"\0")[0]

    @property
    def wants_broadcast(self):
        return bool(self.flags & 0x8000)

    def address(self, code):
        """Returns the option's address as text, or None if the option is missing or is not 4 bytes long."""
        return address_text(self.options[code]) if len(self.options.get(code, b"")) == 4 else None

    def number(self, code):
        return int.from_bytes(self.options[code], "big") if code in self.options else None

    @property
    def encoded(self):
        fixed = struct.pack("!BBBBIHH", self.operation, 1, 6, 0, self.transaction, self.seconds, self.flags)
        fixed += address_bytes(self.client) + address_bytes(self.yours) + bytes(4) + address_bytes(self.relay)
        fixed += self.client_mac + bytes(10 + 64 + 128) + COOKIE
        options = b"".join(bytes([code, len(value)]) + value for code, value in self.options.items()) + b"\xff"
        return (fixed + options).ljust(300, b"\0")

    def __str__(self):
        told = [NAMES.get(self.kind, f"kind {self.kind}")]
        told += [f"for {self.address(REQUESTED)}"] if REQUESTED in self.options else []
        told += [f"server {self.address(SERVER_ID)}"] if SERVER_ID in self.options else []
        told += [f"client address {self.client}"] if self.client != "0.0.0.0" else []
        return f"DHCP {' '.join(told)}, options {' '.join(map(str, self.options))}"


def decode(data):
    """Decodes a DHCP message, or returns None if the data is not one."""
    if len(data) < 240 or data[236:240] != COOKIE or data[1:3] != b"\1\6":
        return None
    operation, _, _, _, transaction, seconds, flags = struct.unpack_from("!BBBBIHH", data)
    client, yours, _, relay = (address_text(data[place:place + 4]) for place in (12, 16, 20, 24))
    options, place = {}, 240
    while place < len(data) and data[place] != 255:
        if data[place] == 0:
            place += 1
            continue
        if place + 1 >= len(data) or place + 2 + data[place + 1] > len(data):
            return None
        options[data[place]] = options.get(data[place], b"") + bytes(data[place + 2:place + 2 + data[place + 1]])
        place += 2 + data[place + 1]
    return Message(operation, transaction, bytes(data[28:34]), options, seconds, flags, client, yours, relay)


@dataclass(frozen=True)
class DHCPPacket:
    packet: Packet  # its UDP datagram
    contents: Message
    sums_right: bool = True  # the checksums of IP and UDP

    message = None  # Not a multicast DNS packet.

    @property
    def at(self):
        return self.packet.at

    @property
    def source(self):
        return self.packet.source

    @property
    def destination(self):
        return self.packet.destination

    @property
    def is_broadcast(self):
        return self.packet.destination == EVERYBODY and self.packet.destination_mac == b"\xff" * 6

    @property
    def frame(self):
        return replace(self.packet, payload=self.contents.encoded).frame

    def with_contents(self, **fields):
        return replace(self, contents=replace(self.contents, **fields))

    def shown(self, since):
        return f"{self.at - since:.3f} s {self.source} > {self.destination} {self.contents}"


def read(packet, frame):
    """Decodes a datagram to or from a DHCP client. Returns None for other packets."""
    if packet is None or {packet.source_port, packet.destination_port} != {CLIENT, SERVER}:
        return None
    message = decode(packet.payload)
    return message and DHCPPacket(packet, message, _sums_right(frame))


def _sums_right(frame):
    start = 14 + (frame[14] & 0x0F) * 4
    length = int.from_bytes(frame[start + 4:start + 6], "big")
    udp = bytes(frame[start:start + length])
    pseudo = bytes(frame[26:34]) + struct.pack("!HH", 17, length)
    unsummed = udp[6:8] == b"\0\0"
    return checksum(bytes(frame[14:start])) == 0 and (unsummed or checksum(pseudo + udp) == 0)


@dataclass
class Server:
    """A DHCP server on a host of the peer, which offers the address `offered`. Its fields may be changed while it runs."""

    peer: object
    host: int = 3
    offered: str = "10.9.0.77"
    lease: int = 3600
    t1: int = None
    t2: int = None
    answers: set = field(default_factory=lambda: {DISCOVER, REQUEST})
    refuses: bool = False  # sends a NAK for every REQUEST
    heard: list = field(default_factory=list)
    told: list = field(default_factory=list)

    @property
    def address(self):
        return self.peer.ipv4(self.host)

    def take(self, seen):
        """Handles a frame from the target. The function is in the peer's list of reactions."""
        if not isinstance(seen, DHCPPacket):
            return
        asked = seen.contents
        self.heard.append(seen)
        if asked.operation != 1 or asked.kind not in self.answers or asked.kind not in (DISCOVER, REQUEST):
            return
        if asked.address(SERVER_ID) not in (None, self.address) or seen.destination not in (EVERYBODY, self.address):
            return
        wanted = asked.address(REQUESTED) or asked.client
        if asked.kind == REQUEST and (self.refuses or wanted != self.offered):
            self.say(asked, NAK, {}, yours="0.0.0.0")
        else:
            self.say(asked, OFFER if asked.kind == DISCOVER else ACK, self.options)

    @property
    def options(self):
        times = {LEASE: self.lease, T1: self.t1, T2: self.t2}
        return {code: struct.pack("!I", seconds) for code, seconds in times.items() if seconds is not None} | {
            MASK: address_bytes("255.255.255.0"), ROUTER: address_bytes(self.peer.ipv4(2)),
            NAME_SERVERS: address_bytes(self.peer.ipv4(2))}

    def say(self, asked, kind, options, yours=None, **fields):
        message = Message(2, asked.transaction, asked.client_mac, {
            KIND: bytes([kind]), SERVER_ID: address_bytes(self.address)} | options, 0, asked.flags, asked.client,
            yours or self.offered)
        message = replace(message, **fields)
        to, mac = (self.offered, asked.client_mac)
        if asked.client != "0.0.0.0" and kind != NAK:
            to = asked.client
        elif asked.wants_broadcast or kind == NAK:
            to, mac = EVERYBODY, b"\xff" * 6
        packet = DHCPPacket(Packet(
            self.address, to, b"", source_port=SERVER, destination_port=CLIENT, hop_limit=64,
            source_mac=self.peer.mac(self.host), destination_mac=mac), message)
        sent = self.peer.put(packet)
        self.told.append(sent)
        return sent

    def given(self, kind):
        return [packet for packet in list(self.told) if packet.contents.kind == kind]
