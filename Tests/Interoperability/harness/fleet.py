"""Houses of a fleet: each has its own plugs, daemon and directories; database and broker are shared."""

import json
import pathlib

from harness import postgres
from deadlines import eventually
from harness.served import Served


class FleetHouse:
    def __init__(self, name, lan, plug, controller, folder, broker, database, plugs=("Lamp",), labels=None):
        self.name, self.folder, self._controller = name, pathlib.Path(folder), controller
        self.folder.mkdir()
        configuration = self.folder / "configuration" / "smartplug"
        configuration.mkdir(parents=True)
        configuration.joinpath("broker.toml").write_text(broker.settings(f'house = "{name}"', discovery=False))
        configuration.joinpath("history.toml").write_text(postgres.settings(database, name, labels))
        self.plugs = {one: plug(lan.host(), one, state=self.folder / f"plug{number}", memory=self.folder / "state")
                      for number, one in enumerate(plugs)}
        self.ids = {one: eventually(lambda made=made: self._id(made), 10, f"the id of {one}") for one, made in self.plugs.items()}
        self.host = lan.host()
        self.served = self.begin(self.host, self.folder)

    def begin(self, host, folder, *options):
        """Starts the house's daemon on a host, with the directories of `folder`."""
        person = self._controller(host)
        person.under(["env", f"XDG_CONFIG_HOME={folder}/configuration", f"XDG_STATE_HOME={folder}/state"])
        return Served(person, folder / "served", "--no-dashboard", *options)

    @staticmethod
    def _id(plug):
        file = pathlib.Path(plug.state) / "id"
        return file.exists() and file.read_text().split()[0]


def settings(database, broker=None, **roles):
    """Returns a fleet.toml. Each further argument is a role with houses by person, such as owner={"plugctl": "*"}."""
    lines = ["[postgresql]", f'host = "{database.host.ipv4}"', 'tls = "off"']
    if broker:
        lines += ["[broker]", f'host = "{broker.host.ipv4}"', f"port = {broker.port}", 'tls = "off"']
    for role, people in roles.items():
        lines += [f"[{role}]", *(f"{json.dumps(name)} = {json.dumps(houses)}" for name, houses in people.items())]
    return "\n".join(lines) + "\n"
