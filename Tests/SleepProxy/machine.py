"""A computer in QEMU on the LAN. Its kernel suspends to idle, and its network card has no link while it sleeps. The kernel does not resume
from suspend-to-RAM under emulation (QEMU 7.2, Linux 6.1)."""

import importlib.util
import json
import pathlib
import shutil
import socket
import time

import pytest

from deadlines import patient
from harness.lan import command
from sleeper_program import registration

PROJECT = pathlib.Path(__file__).parents[2]
HARDWARE = PROJECT / "Tests" / "HardwareInTheLoop"
FOLDER = PROJECT / ".build-guest"
TAP = "tap0"

# The guest is that of the hardware tests. Their package has the same name as that of the LAN.
_specification = importlib.util.spec_from_file_location("guest", HARDWARE / "harness" / "guest.py")
_guest = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(_guest)


class QMP:
    """QEMU's control socket."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patient(20))
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw")
        self._next()  # The greeting.
        self.does("qmp_capabilities")

    def _next(self):
        return json.loads(self._lines.readline())

    def does(self, verb, **arguments):
        self._lines.write(json.dumps({"execute": verb, "arguments": arguments}) + "\n")
        self._lines.flush()
        while "return" not in (answer := self._next()):
            assert "error" not in answer, f"{verb}: {answer}"  # Anything else is an event.

    def close(self):
        self._socket.close()


class Machine:
    """A virtual machine with the address `address`, whose network card is connected to the same bridge as `neighbor`."""

    def __init__(self, neighbor, address, card, work):
        if not (FOLDER / "key").exists() or not shutil.which("qemu-system-x86_64"):
            pytest.skip("the guest is not built: Tests/HardwareInTheLoop/guest/build .build-guest")
        self.address, self.card = address, card
        [port] = json.loads(command("ip", "-json", "link", "show", neighbor.port))
        command("ip", "tuntap", "add", TAP, "mode", "tap")
        command("ip", "link", "set", TAP, "master", port["master"], "up")
        self._listening = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self._listening.bind((TAP, 0))
        self.guest = _guest.Guest(
            FOLDER, _guest.packed(HARDWARE, [], work), work,
            ["-netdev", f"tap,id=cable,ifname={TAP},script=no,downscript=no", "-device", f"e1000,id=card,netdev=cable,mac={card}",
             "-qmp", f"unix:{work / 'qmp'},server=on,wait=off"])
        self._qmp = QMP(work / "qmp")
        # The kernel announces its address when the link comes up, as the network programs of distributions do. The keyboard may
        # wake it.
        self.guest.does(
            f"ip address add {address}/24 dev eth0; echo 1 >/proc/sys/net/ipv4/conf/eth0/arp_notify; ip link set eth0 up; "
            "until grep -q 1 /sys/class/net/eth0/carrier; do usleep 50000; done; "
            "echo enabled >/sys/devices/platform/i8042/serio0/power/wakeup")

    def serves(self, port):
        """Accepts TCP connections, and answers each with a line."""
        self.guest.does(f"nc -ll -p {port} -e echo awake >/dev/null 2>&1 &")

    def register(self, proxy, port, name, services):
        """Sends a registration, and returns the code of the answer."""
        message = registration(f"{name}.local", [self.address], services, bytes.fromhex(self.card.replace(":", "")), 1, 3600)
        written = "".join(f"\\{byte:03o}" for byte in message)
        answer = self.guest.does(f"printf '{written}' | exchange {proxy} {port}")
        return bytes.fromhex(answer.strip())[3] & 0xF

    def suspends(self):
        self.guest.does("(sleep 0.2; echo freeze >/sys/power/state) >/dev/null 2>&1 &")
        time.sleep(patient(1))  # The end of the suspend cannot be observed.
        self._qmp.does("set_link", name="card", up=False)

    def wakes_by_magic(self, within):
        """Waits for a magic packet on the network card, as a card does that is enabled for Wake-on-LAN. Then wakes the kernel by
        a key, and restores the link."""
        magic = b"\xff" * 6 + bytes.fromhex(self.card.replace(":", "")) * 16
        end = time.monotonic() + patient(within)
        frame = b""
        while magic not in frame:
            self._listening.settimeout(max(0.001, end - time.monotonic()))
            frame = self._listening.recv(4096)
        self._qmp.does("send-key", keys=[{"type": "qcode", "data": "ctrl"}])
        self._qmp.does("set_link", name="card", up=True)

    def close(self):
        self._qmp.close()
        self.guest.close()
        self._listening.close()
        command("ip", "link", "delete", TAP)
