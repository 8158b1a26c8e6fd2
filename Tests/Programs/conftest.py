"""Fixtures: the programs under test, and separate state and configuration directories for each test."""

from shared_fixtures import own_memory, programs, time_limit  # noqa: F401
