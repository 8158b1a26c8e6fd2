"""BIND on a host of the LAN, as the name server of a zone; and hosts that ask it."""

import base64
import os

from name_server import NameServer

TYPE = "_smartplug._tcp"


class Bind(NameServer):
    """BIND with the zone example.org and the reverse zone of its network, which may be updated with a key."""

    zone = "example.org"

    def __init__(self, host, folder, address=None):
        """`folder` stores the zone. It is kept when the server is stopped and started again. `address` is that of the host, if it is not its
        usual one."""
        self.host = host
        self.address = address or host.ipv4
        self.key = folder / "plugs.key"
        self.access = f'key_file = "{self.key}"'
        self._network = ".".join(reversed(self.address.split(".")[:3]))
        self.reverse = f"0.{self._network}.in-addr.arpa"
        folder.mkdir()
        self.write_key(self.key)
        for file in ["zone", "reverse"]:
            (folder / file).write_text(
                f"$TTL 60\n@ IN SOA ns.{self.zone}. hostmaster 1 600 60 86400 5\n@ IN NS ns.{self.zone}.\n")
        with open(folder / "zone", "a") as zone:
            zone.write(f"ns IN A {self.address}\n")
        self._folder = folder
        self.start()

    def start(self):
        configuration = self._folder / "named.conf"
        configuration.write_text(f"""
            options {{
                directory "{self._folder}"; pid-file none; session-keyfile none; recursion no; dnssec-validation no;
                listen-on {{ {self.address}; }}; listen-on-v6 {{ none; }};
            }};
            controls {{ }};
            include "{self.key}";
            zone "{self.zone}" {{ type primary; file "zone"; allow-update {{ key plugs; }}; }};
            zone "{self._network}.in-addr.arpa" {{ type primary; file "reverse"; allow-update {{ key plugs; }}; }};
            """)
        self.running = self.host.start("named", "-g", "-c", configuration)
        self.running.seen(lambda line: line.text.endswith(" running"), 15, "that it is running")

    @staticmethod
    def write_key(path, name="plugs"):
        """Writes a new key in the form of tsig-keygen(8)."""
        secret = base64.b64encode(os.urandom(32)).decode()
        path.write_text(f'key "{name}" {{\n\talgorithm hmac-sha256;\n\tsecret "{secret}";\n}};\n')
        path.chmod(0o600)

    def stop(self):
        self.running.stop()

    def update(self, *changes):
        """Changes a zone with nsupdate(1). A change is such as "add NAME 1 TXT text". All changes belong to one zone."""
        lines = "\n".join([f"server {self.address}", *(f"update {change}" for change in changes), "send"])
        self.host.run("sh", "-c", f"nsupdate -k {self.key} <<'end'\n{lines}\nend")

    def register(self, name, port, txt="id=000000000001", life=1, host=None):
        """Registers a plug, on this host if given; `life` is the time to live in seconds."""
        instance = self.instance(name)
        self.update(
            f"add {TYPE}.{self.zone} {life} PTR {instance}", f"add {instance} {life} SRV 0 0 {port} plug.{self.zone}",
            f'add {instance} {life} TXT "{txt}"', *([f"add plug.{self.zone} {life} A {host.ipv4}"] if host else []))

    def remove(self, name):
        instance = self.instance(name)
        self.update(f"delete {TYPE}.{self.zone} PTR {instance}", f"delete {instance}")

    def instance(self, name):
        return f"{name.replace(' ', chr(92) + '032')}.{TYPE}.{self.zone}"
