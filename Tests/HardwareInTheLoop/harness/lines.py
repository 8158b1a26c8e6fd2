"""The simulated lines, read and set from outside the plug, and the kernel's record of every write to them."""

import dataclasses
import re

# The names that guest/init gives to the lines, in the order of their offsets.
NAMES = ["RELAY", "BUTTON", "LIGHT", "COIL_ON", "COIL_OFF", "DOUBLE"]
BOARD = "/sys/devices/platform/gpio-sim.0/gpiochip0"
TRACE = "/sys/kernel/tracing"

_RECORD = re.compile(r"\s(\d+\.\d+): (?:gpio_value: (\d+) set (\d)|tracing_mark_write: (.*))")


@dataclasses.dataclass(frozen=True)
class Change:
    """A write of a value to a line, or a mark in the record, for which `name` is the text and `value` is None. `at` is the kernel's time in
    seconds."""

    at: float
    name: str
    value: int | None


class Lines:
    def __init__(self, guest):
        self._guest = guest

    def forget(self):
        """Empties the record, ends `last_when_let_go`, and restores the pulls of all lines, which releases the button."""
        self._guest.does(
            f"echo >{TRACE}/trace; echo 0 >/sys/module/gpio_sim/parameters/lasting;"
            f"for l in 0 2 3 4 5; do echo pull-down >{BOARD}/sim_gpio$l/pull; done; echo pull-up >{BOARD}/sim_gpio1/pull")

    def last_when_let_go(self):
        """Makes the chip's lines keep their values after a program has released them."""
        self._guest.does("echo 1 >/sys/module/gpio_sim/parameters/lasting")

    def value(self, name):
        return int(self._guest.does(f"cat {BOARD}/sim_gpio{NAMES.index(name)}/value"))

    def record(self):
        """Returns all writes to lines and the marks, in order."""
        changes = []
        # The kernel's number of the board's first line depends on the machine.
        first = int(re.search(r"GPIOs (\d+)-\d+, parent: platform/gpio-sim\.0,", self._guest.does("cat /sys/kernel/debug/gpio"))[1])
        for line in self._guest.does(f"cat {TRACE}/trace").splitlines():
            found = _RECORD.search(line)
            if not found:
                continue
            at, number, value, mark = found.groups()
            if mark is not None:
                changes.append(Change(float(at), mark.strip(), None))
            elif first <= int(number) < first + len(NAMES):
                changes.append(Change(float(at), NAMES[int(number) - first], int(value)))
        return changes

    def written(self, name):
        """Returns every value that was written to the line, including repeated ones."""
        return [change.value for change in self.record() if change.name == name]

    def changes(self, name, start=0):
        """Returns the values that were written to the line, without those that equal the previous value. `start` is the line's value before the record."""
        values = [start]
        for value in self.written(name):
            if value != values[-1]:
                values.append(value)
        return values[1:]


class Button:
    """The button's contact, which pulls its line down. A program in the guest controls the timing of the presses."""

    def __init__(self, guest):
        self._guest = guest

    def press(self, *milliseconds):
        """Presses the button for the first duration, releases it for the second, and so on, and releases it at the end. The
        last release adds a mark to the record, and lasts at least 60 ms, so that the plug does not take it for a bounce.

        Returns the largest delay of a press or release in milliseconds. The delay is long if the host is busy.
        """
        times = " ".join(str(length * 1000) for length in milliseconds or (100,))
        return int(self._guest.does(
            f"press {BOARD}/sim_gpio1/pull {TRACE}/trace_marker {times} && usleep 60000", within=60 + sum(milliseconds) / 1000)) / 1000

    def hold(self):
        self._guest.does(f"echo pull-down >{BOARD}/sim_gpio1/pull")

    def lift(self, milliseconds):
        """Lets the line rise for this time, which presses an active-high button. One command does both, because the time between two
        commands is that of a long press on a busy host."""
        self._guest.does(f"echo pull-up >{BOARD}/sim_gpio1/pull; usleep {milliseconds * 1000}; echo pull-down >{BOARD}/sim_gpio1/pull")

    def let_go(self):
        self._guest.does(f"echo release >{TRACE}/trace_marker; echo pull-up >{BOARD}/sim_gpio1/pull")
