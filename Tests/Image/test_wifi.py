"""The image with a radio, which the kernel simulates: systemd starts wpa_supplicant for it, and plugd, which has no rights of root, drives it."""

import json

from deadlines import eventually
from house import House


def test_an_owner_opens_the_plugs_own_network(tmp_path):
    house = House(tmp_path)
    try:
        def phase():
            return json.loads(house.machine.does("plugd status"))["wifi"]["phase"]

        assert phase() == "off"
        house.machine.does("modprobe mac80211_hwsim radios=1", within=60)
        eventually(lambda: phase() == "searching", 60, lambda: house.machine.run("systemctl status wifi@wlan0; journalctl -u plugd").text)
        house.does("wifi", "Lamp", "--setup")
        opened = "opened the plug's own Wi-Fi network"
        eventually(lambda: opened in house.machine.does("journalctl -u plugd"), 90, lambda: house.machine.run("journalctl -u plugd").text)
        html = house.machine.does("busybox wget -q -O - http://192.168.73.1/")
        identity = house.machine.does("plugd identity")
        name = html.split("<h1>")[1].split("</h1>")[0]
        assert name.startswith("Plug-") and f"Wi-Fi setup  {name}, password " in identity, identity
    finally:
        house.machine.close()
