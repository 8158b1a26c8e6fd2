"""The scripted peer: sends and receives raw frames, with the kernel's time of each arrival."""

import errno
import select
import socket
import struct
import threading
import time

from conformance import frames, messages
from conformance.conditions import is_response
from conformance.frames import GROUP_MACS, GROUPS, Packet
from conformance.messages import Message
from conformance.records import ANY, Question

SO_TIMESTAMPNS, SO_RCVBUFFORCE, ETH_P_ALL, PACKET_OUTGOING = 35, 33, 0x0003, 4
SLACK = 0.15  # seconds that a packet may take from the kernel to this process on a busy machine


def packet_socket(interface):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
    raw.bind((interface, 0))
    return raw


def receive(raw):
    """Receives a frame. Returns the frame and its time, or None for a frame that this side sent."""
    frame, ancillary, _, address = raw.recvmsg(65536, 64)
    if address[2] == PACKET_OUTGOING:
        return None
    stamps = [data for level, kind, data in ancillary if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)]
    seconds, nanoseconds = struct.unpack("qq", stamps[0])
    return frame, seconds + nanoseconds / 1e9


class Peer:
    """Several hosts in one object, each with its own address: `host` 2 is 10.9.0.2, and so on."""

    def __init__(self, interface):
        self.interface = interface
        self.packets = []
        self.reflect = None  # Called with each packet from the target on arrival.
        self._arrived = threading.Condition()
        self._addresses = {self.ipv4(host): self.mac(host) for host in range(2, 10)}
        self._addresses |= {self.ipv6(host): self.mac(host) for host in range(2, 10)}
        self._sockets = [packet_socket(interface)]
        self._running = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @staticmethod
    def mac(host):
        return bytes([2, 0, 0, 9, 0, host])

    @staticmethod
    def ipv4(host):
        return f"10.9.0.{host}"

    @staticmethod
    def ipv6(host):
        return frames.link_local(Peer.mac(host))

    def reopen(self):
        """Opens the socket again after the interface was replaced."""
        self._sockets[:1] = [packet_socket(self.interface)]

    def join(self, interface):
        """Adds a port of the same link. The peer acts as the switch between the ports: it receives and sends on
        both."""
        self._sockets.append(packet_socket(interface))

    def close(self):
        self._running = False
        self._reader.join(2)
        for port in self._sockets:
            port.close()

    def _read(self):
        while self._running:
            try:
                readable = select.select(self._sockets, [], [], 0.1)[0]
                arrived = [(port, receive(port)) for port in readable]
            except OSError as error:  # The cable is disconnected, or the interface is missing until `reopen` is called.
                if error.errno not in (errno.ENETDOWN, errno.ENXIO, errno.ENODEV):
                    raise
                time.sleep(0.01)
                continue
            for port, received in arrived:
                if received:
                    for other in self._sockets:
                        if other is not port:
                            self._put(received[0], [other])
                    self._take(*received)

    def _take(self, frame, at):
        for address, mac in self._addresses.items():
            answer = frames.neighbour_answer(frame, mac, {address})
            if answer:
                self._put(answer)
        packet = frames.parsed(frame, at)
        if packet is None or frames.PORT not in (packet.source_port, packet.destination_port):
            return
        with self._arrived:
            self.packets.append(packet)
            self._arrived.notify_all()
        if self.reflect:
            self.reflect(packet)

    def _put(self, frame, ports=None):
        for port in ports or self._sockets:
            try:
                port.send(frame)
            except OSError as error:
                if error.errno not in (errno.ENETDOWN, errno.ENXIO, errno.ENODEV):
                    raise

    # Sending.

    def send(self, message, to=None, host=2, port=frames.PORT, hop_limit=255, family=4, source=None):
        """Multicasts a message, or sends it to the (address, MAC) in `to`. Returns the packet as sent, with its
        time."""
        address, mac = (GROUPS[family], GROUP_MACS[family]) if to is None else to
        payload = message if isinstance(message, bytes) else message.encoded
        own = source or (self.ipv6(host) if family == 6 else self.ipv4(host))
        packet = Packet(own, address, payload, time.time(), port, frames.PORT, hop_limit, self.mac(host), mac)
        self._put(packet.frame)
        return packet

    def ask(self, *questions, known=(), flags=0, identity=0, unicast=False, **how):
        """Sends a query. Questions are (name, type) or Question. `unicast` sets the QU bit of the questions that are
        given as (name, type)."""
        asked = tuple(
            item if isinstance(item, Question) else Question(item[0], item[1], unicast) for item in questions)
        return self.send(Message(identity, flags, asked, tuple(known)), **how)

    def tell(self, *records, additionals=(), **how):
        """Sends a response with these records."""
        flags = messages.RESPONSE | messages.AUTHORITATIVE
        return self.send(Message(0, flags, (), tuple(records), (), tuple(additionals)), **how)

    def probe(self, *records, **how):
        names = {record.name.folded: record.name for record in records}
        questions = tuple(Question(name, ANY, True) for name in names.values())
        return self.send(Message(0, 0, questions, (), tuple(records)), **how)

    # Receiving.

    def heard(self, wanted, since=0.0, until=float("inf"), family=4):
        """Returns the matching packets with a valid message so far, in the order of arrival; `family` None selects both families."""
        return [packet for packet in list(self.packets) if since < packet.at <= until
                and family in (None, packet.family) and packet.message and wanted(packet)]

    def first(self, wanted, within, since=None, family=4):
        """Returns the first packet after `since` (a time or a packet; default: now) within `within` seconds, or
        None."""
        begin = time.time() if since is None else getattr(since, "at", since)
        return next(iter(self.several(wanted, 1, within, begin, family)), None)

    def several(self, wanted, count, within, since=None, family=4):
        """Like `first`, for `count` packets; returns fewer if the time is over."""
        begin = time.time() if since is None else getattr(since, "at", since)
        limit = begin + within
        with self._arrived:
            while True:
                found = self.heard(wanted, begin, limit, family)
                left = limit + SLACK - time.time()
                if len(found) >= count or left <= 0:
                    return found[:count]
                self._arrived.wait(left)

    def quiet(self, seconds, limit):
        """Waits until no response has arrived for `seconds`, at most `limit` seconds."""
        end = time.time() + limit
        while True:
            last = max((packet.at for packet in self.heard(is_response, family=None)), default=0)
            left = min(last + seconds, end) - time.time()
            if left <= 0:
                return
            time.sleep(min(left, 0.2))
