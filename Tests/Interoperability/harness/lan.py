"""A LAN of network namespaces: a bridge here, and hosts that each have a network, a /run and a host name of their own."""

import subprocess

from harness.processes import Running


def command(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}"
    return done.stdout


class LAN:
    """`host()` adds a host; `close()` ends everything that runs on any of them."""

    def __init__(self):
        self.hosts = []
        command("ip", "link", "add", "lan0", "type", "bridge", "mcast_snooping", "0", "stp_state", "0", "forward_delay", "0")
        command("ip", "link", "set", "lan0", "up")

    def host(self, connected=True, ipv4=True, ipv6=True):
        host = Host(len(self.hosts) + 1)
        self.hosts.append(host)
        if connected:
            host.connect(ipv4=ipv4, ipv6=ipv6)
        return host

    @property
    def transcripts(self):
        """What every program printed that printed anything, under its name."""
        told = ((f"{running.name} on {host.name}", running.transcript()) for host in self.hosts for running in host.started)
        return [(name, transcript) for name, transcript in told if transcript.strip()]

    def close(self):
        for host in self.hosts:
            host.close()
        command("ip", "link", "delete", "lan0")


class Host:
    """A process holds its namespaces; everything else that runs on the host enters them."""

    holding = "mount -t tmpfs tmpfs /run && mount -t sysfs sysfs /sys && ip link set lo up && echo held && exec sleep infinity"

    def __init__(self, number):
        self.number = number
        self.name = f"host{number}"
        self.started = []
        self._interfaces = set()
        self._holder = Running(
            self.name,
            ["unshare", "--net", "--mount", "--uts", "--propagation", "private",
             "sh", "-c", f"hostname {self.name} && {self.holding}"])
        self._holder.seen(lambda line: line.text == "held", within=5, what="that its namespaces are there")

    def entering(self, words):
        return ["nsenter", "--target", str(self._holder.process.pid), "--net", "--mount", "--uts", "--",
                *(str(word) for word in words)]

    def start(self, *words, name=None):
        """Starts a program that runs on until the test ends."""
        running = Running(name or str(words[0]).rsplit("/", 1)[-1], self.entering(words))
        self.started.append(running)
        return running

    def finish(self, *words, within=10):
        """Runs a program to its end and returns what it printed and its exit status."""
        running = self.start(*words)
        status = running.ended(within)
        return Finished(
            status, "\n".join(line.text for line in running.lines if not line.error),
            "\n".join(line.text for line in running.lines if line.error), running.lines)

    def run(self, *words):
        """Runs a command that has to succeed."""
        return command(*self.entering(words))

    @property
    def ipv4(self):
        return self.ipv4_of("eth0")

    def ipv4_of(self, interface):
        return f"10.7.0.{self.number + 100 * int(interface[-1])}"

    def connect(self, interface="eth0", ipv4=True, ipv6=True):
        """Plugs the cable of eth0 or eth1 into the bridge. Addresses stand at once: duplicate address detection is off."""
        port = self._port(interface)
        self._interfaces.add(interface)
        command(
            "ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", str(self._holder.process.pid))
        command("ip", "link", "set", port, "master", "lan0", "up")
        settings = f"net.ipv6.conf.{interface}"
        self.run("sysctl", "-qw", f"{settings}.accept_dad=0", f"{settings}.disable_ipv6={0 if ipv6 else 1}")
        if ipv4:
            self.run("ip", "address", "add", f"{self.ipv4_of(interface)}/24", "broadcast", "+", "dev", interface)
        self.run("ip", "link", "set", interface, "up")

    def pull_cable(self):
        command("ip", "link", "set", self._port("eth0"), "down")

    def plug_cable(self):
        command("ip", "link", "set", self._port("eth0"), "up")

    def part(self):
        """The LAN is split between this host and the others, without any of them noticing: a switch between them is off."""
        command("ip", "link", "set", self._port("eth0"), "nomaster")

    def join(self):
        command("ip", "link", "set", self._port("eth0"), "master", "lan0")

    @property
    def port(self):
        """The other end of eth0's cable, in the bridge."""
        return self._port("eth0")

    def _port(self, interface):
        return f"{interface}-{self.number}"

    def disconnect(self):
        """The interface is gone, as when a USB adapter is pulled."""
        self._interfaces.remove("eth0")
        self.run("ip", "link", "delete", "eth0")

    def close(self):
        for running in reversed(self.started):
            running.stop()
        # The kernel takes its time to clean up after the holder, and the next test wants the same names.
        for interface in self._interfaces:
            command("ip", "link", "delete", self._port(interface))
        self._holder.process.kill()
        self._holder.stop()


class Finished:
    def __init__(self, status, output, errors, lines):
        self.status, self.output, self.errors = status, output, errors
        self.objects = [line.json for line in lines if isinstance(line.json, dict)]

    def __repr__(self):
        return f"exit {self.status}\n{self.output}\n{self.errors}"
