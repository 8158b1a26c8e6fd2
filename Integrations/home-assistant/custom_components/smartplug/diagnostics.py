"""The download for troubleshooting. It does not contain the plug's name, id, addresses or keys."""

from dataclasses import asdict
from typing import Any

from homeassistant.components.diagnostics import REDACTED, async_redact_data
from homeassistant.const import CONF_HOST, CONF_NAME
from homeassistant.core import HomeAssistant

from .house import async_get_house
from .plug import SmartPlugConfigEntry

SECRET = {"plug_id", "announced_name", "address", CONF_HOST, CONF_NAME}


async def async_get_config_entry_diagnostics(hass: HomeAssistant, entry: SmartPlugConfigEntry) -> dict[str, Any]:
    plug, house = entry.runtime_data, await async_get_house(hass)
    description = None
    if plug.description is not None:
        description = asdict(plug.description) | {"capabilities": sorted(plug.description.capabilities)}
    return async_redact_data({
        "entry": dict(entry.data),
        "plug": description,
        "state": asdict(plug.state) if plug.state else None,
        "connection": {
            "connected": plug.is_connected,
            "address": plug.address,
            "sessions": plug.connections,
            "ended_last_because": plug.last_reason and plug.last_reason.replace(plug.plug_id, REDACTED),
            "announced_at": len(house.browser.places(plug.plug_id)),
            "keys": len(house.keys.plug(plug.plug_id).keys),
        },
        "events": {"gaps": plug.gaps, "presses_too_old": plug.stale_presses},
    }, SECRET)
