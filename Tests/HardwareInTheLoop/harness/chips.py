"""The chips on the guest's I2C bus, with their inputs and faults."""

BUS = "/dev/i2c-0"


class Chip:
    """One chip's folder in debugfs; guest/modules/adapter.c documents its files."""

    def __init__(self, guest, address):
        self._guest, self.address = guest, address
        self._folder = f"/sys/kernel/debug/plug_i2c/{address:#04x}"

    def set(self, **registers):
        """set(x31c=5) sets the register 0x31c to 5."""
        self.put({int(name[1:], 16): value for name, value in registers.items()})

    def put(self, registers):
        self._guest.does("\n".join(
            f"echo '{address:#x} {value}' >{self._folder}/registers" for address, value in registers.items()))

    def register(self, address):
        for line in self._guest.does(f"cat {self._folder}/registers").splitlines():
            at, value = (int(word, 16) for word in line.split())
            if at == address:
                return value
        return 0

    def writes(self):
        """Returns the writes over the bus since the last call: pairs of register and value."""
        lines = self._guest.does(f"cat {self._folder}/writes").splitlines()
        return [tuple(int(word, 16) for word in line.split()) for line in lines]

    def transfers(self):
        return int(self._guest.does(f"cat {self._folder}/transfers"))

    def fails(self, errno):
        self._tell("error", errno)

    def sticks(self, milliseconds):
        self._tell("stuck", milliseconds)

    def talks_nonsense(self, kind):
        """Makes reads from the chip return wrong bytes: `kind` 1 all ones, 2 random bytes. 0 ends the fault."""
        self._tell("nonsense", kind)

    def is_there(self, present):
        self._tell("present", "Y" if present else "N")

    def loses_power(self):
        """Sets its registers to the values after power-on."""
        self._tell("reset", 1)

    def rate(self, lsb_a_second):
        self._tell("energy_rate", lsb_a_second)

    def as_new(self):
        for fault in ("error", "stuck", "nonsense", "energy_rate"):
            self._tell(fault, 0)
        self.is_there(True)
        self.loses_power()

    def _tell(self, what, value):
        self._guest.does(f"echo {value} >{self._folder}/{what}")


class ADE7953(Chip):
    """The chip with the scaling of a common board: volts = raw/26000, amperes = raw/100000, watts = raw/154."""

    def __init__(self, guest):
        super().__init__(guest, 0x38)

    def feeds(self, volts, amperes, watts, var=0, factor=1.0, hertz=50.0):
        self.put({
            0x31C: round(volts * 26000), 0x31A: round(amperes * 100000), 0x312: round(watts * 154), 0x314: round(var * 154),
            0x310: round(volts * amperes * 154), 0x10A: round(factor * 32767), 0x10E: round(223750 / hertz) - 1})
