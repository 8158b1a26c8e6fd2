"""Fixtures of every test: a LAN, plugs, Matter controllers, and the credentials of the plugs."""

import pathlib
import subprocess

import pytest

from home import Home
from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit  # noqa: F401

SCRIPT = pathlib.Path(__file__).parents[2] / "Scripts" / "matter-credentials"


@pytest.fixture(scope="session")
def credentials(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matter") / "credentials"
    subprocess.run([SCRIPT, folder], check=True)
    return folder


@pytest.fixture
def home(lan, tmp_path, credentials):
    """Returns a function that starts a Matter controller with its own fabric on a host."""
    homes = []

    def make(host=None):
        homes.append(Home(host or lan.host(), tmp_path / f"home{len(homes)}", credentials / "paa"))
        return homes[-1]

    yield make
    for one in homes:
        one.leave()
