"""A house with a broker."""

import pathlib

from harness.broker import Broker
from deadlines import eventually
from harness.served import Served


class BrokeredHouse:
    """Plugs, a broker, and a daemon that is connected to it."""

    def __init__(self, lan, plug, controller, folder, names=("Lamp",), settings=(), broker=None, home_assistant=None):
        self.folder = folder
        self.broker = broker or Broker(lan.host(), folder / "mosquitto")
        simulate = {"Lamp": "lamp", "Television": "television"}
        self.plugs = {name: plug(lan.host(), name, simulate=simulate.get(name, "lamp")) for name in names}
        self.ids = {name: eventually(lambda one=one: self._id(one), 10, f"the id of {name}") for name, one in self.plugs.items()}
        configuration = folder / "configuration" / "smartplug"
        configuration.mkdir(parents=True, exist_ok=True)
        (configuration / "broker.toml").write_text(self.broker.settings(*settings, **(home_assistant or {})))
        self.served = Served(controller(lan.host()), folder / "daemon", "--no-dashboard")
        self.served.follows(len(names))

    @staticmethod
    def _id(plug):
        file = pathlib.Path(plug.state) / "id"
        return file.exists() and file.read_text().split()[0]

    def topic(self, name, leaf):
        return f"smartplug/home/{self.ids[name]}/{leaf}"

    def says(self, listener, name, leaf, wanted=lambda message: True, within=15):
        return listener.has(self.topic(name, leaf), wanted, within)
