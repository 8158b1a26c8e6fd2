"""Plugs that announce themselves by multicast DNS."""

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
    """A plug as it is announced. Nothing of it is proved."""

    plug_id: str
    name: str
    addresses: tuple[str, ...]  # numeric, IPv4 first, link-local ones last and with their zone
    port: int
    pairing: bool  # its window is open

    @property
    def places(self) -> list[tuple[str, int]]:
        return [(address, self.port) for address in self.addresses]

    @classmethod
    def announced(cls, name: str, addresses: list[str], port: int | None, txt: Mapping[str, str | None]) -> "FoundPlug | None":
        """None where the announcement is not one of a plug."""
        plug_id = txt.get("id") or ""
        if not re.fullmatch("[0-9a-f]{12}", plug_id) or not port or not addresses:
            return None

        def rank(address: str) -> int:
            return 2 if address.startswith("fe80:") else 1 if ":" in address else 0

        return cls(
            plug_id, name.removesuffix(f".{TYPE}"), tuple(sorted(addresses, key=rank)[:MOST_ADDRESSES]), port,
            txt.get("pair") == "1")


MOST_ADDRESSES = 8  # of one announcement. Each may cost a connection that fails, and anybody may announce any number
MOST_PLACES = 16  # of one plug, by all who claim to be it


class PlugBrowser:
    """Keeps a list of the plugs that are announced now. Belongs to the event loop of `zeroconf`."""

    MOST = 1024  # names that are remembered, and looked up at the same time: anybody may announce any number

    def __init__(self, zeroconf: Zeroconf, changed: Callable[[FoundPlug], None] | None = None) -> None:
        """`changed`: called for each plug that is new or announced anew."""
        self._zeroconf, self._changed = zeroconf, changed
        self._found: dict[str, FoundPlug] = {}
        self._lookups: dict[str, asyncio.Task[None]] = {}
        self._browser = AsyncServiceBrowser(zeroconf, TYPE, handlers=[self._heard])

    async def close(self) -> None:
        await self._browser.async_cancel()
        for lookup in self._lookups.values():
            lookup.cancel()

    @property
    def plugs(self) -> list[FoundPlug]:
        return list(self._found.values())

    def places(self, plug_id: str) -> list[tuple[str, int]]:
        """The places at which somebody claims to be this plug, at most 16."""
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
