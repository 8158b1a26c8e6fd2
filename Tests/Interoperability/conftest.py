"""Fixtures of every test."""

from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit, verdicts  # noqa: F401
