"""The dialogs that add a plug: discovered or by address, then paired with the code on its label."""

from collections.abc import Mapping
import logging
from typing import Any

from smartplug_client import FoundPlug, Goodbye, NotThePlug, PairedPlug, Place, PlugError, Session, WrongPlug, code_bytes
import voluptuous as vol

from homeassistant.config_entries import SOURCE_REAUTH, ConfigFlow, ConfigFlowResult
from homeassistant.const import CONF_HOST, CONF_PORT
from homeassistant.helpers.selector import SelectOptionDict, SelectSelector, SelectSelectorConfig, TextSelector
from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo

from .const import DOMAIN
from .house import async_get_house

_LOGGER = logging.getLogger(__name__)

CONF_PLUG, CONF_CODE, CONF_ADDRESS = "plug", "code", "address"
CODE = vol.Schema({vol.Required(CONF_CODE): TextSelector()})


def place_of(address: str) -> Place:
    """Parses "host:port" or "[2001:db8::1]:4711". Raises ValueError."""
    host, colon, port = address.strip().rpartition(":")
    if not colon or not host or not 1 <= int(port) <= 65535 or ":" in host and not host.startswith("["):
        raise ValueError(address)
    return host.removeprefix("[").removesuffix("]"), int(port)


class SmartPlugConfigFlow(ConfigFlow, domain=DOMAIN):
    """Adds an entry for one plug. The unique id of the entry is the plug's id."""

    VERSION = 1

    _name = ""
    _announced: list[Place] = []
    _manual: Place | None = None

    async def async_step_zeroconf(self, discovery_info: ZeroconfServiceInfo) -> ConfigFlowResult:
        found = FoundPlug.announced(
            discovery_info.name, discovery_info.addresses, discovery_info.port, discovery_info.properties)
        if found is None:
            return self.async_abort(reason="not_a_plug")
        await self.async_set_unique_id(found.plug_id)
        self._abort_if_unique_id_configured()
        return await self._found(found)

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Selects an announced plug, or an address if the plug is not announced."""
        errors = {}
        known = self._async_current_ids(include_ignore=False)
        plugs = {plug.plug_id: plug for plug in (await async_get_house(self.hass)).browser.plugs if plug.plug_id not in known}
        if user_input is not None:
            if (found := plugs.get(user_input[CONF_PLUG])) is not None:
                await self.async_set_unique_id(found.plug_id, raise_on_progress=False)
                return await self._found(found)
            try:
                self._manual = place_of(user_input[CONF_PLUG])
            except ValueError:
                errors[CONF_PLUG] = "invalid_address"
            else:
                self._name = self._manual[0]
                return await self.async_step_pair()
        options = [SelectOptionDict(value=plug_id, label=plug.name) for plug_id, plug in plugs.items()]
        selector = SelectSelector(SelectSelectorConfig(options=options, custom_value=True))
        return self.async_show_form(step_id="user", data_schema=vol.Schema({vol.Required(CONF_PLUG): selector}), errors=errors)

    async def _found(self, found: FoundPlug) -> ConfigFlowResult:
        self._name, self._announced = found.name, found.places
        self.context["title_placeholders"] = {"name": found.name}
        return await self.async_step_pair()

    async def async_step_pair(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        errors = {}
        if user_input is not None:
            paired, error = await self._pair(user_input[CONF_CODE])
            if paired is not None:
                await self.async_set_unique_id(paired.plug_id, raise_on_progress=False)
                self._abort_if_unique_id_configured()
                place = {CONF_HOST: self._manual[0], CONF_PORT: self._manual[1]} if self._manual else {}
                return self.async_create_entry(title=self._name, data=place)
            errors = {"base": error}
        return self.async_show_form(
            step_id="pair", data_schema=CODE, errors=errors, description_placeholders={"name": self._name})

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        """Starts because the plug no longer knows Home Assistant, or has a different key."""
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        entry, errors = self._get_reauth_entry(), {}
        if user_input is not None:
            self._announced = (await async_get_house(self.hass)).places(entry)
            paired, error = await self._pair(user_input[CONF_CODE])
            if paired is not None:
                return self.async_update_reload_and_abort(entry)
            errors = {"base": error}
        return self.async_show_form(
            step_id="reauth_confirm", data_schema=CODE, errors=errors, description_placeholders={"name": entry.title})

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Changes the address of a plug that multicast does not reach."""
        entry, errors = self._get_reconfigure_entry(), {}
        if user_input is not None:
            house = await async_get_house(self.hass)
            try:
                place = place_of(user_input[CONF_ADDRESS])
                session = await house.controller.connect(house.keys.plug(entry.unique_id or ""), [place])
                await session.connection.close()
            except ValueError:
                errors[CONF_ADDRESS] = "invalid_address"
            except WrongPlug:
                errors[CONF_ADDRESS] = "wrong_plug"
            except (PlugError, OSError, EOFError):
                errors[CONF_ADDRESS] = "cannot_connect"
            else:
                return self.async_update_reload_and_abort(entry, data={CONF_HOST: place[0], CONF_PORT: place[1]})
        return self.async_show_form(
            step_id="reconfigure", data_schema=vol.Schema({vol.Required(CONF_ADDRESS): TextSelector()}), errors=errors,
            description_placeholders={"name": entry.title})

    async def _pair(self, text: str) -> tuple[PairedPlug | None, str]:
        """Pairs with the plug and stores its key, or returns the error for the form."""
        house, wanted = await async_get_house(self.hass), self.unique_id
        places = house.browser.places(wanted or "") or self._announced
        try:
            code = code_bytes(text)
            connection = await house.controller.open([self._manual] if self._manual else places)
            try:
                paired = await house.controller.pair(connection, code)
                session = await Session.greet(connection, paired, house.controller.name)
                if wanted not in (None, paired.plug_id):
                    await session.leave(house.controller.identity.public_key)
                    return None, "wrong_plug"
                stored = house.keys.plug(paired.plug_id)
                # Any plug can claim any id. A stored key is therefore replaced only when the user pairs the configured
                # plug again.
                if self.source != SOURCE_REAUTH and stored.keys and not stored.knows(paired.keys[0]):
                    await session.leave(house.controller.identity.public_key)
                    return None, "different_key"
                self._name = session.description.name
            finally:
                await connection.close()
        except ValueError:
            return None, "invalid_code"
        except Goodbye as goodbye:
            known = {"wrong_code": "wrong_code", "pairing_closed": "pairing_closed", "limit": "too_many_controllers"}
            _LOGGER.debug("pairing: %s", goodbye)
            return None, known.get(goodbye.reason, "cannot_connect")
        except NotThePlug:
            return None, "wrong_code"
        except (PlugError, OSError, EOFError) as error:
            _LOGGER.debug("pairing: %s", error)
            return None, "cannot_connect"
        await house.keys.keep(paired)
        return paired, ""
