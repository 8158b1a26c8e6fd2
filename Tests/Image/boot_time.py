"""Prints how long the image SMARTPLUG_IMAGE takes from the start of the kernel to the first program, which is that of the initramfs, to systemd,
and to a working button: seconds of an emulated machine whose clock counts instructions. The boot is the second one, because the first
one prepares the data partition."""

import pathlib
import re
import tempfile

from plug_machine import Medium

with tempfile.TemporaryDirectory() as folder:
    medium = Medium(pathlib.Path(folder))
    medium.boot().close()
    machine = medium.boot(is_counted=True)
    try:
        print("kernel", re.search(r"\[ *([0-9.]+)\] Run /init as init process", machine.does("dmesg"))[1])
        for name, unit, stamp in (("systemd", "", "UserspaceTimestampMonotonic"), ("button", "plugd", "ActiveEnterTimestampMonotonic")):
            print(name, int(machine.does(f"systemctl show {unit} --value --property={stamp}")) / 1e6)
    finally:
        machine.close()
