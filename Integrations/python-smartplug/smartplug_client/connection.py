"""A connection: TLS 1.3 with the keys of both sides, and frames."""

import asyncio
import ssl
from typing import Any

from .errors import Goodbye, MalformedMessage
from .identity import public_key_info
from .wire import FrameReader, frame, name_of


class _Arrivals(asyncio.Protocol):
    """Stores received bytes until they are read. asyncio's streams discard them, including a Goodbye, when the
    connection is reset."""

    MOST = 131_072  # bytes; above this limit reading is paused, so that a plug cannot fill this program's memory

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
    """A connection to a plug, made by `open`. It answers the plug's pings while a caller waits in `receive`."""

    def __init__(self, transport: asyncio.Transport, arrivals: _Arrivals, host: str) -> None:
        self._transport, self._arrivals = transport, arrivals
        # The address without the port. A connection that has already ended has no peer name; `host` is used instead.
        self.address = str((transport.get_extra_info("peername") or (host,))[0])
        try:
            self.plug_key = public_key_info(transport.get_extra_info("ssl_object").getpeercert(binary_form=True))
        except ValueError as error:
            raise MalformedMessage("the plug's certificate cannot be read") from error

    @classmethod
    async def open(cls, host: str, port: int, context: ssl.SSLContext, within: float = 10) -> "Connection":
        """Opens a connection. `context` is the result of `Identity.tls`. Raises OSError, which includes TimeoutError
        and errors of TLS, and MalformedMessage."""
        async with asyncio.timeout(within):
            # The address is not passed as the server's name, because TLS does not accept an address with a zone.
            transport, arrivals = await asyncio.get_running_loop().create_connection(
                _Arrivals, host, port, ssl=context, server_hostname="")
        try:
            return cls(transport, arrivals, host)
        except MalformedMessage:
            transport.abort()
            raise

    def send(self, **kind: Any) -> None:
        """Sends a message, for example send(hello={"version": 1}). Does nothing on a connection that has ended:
        `receive` raises the reason."""
        if not self._transport.is_closing():
            self._transport.write(frame(**kind))

    async def receive(self) -> tuple[str, Any]:
        """Returns the kind of the next message and the message. A cancelled call loses no message.

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
        """Returns the next message of one of these kinds, and discards others."""
        while True:
            kind, message = await self.receive()
            if kind in kinds:
                return kind, message

    async def close(self) -> None:
        """Closes the connection. Returns after at most two seconds."""
        self._transport.close()
        try:
            async with asyncio.timeout(2):
                await self._arrivals.lost.wait()
        except TimeoutError:
            self._transport.abort()
