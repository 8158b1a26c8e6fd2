"""Presses of the plug's own button."""

from smartplug_client import Press

from homeassistant.components.event import EventDeviceClass, EventEntity
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import PlugEntity, add_as_known, has
from .plug import SmartPlugConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
        hass: HomeAssistant, entry: SmartPlugConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    add_as_known(entry, async_add_entities, lambda plug: ["button"] if has("button")(plug) else [], PlugButton)


class PlugButton(PlugEntity, EventEntity):
    _attr_translation_key = "button"
    _attr_device_class = EventDeviceClass.BUTTON
    _attr_event_types = [press.value for press in Press]

    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        self.async_on_remove(self.plug.listen_to_presses(self._pressed))

    @callback
    def _pressed(self, press: str, number: int) -> None:
        self._trigger_event(press, {"number": number})
        self.async_write_ha_state()
