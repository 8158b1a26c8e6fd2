"""Names that several modules share."""

DOMAIN = "smartplug"

# Seconds, as with the rules of the daemon. An automation must not take an older press for one of now.
OLDEST_PRESS = 5.0

# In sequence. A plug that was set back to factory state has another key for good; another plug at its old address answers only for a
# short time.
ATTEMPTS_WITH_OTHER_KEY = 3

AFTER_FAULT = 30.0  # seconds; a failure that recurs at once must not fill the log
