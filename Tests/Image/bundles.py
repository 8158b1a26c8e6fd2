"""Bundles with systems that differ from the image's."""

import os
import pathlib
import shutil
import subprocess

from plug_machine import ARCHITECTURE

KEYS = pathlib.Path(os.environ["SMARTPLUG_UPDATE_KEYS"])
# Files that an emulated machine does not need. Systems without them are made faster.
UNUSED = [f"usr/lib/modules/*/kernel/{folder}" for folder in (
    "drivers/net/wireless", "drivers/net/ethernet", "drivers/usb", "drivers/mtd", "drivers/hid", "drivers/hwmon", "drivers/iio",
    "drivers/platform", "drivers/input", "net/bluetooth", "net/mac80211", "net/wireless", "net/netfilter")]


class Bundles:
    """Makes bundles in the folder `work` from the system in slot A of a medium."""

    def __init__(self, medium, work):
        self._work = work
        self._system = work / "system"
        start, size = medium.partition("system-A")
        slot = work / "slot"
        with medium.file.open("rb") as source, slot.open("wb") as copy:
            source.seek(start)
            copy.write(source.read(size))
        subprocess.run(["unsquashfs", "-quiet", "-no-progress", "-dest", self._system, slot], check=True)
        slot.unlink()
        self.version = (self._system / "usr/lib/smartplug/version").read_text().strip()

    def later(self, number):
        """A version that is later than the image's."""
        return f"{self.version}.{number}"

    def working(self, number):
        """A bundle with the image's system as a later version."""
        for pattern in UNUSED:
            for folder in self._system.glob(pattern):
                shutil.rmtree(folder)
        (self._system / "usr/lib/smartplug/version").write_text(self.later(number) + "\n")
        return self._bundle(self.later(number), self._system)

    def broken(self, number):
        """A bundle whose system has a kernel, and nothing to start."""
        system = self._work / "broken"
        system.mkdir()
        for name in ("vmlinuz", "initrd.img"):
            shutil.copy(self._system / name, system / name)
        return self._bundle(self.later(number), system)

    def small(self, version, **options):
        """A bundle whose content is not a system, for plugs that refuse it."""
        content = self._work / "content"
        content.mkdir(exist_ok=True)
        (content / "file").write_text(version)
        return self._bundle(version, content, **options)

    def _bundle(self, version, system, board=f"smartplug-{ARCHITECTURE}", keys=KEYS):
        parts = self._work / "parts"
        parts.mkdir()
        subprocess.run(
            ["mksquashfs", system, parts / "system.squashfs", "-quiet", "-no-progress", "-noappend", "-comp", "gzip"],
            check=True)
        (parts / "manifest.raucm").write_text(
            f"[update]\ncompatible={board}\nversion={version}\n[bundle]\nformat=verity\n[image.system]\nfilename=system.squashfs\n")
        bundle = self._work / f"{version}-{board}-{keys.name}.raucb"
        subprocess.run(
            ["rauc", "bundle", f"--cert={keys / 'certificate.pem'}", f"--key={keys / 'key.pem'}", "--mksquashfs-args=-noD -noF",
             parts, bundle], check=True, capture_output=True)
        shutil.rmtree(parts)
        return bundle


def foreign_keys(folder):
    """Creates keys that no plug accepts."""
    folder.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "10", "-subj",
         "/CN=foreign", "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"], check=True, capture_output=True)
    return folder
