"""Waits for conditions. The environment variable SMARTPLUG_PATIENCE multiplies every time limit of the Python suites, so
that tests do not fail on a busy machine. A longer limit does not slow down a wait that succeeds early."""

import os
import time

PATIENCE = float(os.environ.get("SMARTPLUG_PATIENCE", "1"))


class TooLate(AssertionError):
    """A condition did not become true in time."""


def patient(seconds):
    """Returns the time limit multiplied by PATIENCE, in seconds, for waits outside this module."""
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
