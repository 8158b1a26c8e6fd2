"""Waiting for what should become true, without sleeping longer than needed."""

import time

PATIENCE = 4  # An emulated machine on a busy host may take so many times as long as one that has the host for itself.


class TooLate(AssertionError):
    """What was waited for did not happen in time."""


def eventually(check, within, what):
    """Calls `check` until it returns something true, which is returned; raises TooLate when `within` seconds have passed
    as many times as there is patience."""
    deadline = time.monotonic() + within * PATIENCE
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            raise TooLate(f"not within {within * PATIENCE} s: {what() if callable(what) else what}")
        time.sleep(0.05)
