"""Waiting for what should become true, without sleeping longer than needed."""

import time


class TooLate(AssertionError):
    """What was waited for did not happen in time."""


def eventually(check, within, what):
    """Calls `check` until it returns something true, which is returned; raises TooLate after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            raise TooLate(f"not within {within} s: {what() if callable(what) else what}")
        time.sleep(0.05)
