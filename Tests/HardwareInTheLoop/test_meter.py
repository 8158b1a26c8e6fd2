"""Meters on the kernel's I2C bus: plugd reports their readings. During a fault it reports no reading, not the previous one."""

import datetime

import pytest

from harness.chips import BUS
from deadlines import eventually

ADE = {"kind": "ade7953", "bus": BUS, "interval_s": 0.3}


@pytest.fixture
def metered(plug, mains):
    """Starts a plug that meters 230 V and 460 W."""
    mains.feeds(230, 2, 460)
    return plug(meter=ADE).start()


def reads(running, within=20, **values):
    """Waits for a reading with these values, each with a tolerance of 0.1 % plus 0.051."""
    def right(status):
        return all(key in status and abs(status[key] - value) <= 0.001 * abs(value) + 0.051 for key, value in values.items())

    return running.shows(right, f"a reading of {values}", within)


def has_no_reading(running, within=20):
    return running.shows(lambda status: "activePower" not in status, "no reading", within)


def counters(running):
    return running.status()["meter"]


def test_the_ade7953_is_set_up_and_its_registers_are_what_is_told(plug, mains):
    """The ADE7953 is initialized as its data sheet requires, and readings match its registers."""
    mains.writes()
    mains.feeds(231.4, 1.737, 389.1, var=98.4, factor=0.968, hertz=49.97)
    running = plug(meter=ADE).start()
    reads(running, voltageRMS=231.4, currentRMS=1.737, activePower=389.1)
    written = mains.writes()
    assert (0x102, 0x0004) in written, "the interface was not locked to I2C"
    at = written.index((0x0FE, 0xAD))
    assert written[at + 1] == (0x120, 0x30), "the unlock does not directly precede the required setting"
    assert (0x303, 29196) in written and (0x304, 29196) in written
    mains.feeds(228.0, 0.5, 100.0)
    reads(running, voltageRMS=228.0, currentRMS=0.5, activePower=100.0)


def test_energy_is_what_the_chip_counted(plug, mains, controller):
    """The reported energy comes from the chip's counter. In this test the counter counts the energy of 4600 W, while the power readings are 460 W.

    1 W is 154 LSB of the power register. At full scale (4862401 LSB) the energy counter advances by 206900 steps per second. Each
    reading resets the counter.
    """
    mains.feeds(230, 2, 460)
    mains.rate(int(4600 * 154 / 4862401 * 206900))
    running = plug(meter=ADE)
    controller.introduce(running)
    reads(running.start(), activePower=460)
    controller.watch()

    def course():
        told = [(datetime.datetime.fromisoformat(line["at"]), line["activeEnergy"]) for line in controller.events("reading")]
        return told if told and (told[-1][0] - told[0][0]).total_seconds() > 6 else None

    told = eventually(course, 40, lambda: f"readings over 6 s: {controller.events()[-3:]}")
    energies = [energy for _, energy in told]
    assert energies == sorted(energies), "the energy decreased"
    watts = (energies[-1] - energies[0]) * 3600 / (told[-1][0] - told[0][0]).total_seconds()
    assert 3700 < watts < 5500, f"{watts:.0f} W"


@pytest.mark.parametrize("fault, counter", [
    (lambda chip: chip.fails(6), "busFaults"),
    (lambda chip: chip.fails(5), "busFaults"),
    (lambda chip: chip.sticks(1000), "busFaults"),
    (lambda chip: chip.is_there(False), "busFaults"),
    (lambda chip: chip.talks_nonsense(1), "impossible"),
    (lambda chip: chip.talks_nonsense(2), "impossible"),
], ids=["is not acknowledged", "fails with EIO", "is stuck", "disappears", "returns all ones", "returns random bytes"])
def test_a_meter_that(metered, mains, fault, counter):
    """During a fault of the meter, the plug reports no reading and counts the faults. Afterwards the meter recovers by itself."""
    reads(metered, voltageRMS=230, activePower=460)
    before = counters(metered)
    fault(mains)
    has_no_reading(metered)
    metered.shows(lambda status: status["meter"][counter] > before[counter], f"an increase of {counter}")
    mains.as_new()
    mains.feeds(229, 1, 229)
    reads(metered, voltageRMS=229, activePower=229)
    assert counters(metered)["initialisations"] > before["initialisations"], "the chip was not initialized again"


def test_a_chip_that_lost_power_for_a_moment_is_set_up_again(metered, mains):
    """A chip that lost its power is initialized again, and its readings return."""
    reads(metered, activePower=460)
    before = counters(metered)["initialisations"]
    mains.writes()
    mains.loses_power()
    mains.feeds(230, 2, 460)
    metered.shows(lambda status: status["meter"]["initialisations"] > before, "a second initialization")
    reads(metered, activePower=460)
    assert (0x102, 0x0004) in mains.writes()
    assert mains.register(0x303) == 29196


def test_a_missing_chip_is_told_and_the_relay_works(plug, mains, lines, button):
    """A missing chip is reported with a hint, the relay works, and the meter recovers when the chip returns."""
    mains.is_there(False)
    running = plug(meter=ADE)
    said = running.once("check")
    assert said.status == 1 and "0x38 does not answer" in said.text and "i2cdetect" in said.text, said
    running.start()
    button.press(120)
    eventually(lambda: lines.changes("RELAY") == [1], 10, "the relay")
    has_no_reading(running)
    mains.as_new()
    mains.feeds(230, 1, 230)
    reads(running, activePower=230)


def test_a_wrong_address_is_told(plug):
    """`plugd check` reports a chip that does not answer at its address, with a hint."""
    said = plug(meter={"kind": "ina226", "bus": BUS, "address": 0x4A, "shunt_ohms": 0.01}).once("check")
    assert said.status == 1 and "0x4a does not answer" in said.text and "i2cdetect" in said.text, said


def test_a_wrong_identity_is_told(plug, chip):
    """`plugd check` reports a chip with wrong identity registers."""
    chip(0x41).put({0xFF: 0x1234})
    said = plug(meter={"kind": "ina226", "bus": BUS, "address": 0x41, "shunt_ohms": 0.01}).once("check")
    assert said.status == 1 and "0x5449 0x1234" in said.text and "another chip" in said.text, said


def test_a_missing_bus_is_told(plug):
    """`plugd check` reports a missing I2C bus with a hint."""
    said = plug(meter={"kind": "ade7953", "bus": "/dev/i2c-9"}).once("check")
    assert said.status == 1 and "/dev/i2c-9" in said.text and "dtparam=i2c_arm" in said.text, said


@pytest.mark.parametrize("kind, address, settings, registers, told", [
    ("ina219", 0x40, {"shunt_ohms": 0.1}, {0x02: 3000 << 3, 0x01: 10000},
     {"voltageRMS": 12.0, "currentRMS": 1.0, "activePower": 12.0}),
    ("ina226", 0x41, {"shunt_ohms": 0.002}, {0x02: 19200, 0x01: 8000},
     {"voltageRMS": 24.0, "currentRMS": 10.0, "activePower": 240.0}),
    ("ina260", 0x44, {}, {0x02: 3840, 0x01: 2400},
     {"voltageRMS": 4.8, "currentRMS": 3.0, "activePower": 14.4}),
])
def test_a_bench_meter_tells_what_its_registers_say(plug, chip, kind, address, settings, registers, told):
    """The readings of an INA219, an INA226 and an INA260 match their registers, also after a bus error."""
    chip(address).put(registers)
    running = plug(meter={"kind": kind, "bus": BUS, "address": address, "interval_s": 0.3} | settings).start()
    reads(running, **told)
    chip(address).fails(6)
    has_no_reading(running)
    chip(address).as_new()
    chip(address).put(registers)
    reads(running, **told)


@pytest.fixture(params=["hwmon", "iio"])
def of_the_kernel(request, guest, chip):
    """Loads one of the kernel's two drivers (hwmon or iio) for an INA226 on the simulated bus. The default shunt is 10 milliohms."""
    if request.param == "iio":
        guest.does("rmmod ina2xx; insmod /modules/ina2xx-adc.ko")
    guest.does("echo ina226 0x41 >/sys/bus/i2c/devices/i2c-0/new_device")
    yield request.param
    guest.does("killall -9 plugd; echo 0x41 >/sys/bus/i2c/devices/i2c-0/delete_device")
    if request.param == "iio":
        guest.does("rmmod ina2xx-adc; insmod /modules/ina2xx.ko")


def test_a_meter_of_the_kernel(of_the_kernel, plug, chip):
    """A meter with a kernel driver is read, also after a bus error."""
    chip(0x41).put({0x02: 9600, 0x01: 4000})
    running = plug(meter={"kind": of_the_kernel, "name": "ina226", "interval_s": 0.3}).start()
    reads(running, voltageRMS=12.0, currentRMS=1.0, activePower=12.0)
    chip(0x41).fails(5)
    has_no_reading(running)
    chip(0x41).fails(0)
    reads(running, voltageRMS=12.0)
