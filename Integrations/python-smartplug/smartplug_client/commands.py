"""Commands. They are absolute: a command that is executed twice leads to the same state."""

from dataclasses import dataclass, field
from typing import Any

from .model import State


@dataclass(frozen=True)
class Command:
    """A kind of the protocol's Command, with its fields."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)

    def message(self, request: bytes, within: float, until: int) -> dict[str, Any]:
        """Returns the message's fields. The plug executes the command within `within` seconds of its arrival and
        before the plug time `until` in nanoseconds, or not at all."""
        return {
            "request_id": request, "deadline_ms": max(1, round(within * 1000)), "until": until, self.kind: self.fields}


@dataclass(frozen=True)
class Done:
    """The plug executed a command."""

    state: State
    sequence: int | None  # the number of the command's event; None if it has none, as when the relay did not change


def turn(on: bool, auto_off: float | None = None) -> Command:
    """Switches the relay. With `on`, `auto_off` is the number of seconds until it switches off again."""
    return Command("set_relay", {"on": on} if auto_off is None else {"on": on, "auto_off_ms": round(auto_off * 1000)})


def dim(level: float, over: float = 0) -> Command:
    """Sets the level in per cent; 0 switches the plug off, a higher level on. `over` is the duration of the transition
    in seconds."""
    return Command("set_level", {"level_permille": round(level * 10), "transition_ms": round(over * 1000)})


def identify() -> Command:
    """Makes the plug's light blink for some seconds."""
    return Command("identify")


def reset_protection() -> Command:
    """Resets a protection that has tripped. The plug stays off."""
    return Command("reset_protection")
