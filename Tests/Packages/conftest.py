"""Fixtures of every test. All tests of a module share one system, and each test starts in the state that the previous one left."""

import os
import pathlib

import pytest

from harness.board import Board
from harness.system import System


@pytest.fixture(scope="session")
def packages():
    """The packages' files, by package name."""
    folder = pathlib.Path(os.environ["SMARTPLUG_PACKAGES"])
    return {file.name.split("_")[0]: file for file in folder.glob("*.deb")}


@pytest.fixture(scope="session")
def content(packages, tmp_path_factory):
    """The folders with the packages' content, by package name."""
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
    """The system with installed packages; no part is configured yet."""
    return Board(system, packages)
