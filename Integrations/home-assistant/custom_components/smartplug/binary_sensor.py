"""Reports whether a protection of the plug locks its relay open."""

from homeassistant.components.binary_sensor import BinarySensorDeviceClass, BinarySensorEntity
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import PlugEntity, add_as_known
from .plug import SmartPlugConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
        hass: HomeAssistant, entry: SmartPlugConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    add_as_known(entry, async_add_entities, lambda _: ["tripped"], PlugProtection)


class PlugProtection(PlugEntity, BinarySensorEntity):
    _attr_translation_key = "protection"
    _attr_device_class = BinarySensorDeviceClass.PROBLEM
    _attr_entity_category = EntityCategory.DIAGNOSTIC

    @property
    def is_on(self) -> bool | None:
        return self.plug.state.tripped is not None if self.plug.state else None
