"""The parts that all plugs share: Home Assistant's key, the list of announced plugs, and the followed plugs."""

from dataclasses import dataclass, field

from smartplug_client import Controller, FollowedPlug, FoundPlug, Place, PlugBrowser

from homeassistant.components import zeroconf
from homeassistant.const import CONF_HOST, CONF_PORT, EVENT_HOMEASSISTANT_STOP
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.singleton import singleton

from .const import DOMAIN
from .keys import KeyStore

LONGEST_NAME = 63  # bytes, a limit of the protocol


@dataclass
class House:
    """The shared parts; `async_get_house` returns the only instance."""

    keys: KeyStore
    controller: Controller
    browser: PlugBrowser
    followed: dict[str, FollowedPlug] = field(default_factory=dict)

    def places(self, entry: ConfigEntry) -> list[Place]:
        """Returns the addresses at which the entry's plug is announced, or the address that the user entered."""
        announced = self.browser.places(entry.unique_id or "")
        if announced or CONF_HOST not in entry.data:
            return announced
        return [(entry.data[CONF_HOST], entry.data[CONF_PORT])]


@singleton(DOMAIN)
async def async_get_house(hass: HomeAssistant) -> House:
    """Returns the house. It is created at the first call, and kept until Home Assistant stops."""
    keys = await KeyStore.load(hass)
    name = f"Home Assistant {hass.config.location_name}".encode()[:LONGEST_NAME].decode(errors="ignore")
    controller = await Controller.make(keys.identity, name)
    followed: dict[str, FollowedPlug] = {}

    @callback
    def announced(plug: FoundPlug) -> None:
        if plug.plug_id in followed:
            followed[plug.plug_id].located()

    browser = PlugBrowser((await zeroconf.async_get_async_instance(hass)).zeroconf, announced)

    async def stop(_: Event) -> None:
        await browser.close()

    hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, stop)
    return House(keys, controller, browser, followed)
