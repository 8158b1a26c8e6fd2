"""Avahi on a host of the LAN: its daemon with its own message bus, and its tools."""

import re

from deadlines import eventually

TYPE = "_smartplug._tcp"


class Avahi:
    def __init__(self, host):
        self.host = host
        host.run("mkdir", "-p", "/run/dbus", "/run/avahi-daemon")
        host.start("dbus-daemon", "--system", "--nofork", "--nopidfile")
        eventually(lambda: host.finish("test", "-S", "/run/dbus/system_bus_socket").status == 0, 5, "the message bus")
        self.daemon = host.start("avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits")
        self.daemon.seen(lambda line: "Server startup complete" in line.text, 10, "that it is up")

    def publish(self, name, port, *txt):
        """Announces a service until the test ends, and returns the name under which it was established."""
        publisher = self.host.start("avahi-publish", "-s", name, TYPE, port, *txt)
        line = publisher.seen(lambda line: "Established under name" in line.text, 10, "that the service is established")
        return re.search(r"Established under name '(.*)'", line.text).group(1)

    def browse(self):
        return AvahiBrowser(self.host)

    def services(self, service_type=TYPE):
        """The services that `avahi-browse -rptk` lists now, as a dictionary from name to port."""
        listed = self.host.finish("avahi-browse", "-rptk", service_type, within=15)
        return {name: port for _, name, port in parsed(listed.output.splitlines()) if port is not None}


class AvahiBrowser:
    """A running `avahi-browse`."""

    def __init__(self, host):
        self.running = host.start("stdbuf", "--output=L", "avahi-browse", "-rpk", TYPE, name="avahi-browse")

    def appeared(self, name, within):
        return self.running.seen(lambda line: ("=", name) in signs(line), within, f"that {name} was resolved").at

    def disappeared(self, name, since, within):
        """Returns the seconds from `since` until the service was lost on the last interface and address family."""
        def counts():
            seen = [mark for line in self.running.lines for mark, found in signs(line) if found == name]
            return seen.count("+") - seen.count("-")

        eventually(lambda: counts() == 0, within, lambda: f"avahi-browse losing {name}:\n{self.running.transcript()}")
        return max(line.at for line in self.running.lines if ("-", name) in signs(line)) - since


def signs(line):
    """Returns the marks in a line of the browser, each with the instance name."""
    return [] if line.error else [(mark, name) for mark, name, _ in parsed([line.text])]


def parsed(lines):
    """Parses the output of `avahi-browse -p`: the mark (+ found, = resolved, - lost), the instance name, and the port
    if resolved."""
    for line in lines:
        fields = line.split(";")
        if len(fields) >= 6 and fields[0] in "+=-":
            yield fields[0], unescaped(fields[3]), int(fields[8]) if fields[0] == "=" else None


def unescaped(text):
    r"""Decodes Avahi's escapes: a backslash and three decimal digits for a byte, or a backslash and the character
    itself."""
    raw = re.sub(rb"\\(\d{3}|.)", lambda found: bytes([int(found[1])]) if len(found[1]) == 3 else found[1], text.encode())
    return raw.decode()
