"""Hostile ARP packets, sent with scapy; runs inside a host of the LAN.

troublemaker_program.py INTERFACE deny            answers every probe of another host, as if the address were in use
troublemaker_program.py INTERFACE probe           probes every address that another host probes, at the same time
troublemaker_program.py INTERFACE steal ADDRESS SECONDS...   announces that it has the address, after each of these pauses
troublemaker_program.py INTERFACE mirror          sends back every ARP packet unchanged, as some access points do
Prints its actions as JSON objects.
"""

import json
import sys
import time

from scapy.arch import get_if_hwaddr
from scapy.config import conf
from scapy.layers.l2 import ARP, Ether

BROADCAST = "ff:ff:ff:ff:ff:ff"


def tell(event, at=None, **more):
    print(json.dumps({"event": event, "at": at or time.monotonic(), **more}), flush=True)


class Troublemaker:
    def __init__(self, interface):
        self.own = get_if_hwaddr(interface)
        self.socket = conf.L2socket(iface=interface)

    def run(self, verb, *rest):
        tell("ready")
        getattr(self, verb)(*rest)

    def send(self, **packet):
        """Sends a packet and returns the time just before it was sent, because on a busy machine the answer may arrive before
        this function continues."""
        at = time.monotonic()
        self.socket.send(Ether(src=self.own, dst=BROADCAST) / ARP(hwsrc=self.own, **packet))
        return at

    def others(self):
        """Yields ARP packets of other hosts on arrival."""
        while True:
            frame = self.socket.recv(2000)
            if frame is not None and ARP in frame and frame.src != self.own:
                yield frame

    def probes(self):
        return (frame[ARP] for frame in self.others() if frame[ARP].op == 1 and frame[ARP].psrc == "0.0.0.0")

    def deny(self):
        for probe in self.probes():
            at = self.send(op=2, psrc=probe.pdst, hwdst=probe.hwsrc, pdst="0.0.0.0")
            tell("denied", at, address=probe.pdst)

    def probe(self):
        for probe in self.probes():
            at = self.send(op=1, psrc="0.0.0.0", pdst=probe.pdst)
            tell("probed", at, address=probe.pdst)

    def steal(self, address, *pauses):
        for pause in pauses:
            time.sleep(float(pause))
            at = self.send(op=1, psrc=address, pdst=address)
            tell("stole", at, address=address)

    def mirror(self):
        for frame in self.others():
            self.socket.send(frame)
            tell("mirrored", address=frame[ARP].pdst)


Troublemaker(sys.argv[1]).run(*sys.argv[2:])
