"""Smart plugs without a broker or a daemon: Home Assistant is paired with each plug and follows it."""

import asyncio
import logging

from smartplug_client import PlugError

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .house import async_get_house
from .plug import Plug, SmartPlugConfigEntry

_LOGGER = logging.getLogger(__name__)

PLATFORMS = [Platform.BINARY_SENSOR, Platform.BUTTON, Platform.EVENT, Platform.LIGHT, Platform.SENSOR, Platform.SWITCH]
LEAVING = 10  # seconds; the time limit for removing Home Assistant from the plug


async def async_setup_entry(hass: HomeAssistant, entry: SmartPlugConfigEntry) -> bool:
    """Sets up an entry. It succeeds also while the plug is away: its entities become available when the plug
    answers."""
    entry.runtime_data = Plug(hass, entry, await async_get_house(hass))
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    entry.async_create_background_task(hass, entry.runtime_data.follow(), f"smartplug {entry.title}")
    return True


async def async_unload_entry(hass: HomeAssistant, entry: SmartPlugConfigEntry) -> bool:
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


async def async_remove_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Removes Home Assistant from the plug's list of controllers if the plug answers and allows it, and deletes the stored
    keys of the plug in any case."""
    house = await async_get_house(hass)
    plug = house.keys.plug(entry.unique_id or "")
    try:
        async with asyncio.timeout(LEAVING):
            session = await house.controller.connect(plug, house.places(entry))
            try:
                await session.leave(house.controller.identity.public_key)
            finally:
                await session.connection.close()
    except (PlugError, OSError, EOFError) as error:
        _LOGGER.warning("%s keeps Home Assistant in its list of controllers: %s", entry.title, error)
    await house.keys.forget(plug.plug_id)
    ir.async_delete_issue(hass, DOMAIN, f"other_key_{plug.plug_id}")
