"""Constants that several modules use."""

DOMAIN = "smartplug"

# Seconds, as in the daemon's rules. An automation must not run for an older press.
OLDEST_PRESS = 5.0

# Consecutive attempts. After a factory reset the plug has a different key permanently; a different plug at its previous
# address answers only for a short time.
ATTEMPTS_WITH_OTHER_KEY = 3

AFTER_FAULT = 30.0  # seconds; limits the log entries of a repeating failure
