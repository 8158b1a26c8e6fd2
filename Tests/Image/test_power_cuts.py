"""Power cuts at every moment of an update. All writes of one update are recorded. Each cut leaves some of these writes on the medium, and
the test checks what the boot loader and the kernel then find. Two of these media are booted."""

import hashlib
import json
import random
import re
import shutil
import subprocess

import pytest

from deadlines import eventually
from house import House
from plug_machine import VARIABLES
from power_cuts import PowerCuts, part

SECRETS = ("id", "setup-code", "controllers")  # files of plugd that never change during an update

pytestmark = pytest.mark.long


def next_slot(boot):
    """The slot that grub.cfg starts with the variables on this boot partition."""
    block = subprocess.check_output(["mcopy", "-i", boot, f"::{VARIABLES}", "-"])
    assert len(block) == 1024 and block.startswith(b"# GRUB Environment Block\n"), block
    found = dict(re.findall(r"^(\w+)=(.*)$", block.decode(), re.MULTILINE))
    return next(slot for slot in found["ORDER"].split() if found[f"{slot}_OK"] == "1" and found[f"{slot}_TRY"] == "0")


class Recording:
    """One update from the first byte of the bundle to the selection of the new slot."""

    def __init__(self, work):
        self.house = house = House(work, is_logged=True)
        eventually(lambda: "A_TRY=0" in house.medium.read(VARIABLES), 60, "the report that the slot is good")
        house.machine.does("sync")
        self.begin = len(house.medium.writes.writes())
        bundle = house.bundles.working(1)
        house.does("update", "Lamp", bundle, "--restart", "later")
        eventually(lambda: house.state()["phase"] == "installed", 120, lambda: house.state())
        house.machine.does("sync")
        house.machine.close()
        self._log = house.medium.writes
        self.writes = self._log.writes()
        self.end = len(self.writes)
        self.places = {name: house.medium.partition(name) for name in ("boot", "system-A", "system-B", "data")}
        self.system = self._content(bundle)

    def copy(self):
        return PowerCuts(self._log, self.house.medium.work / "cut")

    def selection(self):
        """The number of writes after which the boot loader selects the new slot."""
        cuts = self.copy()
        for index in self.writes_to("boot"):
            with cuts.after(index + 1) as file:
                if next_slot(f"{file}@@{self.places['boot'][0]}") == "B":
                    return index + 1
        raise AssertionError("no write selects the new slot")

    def _content(self, bundle):
        """The size and the hash of the system in the bundle."""
        folder = self.house.medium.work / "bundle"
        subprocess.run(["unsquashfs", "-quiet", "-no-progress", "-dest", folder, bundle], check=True)
        system = folder / "system.squashfs"
        return system.stat().st_size, hashlib.sha256(system.read_bytes()).digest()

    def in_slot(self, file, name, size):
        with file.open("rb") as medium:
            medium.seek(self.places[name][0])
            return hashlib.sha256(medium.read(size)).digest()

    def writes_to(self, name):
        """The numbers of the writes to a partition."""
        start, size = self.places[name]
        return [index for index in range(self.begin, self.end)
                if self.writes[index].size and start <= self.writes[index].start < start + size]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    recording = Recording(tmp_path_factory.mktemp("cuts"))
    yield recording
    recording.house.machine.close()


def test_the_log_has_all_writes(recording):
    with recording.copy().after(recording.end) as file:
        assert subprocess.run(["cmp", file, recording.house.medium.file], check=False).returncode == 0


def test_a_plug_starts_after_a_cut_at_any_moment(recording, tmp_path):
    """After each write, and with a random half of the sectors that may not have reached the medium, the boot loader finds its variables, the
    slot that it selects has a complete system, and the plug has its identity and its controllers."""
    assert not recording.writes_to("system-A"), "the update wrote to the slot in use"
    dice = random.Random(2026)
    cuts, secrets, slots = recording.copy(), None, []
    for moment in range(recording.begin, recording.end + 1):
        with cuts.after(moment, lambda: dice.random() < 0.5) as file:
            boot = part(file, recording.places["boot"], tmp_path / "boot")
            done = subprocess.run(["fsck.vfat", "-n", boot], capture_output=True, text=True, check=False)
            assert done.returncode == 0 or "Dirty bit is set" in done.stdout and "FATs differ" not in done.stdout, f"{moment}: {done.stdout}"
            slots.append(next_slot(boot))
            if slots[-1] == "B":
                assert recording.in_slot(file, "system-B", recording.system[0]) == recording.system[1], moment
            data = part(file, recording.places["data"], tmp_path / "data")
            status = subprocess.run(["e2fsck", "-p", data], capture_output=True, check=False).returncode
            assert status < 4, f"{moment}: the plug would format its data partition"
            found = [subprocess.check_output(["debugfs", "-R", f"cat /lib/plugd/{name}", data], stderr=subprocess.DEVNULL) for name in SECRETS]
            secrets = secrets or found
            assert all(found) and found == secrets, moment
            data.unlink()
    print(f"{len(slots)} cuts: {slots.count('A')} start slot A, {slots.count('B')} slot B")
    assert {"A", "B"} == set(slots)


@pytest.mark.parametrize("slot", ["A", "B"])
def test_the_plug_continues_after_a_cut_at_the_selection_of_the_new_slot(recording, slot):
    """Just before it, the plug starts with its system and installs the bundle again. Just after it, the new system has to prove itself,
    and the bundle is not installed again."""
    house = recording.house
    with recording.copy().after(recording.selection() - (slot == "A")) as file:
        shutil.copy(file, house.medium.file)
    # The installation of the bundle is a part of the boot, and waits until the new system has proved itself with a controller.
    watching = house.start("watch", "Lamp")
    house.machine = house.medium.boot()
    assert house.slot() == slot
    eventually(lambda: house.state()["phase"] == ("installed" if slot == "A" else "idle"), 120, lambda: house.state())
    watching.kill()
    watching.wait()
    if slot == "B":
        assert house.machine.does("ls /var/lib/plugd/update /var/lib/update").split() == ["/var/lib/plugd/update:", "/var/lib/update:"]
        assert "was taken back" not in house.machine.does("journalctl --unit=slot-good --unit=update")
    house.machine.close()
