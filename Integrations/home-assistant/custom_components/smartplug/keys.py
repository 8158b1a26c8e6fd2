"""The key of this Home Assistant and those of its plugs, in a file that only its owner can read."""

from typing import TypedDict

from smartplug_client import Identity, PairedPlug

from homeassistant.core import HomeAssistant
from homeassistant.helpers.storage import Store

from .const import DOMAIN


class _Kept(TypedDict):
    private_key: str  # PEM
    plugs: dict[str, list[str]]  # keys in hexadecimal digits, by plug id


class KeyStore:
    """The stored keys, loaded by `load`."""

    def __init__(self, store: Store[_Kept], kept: _Kept) -> None:
        self._store, self._kept = store, kept

    @classmethod
    async def load(cls, hass: HomeAssistant) -> "KeyStore":
        """Loads the keys, and generates Home Assistant's key the first time."""
        store: Store[_Kept] = Store(hass, 1, DOMAIN, private=True, atomic_writes=True)
        kept = await store.async_load()
        if kept is None:
            identity = await hass.async_add_executor_job(Identity.draw)
            kept = _Kept(private_key=identity.private_key.decode(), plugs={})
            await store.async_save(kept)
        return cls(store, kept)

    @property
    def identity(self) -> Identity:
        return Identity(self._kept["private_key"].encode())

    def plug(self, plug_id: str) -> PairedPlug:
        """Returns a plug with its stored keys; a plug without keys matches no device."""
        return PairedPlug(plug_id, tuple(bytes.fromhex(key) for key in self._kept["plugs"].get(plug_id, [])))

    async def keep(self, plug: PairedPlug) -> None:
        """Stores a plug's keys; returns when they are on the disk."""
        self._kept["plugs"][plug.plug_id] = [key.hex() for key in plug.keys]
        await self._store.async_save(self._kept)

    async def forget(self, plug_id: str) -> None:
        """Removes a plug's keys from the disk."""
        if self._kept["plugs"].pop(plug_id, None) is not None:
            await self._store.async_save(self._kept)
