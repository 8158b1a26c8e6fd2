"""Alterations of packets by the proxy. Each criterion has an alteration with which it must not pass, which proves that the
criterion can fail.

A step is a function of a packet that returns its replacement: pairs of a delay in seconds and a packet.
"""

from dataclasses import dataclass, replace
from typing import Callable

from conformance.records import SRV, srv_data


def unchanged(packet):
    return [(0, packet)]


@dataclass(frozen=True)
class Alteration:
    told: str
    from_target: Callable = unchanged
    to_target: Callable = unchanged
    of_frames: bool = False  # The steps get every frame (see wire.py), not only multicast DNS.
    in_host: Callable = None  # Changes the target's host instead of packets, see AddressBench.


def from_target(told, step):
    return Alteration(told, from_target=step)


def to_target(told, step):
    return Alteration(told, to_target=step)


# Conditions that select packets.

def probe(packet):
    return packet.message.is_probe


def response(packet):
    return packet.message.is_response


def query(packet):
    return not packet.message.is_response


def anything(_):
    return True


def unicast(packet):
    return response(packet) and not packet.is_multicast


def holding(kind, alive=None):
    """Selects responses with a record of that type. With `alive` True the record must be live, with False a goodbye."""
    def check(packet):
        return response(packet) and any(
            record.type == kind and alive in (None, record.ttl > 0) for record in packet.message.records)
    return check


def answering(kind):
    """Selects responses whose answer section has a record of that type."""
    return lambda packet: response(packet) and any(record.type == kind for record in packet.message.answers)


def later(seconds, wanted, but_first=0):
    """Selects matching packets that arrive at least `seconds` after the first match, except the first `but_first` matches."""
    began = []

    def check(packet):
        if not wanted(packet):
            return False
        began.append(packet.at)
        return packet.at - began[0] >= seconds and len(began) > but_first
    return check


# Steps.

def dropped(wanted, keeping=lambda number: False):
    """Drops matching packets, except those for whose number (from 1) `keeping` returns True."""
    seen = [0]

    def step(packet):
        if not wanted(packet):
            return [(0, packet)]
        seen[0] += 1
        return [(0, packet)] if keeping(seen[0]) else []
    return step


def delayed(seconds, wanted):
    return lambda packet: [(seconds if wanted(packet) else 0, packet)]


def repeated(seconds, wanted):
    """Sends matching packets, and repeats them after that many seconds."""
    return lambda packet: [(0, packet), (seconds, packet)] if wanted(packet) else [(0, packet)]


def rewritten(change, wanted=anything):
    """Replaces the message of matching packets by `change(message)`."""
    def step(packet):
        return [(0, replace(packet, payload=change(packet.message).encoded))] if wanted(packet) else [(0, packet)]
    return step


def readdressed(wanted=anything, **fields):
    """Replaces fields of the IP or UDP header."""
    return lambda packet: [(0, replace(packet, **fields) if wanted(packet) else packet)]


def records(change, wanted=anything):
    """Applies `change` to each record. `change` returns the new record, or None to remove it."""
    return rewritten(lambda message: message.with_records(change), wanted)


def without(*kinds):
    return lambda record: None if record.type in kinds else record


def with_ttl(ttl, *kinds):
    return lambda record: replace(record, ttl=ttl) if not kinds or record.type in kinds else record


def with_flush(flush, *kinds):
    return lambda record: replace(record, flush=flush) if not kinds or record.type in kinds else record


def with_port(port):
    """Replaces the port of SRV records."""
    def change(record):
        return replace(record, data=srv_data(record.target, port)) if record.type == SRV else record
    return change


def with_flags(on=0, off=0):
    return lambda message: replace(message, flags=message.flags & ~off | on)


def split(wanted):
    """Sends each record of the answer section in its own packet."""
    def step(packet):
        if not wanted(packet) or len(packet.message.answers) < 2:
            return [(0, packet)]
        return [(0.002 * index, replace(packet, payload=replace(packet.message, answers=(record,)).encoded))
                for index, record in enumerate(packet.message.answers)]
    return step
