"""The setup of a test in the phase "sleep-proxy". The target is a sleep proxy, and one of the peer's hosts is the computer
that sleeps."""

import time

from conformance import updates, wire
from conformance.bench import LOCAL, Bench
from conformance.conditions import tells
from conformance.criterion import failed
from conformance.frames import Packet
from conformance.link_peer import LinkPeer
from conformance.messages import RESPONSE
from conformance.peer import Peer
from conformance.records import A, AAAA, PTR, SRV, TXT, Name, Record, address_bytes, srv_data, txt_data
from conformance.wire import Other, Segment

PROXY_TYPE = Name(["_sleep-proxy", "_udp"]) + LOCAL
# The peer's hosts: the computer that sleeps, a client, and another computer that is awake.
SLEEPER, CLIENT, RIVAL = 3, 4, 8
CARD, ADDRESS, ADDRESS6 = Peer.mac(SLEEPER), Peer.ipv4(SLEEPER), Peer.ipv6(SLEEPER)
# The computer's names and ports.
MEDIA, TCP_PORT, UDP_PORT = Name(["_media", "_tcp"]) + LOCAL, 7000, 7001
HOST, INSTANCE, REMOTE = Name(["media"]) + LOCAL, Name(["Films"]) + MEDIA, Name(["Films", "_remote", "_udp"]) + LOCAL
OWN_PORT = 40005  # The source port of registrations.


def sleeper_records(host=HOST, instance=INSTANCE, port=TCP_PORT, addresses=(ADDRESS, ADDRESS6)):
    """The records of a computer with a service over TCP and one over UDP."""
    found = [Record(host, AAAA if ":" in one else A, 120, address_bytes(one), True) for one in addresses]
    for name, number in ((instance, port), (REMOTE, UDP_PORT)):
        found += [Record(name, SRV, 120, srv_data(host, number), True), Record(name, TXT, 4500, txt_data(b"path=/films"), True),
                  Record(Name(name[1:]), PTR, 4500, name.encoded)]
    return found


def content(frame):
    """The bytes of a frame that may have a magic packet: a UDP datagram, or a frame of another protocol."""
    return frame.payload if isinstance(frame, Packet) else frame.raw if isinstance(frame, Other) else b""


def is_magic(frame):
    """True for a frame with the bytes that wake the computer."""
    return updates.magic(CARD) in content(frame)


class SleepBench(Bench):
    peer_class = LinkPeer

    def __init__(self, *arguments):
        self.mac = self.address = self.port = None  # The proxy's card, its IPv4 address, and the port for registrations.
        self._identity = 0x4D00
        super().__init__(*arguments)

    def serve(self):
        """Starts the target, waits until it advertises the proxy, and returns that packet."""
        self.plug_in()
        self.target = self._target_class(self.host, self._programs)
        self.target.represent()
        told = self.peer.first(tells(SRV, PROXY_TYPE), 12, self.began)
        if told is None:
            raise failed(f"no SRV record of {PROXY_TYPE} within 12 s")
        record = next(record for record in told.message.records if record.type == SRV and record.name.under(PROXY_TYPE))
        self.mac, self.address, self.port = told.source_mac, told.source, record.port
        return told

    # The computer that sleeps.

    def send_registration(self, records=None, card=CARD, sequence=1, options=None, flags=updates.UPDATE, within=3.0):
        """Sends a registration. `options` replace the lease and the owner. Returns the packet and the answer, or None
        as the answer."""
        self._identity += 1
        chosen = (updates.lease(3600), updates.owner(card, sequence)) if options is None else options
        message = updates.registration(self._identity, sleeper_records() if records is None else records, *chosen, flags=flags)
        sent = self.peer.put(Packet(
            ADDRESS, self.address, message.encoded, source_port=OWN_PORT, destination_port=self.port, hop_limit=64,
            source_mac=CARD, destination_mac=self.mac))
        answer = self.peer.await_one(
            Packet, lambda it: it.destination_port == OWN_PORT and it.message and it.message.flags & RESPONSE and
            it.message.id == self._identity, within, sent.at)
        return sent, answer

    def register(self, *arguments, **how):
        """Sends a registration that must succeed, and returns the answer."""
        sent, answer = self.send_registration(*arguments, **how)
        if answer is None:
            raise failed("the registration was not answered within 3 s", sent)
        if updates.response_code(answer.message) != updates.SUCCESS:
            raise failed(f"the registration was refused with code {updates.response_code(answer.message)}", answer)
        return answer

    def fall_asleep(self, within=15):
        """Lets the computer fall asleep: it no longer answers. Waits until the proxy answers ARP for its IPv4 address, and returns
        this answer."""
        for address in (ADDRESS, ADDRESS6):
            self.peer.disown(address)
        end = time.time() + within
        while time.time() < end:
            asked, answer = self.resolve()
            if answer:
                self.pause(0.2)
                return answer
        raise failed(f"the proxy did not answer for {ADDRESS} within {within} s after the computer was silent", asked)

    def asleep(self, *arguments, **how):
        """Starts the proxy, registers the computer, and waits until the proxy represents it."""
        self.serve()
        self.register(*arguments, **how)
        return self.fall_asleep()

    def announce_return(self):
        """The computer announces its address, as when it wakes up. Returns the frame."""
        for address in (ADDRESS, ADDRESS6):
            self.peer.own(address, SLEEPER)
        return self.peer.put(wire.announcement(ADDRESS, CARD))

    # The client.

    def resolve(self, within=0.25, sender=None):
        """Asks for the computer's address by ARP. Returns the request and the target's reply, or None as the reply.
        With the sender 0.0.0.0 the request is a probe."""
        asked = self.peer.put(wire.request(ADDRESS, self.peer.mac(CLIENT), sender or self.peer.ipv4(CLIENT)))
        return asked, self.peer.await_arp(
            lambda it: it.operation == wire.REPLY and it.sender == ADDRESS, within, asked.at)

    def asked(self, name, kind, within=1.2):
        """Asks by multicast DNS with the QU bit. Returns the question and the response, or None as the response."""
        return self.answer((name, kind), within=within, unicast=True, host=CLIENT, source=self.peer.ipv4(CLIENT))

    def segment(self, flags=wire.SYN, port=TCP_PORT):
        """Returns a segment of the client for the computer's address, sent to the proxy's card."""
        return Segment(self.peer.ipv4(CLIENT), ADDRESS, 40001, port, 1000, 0, flags, b"", self.peer.mac(CLIENT), self.mac)

    def datagram(self, port=UDP_PORT):
        return Packet(
            self.peer.ipv4(CLIENT), ADDRESS, b"play", source_port=40002, destination_port=port, hop_limit=64,
            source_mac=self.peer.mac(CLIENT), destination_mac=self.mac)

    def woken(self, within, since):
        """Waits for a magic packet for the computer, and returns it, or None."""
        return self.peer.await_one(object, is_magic, within, since)

    def expect_wake(self, sent, within=1.0):
        """Expects a magic packet after the frame `sent`, and returns it."""
        found = self.woken(within, sent.at)
        if found is None:
            raise failed(f"no magic packet within {within:g} s", sent)
        return found
