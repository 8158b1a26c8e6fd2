"""A newly installed Debian with its own systemd, in namespaces."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent.parent
UP = ("running", "degraded")


class Failed(AssertionError):
    """A command in the system failed; the message contains its output."""


def children(process):
    return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def name(process):
    return pathlib.Path(f"/proc/{process}/comm").read_text().strip()


class System:
    def __init__(self, root):
        self._scratch = pathlib.Path(tempfile.mkdtemp(prefix="board"))
        began = time.monotonic()
        self._boot = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "unshare", "--mount", "--propagation", "private", HERE / "boot", root,
             self._scratch],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            self._first = self._wait_for("its first process", 30, self._find_first)
            self._wait_for("its services", 60, lambda: self.tries("systemctl is-system-running").stdout.strip() in UP)
        except BaseException:
            self.close()
            raise
        self.boot_seconds = time.monotonic() - began

    def does(self, command):
        """Runs a shell command as root, which must succeed, and returns its output."""
        done = self.tries(command)
        if done.returncode:
            raise Failed(f"{command}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def tries(self, command, timeout=120):
        """Runs a command that may fail."""
        return subprocess.run(
            [*self._enter("--all", "--root", "--wdns=/"), "sh", "-c", command],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)

    def waits_for(self, what, seconds, look):
        """Waits until `look` returns a true value, and returns the value. `look` may fail until then."""
        return self._wait_for(what, seconds, look)

    def on_its_network(self, *command):
        """Runs a program of this machine in the system's network."""
        subprocess.run([*self._enter("--net"), *command], check=True, timeout=20)

    def put(self, file, place):
        """Copies a file of this machine into the system."""
        self.write(place, pathlib.Path(file).read_bytes())

    def write(self, place, content):
        inside = pathlib.Path(f"/proc/{self._first}/root{place}")
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.write_bytes(content if isinstance(content, bytes) else content.encode())

    def files(self):
        """Returns every file, folder and link on the system's disk."""
        return set(self.does("find / -xdev -printf '%p\\n'").splitlines())

    def processes(self, name):
        return self.tries(f"grep -lx {name} /proc/[0-9]*/comm").stdout.split()

    def close(self):
        self._boot.terminate()
        self._boot.wait()
        self._boot.stdout.close()
        shutil.rmtree(self._scratch)

    def _enter(self, *namespaces):
        return ["nsenter", f"--target={self._first}", *namespaces, "--"]

    def _find_first(self):
        if self._boot.poll() is not None:
            raise Failed(f"the system did not boot: {self._boot.stdout.read()}")
        starter = next((child for child in children(self._boot.pid) if name(child) == "unshare"), None)
        first = next(iter(children(starter)), None) if starter else None
        return first if first and name(first) == "systemd" else None

    @staticmethod
    def _wait_for(what, seconds, look):
        end = time.monotonic() + seconds
        while True:
            try:
                if found := look():
                    return found
                trouble = "the condition stayed false"
            except (Failed, OSError, ValueError, KeyError) as failure:
                if isinstance(failure, Failed) and "did not boot" in str(failure):
                    raise
                trouble = failure
            if time.monotonic() > end:
                raise Failed(f"waited {seconds} s for {what}: {trouble}")
            time.sleep(0.05)
