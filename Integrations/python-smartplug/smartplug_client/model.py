"""States, events and descriptions of a plug, as values."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .errors import MalformedMessage
from .wire import name_of

HIGHEST_SEQUENCE = 2**62
HIGHEST_TIME = 2**60  # nanoseconds


class Press(StrEnum):
    """The kind of a button press."""

    SINGLE = "single"
    DOUBLE = "double"
    LONG = "long"


@dataclass(frozen=True)
class Reading:
    """One measurement. A quantity is None if the meter does not measure it."""

    active_power: float  # W
    active_energy: float  # Wh; decreases only after a factory reset or a loss of power
    voltage_rms: float | None = None  # V
    current_rms: float | None = None  # A
    apparent_power: float | None = None  # VA
    reactive_power: float | None = None  # var, positive for an inductive load
    power_factor: float | None = None
    frequency: float | None = None  # Hz


@dataclass(frozen=True)
class State:
    """The current state of a plug."""

    relay_on: bool
    level: float | None = None  # per cent; None: the plug does not dim
    reading: Reading | None = None  # None until the meter has answered
    # the protection that locks the relay open, such as "over_power", or "unknown" for one of a later version; None if
    # no protection tripped
    tripped: str | None = None


@dataclass(frozen=True)
class RelayChanged:
    """The relay was switched."""
    on: bool
    cause: str | None  # "button", "controller", "protection", "timer", "power_on"; None for a cause of a later version
    controller: str  # the name of the controller if the cause is "controller"


@dataclass(frozen=True)
class ButtonPressed:
    """The button was pressed."""
    press: Press


@dataclass(frozen=True)
class ProtectionTripped:
    """A protection opened the relay."""
    protection: str | None


@dataclass(frozen=True)
class ProtectionReset:
    """A protection was reset."""
    protection: str | None
    cause: str | None


@dataclass(frozen=True)
class Restarted:
    """The firmware restarted."""
    power_lost: bool


@dataclass(frozen=True)
class PairingFailed:
    """A controller used a wrong setup code."""
    failures: int


@dataclass(frozen=True)
class ControllerPaired:
    """A controller was paired."""
    controller: str


@dataclass(frozen=True)
class ControllerRemoved:
    """A controller was removed."""
    controller: str


Happening = (
    RelayChanged | ButtonPressed | ProtectionTripped | ProtectionReset | Restarted | PairingFailed | ControllerPaired
    | ControllerRemoved)


@dataclass(frozen=True)
class Event:
    """An event with a number that never repeats in the life of the plug."""

    sequence: int
    age: float | None  # seconds at the time of its arrival; None if it happened before the plug's last boot
    what: Happening | None  # None for a kind of a later version


@dataclass(frozen=True)
class Gap:
    """All events from the first number to the last one are lost."""

    first: int
    last: int
    reason: str | None  # such as "power_lost" or "overwritten"; None for a reason of a later version


@dataclass(frozen=True)
class Crash:
    """The last run of the firmware that ended with a crash or a kill."""

    report: str
    count: int
    age: float | None  # seconds


@dataclass(frozen=True)
class Description:
    """The plug's own description."""

    plug_id: str
    name: str  # the name that the user chose
    announced_name: str  # the announced name, which has a number added if another host uses the name
    capabilities: frozenset[str]
    firmware: str
    role: str | None  # of this controller: "owner", "user", "viewer", "guest"
    crash: Crash | None = None


def _optional(message: Any, field: str, scale: float) -> float | None:
    return getattr(message, field) / scale if message.HasField(field) else None


def reading(wire: Any) -> Reading:
    """Converts a reading of the protocol."""
    return Reading(
        active_power=wire.active_power_dw / 10,
        active_energy=wire.active_energy_mwh / 1000,
        voltage_rms=_optional(wire, "voltage_dv", 10),
        current_rms=_optional(wire, "current_ma", 1000),
        apparent_power=_optional(wire, "apparent_power_dva", 10),
        reactive_power=_optional(wire, "reactive_power_dvar", 10),
        power_factor=_optional(wire, "power_factor_permille", 1000),
        frequency=_optional(wire, "frequency_millihertz", 1000))


def state(wire: Any) -> State:
    """Converts a state of the protocol. Raises MalformedMessage."""
    if wire.level_permille > 1000:
        raise MalformedMessage(f"the dim level is {wire.level_permille} permille, above 1000")
    return State(
        relay_on=wire.relay_on,
        level=_optional(wire, "level_permille", 10),
        reading=reading(wire.reading) if wire.HasField("reading") else None,
        tripped=(name_of("Protection", wire.tripped) or "unknown") if wire.HasField("tripped") else None)


def sequence(number: int) -> int:
    """Validates the number of an event. Raises MalformedMessage."""
    if not 1 <= number <= HIGHEST_SEQUENCE:
        raise MalformedMessage(f"{number} is not a valid event number")
    return number


def plug_time(nanoseconds: int) -> int:
    """Validates a plug time. Raises MalformedMessage."""
    if nanoseconds > HIGHEST_TIME:
        raise MalformedMessage(f"{nanoseconds} is out of range for a plug's clock")
    return nanoseconds


def happening(wire: Any) -> Happening | None:
    """Converts the content of an event of the protocol; returns None for a kind, or a press, of a later version."""
    kind = wire.WhichOneof("kind")
    if kind is None:
        return None
    told = getattr(wire, kind)
    match kind:
        case "relay_changed":
            return RelayChanged(told.on, name_of("Cause", told.cause), told.controller)
        case "button_pressed":
            press = name_of("Press", told.press)
            return ButtonPressed(Press(press)) if press in list(Press) else None
        case "protection_tripped":
            return ProtectionTripped(name_of("Protection", told.protection))
        case "protection_reset":
            return ProtectionReset(name_of("Protection", told.protection), name_of("Cause", told.cause))
        case "restarted":
            return Restarted(told.power_lost)
        case "pairing_failed":
            return PairingFailed(told.failures)
        case "controller_paired":
            return ControllerPaired(told.controller)
        case "controller_removed":
            return ControllerRemoved(told.controller)
    return None


def gap(wire: Any) -> Gap:
    """Converts a gap of the protocol. Raises MalformedMessage."""
    first, last = sequence(getattr(wire, "from")), sequence(wire.to)
    if last < first:
        raise MalformedMessage(f"a gap begins at event {first} and ends before it, at event {last}")
    return Gap(first, last, name_of("GapReason", wire.reason))


def description(welcome: Any) -> Description:
    """Converts a Welcome message to a description."""
    crash = welcome.crash
    return Description(
        plug_id=welcome.plug_id, name=welcome.given_name or welcome.name, announced_name=welcome.name,
        capabilities=frozenset(welcome.capabilities), firmware=welcome.firmware, role=name_of("Role", welcome.role),
        crash=Crash(crash.report, crash.count, _optional(crash, "age_ms", 1000)) if welcome.HasField("crash") else None)
