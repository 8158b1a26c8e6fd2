"""Fixtures of every test: a LAN, plugs, and Home Assistant."""

from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit  # noqa: F401
