"""Fixtures of every test: the LAN, the programs and the time limit of the interoperability tests."""

from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit  # noqa: F401
