"""The light of a plug with a dimmer."""

from typing import Any

from smartplug_client import dim, turn

from homeassistant.components.light import ATTR_BRIGHTNESS, ATTR_TRANSITION, ColorMode, LightEntity, LightEntityFeature
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import PlugEntity, add_as_known, has
from .plug import SmartPlugConfigEntry

PARALLEL_UPDATES = 0


async def async_setup_entry(
        hass: HomeAssistant, entry: SmartPlugConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    add_as_known(entry, async_add_entities, lambda plug: ["light"] if has("dimmer")(plug) else [], PlugLight)


class PlugLight(PlugEntity, LightEntity):
    _attr_name = None
    _attr_color_mode = ColorMode.BRIGHTNESS
    _attr_supported_color_modes = {ColorMode.BRIGHTNESS}
    _attr_supported_features = LightEntityFeature.TRANSITION

    @property
    def is_on(self) -> bool | None:
        return self.plug.state.relay_on if self.plug.state else None

    @property
    def brightness(self) -> int | None:
        level = self.plug.state.level if self.plug.state else None
        return None if level is None else round(level * 2.55)

    async def async_turn_on(self, **kwargs: Any) -> None:
        over = kwargs.get(ATTR_TRANSITION, 0)
        if ATTR_BRIGHTNESS in kwargs:
            await self._do(dim(max(1, kwargs[ATTR_BRIGHTNESS] / 2.55), over))
        elif over:
            level = self.plug.state.level if self.plug.state else None
            await self._do(dim(level or 100, over))
        else:
            await self._do(turn(True))

    async def async_turn_off(self, **kwargs: Any) -> None:
        over = kwargs.get(ATTR_TRANSITION, 0)
        await self._do(dim(0, over) if over else turn(False))
