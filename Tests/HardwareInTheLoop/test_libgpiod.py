"""One build of plugd works with libgpiod 1 and 2. The tests check which version it loads, and when it loads none."""

import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
FILES = {"libgpiod1": "libgpiod.so.2", "libgpiod2": "libgpiod.so.3"}


def loaded(guest):
    """Returns the names of the libgpiod files that plugd has loaded."""
    maps = guest.does("cat /proc/$(pidof plugd)/maps")
    return {line.rsplit("/", 1)[1] for line in maps.splitlines() if "libgpiod" in line}


@pytest.mark.parametrize("interface", FILES, indirect=True)
def test_plugd_declares_libgpiod_as_its_header_does(interface):
    """The declarations of libgpiod in CGPIOD match its header."""
    header = pathlib.Path(os.environ["SMARTPLUG_GUEST"]) / f"{interface}.h"
    declarations = HERE.parents[1] / "Firmware" / "CGPIOD" / f"{interface}.h"
    subprocess.run(
        ["gcc-12", "-fsyntax-only", "-Wall", "-Werror", "-include", header, "-include", declarations, HERE / "prototypes.c"],
        check=True)


@pytest.mark.parametrize("interface", FILES, indirect=True)
def test_plugd_loads_the_one_that_is_there(guest, plug, interface):
    """plugd loads the only installed version of libgpiod."""
    plug().start()
    assert loaded(guest) == {FILES[interface]}


def test_of_both_it_loads_the_second(guest, plug):
    """If both versions are installed, plugd loads version 2."""
    running = plug()
    running.libraries = "/lib/libgpiod1:/lib/libgpiod2"
    running.start()
    assert loaded(guest) == {FILES["libgpiod2"]}


def test_parts_without_lines_load_none(guest, plug):
    """Without a part on a GPIO line, plugd does not load libgpiod."""
    plug(relay=None, button=None).start()
    assert loaded(guest) == set()


def test_without_any_it_says_which_package_to_install(guest, plug):
    """Without libgpiod, plugd reports the package to install, and runs, because the package may be installed later."""
    running = plug()
    running.libraries = "/nowhere"
    said = running.once("check")
    assert said.status == 1 and "install the package libgpiod3 or libgpiod2" in said.text, said
    running.start().says("install the package libgpiod3 or libgpiod2")
    assert loaded(guest) == set()
