"""Constants that several modules use."""

DOMAIN = "smartplug"

# The maximum age of a press in seconds, as in the daemon's rules. An automation must not run for an older press.
OLDEST_PRESS = 5.0

# The number of consecutive connections to a plug with a different key before the user is notified. After a factory reset the
# plug has a different key permanently; a different plug at its previous address answers only for a short time.
ATTEMPTS_WITH_OTHER_KEY = 3

AFTER_FAULT = 30.0  # seconds from an error in this program to the next attempt; limits the log entries if it repeats
