"""The state, button presses and commands of a plug, as its entities use them."""

import asyncio
from collections.abc import Callable
import logging
from typing import Any

from smartplug_client import (
    ButtonPressed, Command, CommandRefused, CommandUnanswered, Connected, Described, Description, Disconnected, Event, FollowedPlug,
    Gap, State, Update,
)

from homeassistant.config_entries import SOURCE_REAUTH, ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr, issue_registry as ir

from .const import AFTER_FAULT, ATTEMPTS_WITH_OTHER_KEY, DOMAIN, OLDEST_PRESS
from .house import House

_LOGGER = logging.getLogger(__name__)

type SmartPlugConfigEntry = ConfigEntry[Plug]


class Plug:
    """A followed plug. `follow` runs while the entry is loaded. `description` and `state` are None until the first
    connection."""

    def __init__(self, hass: HomeAssistant, entry: SmartPlugConfigEntry, house: House) -> None:
        self._hass, self._entry = hass, entry
        self.plug_id = entry.unique_id or ""
        self._followed = FollowedPlug(
            house.controller, house.keys.plug(self.plug_id), lambda: house.places(entry), keep=house.keys.keep)
        house.followed[self.plug_id] = self._followed

        def ended() -> None:
            house.followed.pop(self.plug_id, None)

        entry.async_on_unload(ended)
        self.description: Description | None = None
        self.state: State | None = None
        self.address: str | None = None
        self.is_connected = False
        # Values for the diagnostics download.
        self.connections = self.gaps = self.stale_presses = 0
        self.last_reason: str | None = None
        self._was_told_away = False
        self._with_other_key = 0
        self._listeners: dict[object, Callable[[], None]] = {}
        self._press_listeners: dict[object, Callable[[str, int], None]] = {}

    async def follow(self) -> None:
        """Follows the plug and never returns. After an error in this program, it waits and follows the plug again."""
        while True:
            try:
                await self._followed.run(self._tell)
            except Exception:
                _LOGGER.exception("%s: following the plug failed and is restarted", self._entry.title)
            self._disconnected(Disconnected("following the plug failed"))
            await asyncio.sleep(AFTER_FAULT)

    @callback
    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` for each change. Returns a function that removes the listener."""
        return _add(self._listeners, listener)

    @callback
    def listen_to_presses(self, listener: Callable[[str, int], None]) -> Callable[[], None]:
        """Calls `listener` for each recent press, with its kind and the number of the event. Returns a function that
        removes the listener."""
        return _add(self._press_listeners, listener)

    async def command(self, command: Command) -> None:
        """Sends a command; returns when the plug has executed it. Raises HomeAssistantError."""
        try:
            done = await self._followed.command(command)
        except CommandRefused as refused:
            known = ("protection_tripped", "not_allowed", "locked_on", "resting")
            raise HomeAssistantError(
                translation_domain=DOMAIN, translation_key=refused.code if refused.code in known else "refused",
                translation_placeholders={"name": self._entry.title, "detail": refused.detail}) from refused
        except CommandUnanswered as unanswered:
            raise HomeAssistantError(
                translation_domain=DOMAIN, translation_key="unanswered",
                translation_placeholders={"name": self._entry.title}) from unanswered
        if self.is_connected:
            self.state = done.state
            self._changed()

    # Updates of the plug.

    @callback
    def _tell(self, update: Update) -> None:
        match update:
            case Connected():
                self._connected(update)
            case Disconnected():
                self._disconnected(update)
            case Described():
                self._describe(update.description)
                self._changed()
            case State():
                self.state, self.is_connected = update, True
                self._changed()
            case Event(what=ButtonPressed() as pressed):
                self._pressed(update, pressed)
            case Gap():
                self.gaps += 1
                _LOGGER.debug("%s: events %s to %s are lost: %s", self._entry.title, update.first, update.last, update.reason)

    def _connected(self, update: Connected) -> None:
        self.connections += 1
        self._with_other_key = 0
        self.address = update.address
        self._describe(update.description)
        if self._was_told_away:
            self._was_told_away = False
            _LOGGER.info("%s is back", self._entry.title)
        ir.async_delete_issue(self._hass, DOMAIN, self._issue)
        # The answer is from the paired plug, so a new pairing is not needed.
        for flow in self._entry.async_get_active_flows(self._hass, {SOURCE_REAUTH}):
            self._hass.config_entries.flow.async_abort(flow["flow_id"])

    def _disconnected(self, update: Disconnected) -> None:
        self.is_connected, self.last_reason = False, update.words
        if not self._was_told_away:
            self._was_told_away = True
            _LOGGER.info("%s is away: %s", self._entry.title, update.words)
        self._with_other_key = self._with_other_key + 1 if update.distrust == "other_key" else 0
        if update.distrust in ("not_paired", "factory_reset"):
            self._entry.async_start_reauth(self._hass)
        elif self._with_other_key == ATTEMPTS_WITH_OTHER_KEY:
            ir.async_create_issue(
                self._hass, DOMAIN, self._issue, is_fixable=False, severity=ir.IssueSeverity.ERROR, translation_key="other_key",
                translation_placeholders={"name": self._entry.title})
            self._entry.async_start_reauth(self._hass)
        self._changed()

    def _pressed(self, event: Event, pressed: ButtonPressed) -> None:
        if event.age is None or event.age > OLDEST_PRESS:
            self.stale_presses += 1
            _LOGGER.debug("%s: press %s is too old: %s s", self._entry.title, event.sequence, event.age)
            return
        for listener in list(self._press_listeners.values()):
            listener(pressed.press.value, event.sequence)

    def _describe(self, description: Description) -> None:
        self.description = description
        self._hass.config_entries.async_update_entry(self._entry, title=description.name)
        registry = dr.async_get(self._hass)
        if (device := registry.async_get_device({(DOMAIN, self.plug_id)})) is not None:
            registry.async_update_device(device.id, name=description.name, sw_version=description.firmware)

    def _changed(self) -> None:
        for listener in list(self._listeners.values()):
            listener()

    @property
    def _issue(self) -> str:
        return f"other_key_{self.plug_id}"


def _add[Listener: Callable[..., Any]](listeners: dict[object, Listener], listener: Listener) -> Callable[[], None]:
    key = object()
    listeners[key] = listener

    def end() -> None:
        listeners.pop(key, None)

    return end
