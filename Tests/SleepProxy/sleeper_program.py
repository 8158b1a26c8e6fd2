"""A computer that can sleep, as a separate program, because it must run inside a host of the LAN:
sleeper_program.py SOCKET NAME ADDRESS CARD SERVICES, where SERVICES is a JSON object of instance names and ports.

It announces the services (_media._tcp) by python-zeroconf and accepts TCP connections on their ports. It reads lines of
JSON {"do": NAME, ...} from the test that connects to the socket, and answers each with {"done": ...}. While it sleeps,
the kernel drops every packet in both directions. A packet socket, which is in front of that filter, detects a magic
packet with the host's address, as a network card does.
"""

import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, Zeroconf

TYPE = "_media._tcp.local."
PROXY_TYPE = "_sleep-proxy._udp.local."
A, PTR, TXT, AAAA, SRV, OPT = 1, 12, 16, 28, 33, 41
IN, UNIQUE = 1, 0x8001
UPDATE = 5 << 11
LEASE_OPTION, OWNER_OPTION = 2, 4
EVERYBODY = b"\xff" * 6
ASLEEP = """
table netdev asleep {
    chain arriving { type filter hook ingress device "eth0" priority 0; policy drop; }
}
table inet asleep {
    chain leaving { type filter hook output priority 0; oifname "eth0" drop; }
}
"""


def tell(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def name(text):
    """Encodes a name whose first label may contain dots if it is given as a list of labels."""
    labels = text if isinstance(text, list) else text.rstrip(".").split(".")
    return b"".join(bytes([len(label.encode())]) + label.encode() for label in labels) + b"\0"


def record(owner, kind, data, record_class=UNIQUE, lifetime=120):
    return name(owner) + struct.pack("!HHIH", kind, record_class, lifetime, len(data)) + data


# Registration (RFC 2136, RFC 9664, draft-cheshire-edns0-owner-option)

def records(host, addresses, services):
    found = []
    for address in map(ipaddress.ip_address, addresses):
        found.append(record(host, A if address.version == 4 else AAAA, address.packed))
        found.append(record(address.reverse_pointer, PTR, name(host)))
    for instance, port in services.items():
        full = [instance, *TYPE.rstrip(".").split(".")]
        found.append(record(full, SRV, struct.pack("!HHH", 0, 0, port) + name(host)))
        found.append(record(full, TXT, b"\x0bpath=/films", lifetime=4500))
        found.append(record(TYPE, PTR, name(full), record_class=IN, lifetime=4500))
    return found


def registration(host, addresses, services, card, sequence, lease):
    """Returns the message that registers a host with a sleep proxy."""
    told = records(host, addresses, services)
    owner = struct.pack("!BB6s", 0, sequence, card)
    options = struct.pack("!HHI", LEASE_OPTION, 4, lease) + struct.pack("!HH", OWNER_OPTION, len(owner)) + owner
    opt = b"\0" + struct.pack("!HHIH", OPT, 1440, 0, len(options)) + options
    return struct.pack("!HHHHHH", 0x4D4D, UPDATE, 0, 0, len(told), 1) + b"".join(told) + opt


class Computer:
    def __init__(self, host_name, address, card, services):
        self.host = f"{host_name}.local"
        self.address, self.services = address, services
        self.card = bytes.fromhex(card.replace(":", ""))
        self.sequence = 1
        self.is_asleep = False
        for port in services.values():
            threading.Thread(target=self.serve, args=(port,), daemon=True).start()
        threading.Thread(target=self.listen_for_magic, daemon=True).start()
        self.zeroconf = Zeroconf(interfaces=[address], ip_version=IPVersion.V4Only)
        for instance, port in services.items():
            self.zeroconf.register_service(
                ServiceInfo(
                    TYPE, f"{instance}.{TYPE}", port=port, parsed_addresses=[address], properties={"path": "/films"},
                    server=self.host + "."))
        self.proxies = {}
        ServiceBrowser(self.zeroconf, PROXY_TYPE, handlers=[self.found])

    def found(self, zeroconf, service_type, name, state_change):
        threading.Thread(target=self.resolve, args=(name,), daemon=True).start()

    def resolve(self, full_name):
        info = self.zeroconf.get_service_info(PROXY_TYPE, full_name, timeout=8000)
        if info is not None:
            self.proxies[full_name] = (info.parsed_addresses()[0], info.port)

    def serve(self, port):
        with socket.create_server(("0.0.0.0", port)) as listening:
            while True:
                connection, _ = listening.accept()
                connection.sendall(b"awake\n")
                connection.close()

    def register(self, addresses=None, host=None, services=None, card=None, sequence=None, lease=3600, proxy=None):
        """Sends a registration to the best proxy, and returns the response code, the seconds to the answer, and the bytes of the
        answer; the code is None if no answer arrives."""
        end = time.monotonic() + 20
        while not self.proxies and time.monotonic() < end:
            time.sleep(0.02)
        place = self.proxies[min(self.proxies)]
        message = registration(
            host or self.host, addresses or [self.address], self.services if services is None else services,
            bytes.fromhex(card.replace(":", "")) if card else self.card, self.sequence if sequence is None else sequence, lease)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
            sending.bind((self.address, 0))
            sending.connect(place)
            sending.settimeout(1.5)
            for _ in range(4):
                began = time.monotonic()
                sending.send(message)
                try:
                    answer = sending.recv(4096)
                except TimeoutError:
                    continue
                return {"code": answer[3] & 0xF, "seconds": time.monotonic() - began, "bytes": answer.hex()}
        return {"code": None}

    # Sleep

    def sleep(self):
        subprocess.run(["nft", "-f", "-"], input=ASLEEP, text=True, check=True)
        self.is_asleep = True

    def wake(self):
        if not self.is_asleep:
            return
        self.is_asleep = False
        self.sequence += 1
        subprocess.run(["nft", "flush", "ruleset"], check=True)
        # The kernel announces its address like this when a link comes up.
        packet = struct.pack(
            "!6s6sHHHBBH6s4s6s4s", EVERYBODY, self.card, 0x0806, 1, 0x0800, 6, 4, 1, self.card,
            socket.inet_aton(self.address), bytes(6), socket.inet_aton(self.address))
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sending:
            sending.bind(("eth0", 0))
            sending.send(packet)

    def listen_for_magic(self):
        magic = EVERYBODY + self.card * 16
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as listening:
            listening.bind(("eth0", 0))
            while True:
                frame = listening.recv(4096)
                if self.is_asleep and magic in frame:
                    self.wake()
                    tell("woken", type=frame[12:14].hex())

    def do(self, order):
        verb = order.pop("do")
        return {"register": self.register, "sleep": self.sleep, "wake": self.wake}[verb](**order)


def main(path, host_name, address, card, services):
    computer = Computer(host_name, address, card, json.loads(services))
    if os.path.exists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        tell("announced")
        connection, _ = listening.accept()
        with connection.makefile("rw") as lines:
            for line in lines:
                try:
                    answer = {"done": computer.do(json.loads(line))}
                except Exception as error:  # The test reports it.
                    answer = {"error": repr(error)}
                lines.write(json.dumps(answer) + "\n")
                lines.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
