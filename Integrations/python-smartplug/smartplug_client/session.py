"""A session with a paired plug. It handles one request at a time and does not reconnect; `FollowedPlug` does."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

from . import chunks, model
from .commands import Command
from .connection import Connection
from .errors import CommandRefused, Goodbye, NoLog, WrongPlug
from .following import PlugClock
from .identity import PairedPlug, fingerprint
from .wire import VERSION, name_of

ANSWER_TIME = 10.0  # seconds for an immediate answer


class Session:
    """A session, made by `greet`. Answers are messages of the protocol, documented in smartplug.proto."""

    def __init__(self, connection: Connection, welcome: Any, clock: PlugClock) -> None:
        self.connection, self.welcome, self.clock = connection, welcome, clock

    @classmethod
    async def greet(cls, connection: Connection, plug: PairedPlug, name: str) -> "Session":
        """Sends Hello if the key at the other end is a key of this plug. Raises WrongPlug, Goodbye, MalformedMessage,
        OSError and EOFError."""
        if not plug.knows(connection.plug_key):
            raise WrongPlug("the plug that answered has a key that is not paired")
        async with asyncio.timeout(ANSWER_TIME):
            asked = asyncio.get_running_loop().time()
            connection.send(hello={"version": VERSION, "controller": name})
            _, welcome = await connection.next("welcome")
        if welcome.plug_id != plug.plug_id:
            raise WrongPlug(f"the plug that answered has the key of plug {plug.plug_id} but claims to be plug {welcome.plug_id}")
        answered = asyncio.get_running_loop().time()
        return cls(connection, welcome, PlugClock(asked, answered, model.plug_time(welcome.plug_time)))

    @property
    def description(self) -> model.Description:
        """The plug's description from its Welcome message."""
        return model.description(self.welcome)

    async def subscribe(self, after: int | None = None) -> tuple[Any, Any]:
        """Subscribes to events and states. Returns Subscribed and Snapshot; `updates` yields the later messages."""
        self.connection.send(subscribe={} if after is None else {"after": after})
        _, subscribed = await self.connection.next("subscribed")
        _, snapshot = await self.connection.next("snapshot")
        return subscribed, snapshot

    async def updates(self) -> AsyncIterator[tuple[str, Any]]:
        """Yields events, states and gaps ("subscribed") on arrival."""
        while True:
            yield await self.connection.next("event", "state", "subscribed")

    async def command(self, command: Command, request: bytes | None = None, within: float = 5) -> Any:
        """Sends a command and returns its CommandResult. `request` is the command's id of 16 bytes. Pass the id
        of an earlier command to repeat that command; the plug executes it only once."""
        request = request or os.urandom(16)
        until = self.clock.latest(asyncio.get_running_loop().time() + within)
        self.connection.send(command=command.message(request, within, until))
        async with asyncio.timeout(within + ANSWER_TIME):
            while True:
                _, result = await self.connection.next("result")
                if result.request_id == request:
                    return result

    async def samples(self, start: int, end: int) -> list[dict[str, float]]:
        """Returns all samples between two plug times in nanoseconds, inclusive."""
        self.connection.send(fetch_samples={"fetch_id": 1, "from": start, "to": end})
        found: list[dict[str, float]] = []
        while True:
            _, answer = await self.connection.next("samples")
            if answer.chunk:
                found += chunks.samples(answer.chunk)
            if answer.last:
                # The plug sends complete chunks, which may extend beyond the limits.
                return [sample for sample in found if start <= sample["milliseconds"] * 1_000_000 <= end]

    async def log(self, level: str, seconds: int) -> AsyncIterator[tuple[str, Any]]:
        """Yields the plug's answer, then each line of its log and the number of lost lines before it, until the log ends. Raises NoLog."""
        if "log" not in self.welcome.capabilities:
            raise NoLog("this plug does not send its log")
        self.connection.send(follow_log={"level": f"LOG_LEVEL_{level.upper()}", "seconds": seconds})
        while True:
            kind, message = await self.connection.next("log_answer", "log_lines")
            if kind == "log_lines":
                if message.lost:
                    yield "lost", message.lost
                for line in message.lines:
                    yield "line", line
            else:
                yield message.WhichOneof("kind"), getattr(message, message.WhichOneof("kind"))
                if not message.HasField("followed"):
                    return

    async def controllers(self) -> Any:
        """Returns the controllers that are paired with the plug."""
        self.connection.send(list_controllers={})
        return (await self._answer("controllers")).controllers

    async def remove(self, mark: str) -> Any:
        """Removes the controller with this fingerprint, and returns the remaining ones. Raises CommandRefused."""
        self.connection.send(remove_controller={"fingerprint": mark})
        return (await self._answer("controllers")).controllers

    async def leave(self, own_key: bytes) -> None:
        """Removes this controller from the plug, which ends the session. Raises CommandRefused if it is the last owner."""
        self.connection.send(remove_controller={"fingerprint": fingerprint(own_key)})
        try:
            await self._answer("controllers")
        except Goodbye as goodbye:  # The plug ends the sessions of a removed controller.
            if goodbye.reason != "not_paired":
                raise

    async def _answer(self, kind: str) -> Any:
        async with asyncio.timeout(ANSWER_TIME):
            came, message = await self.connection.next(kind, "refused")
        if came == "refused":
            raise CommandRefused(name_of("RefusalCode", message.code) or "unknown", message.detail)
        return message
