"""Sends one datagram to the multicast DNS group on eth0, from port 5353: datagram_program.py HEXADECIMAL"""

import socket
import struct
import sys

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sender.bind(("", 5353))
    eth0 = struct.pack("4s4si", bytes(4), bytes(4), socket.if_nametoindex("eth0"))
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, eth0)
    sender.sendto(bytes.fromhex(sys.argv[1]), ("224.0.0.251", 5353))
