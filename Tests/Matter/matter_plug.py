"""A plug with Matter enabled, and the codes of its label."""

from deadlines import eventually

# Attributes and events of the plug: ENDPOINT/CLUSTER/MEMBER.
ON_OFF, LEVEL, POWER, ENERGY, DEVICE_TYPES = "1/6/0", "1/8/0", "1/144/8", "1/145/1", "1/29/0"
INITIAL_PRESS, LONG_PRESS, SHORT_RELEASE, LONG_RELEASE, MULTI_PRESS_COMPLETE = (f"2/59/{event}" for event in (1, 2, 3, 4, 6))


class MatterPlug:
    """A plug on a host. `owner` is a plugctl that is paired with it."""

    def __init__(self, plug, host, name, folder, credentials, owner, **options):
        configuration = folder / f"{name}.toml"
        configuration.write_text(f'[matter]\nenabled = true\ncredentials = "{credentials}"\n')
        self.name, self._owner = name, owner
        self._make = lambda: plug(host, name, config=configuration, state=folder / name, **options)
        self.plug = self._make()
        self._await_start()

    def _await_start(self):
        eventually(self.plug.answers, 10, lambda: f"the plug:\n{self.plug.running.transcript()}")

    def status(self):
        """Returns the numbers in `plugd status`, which may be read as often as a test needs."""
        return self.plug.status()["matter"]

    def asks(self, *options):
        """Returns the report of `plugctl matter`. The plug limits these requests of an owner, because some write flash."""
        return self._owner.does("matter", self.name, "--json", *options).objects[0]

    @property
    def code(self):
        return self.asks()["manualCode"]

    @property
    def payload(self):
        """The content of the QR code, whose 12 bits distinguish plugs that wait for a home. The code has four bits, so that two of three
        plugs are the same for a home in one of six cases."""
        return self.asks()["setupPayload"]

    def open_window(self):
        return self.asks("--open-window")["manualCode"]

    def relay(self):
        return self.plug.status()["relay"]

    def kill(self):
        self.plug.running.process.kill()
        self.plug.running.ended(5)

    def start_again(self):
        self.plug = self._make()
        self._await_start()


def parts(code):
    """Returns the short discriminator and the passcode of a manual pairing code with 11 digits (Matter 5.1.4.1)."""
    first, middle, last = int(code[0]), int(code[1:6]), int(code[6:10])
    return (first & 3) << 2 | middle >> 14, middle & 0x3FFF | last << 14
