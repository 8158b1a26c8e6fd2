"""An emulated machine with UEFI firmware that boots a copy of the image. The image has no login, so the agent that runs the tests'
commands comes from outside: systemd reads it as a credential, which only a virtual machine's firmware can pass."""

import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess

from harness.guest import Guest
from power_cuts import WriteLog

AGENT = pathlib.Path(__file__).parents[1] / "HardwareInTheLoop/guest/agent"
IMAGE = pathlib.Path(os.environ["SMARTPLUG_IMAGE"])
ARCHITECTURE = IMAGE.stem.removeprefix("smartplug-")
# The firmware, its file for variables, and QEMU's words.
MACHINES = {
    "amd64": ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd",
              ["qemu-system-x86_64", "-machine", "q35", "-cpu", "qemu64"]),
    "arm64": ("/usr/share/AAVMF/AAVMF_CODE.fd", "/usr/share/AAVMF/AAVMF_VARS.fd",
              ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"]),
}
BOOT_LIMIT = 120  # seconds; an idle machine boots in 30 s
# The clock of a machine with these words counts instructions, two nanoseconds each. So times depend little on the host's load. While the
# processor waits, for example for the medium, the clock is the host's: with sleep=off it would jump to the next timer.
COUNTED = ["-accel", "tcg,thread=single", "-icount", "shift=1,sleep=on", "-smp", "1"]
COUNTED_BOOT_LIMIT = 600
PORT = 7001
VARIABLES = "EFI/debian/grubenv"  # of the boot loader
CREDENTIALS = {
    "tmpfiles.extra": f"f~ /run/agent - - - - {base64.b64encode(AGENT.read_bytes()).decode()}\n",
    "systemd.extra-unit.agent.service": """[Unit]
After=systemd-tmpfiles-setup.service systemd-udevd.service
[Service]
ExecStartPre=udevadm wait --timeout=60 /dev/vport0p1
ExecStart=sh /run/agent
""",
    "systemd.unit-dropin.multi-user.target": "[Unit]\nWants=agent.service\n",
    "systemd.unit-dropin.plugd.service": f"""[Service]
ExecStart=
ExecStart=plugd run --config /etc/smartplug/plugd.toml --simulate lamp
""",
    # An update has less time to prove itself than in the image.
    "systemd.unit-dropin.slot-good.service": """[Service]
ExecStart=
ExecStart=/usr/lib/smartplug/judge-slot 90
""",
}


class Medium:
    """A copy of the image on a larger medium, whose boot partition has a configuration of the plug."""

    def __init__(self, work, megabytes=600):
        self.work, self.file = work, work / "medium"
        self.ports = {guest: free_port() for guest in (22, PORT)}
        subprocess.run(["cp", "--sparse=always", IMAGE, self.file], check=True)
        os.truncate(self.file, megabytes << 20)
        self.put("plugd.toml", f'[plug]\nname = "Lamp"\n[network]\nport = {PORT}\n[wifi]\ninterface = "wlan0"\n')
        self.writes, self._boots = None, 0

    def partition(self, name):
        """The first byte and the size of a partition."""
        table = json.loads(subprocess.check_output(["sfdisk", "--json", self.file], stderr=subprocess.DEVNULL))["partitiontable"]
        [found] = [part for part in table["partitions"] if part.get("name") == name]
        return found["start"] * 512, found["size"] * 512

    def put(self, name, text):
        """Writes a file to the boot partition, as a user does on a computer."""
        subprocess.run(["mcopy", "-o", "-i", self._boot_partition(), "-", f"::{name}"], input=text.encode(), check=True)

    def read(self, name):
        return subprocess.check_output(["mcopy", "-i", self._boot_partition(), f"::{name}", "-"]).decode()

    def _boot_partition(self):
        return f"{self.file}@@{self.partition('boot')[0]}"

    def boot(self, is_counted=False, is_logged=False):
        """Starts a machine with the medium. With `is_logged`, `writes` then has all writes of this machine."""
        self._boots += 1
        work = self.work / str(self._boots)
        work.mkdir()
        self.writes = WriteLog(self.file, work) if is_logged else None
        return PlugMachine(self, work, is_counted)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class PlugMachine(Guest):
    """A running copy of the image. The host's ports `medium.ports` lead to the guest's ports. A restart of the guest ends it."""

    def __init__(self, medium, work, is_counted):
        firmware, variables, program = MACHINES[ARCHITECTURE]
        shutil.copy(variables, work / "variables")
        self.ssh = medium.ports[22]
        ports = "".join(f",hostfwd=tcp:127.0.0.1:{host}-:{guest}" for guest, host in medium.ports.items())
        words = []
        for name, text in CREDENTIALS.items():
            encoded = base64.b64encode(text.encode()).decode().replace(",", ",,")
            words += ["-smbios", f"type=11,value=io.systemd.credential.binary:{name}={encoded}"]
        # With two processors, the emulated kernel sometimes fails when it changes its own code.
        processors = COUNTED if is_counted else ["-accel", "tcg,thread=single", "-smp", "1"]
        self._boot(work, COUNTED_BOOT_LIMIT if is_counted else BOOT_LIMIT, [
            *program, *processors, "-m", "512",
            "-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={firmware}",
            "-drive", f"if=pflash,format=raw,unit=1,file={work / 'variables'}",
            "-drive", f"if=none,id=medium,{medium.writes.drive if medium.writes else f'format=raw,file={medium.file}'}",
            "-device", "virtio-blk-pci,drive=medium,addr=0x10", "-device", "i6300esb", "-watchdog-action", "reset",
            "-netdev", f"user,id=network{ports}",
            "-device", "virtio-net-pci,netdev=network,addr=0x11", *words])
        self.state = self.run("systemctl is-system-running --wait", within=60).text.strip()
