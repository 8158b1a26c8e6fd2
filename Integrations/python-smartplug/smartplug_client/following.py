"""The rules of a followed session, as values without a clock or a socket. Times are seconds of a monotonic clock."""

import random
from typing import Any

from . import model
from .errors import MalformedMessage


class BackOff:
    """The delay before the next attempt. It doubles up to half a minute, with jitter, so that the controllers of a plug
    do not reconnect at the same time."""

    FIRST, LONGEST = 0.25, 30.0
    SETTLED = 5.0  # seconds; after a session of at least this length the delay starts at FIRST again

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance, self._base = chance or random.Random(), self.FIRST

    def next(self) -> float:
        """Returns the delay in seconds before the next attempt."""
        delay = self._chance.uniform(self._base / 2, self._base)
        self._base = min(self._base * 2, self.LONGEST)
        return delay

    def ended(self, lasted: float) -> None:
        """Records that a session of that length in seconds ended."""
        if lasted >= self.SETTLED:
            self._base = self.FIRST


class Liveness:
    """The times at which a Ping is due, and at which the peer counts as gone."""

    PING = 20.0  # seconds without a sent message
    SILENT = 45.0  # seconds without a received message
    DOUBT = 5.0  # seconds without a received message after a Ping that `doubt` requested

    def __init__(self, now: float) -> None:
        self._sent = self._received = now
        self._doubted: float | None = None

    def sent(self, now: float) -> None:
        """Records that a message was sent."""
        self._sent = now

    def received(self, now: float) -> None:
        """Records that a message was received."""
        self._received, self._doubted = now, None

    def doubt(self, now: float) -> bool:
        """Records a reason to assume that the connection is broken. Returns True if a Ping must be sent."""
        if self._doubted is not None:
            return False
        self._doubted = now
        return True

    @property
    def ping_at(self) -> float:
        """The time at which a Ping is due."""
        return self._sent + self.PING

    @property
    def gone_at(self) -> float:
        """The time at which the peer counts as gone."""
        silent = self._received + self.SILENT
        return silent if self._doubted is None else min(silent, self._doubted + self.DOUBT)


class PlugClock:
    """An estimate of the plug's clock from a request and its answer: the plug read its clock at some time between the
    two."""

    DRIFT = 2e-4  # maximum relative drift of two clocks

    def __init__(self, asked: float, answered: float, plug_time: int) -> None:
        """`plug_time` is in nanoseconds since the plug's boot."""
        self._middle, self._uncertainty = (asked + answered) / 2, (answered - asked) / 2
        self._plug_time = plug_time / 1e9

    def refined(self, other: "PlugClock") -> "PlugClock":
        """Returns this measurement or a newer one, whichever is more exact at the time of the newer one."""
        grown = self._uncertainty + (other._middle - self._middle) * self.DRIFT
        return other if other._uncertainty <= grown else self

    def age(self, plug_time: int, now: float) -> float:
        """Returns the seconds since a plug time, at least 0. The uncertainty of the measurement is subtracted, so the
        age is a lower bound if the clocks do not drift."""
        return max(0.0, self._plug_time + (now - self._middle) - self._uncertainty - plug_time / 1e9)

    def latest(self, at: float) -> int:
        """Returns the latest plug time in nanoseconds, at least 0, that the plug's clock can show at a time."""
        drift = max(0.0, at - self._middle) * self.DRIFT
        return max(0, round((self._plug_time + (at - self._middle) + self._uncertainty + drift) * 1e9))


class EventLane:
    """The order of events: numbers are consecutive, and a gap names the missing ones."""

    def __init__(self, after: int | None = None) -> None:
        """`after` is the number of the last event that was handled; with None, only new events are requested."""
        self.after, self._is_open = after, False

    def begin(self) -> dict[str, Any]:
        """Returns the event lane's fields of Subscribe for a new session."""
        self._is_open = False
        return {} if self.after is None else {"after": self.after}

    def subscribed(self, wire: Any) -> model.Gap | None:
        """Handles the answer to Subscribe, or a gap that was sent later. Raises MalformedMessage."""
        due = model.sequence(wire.next_sequence)
        gap = model.gap(wire.gap) if wire.HasField("gap") else None
        if gap is not None:
            # If the plug does not know the cursor, the cursor belongs to a different journal, and the gap may begin
            # anywhere.
            other_journal = gap.reason == "unknown_cursor" and not self._is_open
            if not other_journal and self.after is not None and gap.first != self.after + 1:
                raise MalformedMessage(f"the plug sent a gap from {gap.first}; event {self.after + 1} was expected")
            self.after = gap.last
        elif self.after is None:
            self.after = due - 1
        if self.after >= due:
            raise MalformedMessage(f"event {self.after + 1} was expected, but the plug's next number is {due}")
        self._is_open = True
        return gap

    def check(self, number: int) -> None:
        """Raises MalformedMessage unless this event is the next one."""
        if not self._is_open or self.after is None or number != self.after + 1:
            raise MalformedMessage(f"the plug sent event {number} after {self.after}")

    def took_effect(self, number: int) -> None:
        """Records that this event was handled."""
        self.after = number
