"""Announces nonexistent plugs, each once. Half of the announcements have the id of a real plug. Ten times per
second, prints the number of announcements so far as a JSON object. Runs until it is killed.

announcer.py RATE ID
RATE is the number per second, ID the id of the real plug.
"""

import itertools
import json
import socket
import struct
import sys
import time

GROUP = ("224.0.0.251", 5353)
PTR, TXT, SRV, A = 12, 16, 33, 1
UNIQUE = 0x8001


def name(*labels):
    return b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"


def record(owner, kind, rclass, life, data):
    return owner + struct.pack("!HHIH", kind, rclass, life, len(data)) + data


def announcement(number, identity):
    service = name("_smartplug", "_tcp", "local")
    instance = name(f"False {number}", "_smartplug", "_tcp", "local")
    host = name(f"false-{number}", "local")
    text = b"".join(bytes([len(word)]) + word.encode() for word in ("txtvers=1", f"id={identity}", "pv=1", "pair=0"))
    address = bytes([10, 250, number >> 8 & 0xFF, number & 0xFF])
    records = [
        record(service, PTR, 1, 4500, instance),
        record(instance, SRV, UNIQUE, 120, struct.pack("!HHH", 0, 0, 4000) + host),
        record(instance, TXT, UNIQUE, 4500, text),
        record(host, A, UNIQUE, 120, address),
    ]
    return struct.pack("!6H", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def main(rate, identity):
    rate = int(rate)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sender.bind(("", 5353))
    sender.setsockopt(
        socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), socket.if_nametoindex("eth0")))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    began = time.monotonic()
    for number in itertools.count():
        due = began + number / rate
        while (left := due - time.monotonic()) > 0:
            time.sleep(left)
        sender.sendto(announcement(number, identity if number % 2 else f"{number:012x}"), GROUP)
        if number % (rate // 10) == 0:
            print(json.dumps({"announced": number}), flush=True)


main(*sys.argv[1:])
