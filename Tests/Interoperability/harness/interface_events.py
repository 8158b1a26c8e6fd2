"""The changes of a host's IPv4 and IPv6 addresses that its kernel reports (rtnetlink), with their times."""

import ctypes
import socket
import struct
import threading
import time
from dataclasses import dataclass

from deadlines import eventually

CLONE_NEWNET = 0x40000000
RTMGRP_IPV4_IFADDR, RTMGRP_IPV6_IFADDR = 0x10, 0x100
RTM_NEWADDR, RTM_DELADDR = 20, 21
IFA_ADDRESS, IFA_LOCAL, IFA_FLAGS = 1, 2, 8
IFA_F_DADFAILED, IFA_F_DEPRECATED, IFA_F_TENTATIVE = 0x08, 0x20, 0x40


@dataclass
class AddressEvent:
    at: float
    event: str  # added (or changed), removed
    address: str
    flags: int

    @property
    def is_usable(self):
        return self.event == "added" and not self.flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)


class AddressEvents:
    """Records the address changes of a host until `close()`."""

    def __init__(self, host):
        self.events = []
        self._socket = inside(host, socket_of_addresses)
        self._open = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while self._open:
            try:
                data = self._socket.recv(65536)
            except TimeoutError:
                continue
            self.events += events_in(data, time.monotonic())

    def close(self):
        self._open = False
        self._reader.join()
        self._socket.close()

    def usable(self, wanted, within, since=0):
        """Waits for a usable address for which `wanted` is true, and returns its event."""
        def found():
            return next((told for told in list(self.events) if told.at >= since and told.is_usable and wanted(told.address)), None)

        return eventually(found, within, lambda: f"a wanted address; there were: {self.events}")

    def removed(self, address, within, since=0):
        def found():
            return next((told for told in list(self.events)
                         if told.at >= since and told.event == "removed" and told.address == address), None)

        return eventually(found, within, lambda: f"the removal of {address}; there were: {self.events}")


def is_link_local(address):
    return address.startswith("169.254.")


def socket_of_addresses():
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    opened.bind((0, RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR))
    opened.settimeout(0.1)
    return opened


def inside(host, make):
    """Calls `make` in the host's network. A socket belongs forever to the network namespace in which it was opened."""
    made = []

    def enter():
        with open(f"/proc/{host.process_id}/ns/net") as network:
            if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        made.append(make())

    # The namespace is a property of the thread, and ends with it.
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert made, f"no socket in {host.name}"
    return made[0]


def events_in(data, at):
    while len(data) >= 16:
        length, kind = struct.unpack("=IH", data[:6])
        if kind in (RTM_NEWADDR, RTM_DELADDR):
            family, _, flags = struct.unpack("=BBB", data[16:19])
            attributes = dict(attributes_in(data[24:length]))
            address = attributes.get(IFA_LOCAL) or attributes[IFA_ADDRESS]
            if IFA_FLAGS in attributes:
                flags = struct.unpack("=I", attributes[IFA_FLAGS])[0]
            yield AddressEvent(at, "added" if kind == RTM_NEWADDR else "removed", socket.inet_ntop(family, address), flags)
        data = data[(length + 3) & ~3:]


def attributes_in(data):
    while len(data) >= 4:
        length, kind = struct.unpack("=HH", data[:4])
        yield kind, data[4:length]
        data = data[(length + 3) & ~3:]
