"""Measured quantities of a plug, its firmware version and its address."""

from collections.abc import Callable
from dataclasses import dataclass

from smartplug_client import Reading

from homeassistant.components.sensor import SensorDeviceClass, SensorEntity, SensorEntityDescription, SensorStateClass
from homeassistant.const import (
    EntityCategory, UnitOfApparentPower, UnitOfElectricCurrent, UnitOfElectricPotential, UnitOfEnergy, UnitOfFrequency, UnitOfPower,
    UnitOfReactivePower,
)
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .entity import PlugEntity, add_as_known
from .plug import Plug, SmartPlugConfigEntry

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class MeasuredDescription(SensorEntityDescription):
    value: Callable[[Reading], float | None]
    state_class: SensorStateClass = SensorStateClass.MEASUREMENT


@dataclass(frozen=True, kw_only=True)
class ToldDescription(SensorEntityDescription):
    value: Callable[[Plug], str | None]


MEASURED = {one.key: one for one in (
    MeasuredDescription(
        key="activePower", device_class=SensorDeviceClass.POWER, native_unit_of_measurement=UnitOfPower.WATT,
        suggested_display_precision=1, value=lambda reading: reading.active_power),
    MeasuredDescription(
        key="activeEnergy", device_class=SensorDeviceClass.ENERGY, native_unit_of_measurement=UnitOfEnergy.WATT_HOUR,
        state_class=SensorStateClass.TOTAL_INCREASING, suggested_display_precision=1, value=lambda reading: reading.active_energy),
    MeasuredDescription(
        key="voltageRMS", device_class=SensorDeviceClass.VOLTAGE, native_unit_of_measurement=UnitOfElectricPotential.VOLT,
        suggested_display_precision=1, value=lambda reading: reading.voltage_rms),
    MeasuredDescription(
        key="currentRMS", device_class=SensorDeviceClass.CURRENT, native_unit_of_measurement=UnitOfElectricCurrent.AMPERE,
        suggested_display_precision=3, value=lambda reading: reading.current_rms),
    MeasuredDescription(
        key="apparentPower", device_class=SensorDeviceClass.APPARENT_POWER,
        native_unit_of_measurement=UnitOfApparentPower.VOLT_AMPERE, suggested_display_precision=1,
        value=lambda reading: reading.apparent_power),
    MeasuredDescription(
        key="reactivePower", device_class=SensorDeviceClass.REACTIVE_POWER,
        native_unit_of_measurement=UnitOfReactivePower.VOLT_AMPERE_REACTIVE, suggested_display_precision=1,
        value=lambda reading: reading.reactive_power),
    MeasuredDescription(
        key="powerFactor", device_class=SensorDeviceClass.POWER_FACTOR, suggested_display_precision=2,
        value=lambda reading: reading.power_factor),
    MeasuredDescription(
        key="frequency", device_class=SensorDeviceClass.FREQUENCY, native_unit_of_measurement=UnitOfFrequency.HERTZ,
        suggested_display_precision=2, value=lambda reading: reading.frequency),
)}

TOLD = {one.key: one for one in (
    ToldDescription(
        key="firmware", translation_key="firmware", entity_category=EntityCategory.DIAGNOSTIC, entity_registry_enabled_default=False,
        value=lambda plug: plug.description.firmware if plug.description else None),
    ToldDescription(
        key="address", translation_key="address", entity_category=EntityCategory.DIAGNOSTIC, entity_registry_enabled_default=False,
        value=lambda plug: plug.address),
)}


def measured(plug: Plug) -> list[str]:
    """Returns the keys of all quantities that the plug's meter has measured."""
    reading = plug.state.reading if plug.state else None
    return [key for key, one in MEASURED.items() if reading is not None and one.value(reading) is not None]


async def async_setup_entry(
        hass: HomeAssistant, entry: SmartPlugConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback) -> None:
    add_as_known(entry, async_add_entities, measured, MeasuredSensor)
    add_as_known(entry, async_add_entities, lambda _: TOLD, ToldSensor)


class MeasuredSensor(PlugEntity, SensorEntity):
    entity_description: MeasuredDescription

    def __init__(self, plug: Plug, key: str) -> None:
        super().__init__(plug, key)
        self.entity_description = MEASURED[key]

    @property
    def native_value(self) -> float | None:
        reading = self.plug.state.reading if self.plug.state else None
        return None if reading is None else self.entity_description.value(reading)


class ToldSensor(PlugEntity, SensorEntity):
    entity_description: ToldDescription

    def __init__(self, plug: Plug, key: str) -> None:
        super().__init__(plug, key)
        self.entity_description = TOLD[key]

    @property
    def native_value(self) -> str | None:
        return self.entity_description.value(self.plug)
