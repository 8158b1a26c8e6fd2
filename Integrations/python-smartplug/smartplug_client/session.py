"""A session with a paired plug, in which one thing is asked after the other. `following.py` has the one that goes on by itself."""

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

ANSWER_TIME = 10.0  # seconds for an answer that the plug gives at once


class Session:
    """`greet` makes one. Answers are messages of the protocol as smartplug.proto describes them."""

    def __init__(self, connection: Connection, welcome: Any, clock: PlugClock) -> None:
        self.connection, self.welcome, self.clock = connection, welcome, clock

    @classmethod
    async def greet(cls, connection: Connection, plug: PairedPlug, name: str) -> "Session":
        """Says Hello, if the key at the other end is one of this plug. Raises WrongPlug, Goodbye, MalformedMessage, OSError, EOFError."""
        if not plug.knows(connection.plug_key):
            raise WrongPlug("the plug that answered has a key that is not paired")
        async with asyncio.timeout(ANSWER_TIME):
            asked = asyncio.get_running_loop().time()
            connection.send(hello={"version": VERSION, "controller": name})
            _, welcome = await connection.next("welcome")
        if welcome.plug_id != plug.plug_id:
            raise WrongPlug(f"it proved the key of plug {plug.plug_id} and says that it is {welcome.plug_id}")
        answered = asyncio.get_running_loop().time()
        return cls(connection, welcome, PlugClock(asked, answered, model.plug_time(welcome.plug_time)))

    @property
    def description(self) -> model.Description:
        return model.description(self.welcome)

    async def subscribe(self, after: int | None = None) -> tuple[Any, Any]:
        """Opens both lanes. Returns Subscribed and Snapshot; `updates` gives the messages after them."""
        self.connection.send(subscribe={} if after is None else {"after": after})
        _, subscribed = await self.connection.next("subscribed")
        _, snapshot = await self.connection.next("snapshot")
        return subscribed, snapshot

    async def updates(self) -> AsyncIterator[tuple[str, Any]]:
        """Events, states and gaps ("subscribed") as they come."""
        while True:
            yield await self.connection.next("event", "state", "subscribed")

    async def command(self, command: Command, request: bytes | None = None, within: float = 5) -> Any:
        """The CommandResult. `request`: 16 bytes, to repeat a command that may have been carried out before."""
        request = request or os.urandom(16)
        self.connection.send(command=command.message(request, within))
        async with asyncio.timeout(within + ANSWER_TIME):
            while True:
                _, result = await self.connection.next("result")
                if result.request_id == request:
                    return result

    async def samples(self, start: int, end: int) -> list[dict[str, float]]:
        """All samples between two plug times in nanoseconds, both included."""
        self.connection.send(fetch_samples={"fetch_id": 1, "from": start, "to": end})
        found: list[dict[str, float]] = []
        while True:
            _, answer = await self.connection.next("samples")
            if answer.chunk:
                found += chunks.samples(answer.chunk)
            if answer.last:
                # Chunks come whole.
                return [sample for sample in found if start <= sample["milliseconds"] * 1_000_000 <= end]

    async def log(self, level: str, seconds: int) -> AsyncIterator[tuple[str, Any]]:
        """The answer of the plug, then each line of its log, and the number of lines lost before one, until the log ends. Raises NoLog."""
        if "log" not in self.welcome.capabilities:
            raise NoLog("this plug does not tell its log")
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
        """Who is paired with the plug."""
        self.connection.send(list_controllers={})
        return (await self._answer("controllers")).controllers

    async def remove(self, mark: str) -> Any:
        """Removes the controller with this fingerprint; those that are left. Raises CommandRefused."""
        self.connection.send(remove_controller={"fingerprint": mark})
        return (await self._answer("controllers")).controllers

    async def leave(self, own_key: bytes) -> None:
        """Has the plug forget this controller, which ends the session. Raises CommandRefused where it is the last owner."""
        self.connection.send(remove_controller={"fingerprint": fingerprint(own_key)})
        try:
            await self._answer("controllers")
        except Goodbye as goodbye:  # It ends the sessions of a controller that it removed.
            if goodbye.reason != "not_paired":
                raise

    async def _answer(self, kind: str) -> Any:
        async with asyncio.timeout(ANSWER_TIME):
            came, message = await self.connection.next(kind, "refused")
        if came == "refused":
            raise CommandRefused(name_of("RefusalCode", message.code) or "unknown", message.detail)
        return message
