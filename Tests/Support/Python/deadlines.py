"""Waits for conditions. The environment variable SMARTPLUG_PATIENCE multiplies every time limit of the Python suites: a
wait that succeeds early costs nothing, and a busy machine must not fail a test."""

import os
import time

PATIENCE = float(os.environ.get("SMARTPLUG_PATIENCE", "1"))


class TooLate(AssertionError):
    """A condition did not become true in time."""


def patient(seconds):
    """Returns a time limit in seconds, for waits outside this module."""
    return seconds * PATIENCE


def eventually(check, within, what):
    """Calls `check` until it returns a true value, and returns that; raises TooLate after `within` seconds times PATIENCE."""
    deadline = time.monotonic() + patient(within)
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            raise TooLate(f"not within {patient(within):g} s: {what() if callable(what) else what}")
        time.sleep(0.01)
