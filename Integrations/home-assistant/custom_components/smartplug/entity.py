"""The base class of all entities of a plug."""

from collections.abc import Callable, Iterable
from typing import Any

from smartplug_client import Command

from homeassistant.core import callback
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import DOMAIN
from .plug import Plug, SmartPlugConfigEntry


class PlugEntity(Entity):
    """An entity of a plug. Its unique id consists of the plug's id and `key`, like the id of the same entity in MQTT."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, plug: Plug, key: str) -> None:
        """`plug` must have been connected once."""
        self.plug = plug
        self._attr_unique_id = f"{plug.plug_id}_{key}"
        assert plug.description is not None
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, plug.plug_id)},
            name=plug.description.name,
            manufacturer="Smart Plug",
            model="Dimmer plug" if "dimmer" in plug.description.capabilities else "Plug",
            serial_number=plug.plug_id,
            sw_version=plug.description.firmware)

    @property
    def available(self) -> bool:
        return self.plug.is_connected

    async def async_added_to_hass(self) -> None:
        self.async_on_remove(self.plug.listen(self.async_write_ha_state))

    async def _do(self, command: Command) -> None:
        await self.plug.command(command)


@callback
def add_as_known(
        entry: SmartPlugConfigEntry, add: AddConfigEntryEntitiesCallback, known: Callable[[Plug], Iterable[str]],
        make: Callable[[Plug, str], Any]) -> None:
    """Adds an entity for each key as soon as `known` returns it: a plug reports its capabilities and quantities only
    when it is connected."""
    plug = entry.runtime_data
    added: set[str] = set()

    @callback
    def look() -> None:
        if plug.description is None or plug.state is None:
            return
        if new := [key for key in known(plug) if key not in added]:
            added.update(new)
            add(make(plug, key) for key in new)

    entry.async_on_unload(plug.listen(look))
    look()


def has(*capabilities: str) -> Callable[[Plug], bool]:
    """Returns a condition that is true if the plug has one of these capabilities."""
    return lambda plug: plug.description is not None and not plug.description.capabilities.isdisjoint(capabilities)
