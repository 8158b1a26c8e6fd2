"""DNS messages as multicast DNS uses them (RFC 1035 section 4, RFC 6762 section 18)."""

import struct
from dataclasses import dataclass, replace

from conformance.records import (
    CNAME, NSEC, OPT, PTR, SRV, Malformed, Question, Record, decode_name, type_name)

INTERNET, TOP_BIT = 1, 0x8000
PAYLOAD_SIZE = 1440  # The size in an OPT record, which is in the field of the class (RFC 6891 §6.1.2).
RESPONSE, OPCODE, AUTHORITATIVE, TRUNCATED, RECURSION_DESIRED, RCODE = 0x8000, 0x7800, 0x0400, 0x0200, 0x0100, 0x000F


@dataclass(frozen=True)
class Message:
    id: int = 0
    flags: int = 0
    questions: tuple = ()
    answers: tuple = ()
    authorities: tuple = ()
    additionals: tuple = ()

    @property
    def is_response(self):
        return bool(self.flags & RESPONSE)

    @property
    def records(self):
        """The records of a response, from the answer and additional sections."""
        return self.answers + self.additionals

    @property
    def is_probe(self):
        """True for a query that proposes records (RFC 6762 section 8.1)."""
        return not self.is_response and bool(self.authorities)

    def with_records(self, change):
        """Applies `change` to every record. `change` returns the new record, or None to remove it."""
        def changed(records):
            return tuple(new for new in map(change, records) if new is not None)

        return replace(self, answers=changed(self.answers), authorities=changed(self.authorities),
                       additionals=changed(self.additionals))

    def __str__(self):
        kind = "response" if self.is_response else "query"
        marks = "".join(
            mark for mark, is_set in ((" TC", self.flags & TRUNCATED), (f" id {self.id}", self.id),
                                      (f" opcode {(self.flags & OPCODE) >> 11}", self.flags & OPCODE),
                                      (f" rcode {self.flags & RCODE}", self.flags & RCODE)) if is_set)
        parts = [kind + marks]
        for title, entries in (("", self.questions), ("", self.answers), ("authority: ", self.authorities),
                               ("additional: ", self.additionals)):
            if entries:
                parts.append(title + ", ".join(map(str, entries)))
        return "; ".join(parts)

    @property
    def encoded(self):
        writer = Writer()
        writer.bytes += struct.pack("!6H", self.id, self.flags, len(self.questions), len(self.answers),
                                    len(self.authorities), len(self.additionals))
        for question in self.questions:
            writer.name(question.name)
            writer.bytes += struct.pack("!2H", question.type, INTERNET | (TOP_BIT if question.unicast else 0))
        for record in self.answers + self.authorities + self.additionals:
            writer.name(record.name)
            row = PAYLOAD_SIZE if record.type == OPT else INTERNET | (TOP_BIT if record.flush else 0)
            writer.bytes += struct.pack("!2HIH", record.type, row, record.ttl, len(record.data))
            writer.bytes += record.data
        return bytes(writer.bytes)


class Writer:
    """Encodes names. It compresses names of questions and owners, not names in record data."""

    def __init__(self):
        self.bytes = bytearray()
        self._places = {}

    def name(self, name):
        for index in range(len(name)):
            rest = tuple(name[index:])
            if rest in self._places:
                self.bytes += struct.pack("!H", 0xC000 | self._places[rest])
                return
            if len(self.bytes) < 0x4000:
                self._places[rest] = len(self.bytes)
            self.bytes += bytes([len(name[index])]) + name[index]
        self.bytes.append(0)


def decode(data):
    if len(data) < 12:
        raise Malformed(f"a message of {len(data)} bytes, which is less than a header")
    identity, flags, *counts = struct.unpack_from("!6H", data)
    place, questions, sections = 12, [], []
    try:
        for _ in range(counts[0]):
            name, place = decode_name(data, place)
            kind, row = struct.unpack_from("!2H", data, place)
            questions.append(Question(name, kind, bool(row & TOP_BIT)))
            place += 4
        for count in counts[1:]:
            records = []
            for _ in range(count):
                record, place = decode_record(data, place)
                records.append(record)
            sections.append(tuple(records))
    except (struct.error, IndexError):
        raise Malformed(f"the message ends within an entry, at byte {len(data)}") from None
    if place != len(data):
        raise Malformed(f"{len(data) - place} bytes after the last record")
    return Message(identity, flags, tuple(questions), *sections)


def decode_record(data, place):
    name, place = decode_name(data, place)
    kind, row, ttl, length = struct.unpack_from("!2HIH", data, place)
    place += 10
    end = place + length
    if end > len(data):
        raise Malformed(f"the data of {name} {type_name(kind)} continues beyond the end")
    raw = data[place:end]
    if kind in (PTR, CNAME, NSEC):
        target, after = decode_name(data, place)
        raw = target.encoded + data[after:end]
    elif kind == SRV:
        raw = data[place:place + 6] + decode_name(data, place + 6)[0].encoded
    return Record(name, kind, ttl, bytes(raw), bool(row & TOP_BIT)), end
