"""The common parts of the name servers of the tests."""


class NameServer:
    """A name server on a host, with the attributes `host`, `address` and `zone`. `access` has the keys of [wide_area] that permit a plug to
    register itself."""

    access = ""

    @property
    def configuration(self):
        """The table [wide_area] of a plug that registers itself here."""
        return f'[wide_area]\ndomain = "{self.zone}"\nserver = "{self.address}"\n{self.access}\n'

    def serve(self, host, search=""):
        """Makes this the name server of the host. `search` is its search domain."""
        lines = f"nameserver {self.address}" + (f"\\nsearch {search}" if search else "")
        host.run("sh", "-c", f"printf '{lines}\\n' >/run/resolv.conf && mount --bind /run/resolv.conf /etc/resolv.conf")

    def records(self, name, kind):
        """The data of the records, as dig(1) prints it."""
        return sorted(self.host.run("dig", "+short", f"@{self.address}", f"{name}.{self.zone}", kind).splitlines())
