"""One connection: TLS 1.3 with both keys shown, and frames on it."""

import asyncio
import ssl
from typing import Any

from .errors import Goodbye, MalformedMessage
from .identity import public_key_info
from .wire import FrameReader, frame, name_of


class _Arrivals(asyncio.Protocol):
    """Bytes that arrived and were not received yet. asyncio's streams discard them, and with them a Goodbye, when the connection is reset."""

    MOST = 131_072  # bytes; above them nothing more is read from the network, so that a plug cannot fill this program's memory

    def __init__(self) -> None:
        self.frames = FrameReader()
        self.arrived, self.lost = asyncio.Event(), asyncio.Event()
        self.ended: Exception | None = None
        self._transport: asyncio.Transport | None = None
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.frames.feed(data)
        self.arrived.set()
        self._regulate()

    def eof_received(self) -> None:
        self._end(EOFError("the plug closed the connection"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc or EOFError("the connection ended"))
        self.lost.set()

    def took(self) -> None:
        self._regulate()

    def _end(self, reason: Exception) -> None:
        self.ended = self.ended or reason
        self.arrived.set()

    def _regulate(self) -> None:
        if self._transport is None or self.ended is not None or self._is_paused == (self.frames.waiting > self.MOST):
            return
        self._is_paused = not self._is_paused
        if self._is_paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()


class Connection:
    """`open` makes one. Pings of the plug are answered as long as somebody receives."""

    def __init__(self, transport: asyncio.Transport, arrivals: _Arrivals, host: str) -> None:
        self._transport, self._arrivals = transport, arrivals
        # Without a port. A connection that has ended already does not tell.
        self.address = str((transport.get_extra_info("peername") or (host,))[0])
        try:
            self.plug_key = public_key_info(transport.get_extra_info("ssl_object").getpeercert(binary_form=True))
        except ValueError as error:
            raise MalformedMessage("the plug's certificate cannot be read") from error

    @classmethod
    async def open(cls, host: str, port: int, context: ssl.SSLContext, within: float = 10) -> "Connection":
        """`context`: that of `Identity.tls`. Raises OSError, which includes TimeoutError and errors of TLS, and MalformedMessage."""
        async with asyncio.timeout(within):
            # Not the address as a server's name: one with a zone is no name that TLS takes.
            transport, arrivals = await asyncio.get_running_loop().create_connection(
                _Arrivals, host, port, ssl=context, server_hostname="")
        try:
            return cls(transport, arrivals, host)
        except MalformedMessage:
            transport.abort()
            raise

    def send(self, **kind: Any) -> None:
        """For example send(hello={"version": 1}). On a connection that has ended it does nothing: `receive` says why it ended."""
        if not self._transport.is_closing():
            self._transport.write(frame(**kind))

    async def receive(self) -> tuple[str, Any]:
        """The kind of the next message and the message. May be cancelled; nothing is lost then.

        Raises Goodbye, MalformedMessage, OSError and EOFError.
        """
        arrivals = self._arrivals
        while (found := arrivals.frames.next()) is None:
            if arrivals.ended is not None:
                raise arrivals.ended
            arrivals.arrived.clear()
            await arrivals.arrived.wait()
        arrivals.took()
        kind, message = found
        if kind == "goodbye":
            raise Goodbye(name_of("GoodbyeReason", message.reason) or "unspecified", message.detail)
        if kind == "ping":
            self.send(pong={"token": message.token})
        return kind, message

    async def next(self, *kinds: str) -> tuple[str, Any]:
        """The next message of one of these kinds. Others that are on their way are passed over."""
        while True:
            kind, message = await self.receive()
            if kind in kinds:
                return kind, message

    async def close(self) -> None:
        """Returns at the latest after two seconds."""
        self._transport.close()
        try:
            async with asyncio.timeout(2):
                await self._arrivals.lost.wait()
        except TimeoutError:
            self._transport.abort()
