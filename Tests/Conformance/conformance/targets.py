"""The programs under test. A target starts its program with one service, stops it, and changes it at run time."""

import pathlib
import signal
import subprocess
import sys
import time

from harness.avahi import Avahi
from harness.keys import key_in, make_paired

TYPE, SUBTYPE, PORT = "_smartplug._tcp", "_dimmer", 4711
# Abilities that a criterion may need, and the reason that is reported for a target without them.
LACKING = {
    "ipv6": "does not speak IPv6",
    "subtypes": "publishes no subtype",
    "txt": "cannot change a TXT record at run time",
    "rename": "cannot rename a service at run time in this test",
    "dhcp": "is not a DHCP client",
    "ipv6 addresses": "leaves IPv6 addresses to the kernel",
    "service": "publishes no service",
}
HERE = pathlib.Path(__file__).resolve().parent


def output(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


class Target:
    """A program under test. `start` begins the registration and sets `registered_at`. `abilities` are keys of LACKING, and
    "carrier" if the target watches the carrier. A target of the phase "addressing" has `manage`, which begins to manage the
    interface eth0, and `forget`, which deletes the stored state. A target of the phase "sleep-proxy" has `represent`, which begins to
    serve hosts that sleep."""

    abilities, phases = frozenset(), frozenset({"naming"})

    def __init__(self, host, programs):
        self.host, self.programs = host, programs
        self.running = None
        self.registered_at = None

    def begin(self, *words, name=None):
        self.registered_at = time.time()
        self.running = self.host.start(*words, name=name)

    def stop(self):
        """Stops the target in an orderly way and returns the time."""
        at = time.time()
        self.running.terminate()
        return at

    def ready(self):
        """Waits until the target watches the carrier, so that it notices when the cable is connected."""
        time.sleep(0.5)

    @property
    def is_running(self):
        return self.running.is_running


class Plugd(Target):
    name, package, phases = "plugd", "plugd", frozenset({"naming", "addressing", "sleep-proxy"})
    abilities = frozenset({"ipv6", "subtypes", "txt", "carrier", "dhcp", "ipv6 addresses", "service"})

    def start(self, name):
        self._run(name, "observe")

    def manage(self):
        self._run("Lamp", "manage", "--interface", "eth0")

    def forget(self):
        self.host.run("rm", "-rf", "/run/plug")

    def represent(self):
        configuration = pathlib.Path("/proc", self.host.pid, "root/run/plugd.toml")
        configuration.write_text("[sleep_proxy]\nenabled = true\n")
        self._run("Lamp", "observe", "--config", "/run/plugd.toml")

    def ready(self):
        self.running.seen(lambda _: True, 20, "anything")
        super().ready()

    def _run(self, name, addressing, *more):
        # The folder's path outside the host's mount namespace. A plug that was never paired would announce pair=1 from
        # the start, so `change_txt` could not change the record.
        state = pathlib.Path("/proc", self.host.pid, "root/run/plug")
        if not state.exists():
            make_paired(state, key_in(state.with_name("controller") / "key"))
        self.begin(self.programs / "plugd", "run", "--name", name, "--state", "/run/plug", "--simulate", "lamp",
                   "--port", PORT, "--addressing", addressing, *more)

    def change_txt(self):
        """Holds the button for 5.5 s. After 5 s the plug allows the next controller to pair, which changes the TXT record.
        Returns shortly before the change."""
        self.host.run(self.programs / "plugd", "press", "--state", "/run/plug", "--hold", "5.5")
        time.sleep(4.5)

    @staticmethod
    def version(programs):
        return output(str(programs / "plugd"), "--version")


class AvahiDaemon(Target):
    """The daemon as Debian configures it, without the parts that need other system services."""

    name, package, abilities = "avahi", "avahi-daemon", frozenset({"ipv6", "subtypes"})

    def start(self, name):
        self.daemon = Avahi(self.host)
        self.begin("avahi-publish", "-s", "--subtype", f"{SUBTYPE}._sub.{TYPE}", name, TYPE, PORT, "txtvers=1", "id=1")

    def stop(self):
        at = time.time()
        self.daemon.daemon.terminate()
        return at

    @property
    def is_running(self):
        return self.daemon.daemon.is_running

    @staticmethod
    def version(_):
        return output("dpkg-query", "--show", "--showformat", "${Version}", "avahi-daemon")


class PythonZeroconf(Target):
    name, package, abilities = "zeroconf", "python-zeroconf", frozenset({"ipv6", "txt", "rename"})

    def start(self, name):
        self.begin(sys.executable, HERE / "zeroconf_target.py", name, TYPE, PORT, "lamp", *self.host.addresses(),
                   name="python-zeroconf")
        line = self.running.seen(lambda line: line.text == "registering", 20, "that it registers")
        self.registered_at = time.time() - (time.monotonic() - line.at)

    def change_txt(self):
        self.running.process.send_signal(signal.SIGUSR1)

    def rename(self):
        self.running.process.send_signal(signal.SIGUSR2)

    @staticmethod
    def version(_):
        return output(sys.executable, "-c", "import zeroconf; print(zeroconf.__version__)")


class Mdnsd(Target):
    """Runs with the settings of Debian's unit file."""

    name, package = "mdnsd", "mdnsd"

    def start(self, name):
        service = f"type {TYPE}\nname {name}\nport {PORT}\ntxt txtvers=1\ntxt id=1\n"
        self.host.run("sh", "-c", 'mkdir /run/mdns.d && printf %s "$1" > /run/mdns.d/lamp.service', "sh", service)
        self.begin("mdnsd", "-n", "/run/mdns.d")

    @staticmethod
    def version(_):
        return output("dpkg-query", "--show", "--showformat", "${Version}", "mdnsd")


class AvahiAutoipd(Target):
    """Stores its addresses under /var/lib, where the host gets a private file system."""

    name, package, phases = "avahi-autoipd", "avahi-autoipd", frozenset({"addressing"})
    folder = "/var/lib/avahi-autoipd"

    def manage(self):
        self.host.run("sh", "-c", 'mountpoint -q /var/lib || mount -t tmpfs tmpfs /var/lib; mkdir -p "$1"', "sh", self.folder)
        self.begin("avahi-autoipd", "--no-drop-root", "--no-chroot", "eth0")

    def forget(self):
        self.host.run("sh", "-c", 'rm -f "$1"/*', "sh", self.folder)

    @staticmethod
    def version(_):
        return output("dpkg-query", "--show", "--showformat", "${Version}", "avahi-autoipd")


TARGETS = {target.name: target for target in (Plugd, AvahiDaemon, PythonZeroconf, Mdnsd, AvahiAutoipd)}
