"""The guest: one virtual machine for many tests, which runs shell commands for them."""

import base64
import dataclasses
import pathlib
import select
import shlex
import socket
import subprocess
import time

from deadlines import patient

BOOT_LIMIT = 60  # seconds; an idle machine boots the guest in 4 s

# QEMU's words and the kernel's console for each architecture.
MACHINES = {
    "amd64": (["qemu-system-x86_64", "-machine", "pc", "-cpu", "qemu64", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"], "ttyS0 tsc=reliable"),
    "arm64": (["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"], "ttyAMA0"),
}


@dataclasses.dataclass
class Done:
    """The result of a command."""

    command: str
    status: int
    text: str

    def __str__(self):
        return f"`{self.command}` ended with {self.status}:\n{self.text}"


class Gone(Exception):
    """The guest has ended or does not answer."""


class Guest:
    """A virtual machine with the kernel and the files of `folder`, and with the programs of `archive`."""

    def __init__(self, folder, archive, work, options=(), within=()):
        """`work` is a folder for sockets and logs. Its path must be short, because the length of a socket's path is limited.
        `options` are more words of QEMU's command line. `within` is a command that runs QEMU."""
        files = work / "files.cpio"
        with files.open("wb") as joined:
            for part in (folder / "guest.cpio", archive):
                joined.write(part.read_bytes())
        machine, console = MACHINES[(folder / "architecture").read_text().strip()]
        # The guest has one processor. With two, a busy host may stop the processor that handles an edge while the other
        # continues. The kernel reads the line's level when it handles the edge, and would miss a short press.
        self._boot(work, BOOT_LIMIT, [
            *within, *machine, "-accel", "tcg,thread=single", "-smp", "1", "-m", "1024", "-kernel", folder / "vmlinux",
            "-initrd", files, "-append", f"console={console} quiet loglevel=4 panic=-1", *options])
        files.unlink()

    def _boot(self, work, limit, words):
        """Starts QEMU, and waits until the agent in the guest is ready. `words` are the command without the devices for output."""
        self.console = work / "console"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(work / "channel"))
        listener.listen()
        started = time.monotonic()
        self._machine = subprocess.Popen(
            [*words, "-display", "none", "-nodefaults", "-no-reboot", "-serial", f"file:{self.console}",
             "-device", "virtio-serial-pci", "-chardev", f"socket,id=channel,path={work / 'channel'}",
             "-device", "virtserialport,chardev=channel"],
            stdin=subprocess.DEVNULL, stdout=(work / "qemu").open("w"), stderr=subprocess.STDOUT)
        listener.settimeout(patient(10))
        self._buffer, self._number = b"", 0
        try:
            self._channel = listener.accept()[0]
            if self._line(limit) != b"ready":
                raise Gone(f"the guest did not boot:\n{self.console_text()}")
        except BaseException as error:
            # The guest is closed after every exception, including KeyboardInterrupt, because the caller does not have this object
            # yet and cannot close it.
            self.close()
            if isinstance(error, TimeoutError):
                raise Gone(f"qemu did not start: {(work / 'qemu').read_text()}") from None
            raise
        self.boot_seconds = time.monotonic() - started

    def run(self, command, within=20):
        """Runs a command in a shell of the guest, and returns the result."""
        if not self.is_up():
            raise Gone(f"the guest is gone:\n{self.console_text()}")
        self._number += 1
        try:
            self._channel.sendall(b"%d %s\n" % (self._number, base64.b64encode(command.encode())))
        except OSError as error:
            self.close()
            raise Gone(f"the guest is gone ({error}):\n{self.console_text()}") from None
        while True:
            number, status, *text = self._line(within, command).split()
            if int(number) == self._number:
                return Done(command, int(status), base64.b64decode(text[0]).decode(errors="replace") if text else "")

    def does(self, command, within=20):
        """Runs a command that must succeed, and returns its output."""
        done = self.run(command, within)
        assert done.status == 0, f"in the guest {done}"
        return done.text

    def write(self, path, text):
        self.does(f"printf %s {shlex.quote(text)} >{path}")

    def is_up(self):
        return self._machine is not None and self._machine.poll() is None

    def console_text(self):
        """Returns the last 4,000 characters of the guest's console, which has the kernel's messages."""
        return self.console.read_text(errors="replace")[-4000:] if self.console.exists() else ""

    def close(self):
        if self._machine:
            self._machine.kill()
            self._machine.wait()
        self._machine = None

    def _line(self, within, command="boot"):
        within = patient(within)
        deadline = time.monotonic() + within
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self._channel], [], [], left)[0]
            more = self._channel.recv(65536) if ready else b""
            if not more:
                # Later tests must not wait for this guest.
                self.close()
                what = "ended" if ready else f"did not answer within {within} s"
                raise Gone(f"the guest {what}: {command}\n{self.console_text()}")
            self._buffer += more
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.strip()


def packed(here, programs, work):
    """Packs the programs into an archive, and returns its path."""
    archive = pathlib.Path(work) / "programs.cpio"
    subprocess.run([here / "guest" / "pack", archive, *programs], check=True)
    return archive
