"""A cable between two interfaces of a host. It delivers each frame after a fixed time.

delayed_cable.py INTERFACE INTERFACE SECONDS
Prints "ready" when it carries frames.
"""

import collections
import select
import socket
import struct
import sys
import time

# Constants of packet(7) that the module socket does not have. With the header of virtio, the kernel completes checksums that a virtual
# interface left open.
SOL_PACKET, ADD_MEMBERSHIP, VIRTIO_HEADER, IGNORE_OUTGOING = 263, 1, 15, 23
PROMISCUOUS, ALL_PROTOCOLS, LONGEST = 1, 3, 1 << 17


def end(name):
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    opened.setsockopt(SOL_PACKET, VIRTIO_HEADER, 1)
    opened.setsockopt(SOL_PACKET, IGNORE_OUTGOING, 1)
    opened.bind((name, ALL_PROTOCOLS))
    opened.setsockopt(SOL_PACKET, ADD_MEMBERSHIP, struct.pack("iHH8s", socket.if_nametoindex(name), PROMISCUOUS, 0, b""))
    return opened


def carry(one, other, delay):
    waiting = collections.deque()
    opposite = {one: other, other: one}
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for source in select.select([one, other], [], [], pause)[0]:
            waiting.append((time.monotonic() + delay, opposite[source], source.recv(LONGEST)))
        while waiting and waiting[0][0] <= time.monotonic():
            _, target, frame = waiting.popleft()
            target.send(frame)


ends = end(sys.argv[1]), end(sys.argv[2])
print("ready", flush=True)
carry(*ends, float(sys.argv[3]))
