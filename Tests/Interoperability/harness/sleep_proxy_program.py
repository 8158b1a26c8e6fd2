"""A sleep proxy with python-zeroconf and a socket, which prints each registration as a JSON object. It accepts the
registration, or with `silent` sends no answer.

sleep_proxy_program.py ADDRESS NAME accept|silent    {"event": "registration", "id", "records", "bytes"}
"""

import json
import socket
import struct
import sys

from zeroconf import IPVersion, ServiceInfo, Zeroconf

TYPE = "_sleep-proxy._udp.local."
LEASE = 3600


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


address, name, manner = sys.argv[1:]
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind((address, 0))
with Zeroconf(interfaces=[address], ip_version=IPVersion.V4Only) as zeroconf:
    zeroconf.register_service(
        ServiceInfo(TYPE, f"{name}.{TYPE}", port=port.getsockname()[1], parsed_addresses=[address], server="proxy.local."))
    tell("ready")
    while True:
        message, source = port.recvfrom(65536)
        number, flags, questions, answers, updates, additionals = struct.unpack(">6H", message[:12])
        assert flags == 5 << 11, "the operation code of an update, in a request"
        tell("registration", id=number, records=updates, bytes=message.hex())
        if manner == "silent":
            continue
        # The answer has an OPT record with an Update Lease option of four bytes.
        option = struct.pack(">BHHIHHHI", 0, 41, 1440, 0, 8, 2, 4, LEASE)
        port.sendto(struct.pack(">6H", number, 0x8000 | 5 << 11, 0, 0, 0, 1) + option, source)
