"""Registrations with a sleep proxy: DNS Updates (RFC 2136) with the options Update Lease (RFC 9664) and Owner
(draft-cheshire-edns0-owner-option), and magic packets."""

import struct

from conformance.messages import OPCODE, RCODE, Message
from conformance.records import OPT, Name, Record

UPDATE = 5 << 11
LEASE_OPTION, OWNER_OPTION = 2, 4
SUCCESS, REFUSED = 0, 5


def option(code, data):
    return struct.pack("!2H", code, len(data)) + data


def lease(seconds, *keys):
    """The Update Lease option; with `keys`, the lease of KEY records, it has the form of eight bytes."""
    return option(LEASE_OPTION, struct.pack(f"!{1 + len(keys)}I", seconds, *keys))


def owner(card, sequence, password=b""):
    """The Owner option. An option with a password also has the address of the card to wake."""
    return option(OWNER_OPTION, bytes([0, sequence]) + card + (card + password if password else b""))


def options_record(*options):
    return Record(Name([]), OPT, 0, b"".join(options))


def registration(identity, records, *options, flags=UPDATE):
    return Message(identity, flags, (), (), tuple(records), (options_record(*options),))


def option_data(message, code):
    """Returns the data of the message's first option with that code, or None."""
    for record in message.additionals:
        place = 0
        while record.type == OPT and place + 4 <= len(record.data):
            found, length = struct.unpack_from("!2H", record.data, place)
            if found == code:
                return record.data[place + 4:place + 4 + length]
            place += 4 + length
    return None


def response_code(message):
    return message.flags & RCODE


def is_update(message):
    return message.flags & OPCODE == UPDATE


def magic(card, password=b""):
    """The bytes that wake a card."""
    return b"\xff" * 6 + card * 16 + password
