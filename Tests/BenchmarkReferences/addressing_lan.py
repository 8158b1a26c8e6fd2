"""Measures the address configuration of a plug, and of avahi-autoipd, udhcpc, dhclient and dhcpcd as references, on links between network
namespaces. Prints one {"name", "value"} per line.

addressing_lan.py PROGRAMS RUNS ROUNDS
PROGRAMS is the folder of plugd and plugctl, RUNS the number of link-local claims, ROUNDS the number of rounds of the other measurements.
Memory is measured once.
"""

import fcntl
import json
import pathlib
import re
import signal
import socket
import struct
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Interoperability"))

from zeroconf import DNSIncoming  # noqa: E402

from harness.avahi import Avahi  # noqa: E402
from harness.capture import Capture  # noqa: E402
from deadlines import eventually  # noqa
from harness.dhcp import Dnsmasq  # noqa: E402
from harness.frames import Frames  # noqa: E402
from harness.interface_events import AddressEvents, is_link_local  # noqa: E402
from harness.lan import LAN  # noqa: E402
from harness.plugs import Controller, Plug  # noqa: E402

AT_ONCE = 10
BY_HAND = "169.254.7.7"
SRV = 33
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
# The script that udhcpc calls. It only sets the address, and no route or name server.
UDHCPC_SCRIPT = '#!/bin/sh\n[ "$1" = bound ] && ip address replace "$ip/$mask" dev "$interface"\nexit 0\n'


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


def set_cable(host, is_in):
    """Sets the other end of eth0's cable up or down by ioctl, which is faster than starting `ip`. Returns the monotonic time just before the change."""
    name = host.port.encode()
    with socket.socket() as any_socket:
        flags = struct.unpack("16sH", fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sH14x", name, 0))[:18])[1]
        flags = flags | IFF_UP if is_in else flags & ~IFF_UP
        at = time.monotonic()
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", name, flags))
    return at


def wait_for_carrier(host):
    """Waits until eth0 has a carrier, as a program does that starts a DHCP client after link-up."""
    carrier = pathlib.Path(f"/proc/{host.process_id}/root/sys/class/net/eth0/operstate")
    while carrier.read_text().strip() != "up":
        time.sleep(0.0005)


class Measurement:
    def __init__(self, programs, runs, rounds):
        self.programs, self.runs, self.rounds = pathlib.Path(programs), int(runs), int(rounds)
        self.lan = LAN()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.states = 0

    def run(self):
        self.link_local()
        self.without_server()
        self.with_server()
        self.memory()
        self.lan.close()

    def host(self, link=None, **how):
        """Returns a running host whose cable has not been plugged in."""
        host = (link or self.lan.link()).host(**{"ipv4": False, "detects_duplicates": True, "up": False} | how)
        set_cable(host, False)
        host.run("ip", "link", "set", "eth0", "up")
        return host

    def plug(self, host, name="Lamp"):
        """Starts a new plug and waits until it manages eth0."""
        self.states += 1
        plug = Plug(
            self.programs, host, name, self.folder / f"plug{self.states}", memory=self.folder / f"memory{self.states}",
            interface="eth0", addressing="manage")
        plug.running.seen(lambda line: "manages the interface's addresses" in line.text, 20, "that it manages eth0")
        return plug

    def controller(self, host):
        return Controller(self.programs, host, memory=self.folder / f"memory{self.states}")

    def link_local(self):
        """Measures the time from link-up to the link-local address."""
        left = self.runs
        while left > 0:
            count = min(AT_ONCE, left)
            left -= count
            ours, theirs = ([self.host(ipv6=False) for _ in range(count)] for _ in range(2))
            for host in ours:
                self.plug(host)
            time.sleep(2)
            events = {host: AddressEvents(host) for host in ours + theirs}
            up = {host: set_cable(host, True) for host in ours}
            for host in theirs:
                up[host] = set_cable(host, True)
                wait_for_carrier(host)
                self.autoipd(host)
            for name, hosts in (("link-local", ours), ("link-local of avahi-autoipd", theirs)):
                for host in hosts:
                    tell(name, events[host].usable(is_link_local, 30).at - up[host])
            for host in ours + theirs:
                events[host].close()
                stop_all(host)

    def autoipd(self, host):
        return host.start("avahi-autoipd", "--no-drop-root", "--no-chroot", "eth0")

    def without_server(self):
        """Measures the time from link-up to the plug's announcement and to a controller's session."""
        trials = []
        for _ in range(self.rounds):
            link = self.lan.link()
            host = self.host(link)
            by_ipv4, by_ipv6 = link.host(ipv4=False, ipv6=False), link.host(ipv4=False)
            by_ipv4.run("ip", "address", "add", f"{BY_HAND}/16", "broadcast", "+", "dev", "eth0")
            self.plug(host)
            watching = {family: self.controller(where).watch("Lamp", "--wait", "60s") for family, where in (("IPv4", by_ipv4), ("IPv6", by_ipv6))}
            trials.append((host, watching, Capture(host.port)))
        time.sleep(3)
        began = [set_cable(host, True) for host, _, _ in trials]
        for up, (_, watching, capture) in zip(began, trials):
            for family, lines in watching.items():
                snapshot = lines.seen_object(lambda told: told["event"] == "snapshot", 30, "the snapshot")
                tell(f"announced by {family}", eventually(lambda: announced(capture, family == "IPv6"), 10, f"the plug announced by {family}") - up)
                tell(f"connected by {family}", snapshot.at - up)
            capture.close()
        for host in self.lan.hosts:
            stop_all(host)

    def with_server(self):
        """Measures the time from link-up to the server's DHCPACK, and for plugd and dhcpcd from the DHCPACK to the address on the interface."""
        clients = [self.served() for _ in range(4)]
        for _ in range(self.rounds):
            for (host, frames, events), measure in zip(clients, (self.ours, self.udhcpc, self.dhclient, self.dhcpcd)):
                measure(host, frames, events)
                stop_all(host)
                host.run("ip", "-4", "address", "flush", "dev", "eth0")
        for host, frames, events in clients:
            frames.close()
            events.close()

    def served(self):
        """Returns a host on its own link with a DHCP server."""
        link = self.lan.link()
        self.server_network = Dnsmasq(link.host()).network
        host = self.host(link, ipv6=False)
        return host, Frames(host.port), AddressEvents(host)

    def acknowledged(self, name, host, frames, client=None):
        """Plugs the cable in and prints the time to the DHCPACK. Returns the time of the DHCPACK."""
        set_cable(host, False)
        time.sleep(1)
        up = set_cable(host, True)
        if client is not None:
            wait_for_carrier(host)
            client()
        moment = frames.comes_dhcp("ACK", 30, since=up).at
        tell(name, moment - up)
        return moment

    def usable(self, events, since):
        return events.usable(self.server_network.holds, 20, since=since - 0.01).at - since

    def ours(self, host, frames, events):
        set_cable(host, False)
        self.plug(host)
        time.sleep(1)
        moment = self.acknowledged("DHCPACK", host, frames)
        tell("usable", self.usable(events, moment))
        time.sleep(0.5)
        self.acknowledged("DHCPACK, stored lease", host, frames)
        time.sleep(1)

    def udhcpc(self, host, frames, _):
        script = self.folder / "udhcpc"
        script.write_text(UDHCPC_SCRIPT)
        script.chmod(0o755)

        def client(*more):
            return lambda: host.start("udhcpc", "-f", "-i", "eth0", "-s", script, *more)

        self.acknowledged("DHCPACK by udhcpc", host, frames, client())
        stop_all(host)
        address = frames.dhcp("ACK")[-1].packet.yours
        self.acknowledged("DHCPACK by udhcpc, stored lease", host, frames, client("-r", address))

    def dhclient(self, host, frames, _):
        leases = self.folder / "dhclient.leases"
        leases.unlink(missing_ok=True)

        def client():
            host.start(
                "dhclient", "-4", "-d", "-1", "-sf", "/bin/true", "-cf", "/dev/null", "-lf", leases, "-pf",
                self.folder / "dhclient.pid", "eth0")

        self.acknowledged("DHCPACK by dhclient", host, frames, client)
        # dhclient writes the lease after it has applied it.
        eventually(lambda: leases.exists() and "fixed-address" in leases.read_text(), 5, "dhclient's lease on the disk")
        stop_all(host)
        self.acknowledged("DHCPACK by dhclient, stored lease", host, frames, client)

    def dhcpcd(self, host, frames, events):
        def client():
            # dhcpcd's helpers would keep the output pipe open, so the output is redirected. dhcpcd's state folder is private and empty.
            host.start("sh", "-c", "mkdir -p /run/dhcpcd-lib && mount --bind /run/dhcpcd-lib /var/lib/dhcpcd && "
                       "exec dhcpcd --nobackground --ipv4only eth0 >/dev/null 2>&1", name="dhcpcd")

        moment = self.acknowledged("DHCPACK by dhcpcd", host, frames, client)
        tell("usable by dhcpcd", self.usable(events, moment))

    def memory(self):
        """Measures the memory of programs that have a link-local address and announce one service."""
        ours, theirs = self.host(), self.host()
        set_cable(ours, True), set_cable(theirs, True)
        plug = self.plug(ours)
        avahi = Avahi(theirs)
        avahi.publish("Lamp", 4711, "txtvers=1", "id=00aa00aa00aa")
        autoipd = self.autoipd(theirs)
        udhcpc = theirs.start("udhcpc", "-f", "-i", "eth0", "-s", "/bin/true")
        time.sleep(15)
        tell("memory", memory(plug.running.process.pid, "Rss"))
        tell("memory, shared divided", memory(plug.running.process.pid, "Pss"))
        others = [process for running in (avahi.daemon, autoipd, udhcpc) for process in family(running.process.pid)]
        tell("memory of others", sum(memory(process, "Rss") for process in others))
        tell("memory of others, shared divided", sum(memory(process, "Pss") for process in others))


def announced(capture, by_ipv6):
    """Returns the time of the first announcement of the plug's service by IPv6 or IPv4, or None if the capture has none yet."""
    for datagram in list(capture.datagrams):
        message = DNSIncoming(datagram.bytes)
        if datagram.is_ipv6 == by_ipv6 and message.is_response() and any(record.type == SRV for record in message.answers()):
            return datagram.at
    return None


def family(process):
    """Returns the process and all its descendants, because a daemon may do its work in a child."""
    found = [process]
    for one in found:
        found += [int(child) for child in pathlib.Path(f"/proc/{one}/task/{one}/children").read_text().split()]
    return found


def memory(process, what):
    """Returns the memory of a process in kilobytes. `what` is Rss (resident) or Pss (shared pages divided by the number of their users)."""
    text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(re.search(rf"^{what}:\s+(\d+)", text, re.MULTILINE).group(1))


def stop_all(host):
    for running in reversed(host.started):
        running.stop()
    host.started.clear()


# The parent process may have blocked the signals that end the programs of this script.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
Measurement(*sys.argv[1:]).run()
