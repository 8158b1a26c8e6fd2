"""Fixtures of every test: a LAN, plugs, and HomeKit controllers."""

import pytest

from person import Person
from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit  # noqa: F401


@pytest.fixture
def person(lan, tmp_path):
    """Returns a function that starts a HomeKit controller on its own host."""
    people = []

    def make():
        people.append(Person(lan.host(), tmp_path / f"person{len(people)}.socket"))
        return people[-1]

    yield make
    for one in people:
        one.leave()
