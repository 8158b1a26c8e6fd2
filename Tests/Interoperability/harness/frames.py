"""ARP and DHCP packets on a port of a LAN's bridge, each with the kernel's receive time."""

import errno
import socket
import struct
import threading
import time
from dataclasses import dataclass

from deadlines import eventually
from harness.link_packets import ARP, DHCP

SO_TIMESTAMPNS = 35  # Python does not define this option. The type of its control message has the same number.


@dataclass
class Seen:
    """A packet, and the time of its arrival on the clock of time.monotonic()."""
    at: float
    packet: ARP | DHCP


class Frames:
    """Captures every ARP and DHCP packet of a port, in both directions, until `close()`."""

    def __init__(self, port):
        self.seen = []
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.bind((port, 0))
        self._socket.settimeout(0.1)
        self._open = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while self._open:
            try:
                frame, ancillary, _, _ = self._socket.recvmsg(4000, 64)
            except TimeoutError:
                continue
            except OSError as error:
                if error.errno == errno.ENETDOWN:  # The cable is disconnected.
                    continue
                return  # The port was removed.
            packet = ARP.read(frame) or DHCP.read(frame)
            if packet is not None:
                self.seen.append(Seen(moment(ancillary), packet))

    def close(self):
        self._open = False
        self._reader.join()
        self._socket.close()

    def arp(self, since=0):
        return [seen for seen in list(self.seen) if isinstance(seen.packet, ARP) and seen.at >= since]

    def dhcp(self, *kinds, since=0):
        """Returns the DHCP packets of these kinds, or of all kinds."""
        return [seen for seen in list(self.seen) if isinstance(seen.packet, DHCP) and seen.at >= since
                and (not kinds or seen.packet.kind in kinds)]

    def comes(self, wanted, within, what, since=0):
        """Waits for a packet for which `wanted` is true, and returns the first."""
        def found():
            return next((seen for seen in list(self.seen) if seen.at >= since and wanted(seen.packet)), None)

        return eventually(found, within, lambda: f"{what}; there were: {self.transcript()}")

    def comes_dhcp(self, kind, within, since=0, wanted=lambda packet: True):
        return self.comes(
            lambda packet: isinstance(packet, DHCP) and packet.kind == kind and wanted(packet), within, kind, since)

    def transcript(self):
        began = self.seen[0].at if self.seen else 0
        return "".join(f"\n  {seen.at - began:7.3f} {told(seen.packet)}" for seen in list(self.seen))


def told(packet):
    if isinstance(packet, DHCP):
        return f"{packet.kind} {packet.source} > {packet.destination} for {packet.hardware.hex(':')}: client {packet.client}, yours {packet.yours}"
    return f"ARP {packet.operation} {packet.sender} ({packet.sender_hardware.hex(':')}) > {packet.target}"


def moment(ancillary):
    """Converts the kernel's time stamp, which is wall clock time, to time.monotonic(), with an error of a few microseconds."""
    seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
    return seconds + nanoseconds / 1e9 - time.time() + time.monotonic()
