"""Prints how long the image SMARTPLUG_IMAGE takes from the start of the kernel to the first program and to a working button: seconds of an
emulated machine whose clock counts instructions. The boot is the second one, because the first one prepares the data partition."""

import pathlib
import tempfile

from plug_machine import Medium

with tempfile.TemporaryDirectory() as folder:
    medium = Medium(pathlib.Path(folder))
    medium.boot().close()
    machine = medium.boot(is_counted=True)
    try:
        for name, unit, stamp in (("kernel", "", "UserspaceTimestampMonotonic"), ("button", "plugd", "ActiveEnterTimestampMonotonic")):
            print(name, int(machine.does(f"systemctl show {unit} --value --property={stamp}")) / 1e6)
    finally:
        machine.close()
