"""Plugs that are announced by multicast DNS."""

import asyncio
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from zeroconf import BadTypeInNameException, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo

TYPE = "_smartplug._tcp.local."


@dataclass(frozen=True)
class FoundPlug:
    """An announced plug. Its identity is not verified."""

    plug_id: str
    name: str
    addresses: tuple[str, ...]  # numeric, IPv4 first, link-local IPv6 last and with a zone
    port: int
    pairing: bool  # True while its pairing window is open

    @property
    def places(self) -> list[tuple[str, int]]:
        """The addresses with the port."""
        return [(address, self.port) for address in self.addresses]

    @classmethod
    def announced(cls, name: str, addresses: list[str], port: int | None, txt: Mapping[str, str | None]) -> "FoundPlug | None":
        """Returns the announced plug, or None if the announcement is not valid."""
        plug_id = txt.get("id") or ""
        if not re.fullmatch("[0-9a-f]{12}", plug_id) or not port or not addresses:
            return None

        def rank(address: str) -> int:
            return 2 if address.startswith("fe80:") else 1 if ":" in address else 0

        return cls(
            plug_id, name.removesuffix(f".{TYPE}"), tuple(sorted(addresses, key=rank)[:MOST_ADDRESSES]), port,
            txt.get("pair") == "1")


# limit per announcement: each address may cost a failed connection, and a host may announce any number
MOST_ADDRESSES = 8
MOST_PLACES = 16  # limit per plug, over all hosts that announce its id


class PlugBrowser:
    """Keeps a list of the currently announced plugs. It belongs to the event loop of `zeroconf`."""

    MOST = 1024  # limit of stored names and of concurrent lookups, because any host may announce any number of names

    def __init__(self, zeroconf: Zeroconf, changed: Callable[[FoundPlug], None] | None = None) -> None:
        """`changed` is called for each plug that is new or announced again."""
        self._zeroconf, self._changed = zeroconf, changed
        self._found: dict[str, FoundPlug] = {}
        self._lookups: dict[str, asyncio.Task[None]] = {}
        self._browser = AsyncServiceBrowser(zeroconf, TYPE, handlers=[self._heard])

    async def close(self) -> None:
        """Stops browsing."""
        await self._browser.async_cancel()
        for lookup in self._lookups.values():
            lookup.cancel()

    @property
    def plugs(self) -> list[FoundPlug]:
        """The currently announced plugs."""
        return list(self._found.values())

    def places(self, plug_id: str) -> list[tuple[str, int]]:
        """Returns the addresses, each with a port, at which hosts announce this plug: at most 16."""
        claims = (place for plug in self._found.values() if plug.plug_id == plug_id for place in plug.places)
        return list(itertools.islice(claims, MOST_PLACES))

    def _heard(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        if state_change is ServiceStateChange.Removed:
            self._found.pop(name, None)
            return
        try:
            info = AsyncServiceInfo(service_type, name)
        except BadTypeInNameException:
            return
        if info.load_from_cache(zeroconf):
            self._took(info)
        elif name not in self._lookups and len(self._lookups) < self.MOST:
            task = asyncio.get_running_loop().create_task(self._look_up(info))
            self._lookups[name] = task
            task.add_done_callback(lambda _: self._lookups.pop(name, None))

    async def _look_up(self, info: AsyncServiceInfo) -> None:
        if await info.async_request(self._zeroconf, 3000):
            self._took(info)

    def _took(self, info: AsyncServiceInfo) -> None:
        plug = FoundPlug.announced(
            info.name, info.parsed_scoped_addresses(IPVersion.All), info.port, info.decoded_properties)
        if plug is None or (info.name not in self._found and len(self._found) >= self.MOST):
            return
        self._found[info.name] = plug
        if self._changed is not None:
            self._changed(plug)
