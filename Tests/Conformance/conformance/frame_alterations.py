"""Alterations of frames below IP, and changes of the target's host, for the criteria of the phase "addressing"."""

import signal
from dataclasses import dataclass, replace

from conformance import alterations, wire
from conformance.alterations import Alteration
from conformance.dhcp import DHCPPacket
from conformance.frames import Packet
from conformance.wire import ARP, Neighbour, Segment


@dataclass(frozen=True)
class Back:
    """A frame that is sent back to the side that it came from."""

    value: object

    @property
    def frame(self):
        return self.value.frame


def from_target(told, step):
    return Alteration(told, from_target=step, of_frames=True)


def to_target(told, step):
    return Alteration(told, to_target=step, of_frames=True)


def in_host(told, *words):
    """Runs a command on the target's host as soon as its interface has an address. {} in a word is replaced by the address."""
    return Alteration(
        told, in_host=lambda bench, address: bench.host.finish(*(word.replace("{}", address) for word in words)))


def halted(told, wanted):
    """Stops the target's program with SIGSTOP as soon as its interface has an address for which `wanted` returns True."""
    def halt(bench, address):
        if wanted(address):
            bench.target.running.process.send_signal(signal.SIGSTOP)
    return Alteration(told, in_host=halt)


# Conditions that select frames.

def arp(frame):
    return isinstance(frame, ARP)


def probe(frame):
    return arp(frame) and frame.is_probe


def link_local_probe(frame):
    return probe(frame) and wire.is_link_local(frame.target)


def routable_probe(frame):
    return probe(frame) and not wire.is_link_local(frame.target)


def announcement(frame):
    return arp(frame) and frame.is_announcement


def link_local_announcement(frame):
    return announcement(frame) and wire.is_link_local(frame.sender)


def routable_announcement(frame):
    return announcement(frame) and not wire.is_link_local(frame.sender)


def reply(frame):
    return arp(frame) and frame.operation == wire.REPLY and not frame.is_announcement


def request(frame):
    return arp(frame) and frame.operation == wire.REQUEST and not frame.is_probe and not frame.is_announcement


def dhcp(*kinds):
    return lambda frame: isinstance(frame, DHCPPacket) and (not kinds or frame.contents.kind in kinds)


def segment(frame):
    return isinstance(frame, Segment)


def neighbour(frame):
    return isinstance(frame, Neighbour)


def neighbour_probe(frame):
    return neighbour(frame) and frame.is_probe


def mdns(wanted):
    """Adapts a condition on multicast DNS packets to frames."""
    return lambda frame: isinstance(frame, Packet) and frame.message is not None and wanted(frame)


def after(first, wanted, number=1):
    """Selects the frames that match `wanted` and arrive after `number` frames that match `first`."""
    seen = [0]

    def check(frame):
        if seen[0] >= number and wanted(frame):
            return True
        seen[0] += bool(first(frame))
        return False
    return check


# Steps.

dropped, delayed, repeated, changed = (
    alterations.dropped, alterations.delayed, alterations.repeated, alterations.readdressed)


def fields(wanted, change):
    """Replaces matching frames by `change(frame)`."""
    return lambda frame: [(0, change(frame) if wanted(frame) else frame)]


def options(wanted, without=(), **with_):
    """Removes the DHCP options whose codes are in `without`, and sets others: `o12=b"..."` sets option 12."""
    def change(frame):
        kept = {code: value for code, value in frame.contents.options.items() if code not in without}
        return frame.with_contents(options=kept | {int(code[1:]): value for code, value in with_.items()})
    return fields(wanted, change)


def also(wanted, make, delay=0.0):
    """Sends a second frame after a matching one: `make` gets the frame and returns the second, or None."""
    def step(frame):
        more = make(frame) if wanted(frame) else None
        return [(0, frame)] + ([(delay, more)] if more else [])
    return step


def moved(address):
    """Replaces the target address of an ARP packet."""
    return lambda frame: replace(frame, target=address)
