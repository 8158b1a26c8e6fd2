"""A LAN of network namespaces: a bridge, and hosts with their own network, /run and host name."""

import itertools
import json
import subprocess
import threading

from harness.processes import Running


def command(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}"
    return done.stdout


class LAN:
    """`host()` adds a host; `close()` ends all programs on all hosts."""

    def __init__(self):
        # Parallel cases take their numbers from these counters.
        self.host_numbers = itertools.count(1)
        self._link_numbers = itertools.count()
        self._links = []
        self._main = self.link()

    def link(self):
        """Adds a link that is separate from the others."""
        link = Link(self, next(self._link_numbers))
        self._links.append(link)
        return link

    @property
    def home(self):
        """The link of the hosts that `host()` adds."""
        return self._main

    def host(self, connected=True, **how):
        return self._main.host(connected, **how)

    @property
    def hosts(self):
        return [host for link in self._links for host in link.hosts]

    @property
    def transcripts(self):
        """The output of every program that printed anything, with its name."""
        return [told for link in self._links for told in link.transcripts]

    def close(self):
        for link in self._links:
            link.close()


class Link:
    """A bridge, and its hosts."""

    def __init__(self, lan, number):
        self.name = f"lan{number}"
        self.hosts = []
        self._lan = lan
        self._is_lossy = self._is_closed = False
        command(
            "ip", "link", "add", self.name, "type", "bridge", "mcast_snooping", "0", "stp_state", "0", "forward_delay", "0")
        command("ip", "link", "set", self.name, "up")

    def host(self, connected=True, network=None, **how):
        """Adds a host; `how` has the arguments of Host.connect. `network` is the id of a process whose network the host uses."""
        host = Host(next(self._lan.host_numbers), self, network)
        self.hosts.append(host)
        if connected:
            host.connect(**how)
        return host

    @property
    def transcripts(self):
        told = ((f"{running.name} on {host.name}", running.transcript()) for host in self.hosts for running in host.started)
        return [(name, transcript) for name, transcript in told if transcript.strip()]

    def lose(self, percent):
        """Drops that percentage of the frames between the current hosts, at random."""
        # Some kernels cannot match bridges, so the rule lists the ports.
        ports = ", ".join(f'"{host.port}"' for host in self.hosts)
        rules = f"""
            table bridge {self.name} {{
                chain loss {{
                    type filter hook forward priority 0
                    iifname {{ {ports} }} numgen random mod 100 < {percent} drop
                }}
            }}"""
        done = subprocess.run(["nft", "-f", "-"], input=rules, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self._is_lossy = True

    def close(self):
        """Closes the link; may be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        for host in self.hosts:
            host.close()
        if self._is_lossy:
            command("nft", "delete", "table", "bridge", self.name)
        command("ip", "link", "delete", self.name)


class Host:
    """A host. One process holds its namespaces; all programs on the host enter them."""

    remembered = 100  # ended programs that are kept for the transcript of a failed test

    holding = "mount -t tmpfs tmpfs /run && mount -t sysfs sysfs /sys && ip link set lo up && echo held && exec sleep infinity"

    def __init__(self, number, link, network=None):
        self.number = number
        self._link = link
        self.name = f"host{number}"
        self.started = []
        self._forgetting = threading.Lock()
        self._interfaces = set()
        entering = ["unshare", "--net"] if network is None else ["nsenter", f"--net=/proc/{network}/ns/net", "unshare"]
        self._holder = Running(
            self.name,
            [*entering, "--mount", "--uts", "--propagation", "private", "sh", "-c", f"hostname {self.name} && {self.holding}"])
        self._holder.seen(lambda line: line.text == "held", within=5, what="that its namespaces exist")

    @property
    def process_id(self):
        """The id of a process on the host."""
        return self._holder.process.pid

    def entering(self, words):
        return ["nsenter", "--target", str(self.process_id), "--net", "--mount", "--uts", "--",
                *(str(word) for word in words)]

    def start(self, *words, name=None):
        """Starts a program that runs until the test ends."""
        running = Running(name or str(words[0]).rsplit("/", 1)[-1], self.entering(words))
        self.started.append(running)
        return running

    def finish(self, *words, within=10):
        """Runs a program to its end, and returns its output and its exit status."""
        running = self.start(*words)
        status = running.ended(within)
        self._forget()
        return Finished(
            status, "\n".join(line.text for line in running.lines if not line.error),
            "\n".join(line.text for line in running.lines if line.error), running.lines)

    def _forget(self):
        with self._forgetting:
            for old in [one for one in self.started if not one.is_running][:-self.remembered]:
                self.started.remove(old)

    def run(self, *words):
        """Runs a command that must succeed."""
        return command(*self.entering(words))

    @property
    def ipv4(self):
        return self.ipv4_of("eth0")

    def ipv4_of(self, interface):
        return f"10.7.0.{self.number + 100 * int(interface[-1])}"

    def connect(self, interface="eth0", ipv4=True, ipv6=True, link=None, up=True, detects_duplicates=False):
        """Connects eth0 or eth1 to the host's bridge or to another one. Without duplicate address detection, IPv6
        addresses are usable at once."""
        port = self._port(interface)
        self._interfaces.add(interface)
        command(
            "ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", str(self.process_id))
        command("ip", "link", "set", port, "master", (link or self._link).name, "up")
        settings = f"net.ipv6.conf.{interface}"
        detection = 1 if detects_duplicates else 0
        self.run("sysctl", "-qw", f"{settings}.accept_dad={detection}", f"{settings}.disable_ipv6={0 if ipv6 else 1}")
        if ipv4:
            self.run("ip", "address", "add", f"{self.ipv4_of(interface)}/24", "broadcast", "+", "dev", interface)
        if up:
            self.run("ip", "link", "set", interface, "up")

    def pull_cable(self, interface="eth0"):
        command("ip", "link", "set", self._port(interface), "down")

    def plug_cable(self, interface="eth0"):
        command("ip", "link", "set", self._port(interface), "up")

    def part(self):
        """Separates this host from the others, without a change of any carrier, as when a switch between them is
        off."""
        command("ip", "link", "set", self._port("eth0"), "nomaster")

    def join(self, link=None):
        """Connects the host to its own bridge again, or to another one."""
        command("ip", "link", "set", self._port("eth0"), "master", (link or self._link).name)

    def hardware_address(self, interface="eth0"):
        return json.loads(self.run("ip", "-j", "link", "show", interface))[0]["address"]

    def addresses(self, interface="eth0", family=4):
        """The kernel's addresses, as objects of `ip -j address`, without tentative ones."""
        told = json.loads(self.run("ip", "-j", f"-{family}", "address", "show", interface))
        return [found for link in told for found in link.get("addr_info", []) if not found.get("tentative")]

    def routes(self):
        return json.loads(self.run("ip", "-j", "-4", "route"))

    @property
    def port(self):
        """The bridge's end of eth0's cable."""
        return self._port("eth0")

    def _port(self, interface):
        return f"{interface}-{self.number}"

    def disconnect(self):
        """Removes the interface, as when a USB adapter is pulled."""
        self._interfaces.remove("eth0")
        self.run("ip", "link", "delete", "eth0")

    def close(self):
        for running in reversed(self.started):
            running.stop()
        # The kernel removes the interfaces some time after the process ended, and the next test needs the same names.
        for interface in self._interfaces:
            command("ip", "link", "delete", self._port(interface))
        self._holder.process.kill()
        self._holder.stop()


class Finished:
    """The result of a program that has ended. `objects` contains the JSON objects of its output."""

    def __init__(self, status, output, errors, lines):
        self.status, self.output, self.errors = status, output, errors
        self.objects = [line.json for line in lines if isinstance(line.json, dict)]

    def __repr__(self):
        return f"exit {self.status}\n{self.output}\n{self.errors}"
