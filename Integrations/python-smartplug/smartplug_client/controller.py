"""A controller, which opens connections to plugs with its own key and name."""

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
PAIRING_TIME = 45.0  # seconds; after wrong codes a plug delays the check of the next one by up to 30 s


class Controller:
    """A controller with its key and its name, made by `make`."""

    def __init__(self, identity: Identity, name: str, context: ssl.SSLContext) -> None:
        self.identity, self.name, self._context = identity, name, context

    @classmethod
    async def make(cls, identity: Identity, name: str) -> "Controller":
        """Makes a controller. `name` is its name in the plugs' lists of controllers, at most 63 bytes of UTF-8."""
        return cls(identity, name, await asyncio.to_thread(identity.tls))

    async def open(self, places: Sequence[Place]) -> Connection:
        """Opens a connection to the first of these places that accepts one. The caller must verify which plug accepted it.
        Raises OSError and MalformedMessage."""
        failure: Exception = ConnectionError("no address of the plug is known")
        for host, port in places:
            try:
                return await Connection.open(host, port, self._context)
            except (OSError, MalformedMessage) as error:
                failure = error
        raise failure

    async def connect(self, plug: PairedPlug, places: Sequence[Place]) -> Session:
        """Opens a session with this plug. A new place is tried every quarter of a second (RFC 8305), so that a place
        that never answers causes no further delay. No data is sent to a different plug.

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
                    raise  # The plug itself ended the connection.
                except (WrongPlug, MalformedMessage, OSError, EOFError) as error:
                    # WrongPlug takes precedence over the errors of other places.
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
        """Pairs with the plug at the other end, whose pairing window must be open. `code` is the result of
        `pairing.code_bytes`.

        Raises Goodbye (with the reasons "pairing_closed", "wrong_code", "limit"), NotThePlug, MalformedMessage, OSError
        and EOFError.
        """
        pairing = Pairing(code, connection.plug_key, self.identity.public_key, self.name)
        async with asyncio.timeout(PAIRING_TIME):
            connection.send(**pairing.request())
            kind, challenge = await connection.next("pairing_challenge", "pairing_proof")
            connection.send(**pairing.answer(kind, challenge))
            kind, proof = await connection.next("pairing_challenge", "pairing_proof")
            pairing.finish(kind, proof)
        return PairedPlug(pairing.plug_id, (connection.plug_key,))
