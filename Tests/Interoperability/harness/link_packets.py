"""ARP and DHCP packets for the scripted server and the captures. They are encoded and decoded without validation, so
that wrong ones can be sent, too. This module imports nothing else of the harness, because programs on the hosts use
it."""

import socket
import struct
from dataclasses import dataclass, field

ARP_TYPE, IPV4_TYPE = 0x0806, 0x0800
EVERYBODY = b"\xff" * 6
COOKIE = bytes.fromhex("63825363")
DISCOVER, OFFER, REQUEST, DECLINE, ACK, NAK, RELEASE = range(1, 8)
KINDS = dict(enumerate(("DISCOVER", "OFFER", "REQUEST", "DECLINE", "ACK", "NAK", "RELEASE", "INFORM"), start=1))

# Options of RFC 2132 and, where noted, of other RFCs.
MASK, ROUTERS, NAME_SERVERS, DOMAIN, TIME_SERVERS, REQUESTED, LEASE, OVERLOAD, KIND, SERVER = 1, 3, 6, 15, 42, 50, 51, 52, 53, 54
T1, T2, CLIENT, SEARCH, CLASSLESS_ROUTES = 58, 59, 61, 119, 121  # SEARCH: RFC 3397, CLASSLESS_ROUTES: RFC 3442
END = 255


def packed(address):
    return socket.inet_aton(address)


def dotted(four):
    return socket.inet_ntoa(four)


def hardware(text):
    return bytes.fromhex(text.replace(":", ""))


@dataclass
class ARP:
    """An ARP packet. Operation 1 is a request, 2 is a reply."""
    operation: int
    sender_hardware: bytes
    sender: str
    target_hardware: bytes
    target: str
    source: bytes = b""  # the frame's source address
    destination: bytes = EVERYBODY

    @property
    def is_probe(self):
        return self.operation == 1 and self.sender == "0.0.0.0"

    @property
    def is_announcement(self):
        return self.sender == self.target

    @classmethod
    def read(cls, frame):
        if len(frame) < 42 or frame[12:14] != b"\x08\x06":
            return None
        operation, mac, sender, target_mac, target = struct.unpack("!H6s4s6s4s", frame[20:42])
        return cls(operation, mac, dotted(sender), target_mac, dotted(target), frame[6:12], frame[:6])

    def frame(self):
        return (
            self.destination + (self.source or self.sender_hardware) + struct.pack("!HHHBB", ARP_TYPE, 1, IPV4_TYPE, 6, 4)
            + struct.pack("!H6s4s6s4s", self.operation, self.sender_hardware, packed(self.sender), self.target_hardware,
                          packed(self.target)))


@dataclass
class DHCP:
    """A DHCP message with its options by number. If a decoded message is overloaded, the options in other fields are missing."""
    operation: int
    transaction: int
    hardware: bytes
    options: dict = field(default_factory=dict)
    client: str = "0.0.0.0"
    yours: str = "0.0.0.0"
    flags: int = 0
    seconds: int = 0
    source: str = "0.0.0.0"
    destination: str = "255.255.255.255"
    cookie: bytes = COOKIE
    server_name: bytes = b""
    file: bytes = b""

    @property
    def kind(self):
        return KINDS.get(int.from_bytes(self.options.get(KIND, b""), "big"), "BOOTP")

    def address(self, option):
        return dotted(self.options[option]) if option in self.options else None

    @classmethod
    def read(cls, frame):
        """Decodes a DHCP message. Returns None for any other frame."""
        if len(frame) < 14 + 20 + 8 + 240 or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
            return None
        start = 14 + 4 * (frame[14] & 0xF)
        if not set(struct.unpack("!HH", frame[start:start + 4])) <= {67, 68}:
            return None
        body = frame[start + 8:]
        operation, _, _, _, transaction, seconds, flags, client, yours = struct.unpack("!BBBBIHH4s4s", body[:20])
        return cls(
            operation, transaction, body[28:34], options_in(body[240:]), dotted(client), dotted(yours), flags, seconds,
            dotted(frame[26:30]), dotted(frame[30:34]))

    def body(self):
        head = struct.pack("!BBBBIHH4s4s4s4s", self.operation, 1, 6, 0, self.transaction, self.seconds, self.flags,
                           packed(self.client), packed(self.yours), bytes(4), bytes(4))
        return (head + self.hardware.ljust(16, b"\0") + self.server_name.ljust(64, b"\0") + self.file.ljust(128, b"\0")
                + self.cookie + encoded(self.options) + bytes([END]))

    def frame(self, source, destination, body=None):
        """Encodes a server's frame; `body` replaces the encoded message."""
        return datagram(self.body() if body is None else body, source, destination, self.source, self.destination)


def options_in(field):
    """Decodes the options up to the end option or the end of the field. An option that is longer than the field is cut off."""
    found, place = {}, 0
    while place + 1 < len(field) and field[place] != END:
        if field[place] == 0:
            place += 1
            continue
        length = field[place + 1]
        found[field[place]] = found.get(field[place], b"") + field[place + 2:place + 2 + length]
        place += 2 + length
    return found


def encoded(options):
    return b"".join(bytes([number, len(value)]) + value for number, value in options.items())


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def datagram(body, source_hardware, destination_hardware, source, destination):
    """Returns an Ethernet frame with a UDP datagram from the server's port to the client's."""
    length = 8 + len(body)
    addresses = packed(source) + packed(destination)
    header = struct.pack("!HHHH", 67, 68, length, 0)
    check = checksum(addresses + struct.pack("!BBH", 0, socket.IPPROTO_UDP, length) + header + body) or 0xFFFF
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return (destination_hardware + source_hardware + struct.pack("!H", IPV4_TYPE) + ip + header[:6]
            + struct.pack("!H", check) + body)
