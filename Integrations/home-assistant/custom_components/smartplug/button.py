"""Buttons that make the plug blink, and reset its protection."""

from dataclasses import dataclass

from smartplug_client import Command, identify, reset_protection

from homeassistant.components.button import ButtonDeviceClass, ButtonEntity, ButtonEntityDescription
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import PlugEntity, add_as_known
from .plug import Plug, SmartPlugConfigEntry

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class CommandDescription(ButtonEntityDescription):
    command: Command


BUTTONS = {one.key: one for one in (
    CommandDescription(
        key="identify", device_class=ButtonDeviceClass.IDENTIFY, entity_category=EntityCategory.DIAGNOSTIC, command=identify()),
    CommandDescription(
        key="resetProtection", translation_key="reset_protection", entity_category=EntityCategory.CONFIG,
        command=reset_protection()),
)}


async def async_setup_entry(
        hass: HomeAssistant, entry: SmartPlugConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    add_as_known(entry, async_add_entities, lambda _: BUTTONS, PlugCommand)


class PlugCommand(PlugEntity, ButtonEntity):
    entity_description: CommandDescription

    def __init__(self, plug: Plug, key: str) -> None:
        super().__init__(plug, key)
        self.entity_description = BUTTONS[key]

    async def async_press(self) -> None:
        await self._do(self.entity_description.command)
