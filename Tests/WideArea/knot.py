"""Knot DNS on a host of the LAN."""

from bind import Bind


class Knot(Bind):
    """Knot with the same zones and the same key."""

    def start(self):
        secret = self.key.read_text().split('secret "')[1].split('"')[0]
        configuration, database = self._folder / "knot.conf", self._folder / "database"
        database.mkdir(exist_ok=True)
        zones = "".join(
            f"  - domain: {domain}\n    file: {file}\n    acl: plugs\n" for domain, file in [
                (self.zone, "zone"), (f"{self._network}.in-addr.arpa", "reverse")])
        configuration.write_text(f"""
server:
    rundir: {self._folder}
    listen: {self.address}@53
database:
    storage: {database}
key:
  - id: plugs
    algorithm: hmac-sha256
    secret: {secret}
acl:
  - id: plugs
    key: plugs
    action: update
template:
  - id: default
    storage: {self._folder}
zone:
{zones}""")
        self.running = self.host.start("knotd", "-c", configuration)
        self.running.seen(lambda line: "server started" in line.text, 15, "that it is running")
