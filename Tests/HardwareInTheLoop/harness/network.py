"""A network of two hosts: the guest, by its emulated card, and this machine."""

import os
import pathlib
import subprocess

from deadlines import patient

CABLE = "cable"
PROGRAMS = pathlib.Path(os.environ["SMARTPLUG_PROGRAMS"])


class Network:
    """A network namespace with a tap device. It is in a user namespace, so that the tests need no root."""

    def __init__(self):
        self._keeper = subprocess.Popen(
            ["unshare", "--map-root-user", "--net", "sh", "-c",
             f"PATH=$PATH:/usr/sbin; ip link set lo up && ip tuntap add {CABLE} mode tap && ip address add 169.254.1.1/16 dev {CABLE} &&"
             f" ip link set {CABLE} up && echo ready && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._keeper.stdout.readline() == "ready\n", "the network namespace could not be made"
        self.within = ["nsenter", "--user", "--net", "--preserve-credentials", "--target", str(self._keeper.pid)]
        self.card = ["-netdev", f"tap,id=net,ifname={CABLE},script=no,downscript=no", "-device", "e1000,netdev=net"]

    def plugctl(self, folder, *words, within=40):
        """Runs plugctl on this machine with its state in `folder`, and returns its output."""
        done = subprocess.run(
            [*self.within, PROGRAMS / "plugctl", *words], timeout=patient(within), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env=os.environ | {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "SMARTPLUG_INTERFACE": CABLE})
        assert done.returncode == 0, f"plugctl {words} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def close(self):
        self._keeper.stdin.close()
        self._keeper.wait()
