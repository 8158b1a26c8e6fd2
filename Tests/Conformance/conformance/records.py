"""Names, questions and records (RFC 1035 section 3, RFC 6763 section 6)."""

import socket
import struct
from dataclasses import dataclass

A, CNAME, PTR, HINFO, MX, TXT, AAAA, SRV, OPT, NSEC, ANY = 1, 5, 12, 13, 15, 16, 28, 33, 41, 47, 255
TYPES = {
    A: "A", CNAME: "CNAME", PTR: "PTR", HINFO: "HINFO", MX: "MX", TXT: "TXT", AAAA: "AAAA", SRV: "SRV", OPT: "OPT",
    NSEC: "NSEC", ANY: "ANY"}


class Malformed(Exception):
    """A message that cannot be decoded; the text names the reason."""


class Name(tuple):
    """The labels of a name, without the root."""

    def __new__(cls, labels):
        return super().__new__(cls, (label.encode() if isinstance(label, str) else bytes(label) for label in labels))

    @property
    def folded(self):
        """The name for comparison: ASCII letters in lower case (RFC 6762 section 16)."""
        return tuple(label.lower() for label in self)

    def under(self, parent):
        return len(self) > len(parent) and self.folded[-len(parent):] == parent.folded

    def __add__(self, other):
        return Name(tuple(self) + tuple(other))

    def __getitem__(self, index):
        part = tuple.__getitem__(self, index)
        return Name(part) if isinstance(index, slice) else part

    @property
    def encoded(self):
        return b"".join(bytes([len(label)]) + label for label in self) + b"\0"

    def __str__(self):
        return ".".join(
            label.decode("utf-8", "backslashreplace").replace("\\", "\\\\").replace(".", "\\.") for label in self) or "."

    __repr__ = __str__


@dataclass(frozen=True)
class Question:
    name: Name
    type: int
    unicast: bool = False  # the QU bit (RFC 6762 section 5.4)

    def asks_for(self, record):
        return self.name.folded == record.name.folded and self.type in (record.type, ANY)

    def __str__(self):
        return f"{self.name} {type_name(self.type)}{' QU' if self.unicast else ''}?"


@dataclass(frozen=True)
class Record:
    """A resource record. Names in `data` are not compressed, so that records with equal content have equal bytes."""

    name: Name
    type: int
    ttl: int
    data: bytes
    flush: bool = False  # the cache-flush bit (RFC 6762 section 10.2)

    @property
    def key(self):
        """The identity of the record, which does not include its TTL (RFC 6762 section 7.1)."""
        return self.name.folded, self.type, fold_names(self.type, self.data)

    @property
    def target(self):
        """The name that a PTR or SRV record points to."""
        return decode_name(self.data, 6 if self.type == SRV else 0)[0]

    @property
    def port(self):
        return struct.unpack_from("!H", self.data, 4)[0]

    @property
    def next_and_types(self):
        """The next name of an NSEC record and the types in its bitmap."""
        name, place = decode_name(self.data, 0)
        types = set()
        while place < len(self.data):
            window, length = self.data[place:place + 2]
            for index, byte in enumerate(self.data[place + 2:place + 2 + length]):
                types |= {window * 256 + index * 8 + bit for bit in range(8) if byte & 0x80 >> bit}
            place += 2 + length
        return name, types

    @property
    def strings(self):
        """The strings of a TXT record."""
        strings, place = [], 0
        while place < len(self.data):
            strings.append(self.data[place + 1:place + 1 + self.data[place]])
            place += 1 + self.data[place]
        return strings

    def __str__(self):
        flush = " flush" if self.flush else ""
        return f"{self.name} {type_name(self.type)}{flush} {self.ttl} {self._shown_data()}"

    def _shown_data(self):
        try:
            if self.type in (PTR, CNAME):
                return str(self.target)
            if self.type == SRV:
                return f"{self.target}:{self.port}"
            if self.type == TXT:
                return " ".join(string.decode("utf-8", "backslashreplace") for string in self.strings) or '""'
            if self.type == NSEC:
                return ",".join(type_name(number) for number in sorted(self.next_and_types[1]))
            return address_text(self.data)
        except (Malformed, IndexError, ValueError, struct.error):
            return self.data.hex()


def decode_name(data, place):
    """Decodes the name at `place`; also returns the position after it."""
    labels, end, begin = [], None, place
    while True:
        if place >= len(data):
            raise Malformed(f"the name at byte {begin} continues beyond the end")
        length = data[place]
        if length >= 0xC0:
            if place + 1 >= len(data):
                raise Malformed(f"the name at byte {begin} ends within a pointer")
            end = end or place + 2
            target = (length & 0x3F) << 8 | data[place + 1]
            if target >= place:
                raise Malformed(f"the name at byte {begin} points forward to byte {target}")
            place = target
        elif length >= 0x40:
            raise Malformed(f"the name at byte {begin} has a label of unknown kind")
        elif length == 0:
            return Name(labels), end or place + 1
        else:
            labels.append(data[place + 1:place + 1 + length])
            place += 1 + length
            if len(labels) > 127:
                raise Malformed(f"the name at byte {begin} has more than 127 labels")


def fold_names(kind, data):
    """Returns record data; the name in PTR, CNAME and SRV data is in lower case."""
    if kind in (PTR, CNAME):
        return data.lower()
    return data[:6] + data[6:].lower() if kind == SRV else data


def type_name(number):
    return TYPES.get(number, f"TYPE{number}")


def address_text(data):
    """Returns the address as text; data that is not an address as hexadecimal digits."""
    if len(data) not in (4, 16):
        return data.hex()
    return socket.inet_ntop(socket.AF_INET if len(data) == 4 else socket.AF_INET6, data)


def address_bytes(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def srv_data(target, port):
    return struct.pack("!3H", 0, 0, port) + target.encoded


def txt_data(*strings):
    return b"".join(bytes([len(string)]) + string for string in strings) or b"\0"
