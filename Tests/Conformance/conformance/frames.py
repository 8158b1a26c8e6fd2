"""Ethernet frames that carry multicast DNS, over IPv4 and IPv6, and the answers to ARP and neighbour solicitations."""

import socket
import struct
from dataclasses import dataclass

from conformance import messages
from conformance.records import Malformed, address_bytes, address_text

PORT = 5353
GROUPS = {4: "224.0.0.251", 6: "ff02::fb"}
GROUP_MACS = {4: bytes.fromhex("01005e0000fb"), 6: bytes.fromhex("3333000000fb")}
IPV4, ARP, IPV6 = 0x0800, 0x0806, 0x86DD
UDP, ICMPV6 = 17, 58


@dataclass(frozen=True)
class Packet:
    """A UDP datagram with the relevant fields of its IP and Ethernet headers. `at` is the kernel's receive time, or the
    time when the peer sent the packet, in seconds since 1970."""

    source: str
    destination: str
    payload: bytes
    at: float = 0.0
    source_port: int = PORT
    destination_port: int = PORT
    hop_limit: int = 255
    source_mac: bytes = bytes(6)
    destination_mac: bytes = bytes(6)

    @property
    def family(self):
        return 6 if ":" in self.source else 4

    @property
    def is_multicast(self):
        return self.destination == GROUPS[self.family]

    @property
    def message(self):
        """The DNS message, decoded once and cached; None if it cannot be decoded."""
        if "_message" not in self.__dict__:
            try:
                decoded = messages.decode(self.payload)
            except Malformed:
                decoded = None
            object.__setattr__(self, "_message", decoded)
        return self.__dict__["_message"]

    @property
    def frame(self):
        """The frame as bytes, with computed checksums."""
        addresses = address_bytes(self.source) + address_bytes(self.destination)
        length = 8 + len(self.payload)
        udp = struct.pack("!4H", self.source_port, self.destination_port, length, 0) + self.payload
        pseudo = addresses + (struct.pack("!IHH", length, 0, UDP) if self.family == 6 else struct.pack("!HH", UDP, length))
        udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp) or 0xFFFF) + udp[8:]
        if self.family == 6:
            header = struct.pack("!IHBB", 6 << 28, length, UDP, self.hop_limit) + addresses
        else:
            header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, self.hop_limit, UDP, 0) + addresses
            header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        return self.destination_mac + self.source_mac + struct.pack("!H", IPV6 if self.family == 6 else IPV4) + header + udp

    def shown(self, since):
        ports = "" if (self.source_port, self.destination_port) == (PORT, PORT) else \
            f" (port {self.source_port} to {self.destination_port})"
        told = self.message or f"{len(self.payload)} bytes that cannot be decoded"
        return f"{self.at - since:.3f} s {self.source} > {self.destination}{ports} {told}"


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def parsed(frame, at):
    """Decodes the UDP datagram in a frame, or returns None."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == IPV4 and len(frame) >= 42 and frame[23] == UDP:
        start = 14 + (frame[14] & 0x0F) * 4
        addresses, hop_limit = (frame[26:30], frame[30:34]), frame[22]
    elif kind == IPV6 and len(frame) >= 62 and frame[20] == UDP:
        start, addresses, hop_limit = 54, (frame[22:38], frame[38:54]), frame[21]
    else:
        return None
    source_port, destination_port, length = struct.unpack_from("!3H", frame, start)
    source, destination = map(address_text, addresses)
    return Packet(source, destination, bytes(frame[start + 8:start + length]), at, source_port, destination_port,
                  hop_limit, bytes(frame[6:12]), bytes(frame[:6]))


def neighbour_answer(frame, mac, addresses):
    """Returns a host's answer to an ARP request or a neighbour solicitation for its addresses, or None."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == ARP and frame[20:22] == b"\0\1" and address_text(frame[38:42]) in addresses:
        answer = struct.pack("!HHBBH", 1, IPV4, 6, 4, 2) + mac + frame[38:42] + frame[22:32]
        return frame[6:12] + mac + struct.pack("!H", ARP) + answer
    if kind == IPV6 and len(frame) >= 78 and frame[20] == ICMPV6 and frame[54] == 135:
        wanted = frame[62:78]
        if address_text(wanted) not in addresses:
            return None
        source = frame[22:38]
        body = struct.pack("!BBHI", 136, 0, 0, 0x60000000) + wanted + b"\2\1" + mac
        pseudo = wanted + source + struct.pack("!II", len(body), ICMPV6)
        body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
        header = struct.pack("!IHBB", 6 << 28, len(body), ICMPV6, 255) + wanted + source
        return frame[6:12] + mac + struct.pack("!H", IPV6) + header + body
    return None


def link_local(mac):
    """Derives the IPv6 link-local address of a MAC (RFC 4291, appendix A)."""
    half = bytes([mac[0] ^ 2, *mac[1:3], 0xFF, 0xFE, *mac[3:]])
    return socket.inet_ntop(socket.AF_INET6, bytes([0xFE, 0x80]) + bytes(6) + half)
