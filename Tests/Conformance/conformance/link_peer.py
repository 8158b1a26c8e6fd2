"""The scripted peer below IP: it asks for, claims and uses addresses on the link."""

import time
from dataclasses import replace

from conformance import wire
from conformance.frames import GROUP_MACS, GROUPS
from conformance.peer import SLACK, Peer
from conformance.wire import ARP, Segment


class LinkPeer(Peer):
    """A Peer that stores all frames of the target in `frames`. Each of its hosts also has a link-local address.

    The functions in `reactions` are called with each frame on arrival, before the peer's hosts answer ARP requests and
    neighbour solicitations.
    """

    def __init__(self, interface):
        self.frames, self.reactions = [], []
        self.mirrors = False  # Sends every frame back to its source, as some access points do.
        super().__init__(interface)
        self._addresses |= {self.link_local(host): self.mac(host) for host in range(2, 10)}

    @staticmethod
    def link_local(host):
        return f"169.254.9.{host}"

    def own(self, address, host):
        """Assigns the address to a host, which then answers requests for it, including probes."""
        self._addresses = self._addresses | {address: self.mac(host)}

    def disown(self, address):
        self._addresses = {own: mac for own, mac in self._addresses.items() if own != address}

    def _take(self, frame, at):
        if self.mirrors:
            self._put(frame)
        seen = wire.read(frame, at)
        for react in list(self.reactions):
            react(seen)
        super()._take(frame, at)
        with self._arrived:
            self.frames.append(seen)
            self._arrived.notify_all()

    # Sending.

    def put(self, value):
        """Sends a frame. `value` is a packet of wire.py, which is returned with the time of sending, or the frame's
        bytes, for which None is returned."""
        at = time.time()
        self._put(value.frame if hasattr(value, "frame") else value)
        if hasattr(value, "packet"):
            return replace(value, packet=replace(value.packet, at=at))
        return replace(value, at=at) if hasattr(value, "frame") else None

    def send(self, message, to=None, host=2, family=4, source=None, **how):
        """Sends a message like `Peer.send`, but from a link-local address unless `source` names another one."""
        own = source or (self.ipv6(host) if family == 6 else self.link_local(host))
        return super().send(message, to or (GROUPS[family], GROUP_MACS[family]), host, family=family, source=own, **how)

    # Receiving.

    def seen(self, kind, wanted=lambda _: True, since=0.0, until=float("inf")):
        """Returns the matching frames of a kind (ARP, DHCPPacket, ...) so far, in the order of arrival."""
        return [frame for frame in list(self.frames)
                if isinstance(frame, kind) and since < frame.at <= until and wanted(frame)]

    def await_some(self, kind, wanted, count, within, since=None):
        """Waits for `count` frames; returns fewer if `within` seconds from `since` (default: now) have passed."""
        begin = time.time() if since is None else since
        limit = begin + within
        with self._arrived:
            while True:
                found = self.seen(kind, wanted, begin, limit)
                left = limit + SLACK - time.time()
                if len(found) >= count or left <= 0:
                    return found[:count]
                self._arrived.wait(left)

    def await_one(self, kind, wanted, within, since=None):
        return next(iter(self.await_some(kind, wanted, 1, within, since)), None)

    def arps(self, wanted=lambda _: True, since=0.0, until=float("inf")):
        return self.seen(ARP, wanted, since, until)

    def await_arp(self, wanted, within, since=None):
        return self.await_one(ARP, wanted, within, since)


class Connection:
    """A minimal TCP connection of one of the peer's hosts; only the first segment is retransmitted."""

    def __init__(self, peer, source, host, target, target_mac, port, source_port=40001):
        self.peer = peer
        self._out = Segment(source, target, source_port, port, 1000, 0, 0, b"", peer.mac(host), target_mac)
        self.answer = None  # The segment that answered the SYN.

    def _from_target(self, segment):
        return (segment.source, segment.source_port, segment.destination_port) == (
            self._out.destination, self._out.destination_port, self._out.source_port)

    def _await(self, wanted, within, since):
        return self.peer.await_one(Segment, lambda it: self._from_target(it) and wanted(it), within, since)

    def open(self, within=3.0):
        """Opens the connection; returns True if it was accepted."""
        begin = time.time()
        while time.time() < begin + within and self.answer is None:
            self.peer.put(replace(self._out, flags=wire.SYN))
            self.answer = self._await(lambda it: it.flags & (wire.SYN | wire.RST), 0.7, begin)
        if self.answer is None or self.answer.flags & wire.RST:
            return False
        self._out = replace(self._out, sequence=self._out.sequence + 1, acknowledged=self.answer.sequence + 1)
        self.peer.put(replace(self._out, flags=wire.ACK))
        return True

    def echoes(self, data, within=2.0):
        """Returns True if the other end echoes the data."""
        sent = self.peer.put(replace(self._out, flags=wire.ACK | wire.PUSH, payload=data))
        back = self._await(lambda it: it.payload == data, within, sent.at)
        if back is None:
            return False
        self._out = replace(self._out, sequence=self._out.sequence + len(data), acknowledged=back.sequence + len(data))
        self.peer.put(replace(self._out, flags=wire.ACK))
        return True

    def close(self):
        """Resets the connection, so that the other end keeps no state."""
        self.peer.put(replace(self._out, flags=wire.RST | wire.ACK))
