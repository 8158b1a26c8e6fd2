"""Packets other than multicast DNS: ARP, TCP and neighbour discovery. Each is a value that encodes its frame."""

import struct
from dataclasses import dataclass

from conformance import dhcp, frames
from conformance.frames import ARP as ARP_TYPE, ICMPV6, IPV4, IPV6, UDP, checksum
from conformance.records import address_bytes, address_text

TCP = 6
BROADCAST, NO_MAC, NOWHERE = b"\xff" * 6, bytes(6), "0.0.0.0"
REQUEST, REPLY = 1, 2
NEIGHBOUR_SOLICITATION, NEIGHBOUR_ADVERTISEMENT = 135, 136
FIN, SYN, RST, PUSH, ACK = 1, 2, 4, 8, 16


def mac_text(mac):
    return "broadcast" if mac == BROADCAST else ":".join(f"{byte:02x}" for byte in mac)


def is_link_local(address):
    return address.startswith("169.254.")


@dataclass(frozen=True)
class ARP:
    """An ARP packet (RFC 826). `source_mac` and `destination_mac` are those of the Ethernet header."""

    operation: int
    sender_mac: bytes
    sender: str
    target_mac: bytes
    target: str
    destination_mac: bytes = BROADCAST
    source_mac: bytes = None
    at: float = 0.0

    @property
    def is_probe(self):
        """True for an ARP probe (RFC 5227 §1.1)."""
        return self.operation == REQUEST and self.sender == NOWHERE

    @property
    def is_announcement(self):
        return self.sender == self.target and self.sender != NOWHERE

    @property
    def frame(self):
        body = struct.pack("!HHBBH", 1, IPV4, 6, 4, self.operation)
        body += self.sender_mac + address_bytes(self.sender) + self.target_mac + address_bytes(self.target)
        return self.destination_mac + (self.source_mac or self.sender_mac) + struct.pack("!H", ARP_TYPE) + body

    def shown(self, since):
        if self.is_probe:
            told = f"probe for {self.target}"
        elif self.is_announcement:
            told = f"announcement of {self.sender}"
        elif self.operation == REQUEST:
            told = f"request for {self.target} from {self.sender}"
        else:
            told = f"reply: {self.sender} is at {mac_text(self.sender_mac)}, to {self.target}"
        aimed = "" if self.target_mac == NO_MAC else f", target hardware {mac_text(self.target_mac)}"
        return f"{self.at - since:.3f} s {mac_text(self.sender_mac)} > {mac_text(self.destination_mac)} ARP {told}{aimed}"


def probe(address, mac):
    return ARP(REQUEST, mac, NOWHERE, NO_MAC, address)


def announcement(address, mac, operation=REQUEST):
    return ARP(operation, mac, address, NO_MAC if operation == REQUEST else BROADCAST, address)


def request(address, mac, sender, destination_mac=BROADCAST):
    return ARP(REQUEST, mac, sender, NO_MAC, address, destination_mac)


def reply(address, mac, to, target=NOWHERE):
    """A reply that maps the address to this MAC, sent to the MAC `to`."""
    return ARP(REPLY, mac, address, to, target, to)


@dataclass(frozen=True)
class Segment:
    """TCP over IPv4 without options."""

    source: str
    destination: str
    source_port: int
    destination_port: int
    sequence: int
    acknowledged: int
    flags: int
    payload: bytes = b""
    source_mac: bytes = NO_MAC
    destination_mac: bytes = NO_MAC
    at: float = 0.0

    @property
    def frame(self):
        tcp = struct.pack("!HHIIBBHHH", self.source_port, self.destination_port, self.sequence & 0xFFFFFFFF,
                          self.acknowledged & 0xFFFFFFFF, 5 << 4, self.flags, 65535, 0, 0) + self.payload
        addresses = address_bytes(self.source) + address_bytes(self.destination)
        pseudo = addresses + struct.pack("!HH", TCP, len(tcp))
        tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
        header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, TCP, 0) + addresses
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        return self.destination_mac + self.source_mac + struct.pack("!H", IPV4) + header + tcp

    def shown(self, since):
        names = "".join(letter for letter, bit in zip("FSRPA", (FIN, SYN, RST, PUSH, ACK)) if self.flags & bit)
        return (f"{self.at - since:.3f} s {self.source}:{self.source_port} > {self.destination}:{self.destination_port} "
                f"TCP {names}, {len(self.payload)} bytes")


@dataclass(frozen=True)
class Neighbour:
    """A neighbour solicitation or advertisement (RFC 4861 §4.3, §4.4)."""

    kind: int
    source: str
    destination: str
    target: str
    raw: bytes
    at: float = 0.0

    @property
    def frame(self):
        return self.raw

    @property
    def is_probe(self):
        """True for a probe of duplicate address detection (RFC 4862 §5.4.2)."""
        return self.kind == NEIGHBOUR_SOLICITATION and self.source == "::"

    def shown(self, since):
        what = "solicitation" if self.kind == NEIGHBOUR_SOLICITATION else "advertisement"
        return f"{self.at - since:.3f} s {self.source} > {self.destination} neighbour {what} for {self.target}"


def neighbour_advertisement(target, mac):
    """An advertisement to all nodes that maps the address to this MAC (RFC 4862 §5.4.4)."""
    body = struct.pack("!BBHI", NEIGHBOUR_ADVERTISEMENT, 0, 0, 0x20000000) + address_bytes(target) + b"\2\1" + mac
    return _neighbour_frame(target, "ff02::1", bytes.fromhex("333300000001"), mac, body)


def neighbour_solicitation(target, mac, source):
    """A question from `source`, which has this MAC, to the target's solicited-node group (RFC 4861 §4.3)."""
    body = struct.pack("!BBHI", NEIGHBOUR_SOLICITATION, 0, 0, 0) + address_bytes(target) + b"\1\1" + mac
    end = address_bytes(target)[-3:]
    group = address_text(address_bytes("ff02::1:ff00:0")[:-3] + end)
    return read(_neighbour_frame(source, group, b"\x33\x33\xff" + end, mac, body), 0.0)


def _neighbour_frame(source, destination, destination_mac, mac, body):
    addresses = address_bytes(source) + address_bytes(destination)
    pseudo = addresses + struct.pack("!II", len(body), ICMPV6)
    body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
    header = struct.pack("!IHBB", 6 << 28, len(body), ICMPV6, 255) + addresses
    return destination_mac + mac + struct.pack("!H", IPV6) + header + body


@dataclass(frozen=True)
class Other:
    """Any other frame; the addresses are empty if it is not IP."""

    raw: bytes
    source: str = ""
    destination: str = ""
    at: float = 0.0

    @property
    def frame(self):
        return self.raw

    def shown(self, since):
        kind = int.from_bytes(self.raw[12:14], "big")
        return f"{self.at - since:.3f} s {self.source} > {self.destination} frame of type {kind:#06x}, {len(self.raw)} bytes"


def read(frame, at):
    """Decodes the frame as one of these values, as a DHCP packet, or as any other UDP datagram."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == ARP_TYPE and len(frame) >= 42 and frame[14:20] == b"\0\1\x08\0\6\4":
        return ARP(int.from_bytes(frame[20:22], "big"), bytes(frame[22:28]), address_text(frame[28:32]),
                   bytes(frame[32:38]), address_text(frame[38:42]), bytes(frame[:6]), bytes(frame[6:12]), at)
    if kind == IPV4 and len(frame) >= 34:
        source, destination = address_text(frame[26:30]), address_text(frame[30:34])
        start = 14 + (frame[14] & 0x0F) * 4
        if frame[23] == UDP and len(frame) >= start + 8:
            packet = frames.parsed(frame, at)
            return dhcp.read(packet, frame) or packet
        if frame[23] == TCP and len(frame) >= start + 20:
            return _segment(frame, at, source, destination, start)
        return Other(bytes(frame), source, destination, at)
    if kind == IPV6 and len(frame) >= 54:
        source, destination = address_text(frame[22:38]), address_text(frame[38:54])
        if frame[20] == ICMPV6 and len(frame) >= 78 and frame[54] in (NEIGHBOUR_SOLICITATION, NEIGHBOUR_ADVERTISEMENT):
            return Neighbour(frame[54], source, destination, address_text(frame[62:78]), bytes(frame), at)
        packet = frames.parsed(frame, at)
        return packet or Other(bytes(frame), source, destination, at)
    return Other(bytes(frame), at=at)


def _segment(frame, at, source, destination, start):
    source_port, destination_port, sequence, acknowledged, offset, flags = struct.unpack_from("!HHIIBB", frame, start)
    end = 14 + int.from_bytes(frame[16:18], "big")
    payload = bytes(frame[start + (offset >> 4) * 4:end])
    return Segment(source, destination, source_port, destination_port, sequence, acknowledged, flags & 0x3F, payload,
                   bytes(frame[6:12]), bytes(frame[:6]), at)
