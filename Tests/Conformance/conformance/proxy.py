"""A proxy between the peer and the target, in its own namespace, that alters packets: proxy.py CRITERION.

It forwards every frame between the interfaces `peer` and `target`. It applies the criterion's alteration to all frames
if the alteration has `of_frames`, and otherwise only to multicast DNS.
"""

import heapq
import itertools
import pathlib
import select
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from conformance import frames, peer, wire  # noqa: E402
from conformance.criterion import all_criteria  # noqa: E402
from conformance.frame_alterations import Back  # noqa: E402


class Port:
    """One side of the proxy. It is reopened after its interface was removed and returned."""

    def __init__(self, interface, step, of_frames):
        self.interface, self.step, self.of_frames = interface, step, of_frames
        self.socket = None

    def open(self):
        if self.socket is None:
            try:
                self.socket = peer.packet_socket(self.interface)
            except OSError:
                self.socket = None
        return self.socket

    def receive(self):
        try:
            return peer.receive(self.socket)
        except OSError:  # The interface is down or missing.
            self.socket.close()
            self.socket = None
            return None

    def send(self, frame):
        try:
            if self.socket:
                self.socket.send(frame)
        except OSError:
            pass  # A disconnected cable loses packets.

    def altered(self, frame, at):
        """Applies the step to a received frame. Returns triples: a delay in seconds, True if the frame is sent back, and the
        frame."""
        if self.of_frames:
            seen = wire.read(frame, at)
            # A frame that the step does not change is forwarded byte for byte.
            return [(delay, isinstance(changed, Back), frame if changed is seen else changed.frame)
                    for delay, changed in self.step(seen)]
        packet = frames.parsed(frame, at)
        if packet is None:
            return [(0, False, frame)]
        if packet.message is None or frames.PORT not in (packet.source_port, packet.destination_port):
            return [(0, False, packet.frame)]
        return [(delay, False, changed.frame) for delay, changed in self.step(packet)]


def main(name):
    alteration = all_criteria()[name].proof
    ports = [Port("peer", alteration.to_target, alteration.of_frames),
             Port("target", alteration.from_target, alteration.of_frames)]
    waiting, order = [], itertools.count()
    print("forwarding", flush=True)
    while True:
        sockets = [port.socket for port in ports if port.open()]
        wait = min(0.05, max(0, waiting[0][0] - time.time())) if waiting else 0.05
        readable = select.select(sockets, [], [], wait)[0]
        for port, other in zip(ports, reversed(ports)):
            received = port.receive() if port.socket in readable else None
            for delay, back, frame in port.altered(*received) if received else ():
                heapq.heappush(
                    waiting, (received[1] + delay if delay else 0, next(order), port if back else other, frame))
        while waiting and waiting[0][0] <= time.time():
            *_, other, frame = heapq.heappop(waiting)
            other.send(frame)


if __name__ == "__main__":
    main(sys.argv[1])
