"""Random bytes from a seed; runs inside a host of the LAN.

noise_program.py datagrams ADDRESS PORT SEED COUNT  datagrams of 0 to 1411 bytes, at most 20,000 per second
noise_program.py streams ADDRESS PORT SEED COUNT    connections with random bytes, half of the connections inside TLS; every other
                                                    connection begins with a frame length that does not fit the bytes
"""

import random
import socket
import struct
import sys
import time

from blocking import folder_of_plugctl


def destination(address, port, kind):
    return socket.getaddrinfo(address, int(port), type=kind)[0]


def datagrams(chance, address, port, count):
    family, kind, _, _, place = destination(address, port, socket.SOCK_DGRAM)
    with socket.socket(family, kind) as sender:
        if family == socket.AF_INET:  # A host of the LAN has no multicast route, so the interface is set.
            eth0 = struct.pack("4s4si", bytes(4), bytes(4), socket.if_nametoindex("eth0"))
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, eth0)
        for turn in range(count):
            # Half of the datagrams begin with the header of a query or a response that announces a random number of entries.
            header = struct.pack("!6H", 0, chance.choice((0, 0x8400)), *(chance.randrange(4) for _ in range(4)))
            sender.sendto(chance.choice((b"", header)) + chance.randbytes(chance.randrange(1400)), place)
            if turn % 100 == 99:  # Datagrams that arrive too fast are dropped by the kernel and would test nothing.
                time.sleep(0.005)


def streams(chance, address, port, count):
    family, kind, _, _, place = destination(address, port, socket.SOCK_STREAM)
    secured = folder_of_plugctl().identity().tls()
    for turn in range(count):
        with socket.socket(family, kind) as stream:
            stream.settimeout(5)
            stream.connect(place)
            length = chance.choice((0, 1, 7, 400, 2**16, 2**31, 2**32 - 1))
            frame = struct.pack("!I", length) if turn % 2 else b""
            noise = frame + chance.randbytes(chance.randrange(1, 2000))
            try:
                if turn % 4 < 2:
                    stream.sendall(noise)
                else:
                    with secured.wrap_socket(stream) as inside:
                        inside.sendall(noise)
                        # The plug reads the bytes only after it has verified the key, so this side must not close the
                        # connection yet. The plug closes the connection, or waits for further bytes.
                        inside.settimeout(0.2)
                        inside.recv(1)
            except OSError:
                pass  # The plug may close the connection at the first bad frame, or reach a limit.


def main(kind, address, port, seed, count):
    {"datagrams": datagrams, "streams": streams}[kind](random.Random(int(seed)), address, port, int(count))
    print("sent")


main(*sys.argv[1:])
