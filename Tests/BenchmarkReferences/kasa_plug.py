"""Simulates a plug of TP-Link, as the other side of python-kasa's command line.

kasa_plug.py
It accepts connections at TCP port 9999 and prints "ready". A message is a JSON object of requests by module, with its length in four bytes
in front; each byte is encrypted by XOR with the previous encrypted byte, the first one with 171.
"""

import datetime
import itertools
import json
import socketserver
import struct

PORT, KEY = 9999, 171
UNKNOWN = {"err_code": -1, "err_msg": "module not support"}

state = {"relay_state": 0, "brightness": 100}


def encrypted(content):
    return bytes(itertools.accumulate(content, lambda previous, byte: previous ^ byte, initial=KEY))[1:]


def decrypted(content):
    return bytes(byte ^ previous for byte, previous in zip(content, bytes([KEY]) + content))


def system_information(_):
    return {
        "sw_ver": "1.2.6", "hw_ver": "1.0", "type": "IOT.SMARTPLUGSWITCH", "model": "HS110(EU)", "mac": "02:00:00:00:00:01",
        "deviceId": "8006" + "0" * 36, "hwId": "0" * 32, "oemId": "0" * 32, "alias": "Lamp",
        "dev_name": "Wi-Fi Smart Plug With Energy Monitoring", "feature": "TIM:ENE", "rssi": -40, "led_off": 0,
        "on_time": 60 * state["relay_state"], "updating": 0, **state}


def set_relay(request):
    state["relay_state"] = request["state"]
    return {}


def dim(request):
    state.update(relay_state=1, brightness=request["brightness"])
    return {}


def time_of_day(_):
    now = datetime.datetime.now()
    return {"year": now.year, "month": now.month, "mday": now.day, "hour": now.hour, "min": now.minute, "sec": now.second}


def day_energies(request):
    return {"day_list": [{"year": request["year"], "month": request["month"], "day": day, "energy_wh": 500} for day in range(1, 29)]}


def month_energies(request):
    return {"month_list": [{"year": request["year"], "month": month, "energy_wh": 15_000} for month in range(1, 13)]}


ANSWERS = {
    ("system", "get_sysinfo"): system_information,
    ("system", "set_relay_state"): set_relay,
    ("smartlife.iot.dimmer", "set_dimmer_transition"): dim,
    ("time", "get_time"): time_of_day,
    ("time", "get_timezone"): lambda _: {"index": 39},
    ("emeter", "get_realtime"): lambda _: {"voltage_mv": 230_000, "current_ma": 200, "power_mw": 46_000, "total_wh": 1234},
    ("emeter", "get_daystat"): day_energies,
    ("emeter", "get_monthstat"): month_energies,
}


def answer(module, requests):
    if not any(known == module for known, _ in ANSWERS):
        return UNKNOWN
    return {
        name: {**ANSWERS[module, name](request or {}), "err_code": 0} if (module, name) in ANSWERS else UNKNOWN
        for name, request in requests.items()}


class Connection(socketserver.StreamRequestHandler):
    # Without this, the kernel may delay the second part of an answer.
    disable_nagle_algorithm = True

    def handle(self):
        while length := self.rfile.read(4):
            message = json.loads(decrypted(self.rfile.read(*struct.unpack(">I", length))))
            content = json.dumps({module: answer(module, requests) for module, requests in message.items()}).encode()
            self.wfile.write(struct.pack(">I", len(content)) + encrypted(content))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


if __name__ == "__main__":
    with Server(("", PORT), Connection) as server:
        print("ready", flush=True)
        server.serve_forever()
