"""This side of all connections: its key and its name."""

import asyncio
import ssl
from collections.abc import Sequence

from .connection import Connection
from .errors import Goodbye, MalformedMessage, WrongPlug
from .identity import Identity, PairedPlug
from .pairing import Pairing
from .session import Session

Place = tuple[str, int]  # a numeric address and a port
STAGGER = 0.25  # seconds
PAIRING_TIME = 45.0  # seconds; after wrong codes a plug looks at the next one up to 30 s later


class Controller:
    """`make` makes one."""

    def __init__(self, identity: Identity, name: str, context: ssl.SSLContext) -> None:
        self.identity, self.name, self._context = identity, name, context

    @classmethod
    async def make(cls, identity: Identity, name: str) -> "Controller":
        """`name`: how plugs list this controller, at most 63 bytes of UTF-8."""
        return cls(identity, name, await asyncio.to_thread(identity.tls))

    async def open(self, places: Sequence[Place]) -> Connection:
        """A connection to the first of these places that accepts one. The other end may be any plug. Raises OSError and
        MalformedMessage."""
        failure: Exception = ConnectionError("no address of the plug is known")
        for host, port in places:
            try:
                return await Connection.open(host, port, self._context)
            except (OSError, MalformedMessage) as error:
                failure = error
        raise failure

    async def connect(self, plug: PairedPlug, places: Sequence[Place]) -> Session:
        """A session with this plug. The places are tried one after the other, the next one as soon as a quarter of a second is over
        (RFC 8305), so that one that never answers costs no more. Nothing is said to any other plug.

        Raises WrongPlug, Goodbye, MalformedMessage, OSError and EOFError.
        """
        attempts = [asyncio.create_task(self._attempt(plug, place, index * STAGGER)) for index, place in enumerate(places)]
        failure: Exception = ConnectionError("no address of the plug is known")
        won: Session | None = None
        try:
            for done in asyncio.as_completed(attempts):
                try:
                    won = await done
                    return won
                except Goodbye:
                    raise  # by the plug itself
                except (WrongPlug, MalformedMessage, OSError, EOFError) as error:
                    # That another plug answered says more than that none did.
                    failure = failure if isinstance(failure, WrongPlug) else error
            raise failure
        finally:
            for attempt in attempts:
                attempt.cancel()
            for ended in await asyncio.gather(*attempts, return_exceptions=True):
                if isinstance(ended, Session) and ended is not won:
                    await ended.connection.close()

    async def _attempt(self, plug: PairedPlug, place: Place, delay: float) -> Session:
        await asyncio.sleep(delay)
        connection = await Connection.open(*place, self._context)
        try:
            return await Session.greet(connection, plug, self.name)
        except BaseException:
            await connection.close()
            raise

    async def pair(self, connection: Connection, code: bytes) -> PairedPlug:
        """Pairs with the plug at the other end, whose window has to be open. `code`: from `pairing.code_bytes`.

        Raises Goodbye (the reasons "pairing_closed", "wrong_code", "limit"), NotThePlug, MalformedMessage, OSError and EOFError.
        """
        pairing = Pairing(code, connection.plug_key, self.identity.public_key, self.name)
        async with asyncio.timeout(PAIRING_TIME):
            connection.send(**pairing.request())
            kind, challenge = await connection.next("pairing_challenge", "pairing_proof")
            connection.send(**pairing.answer(kind, challenge))
            kind, proof = await connection.next("pairing_challenge", "pairing_proof")
            pairing.finish(kind, proof)
        return PairedPlug(pairing.plug_id, (connection.plug_key,))
