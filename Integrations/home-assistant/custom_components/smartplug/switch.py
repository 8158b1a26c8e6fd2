"""The relay of a plug without a dimmer."""

from typing import Any

from smartplug_client import turn

from homeassistant.components.switch import SwitchDeviceClass, SwitchEntity
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import PlugEntity, add_as_known, has
from .plug import SmartPlugConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
        hass: HomeAssistant, entry: SmartPlugConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    add_as_known(entry, async_add_entities, lambda plug: [] if has("dimmer")(plug) else ["switch"], PlugSwitch)


class PlugSwitch(PlugEntity, SwitchEntity):
    _attr_name = None
    _attr_device_class = SwitchDeviceClass.OUTLET

    @property
    def is_on(self) -> bool | None:
        return self.plug.state.relay_on if self.plug.state else None

    async def async_turn_on(self, **kwargs: Any) -> None:
        await self._do(turn(True))

    async def async_turn_off(self, **kwargs: Any) -> None:
        await self._do(turn(False))
