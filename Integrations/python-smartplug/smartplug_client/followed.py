"""A followed plug: it is reconnected whenever the connection ends, its events arrive in order, and commands are
possible at any time."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from . import model
from .commands import Command, Done
from .controller import Controller, Place
from .errors import CommandRefused, CommandUnanswered, Goodbye, MalformedMessage, WrongPlug
from .following import BackOff, EventLane, Liveness
from .identity import PairedPlug
from .session import Session
from .wire import name_of

LONGEST_KEY = 512  # bytes


@dataclass(frozen=True)
class Connected:
    """A session began. The plug's state follows."""

    description: model.Description
    address: str


@dataclass(frozen=True)
class Disconnected:
    """The session ended, or an attempt to connect failed. `FollowedPlug` connects again in any case.

    `distrust` is "not_paired" or "factory_reset" if the paired plug itself reported it, "other_key" if the plug that
    answered has a key that is not pinned, and None otherwise.
    """

    words: str
    distrust: str | None = None


@dataclass(frozen=True)
class Described:
    """The plug's description changed."""

    description: model.Description


Update = Connected | Disconnected | Described | model.State | model.Event | model.Gap


@dataclass
class _Waiting:
    command: Command
    deadline: float
    answer: asyncio.Future[Done]


class FollowedPlug:
    """Follows a plug while `run` is active. `run` ends only when the caller cancels it."""

    MOST_COMMANDS = 16  # limit of unanswered commands, equal to the limit of the plug per session
    AT_MOST_EVERY = 1.0  # minimum number of seconds from one attempt to the next if an announcement causes the next one

    def __init__(
            self, controller: Controller, plug: PairedPlug, places: Callable[[], Sequence[Place]], *, after: int | None = None,
            dead_band: float = 1.0, interval: float = 10.0, keep: Callable[[PairedPlug], Awaitable[None]] | None = None) -> None:
        """
        places: returns the addresses at which the plug is currently announced; called before each attempt.
        after: the number of the last event that was handled; with None, only new events are reported.
        dead_band, interval: a reading is reported when active power changed by this many watts, or after this many seconds.
        keep: stores the plug's keys, which change when the plug generates a new one; returns when they are stored.
        """
        self._controller, self._plug, self._places, self._keep = controller, plug, places, keep
        self._options = {"dead_band_mw": round(dead_band * 1000), "max_interval_ms": round(interval * 1000)}
        self._lane, self._back_off = EventLane(after), BackOff()
        self._waiting: dict[bytes, _Waiting] = {}
        self._session: Session | None = None
        self._liveness = Liveness(0)
        self._listening: asyncio.Timeout | None = None
        self._ping = (0, 0.0)  # token, and when it was sent
        self._wake = asyncio.Event()

    @property
    def cursor(self) -> int | None:
        """The number of the last event that was handled. Pass it to the next instance as `after`."""
        return self._lane.after

    async def run(self, tell: Callable[[Update], None]) -> NoReturn:
        """Passes each update to the given function, in order. An event is acknowledged when the function has returned."""
        loop = asyncio.get_running_loop()
        while True:
            attempted, began = loop.time(), None
            self._wake.clear()
            try:
                session = await self._controller.connect(self._plug, self._places())
                began = loop.time()
                try:
                    await self._follow(session, tell)
                finally:
                    self._session = None
                    await session.connection.close()
            except (Goodbye, WrongPlug, MalformedMessage, OSError, EOFError) as error:
                ended = _reason(error)
            if began is not None:
                self._back_off.ended(loop.time() - began)
            tell(ended)
            delay = BackOff.LONGEST if ended.distrust in ("not_paired", "factory_reset") else self._back_off.next()
            try:
                async with asyncio.timeout(delay):
                    await self._wake.wait()
                await asyncio.sleep(attempted + self.AT_MOST_EVERY - loop.time())
            except TimeoutError:
                pass

    def located(self) -> None:
        """Call this when the plug was announced, perhaps at a new address. Tries to connect at once if no session is
        open; otherwise pings the plug."""
        self._wake.set()
        if self._session is not None and self._liveness.doubt(asyncio.get_running_loop().time()):
            self._send_ping(self._session)
            if self._listening is not None and not self._listening.expired():
                self._listening.reschedule(self._liveness.gone_at)

    async def command(self, command: Command, within: float = 5) -> Done:
        """Makes the plug execute the command within `within` seconds, which include the time for a new connection.

        Raises CommandRefused, after which the plug does not execute the command, and CommandUnanswered, after which the plug
        may have executed it, but does not execute it later.
        """
        if len(self._waiting) >= self.MOST_COMMANDS:
            raise CommandRefused("busy", f"{self.MOST_COMMANDS} commands are waiting for an answer")
        loop = asyncio.get_running_loop()
        request, waiting = os.urandom(16), _Waiting(command, loop.time() + within, loop.create_future())
        self._waiting[request] = waiting
        try:
            if self._session is not None:
                self._send_command(self._session, request, waiting)
            async with asyncio.timeout(within):
                return await waiting.answer
        except TimeoutError:
            raise CommandUnanswered(f"the plug did not answer within {within:g} s") from None
        finally:
            del self._waiting[request]

    # One session.

    async def _follow(self, session: Session, tell: Callable[[Update], None]) -> NoReturn:
        loop = asyncio.get_running_loop()
        self._liveness = Liveness(loop.time())
        await self._store(self._plug.proved(session.connection.plug_key))
        description = session.description
        tell(Connected(description, session.connection.address))
        session.connection.send(subscribe={**self._lane.begin(), **self._options})
        # Commands are sent after the subscription, so that their events are received.
        self._session = session
        for request, waiting in self._waiting.items():
            self._send_command(session, request, waiting)
        while True:
            try:
                async with asyncio.timeout_at(min(self._liveness.gone_at, self._liveness.ping_at)) as self._listening:
                    kind, message = await session.connection.receive()
            except TimeoutError:
                if loop.time() >= self._liveness.gone_at:
                    raise ConnectionError("the plug stopped answering") from None
                self._send_ping(session)
                continue
            finally:
                self._listening = None
            self._liveness.received(loop.time())
            match kind:
                case "subscribed":
                    if (gap := self._lane.subscribed(message)) is not None:
                        tell(gap)
                case "event":
                    self._lane.check(model.sequence(message.sequence))
                    tell(self._event(session, message, loop.time()))
                    self._lane.took_effect(message.sequence)
                    session.connection.send(acknowledge={"sequence": message.sequence})
                case "snapshot" | "state":
                    tell(model.state(message.state))
                case "result":
                    self._answered(message)
                case "pong":
                    self._measure(session, message, loop.time())
                case "description_changed":
                    description = replace(
                        description, name=message.given_name or message.name, announced_name=message.name)
                    tell(Described(description))
                case "next_key" if self._keep is not None and len(message.key) <= LONGEST_KEY:
                    await self._store(self._plug.announced(message.key))
                    session.connection.send(next_key_kept={"key": message.key})

    async def _store(self, plug: PairedPlug) -> None:
        if plug != self._plug:
            if self._keep is not None:
                await self._keep(plug)
            self._plug = plug

    def _event(self, session: Session, wire: Any, now: float) -> model.Event:
        age = None
        if wire.HasField("age_ms"):
            age = wire.age_ms / 1000
            if wire.boot_id in (b"", session.welcome.boot_id):
                # The plug's value is the age at the time of sending. The message may have been in transit for a long
                # time.
                age = max(age, session.clock.age(model.plug_time(wire.plug_time), now))
        return model.Event(wire.sequence, age, model.happening(wire))

    def _send_ping(self, session: Session) -> None:
        now = asyncio.get_running_loop().time()
        self._ping = (self._ping[0] + 1, now)
        self._liveness.sent(now)
        session.connection.send(ping={"token": self._ping[0]})

    def _measure(self, session: Session, pong: Any, now: float) -> None:
        token, asked = self._ping
        if pong.token == token and pong.HasField("plug_time"):
            session.clock = session.clock.refined(type(session.clock)(asked, now, model.plug_time(pong.plug_time)))

    def _send_command(self, session: Session, request: bytes, waiting: _Waiting) -> None:
        now = asyncio.get_running_loop().time()
        self._liveness.sent(now)
        until = session.clock.latest(waiting.deadline)
        session.connection.send(command=waiting.command.message(request, waiting.deadline - now, until))

    def _answered(self, result: Any) -> None:
        waiting = self._waiting.get(result.request_id)
        if waiting is None or waiting.answer.done():
            return
        if result.HasField("done"):
            done = result.done
            waiting.answer.set_result(Done(model.state(done.state), done.sequence if done.HasField("sequence") else None))
        else:
            refused = result.refused
            waiting.answer.set_exception(
                CommandRefused(name_of("RefusalCode", refused.code) or "unknown", refused.detail))


def _reason(error: Exception) -> Disconnected:
    match error:
        case Goodbye(reason="not_paired" | "factory_reset"):
            return Disconnected(error.detail, error.reason)
        case Goodbye():
            return Disconnected(f"the plug ended the session: {error.detail}")
        case WrongPlug():
            return Disconnected(str(error), "other_key")
        case TimeoutError():
            return Disconnected("the plug did not answer in time")
        case OSError(errno=int(number)) if number > 0:
            return Disconnected(os.strerror(number))  # Without the address, which asyncio adds.
    return Disconnected(str(error))
