"""A control interface of wpa_supplicant without a radio: the access points are a table, and joining one takes half a second."""

import binascii
import socket
import threading
import time


class Supplicant:
    """Answers the commands of plugd on the socket FOLDER/INTERFACE. `access_points`: the password of each network, by its name."""

    def __init__(self, folder, interface, access_points):
        folder.mkdir(parents=True, exist_ok=True)
        self.access_points = dict(access_points)
        self.joined, self.served, self.commands = None, None, []
        self._path = folder / interface
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(self._path))
        self._listener, self._networks = None, []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        self._path.unlink(missing_ok=True)
        self._socket.close()

    def leave(self):
        """The access point disappears."""
        self.access_points.pop(self.joined)
        self.joined = None
        self._tell("CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:01:00 reason=4")

    def _run(self):
        while True:
            try:
                command, sender = self._socket.recvfrom(4096)
            except OSError:
                return
            self.commands.append(command.decode())
            answer = self._answer(command.decode().split(" ", 3), sender)
            self._send(answer, sender)

    def _send(self, text, receiver):
        try:
            self._socket.sendto(text.encode(), receiver)
        except OSError:
            pass  # plugd has ended.

    def _tell(self, text, after=0.0):
        def tell():
            time.sleep(after)
            if self._listener:
                self._send(f"<3>{text}", self._listener)

        threading.Thread(target=tell, daemon=True).start()

    def _answer(self, words, sender):
        match words:
            case ["ATTACH"]:
                self._listener = sender
            case ["PING"]:
                return "PONG\n"
            case ["LIST_NETWORKS"]:
                return "network id / ssid / bssid / flags\n" + "".join(
                    f"{number}\t{self._name(network)}\tany\t\n" for number, network in enumerate(self._networks))
            case ["STATUS"]:
                return f"bssid=02:00:00:00:01:00\nssid={self.joined}\nwpa_state=COMPLETED\n" if self.joined else "wpa_state=INACTIVE\n"
            case ["SIGNAL_POLL"]:
                return "RSSI=-47\nFREQUENCY=2437\n" if self.joined else "FAIL\n"
            case ["SCAN"]:
                self._tell("CTRL-EVENT-SCAN-RESULTS ", after=0.2)
            case ["SCAN_RESULTS"]:
                return "bssid / frequency / signal level / flags / ssid\n" + "".join(
                    f"02:00:00:00:01:00\t2412\t-50\t{'[WPA2-PSK-CCMP]' if password else ''}[ESS]\t{name}\n"
                    for name, password in self.access_points.items())
            case ["REMOVE_NETWORK", "all"]:
                self._networks, self.joined, self.served = [], None, None
            case ["ADD_NETWORK"]:
                self._networks.append({})
                return f"{len(self._networks) - 1}\n"
            case ["SET_NETWORK", number, key, value]:
                self._networks[int(number)][key] = value
            case ["SELECT_NETWORK" | "ENABLE_NETWORK", number]:
                self._enable(int(number))
            case ["SET", *_]:
                pass
            case _:
                return "UNKNOWN COMMAND\n"
        return "OK\n"

    @staticmethod
    def _name(network):
        return binascii.unhexlify(network["ssid"]).decode()

    def _enable(self, number):
        network = self._networks[number]
        name = self._name(network)
        if network.get("mode") == "2":
            self.served = (name, network["psk"].strip('"'))
            self._tell("AP-ENABLED ", after=0.2)
        elif self.joined is None:
            if name not in self.access_points:
                self._tell("CTRL-EVENT-NETWORK-NOT-FOUND ", after=0.5)
            elif self.access_points[name] != network.get("psk", '""').strip('"'):
                self._tell(
                    f'CTRL-EVENT-SSID-TEMP-DISABLED id={number} ssid="{name}" auth_failures=1 duration=10 reason=WRONG_KEY', after=0.5)
            else:
                self.joined = name
                self._tell(f"CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id={number} id_str=]", after=0.5)
