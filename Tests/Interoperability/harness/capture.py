"""Captures packets of a port of the LAN's bridge."""

import errno
import socket
import threading
import time
from dataclasses import dataclass

IPV4, IPV6, UDP = 0x0800, 0x86DD, 17
SO_RCVBUFFORCE = 33  # Python does not define it.


@dataclass
class Datagram:
    """A multicast DNS packet: its UDP payload, its arrival time, and whether it was sent over IPv6."""
    at: float
    bytes: bytes
    is_ipv6: bool


class Capture:
    """Captures every multicast DNS packet that passes a port of the bridge, in both directions, until `close()`."""

    def __init__(self, port):
        self.datagrams = []
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        # The buffer is large, because hundreds of services may be announced in one burst.
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self._socket.bind((port, 0))
        self._socket.settimeout(0.1)
        self._open = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while self._open:
            try:
                frame = self._socket.recv(10_000)
            except TimeoutError:
                continue
            except OSError as error:
                if error.errno == errno.ENETDOWN:  # The cable is disconnected.
                    continue
                return  # The port was removed.
            payload = multicast_dns(frame)
            if payload is not None:
                self.datagrams.append(Datagram(time.monotonic(), payload, frame[12:14] == IPV6.to_bytes(2, "big")))

    def close(self):
        self._open = False
        self._reader.join()
        self._socket.close()


def multicast_dns(frame):
    """Returns the payload of a UDP datagram from or to port 5353, or None for any other frame."""
    network = int.from_bytes(frame[12:14], "big")
    if network == IPV4 and frame[23] == UDP:
        start = 14 + 4 * (frame[14] & 0xF)
    elif network == IPV6 and frame[20] == UDP:
        start = 14 + 40
    else:
        return None
    ports = (int.from_bytes(frame[start + offset : start + offset + 2], "big") for offset in (0, 2))
    return frame[start + 8 : start + int.from_bytes(frame[start + 4 : start + 6], "big")] if 5353 in ports else None
