"""A plug with its own Wi-Fi network. Its radio is an Ethernet interface with a control interface of wpa_supplicant that this test answers."""

import urllib.parse

from deadlines import eventually
from harness.supplicant import Supplicant

ADDRESS = "192.168.73.1"
LOAD = """
import sys, urllib.request
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None
request = urllib.request.Request(sys.argv[1], data=sys.argv[2].encode() or None, headers=dict(zip(sys.argv[3::2], sys.argv[4::2])))
try:
    answer = urllib.request.build_opener(Stay).open(request, timeout=10)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.headers.get("Location", "-"))
print(answer.read().decode())
"""


class Setup:
    """A plug that joins networks by its eth0, and a phone that joins the plug's own network by its eth0."""

    def __init__(self, lan, plug, tmp_path, access_points):
        self.control, self.state = tmp_path / "control", tmp_path / "lamp"
        self.supplicant = Supplicant(self.control, "eth0", access_points)
        self.host, self.phone = lan.host(ipv4=False), lan.host()
        file = tmp_path / "plugd.toml"
        file.write_text(f'[wifi]\ninterface = "eth0"\ncontrol_folder = "{self.control}"\n')
        self._start = lambda: plug(self.host, "Lamp", state=self.state, config=file, addressing="manage")
        self.plug = self._start()

    def restart(self):
        self.plug.running.stop()
        self.plug = self._start()

    def opens(self, within=20):
        """Waits for the plug's own network, and lets the phone join it."""
        eventually(lambda: self.supplicant.served, within, lambda: f"the plug's own network: {self.supplicant.commands}")
        if not any(held["local"] == "192.168.73.9" for held in self.phone.addresses()):
            self.phone.run("ip", "address", "add", "192.168.73.9/24", "dev", "eth0")
        eventually(lambda: self.load("/")[0] == 200, within, lambda: f"the setup page:\n{self.plug.running.transcript()}")

    def load(self, path, form=None, host=ADDRESS, **headers):
        """Loads the page on the phone. Returns its status, the address that it leads to, and its text."""
        words = [word for name, value in {"Host": host, **headers}.items() for word in (name, value)]
        done = self.phone.finish("python3", "-c", LOAD, f"http://{ADDRESS}{path}", urllib.parse.urlencode(form or {}), *words)
        if done.status:
            return None, None, done.errors
        first, *text = done.output.split("\n")
        status, location = first.split(" ", 1)
        return int(status), location, "\n".join(text)

    def phase(self):
        return self.plug.status()["wifi"]["phase"]

    def joins(self, name, within=40):
        eventually(lambda: self.supplicant.joined == name, within, lambda: f"{name}: {self.supplicant.commands}")
