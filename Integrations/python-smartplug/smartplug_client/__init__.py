"""Finds, pairs, follows and commands smart plugs; README.md has an example."""

from .commands import Command, Done, dim, identify, reset_protection, turn
from .connection import Connection
from .controller import Controller, Place
from .discovery import FoundPlug, PlugBrowser
from .errors import (
    AlreadyPaired, CommandRefused, CommandUnanswered, Goodbye, MalformedMessage, NoLog, NotThePlug, PlugError, WrongPlug,
)
from .followed import Connected, Described, Disconnected, FollowedPlug, Update
from .identity import Identity, PairedPlug, fingerprint
from .model import (
    ButtonPressed, ControllerPaired, ControllerRemoved, Crash, Description, Event, Gap, PairingFailed, Press, ProtectionReset,
    ProtectionTripped, Reading, RelayChanged, Restarted, State,
)
from .pairing import code_bytes
from .session import Session

__all__ = [
    "AlreadyPaired", "ButtonPressed", "Command", "CommandRefused", "CommandUnanswered", "Connected", "Connection", "Controller",
    "ControllerPaired",
    "ControllerRemoved", "Crash", "Described", "Description", "Disconnected", "Done", "Event", "FollowedPlug", "FoundPlug", "Gap",
    "Goodbye", "Identity", "MalformedMessage", "NoLog", "NotThePlug", "PairedPlug", "PairingFailed", "Place", "PlugBrowser",
    "PlugError", "Press", "ProtectionReset", "ProtectionTripped", "Reading", "RelayChanged", "Restarted", "Session", "State",
    "Update", "WrongPlug", "code_bytes", "dim", "fingerprint", "identify", "reset_protection", "turn",
]
