"""Dimming with a PWM chip of the kernel (pwm-pca9685 on the simulated bus)."""

import pytest

from deadlines import eventually

PWM = "/sys/class/pwm/pwmchip0"


@pytest.fixture
def pwm(guest):
    guest.does("echo pca9685 0x60 >/sys/bus/i2c/devices/i2c-0/new_device")
    yield lambda name: int(guest.does(f"cat {PWM}/pwm0/{name} 2>/dev/null || echo 0"))
    guest.does("killall -9 plugd; sleep 0.2; echo 0x60 >/sys/bus/i2c/devices/i2c-0/delete_device")


def duties(writes):
    """Returns the duties of channel 0 from the driver's writes: eight bits to LED0_OFF_L (0x08), then four to
    LED0_OFF_H (0x09)."""
    low, found = 0, []
    for register, value in writes:
        if register == 0x08:
            low = value
        elif register == 0x09:
            found.append(((value & 0xF) << 8 | low) / 4096)
    return found


def test_a_level_fades_in_and_off_is_dark(plug, lines, chip, controller, pwm):
    """A level is reached by fading, the lowest level is the configured minimum, and off means zero duty and an open
    relay."""
    dimmer = {"pwm_chip": 0, "pwm_channel": 0, "frequency_hz": 1000, "gamma": 1.0, "minimum": 0.1}
    running = plug(dimmer=dimmer)
    controller.introduce(running)
    running.start()
    controller.does("dim", "Plug", "20")
    chip(0x60).writes()
    controller.does("dim", "Plug", "100", "--over", "1s")
    eventually(lambda: pwm("duty_cycle") > 0.98 * pwm("period"), 10, lambda: f"full duty: {pwm('duty_cycle')}")
    period = pwm("period")
    assert abs(period - 1_000_000) < 20_000 and pwm("enable") == 1
    steps = duties(chip(0x60).writes())
    between = [duty for duty in steps if 0.15 < duty < 0.9]
    assert len(between) >= 3 and between == sorted(between), f"the level does not rise steadily: {steps}"
    controller.does("dim", "Plug", "1")
    eventually(lambda: 0.08 * period < pwm("duty_cycle") < 0.15 * period, 10, lambda: f"the minimum level: {pwm('duty_cycle')}")
    controller.does("off", "Plug")
    eventually(lambda: lines.value("RELAY") == 0, 10, "an open relay")
    eventually(lambda: pwm("duty_cycle") == 0, 10, lambda: f"zero duty: {pwm('duty_cycle')}")


def test_a_dimmer_alone_is_turned_off_and_on(plug, controller, pwm):
    """A dimmer without a relay is switched on and off."""
    running = plug(relay=None, dimmer={"pwm_chip": 0, "pwm_channel": 0, "frequency_hz": 1000})
    controller.introduce(running)
    running.start()
    for level in ("on", "off", "on"):
        controller.does(level, "Plug")
        eventually(lambda: (pwm("duty_cycle") > 0) == (level == "on"), 10, lambda: f"{level}: {pwm('duty_cycle')}")


def test_a_pwm_that_is_not_there_is_told(plug):
    """A missing PWM chip is reported with a hint."""
    said = plug(dimmer={"pwm_chip": 7, "pwm_channel": 0}).once("check")
    assert said.status == 1 and "pwmchip7" in said.text and "dtoverlay=pwm" in said.text, said


def test_a_plug_without_a_dimmer_says_so(plug, controller):
    """A dim command is refused by a plug without a dimmer."""
    running = plug()
    controller.introduce(running)
    running.start()
    assert "dimmer" in controller.fails("dim", "Plug", "50")
