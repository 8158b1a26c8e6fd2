"""One system for all tests: it is what they were installed into, and each tells what it left."""

import os
import pathlib

import pytest

from harness.board import Board
from harness.system import System


@pytest.fixture(scope="session")
def packages():
    """The packages' files, by the names of the packages."""
    folder = pathlib.Path(os.environ["SMARTPLUG_PACKAGES"])
    return {file.name.split("_")[0]: file for file in folder.glob("*.deb")}


@pytest.fixture(scope="session")
def content(packages, tmp_path_factory):
    """The folder that has a package's content, by its name."""
    folders = {}
    for name, file in packages.items():
        folders[name] = tmp_path_factory.mktemp(name)
        os.spawnlp(os.P_WAIT, "dpkg-deb", "dpkg-deb", "--extract", file, folders[name])
    return folders


@pytest.fixture(scope="module")
def system():
    system = System(pathlib.Path(os.environ["SMARTPLUG_PACKAGES"]) / "root")
    print(f"a clean system booted in {system.boot_seconds:.1f} s")
    yield system
    system.close()


@pytest.fixture(scope="module")
def board(system, packages):
    """The packages are installed; no part is named yet."""
    return Board(system, packages)
