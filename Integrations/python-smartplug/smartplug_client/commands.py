"""Commands. They are absolute: carried out twice they lead to the same state."""

from dataclasses import dataclass, field
from typing import Any

from .model import State


@dataclass(frozen=True)
class Command:
    """A kind of the protocol's Command and its fields."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)

    def message(self, request: bytes, within: float) -> dict[str, Any]:
        """`within`: seconds after which the plug refuses to carry it out."""
        return {"request_id": request, "deadline_ms": max(1, round(within * 1000)), self.kind: self.fields}


@dataclass(frozen=True)
class Done:
    """The plug carried a command out."""

    state: State
    sequence: int | None  # the event that records it; None: nothing changed


def turn(on: bool, auto_off: float | None = None) -> Command:
    """`auto_off`: seconds until it turns off again, with `on`."""
    return Command("set_relay", {"on": on} if auto_off is None else {"on": on, "auto_off_ms": round(auto_off * 1000)})


def dim(level: float, over: float = 0) -> Command:
    """`level`: per cent; 0 turns the plug off, more turns it on. `over`: seconds that the way there takes."""
    return Command("set_level", {"level_permille": round(level * 10), "transition_ms": round(over * 1000)})


def identify() -> Command:
    """The plug's light blinks for some seconds."""
    return Command("identify")


def reset_protection() -> Command:
    """Resets a protection that has tripped. The plug stays off."""
    return Command("reset_protection")
